"""A model of the plant with its actuator, and the best answer to disturbances that are known in advance.

With an actuator that delivers f_t = a f_{t-1} + (1 - a) g u_{t-d} when it is asked for u_t, the state z of the model is
[x, memory of the actuator] and z' = A z + B u + [w, 0]. For the cost x'Qx + u'Ru, with P the solution of the Riccati
equation and A_K = A - B K, the cheapest inputs for disturbances that are all known are (LQ preview) ::

    u_t = -K z_t - sum_{k>=0} G_k w_{t+k},    G_k = (R + B'PB)^-1 B' (A_K')^k P

restricted to the first coordinates. Forecasts are made of y = L'w, where P = L L' on the states: coordinates in which
every unit of a disturbance costs the same.
"""

from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.control.costs import Cost, QuadraticCost, SoftLimits
from driftwise.control.plants.actuator import augment
from driftwise.control.stability.gains import riccati

SHORTEST = 1e-3
"""Gains of the preview below this share of the sum so far are left out."""

LONGEST = 300
"""Rounds that a preview looks ahead, at most."""

CLEARANCE = 1e-12
"""Weight of the actuator's memory in the cost, in units of that of the states: it makes the equation solvable."""


class Actuator(NamedTuple):
    """What lies between the input that is asked for and the plant: f_t = a f_{t-1} + (1 - a) g u_{t-d}."""

    delay: int = 0
    gain: float = 1.0
    lag: tuple[float, ...] = (0.0,)
    """a, one number for all inputs or one for each."""

    def words(self) -> str:
        """Say what it is."""
        parts = [f"a delay of {self.delay} sample{'s' * (self.delay != 1)}"] if self.delay else []
        parts += [f"a gain of {self.gain:g}"] if self.gain != 1.0 else []
        parts += [f"a lag of {', '.join(f'{a:g}' for a in self.lag)}"] if any(self.lag) else []
        return " and ".join(parts) or "none"


def behind(A: Array, B: Array, actuator: Actuator) -> tuple[Array, Array]:
    """Return (A, B) of a plant behind an actuator; see `augment` for its state."""
    return augment(A, actuator.gain * B, actuator.delay, np.broadcast_to(actuator.lag, B.shape[1]))


class Model(NamedTuple):
    """A model and the gains that are best for it."""

    A: Array
    """(nz, nz)."""
    B: Array
    """(nz, du)."""
    K: Array
    """(du, nz): the best gain."""
    own: Array
    """(du, nz): the gain that is in use whatever is learnt."""
    Q: Array
    """(nz, nz): weights of the states."""
    R: Array
    P: Array
    """(nz, nz): what states cost from here on."""
    scale: Array
    """(n, n): L' with P = L L' on the states; y = L'w."""
    preview: Array
    """(D, du, n): G_k L'^-1, for forecasts of y."""
    whole: Array
    """(du, n): their sum over all k, for a disturbance that stays as it is."""


def model_of(A: Array, B: Array, own: Array, Q: Array, R: Array, scale: Array | None = None) -> Model | None:
    """Return the model of a plant, or None if floating point finds no gain that stabilises it.

    Parameters
    ----------
    A, B : array
        The plant, with its actuator.
    own : array of shape (du, dx)
        The gain in use, for the first dx coordinates of the state.
    Q, R : array of shape (n, n) and (du, du)
        Weights of the n states that are measured, and of the inputs.
    scale : array of shape (n, n), optional
        L' of another model, in whose coordinates forecasts are to be made.
    """
    (nz, m), n = B.shape, len(Q)
    weights = np.zeros((nz, nz))
    weights[:n, :n] = Q
    weights[n:, n:] = CLEARANCE * np.trace(Q) / n * np.eye(nz - n)
    # In a unit of their own, so that the unit of costs makes no difference, not even by rounding.
    unit = np.trace(Q) / n
    found = riccati(A, B, weights / unit, R / unit)
    if found is None:
        return None
    P, K = unit * found[0], found[1]
    closed = A - B @ K
    if not np.abs(np.linalg.eigvals(closed)).max() < 1.0:
        return None
    if scale is None:
        part = 0.5 * (P[:n, :n] + P[:n, :n].T)
        try:
            scale = np.linalg.cholesky(part + CLEARANCE * np.trace(part) / n * np.eye(n)).T
        except np.linalg.LinAlgError:  # rounding has made P indefinite
            return None
    back = np.linalg.inv(scale)
    gain = np.linalg.solve(R + B.T @ P @ B, B.T)
    rows, turned, total = [], P.copy(), 0.0
    for k in range(LONGEST):
        rows.append(gain @ turned[:, :n] @ back)
        turned = closed.T @ turned
        size = float(np.linalg.norm(rows[-1]))
        total += size
        if size <= SHORTEST * total and k > (nz - n) // m:
            break
    whole = gain @ np.linalg.solve(np.eye(nz) - closed.T, P)[:, :n] @ back
    padded = np.zeros((m, nz))
    padded[:, : own.shape[1]] = own
    return Model(A, B, K, padded, weights, R, P, scale, np.array(rows), whole)


def set_point(model: Model, target: Array, aim: Array) -> tuple[Array, Array, Array]:
    """Return the constant inputs that go with the own gain and with the best one, for costs around a target, and p.

    The best one is that of LQ tracking: u = -K z - S^-1 (B'p - R aim) with p = (1 - A_K')^-1 (K'R aim - Q target). With
    the own gain the plant comes to rest at the same place.
    """
    A, B, K, R = model.A, model.B, model.K, model.R
    closed = A - B @ K
    wanted = np.zeros(len(A))
    wanted[: target.size] = target
    p = np.linalg.solve(np.eye(len(A)) - closed.T, K.T @ R @ aim - model.Q @ wanted)
    best = -np.linalg.solve(R + B.T @ model.P @ B, B.T @ p - R @ aim)
    own = best + (model.own - K) @ np.linalg.solve(np.eye(len(A)) - closed, B @ best)
    return np.asarray(own, dtype=float), np.asarray(best, dtype=float), np.asarray(p, dtype=float)


def follow_reference(model: Model, rows: Array, aim: Array) -> tuple[Array, Array, Array]:
    """Return the inputs that go with the own gain and the best one, and p, for a reference known some rounds ahead.

    `rows` are the references of this round and of those to come, of which the last stays. As in `set_point`, with
    p = sum_{k>=1} (A_K')^(k-1) (K'R aim - Q reference_{t+k}).
    """
    A, B, K, R = model.A, model.B, model.K, model.R
    closed, n = A - B @ K, rows.shape[1]
    own, settled, _ = set_point(model, rows[-1], aim)
    p = np.linalg.solve(np.eye(len(A)) - closed.T, K.T @ R @ aim - model.Q[:, :n] @ rows[-1])
    for row in rows[:0:-1]:
        p = K.T @ R @ aim - model.Q[:, :n] @ row + closed.T @ p
    best = -np.linalg.solve(R + B.T @ model.P @ B, B.T @ p - R @ aim)
    now = K.T @ R @ aim - model.Q[:, :n] @ rows[0] + closed.T @ p
    return np.asarray(own + best - settled, dtype=float), np.asarray(best, dtype=float), np.asarray(now, dtype=float)


def weights_of(cost: Cost | None, states: int, inputs: int) -> tuple[Array, Array] | None:
    """Return Q and R of a cost that is quadratic but for soft limits; None for any other."""
    inner = cost.inner if isinstance(cost, SoftLimits) else cost
    if not isinstance(inner, QuadraticCost) or not inner.compiled:
        return None
    Q, R = (
        part if len(part) == size else part[0, 0] * np.eye(size)
        for part, size in zip((inner.Q, inner.R), (states, inputs), strict=True)
    )
    return (Q, R) if inner.convex and np.trace(Q) > 0.0 else None


def targets_of(cost: Cost, states: int, inputs: int) -> tuple[Array, Array]:
    """Return where a cost wants the state and the input to be; 0 if it does not say."""
    inner = cost.inner if isinstance(cost, SoftLimits) else cost
    found = (inner.target, inner.input_target) if isinstance(inner, QuadraticCost) else (None, None)
    wanted = [
        np.zeros(size) if part is None else np.broadcast_to(part, size).astype(float)
        for part, size in zip(found, (states, inputs), strict=True)
    ]
    return wanted[0], wanted[1]
