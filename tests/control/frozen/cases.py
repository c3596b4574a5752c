"""Frozen policies of all kinds, the law written out in NumPy, and the matrix of a whole loop with errors in it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftwise import control
from driftwise._validate import Array
from driftwise.control.frozen import FrozenPolicy
from driftwise.control.frozen.statespace import controller_matrices
from driftwise.control.plants.actuator import augment

KINDS = ("states", "delay", "observer", "observer and delay")


def drawn(seed: int, kind: str = "states", **settings: Any) -> FrozenPolicy:
    """Return a random policy of `KINDS` whose loop is stable, of 1 to 5 states, 1 to 3 inputs, 1 to 8 lags."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    du, H = int(rng.integers(1, min(n, 3) + 1)), int(rng.integers(1, 9))
    plant = control.random_system(n, du, radius=rng.uniform(0.5, 1.2), seed=seed)
    A, B = plant.A, plant.B
    if "delay" in kind:
        lag = rng.uniform(0.1, 0.9, du) if rng.random() < 0.5 else None
        A, B = augment(A, B, int(rng.integers(1, 4)), lag)
    K = control.lqr(control.LinearSystem(A, B), Q=1.0, R=10.0 ** rng.uniform(-3, 2))
    fading = rng.uniform(0.5, 1.0) ** np.arange(H)[:, None, None]
    M = rng.uniform(0.0, 0.6) * rng.standard_normal((H, du, n)) * fading
    if "observer" in kind:
        C = rng.standard_normal((int(rng.integers(1, n + 1)), n))
        turned = control.LinearSystem(plant.A.T, C.T)
        settings |= {"C": C, "L": control.lqr(turned, Q=1.0, R=10.0 ** rng.uniform(-2, 1)).T}
    return FrozenPolicy(A, B, K, M, states=n, **settings)


def with_everything(seed: int, kind: str) -> FrozenPolicy:
    """Return a random policy with set-point, constants, limits and rates."""
    plain, rng = drawn(seed, kind), np.random.default_rng(seed)
    n, du = plain.state_dim, plain.input_dim
    limits = np.stack([rng.uniform(-3.0, -0.5, du), rng.uniform(0.5, 3.0, du)])
    limits[1, -1] = np.inf
    others: dict[str, Any] = {"origin": rng.standard_normal(n), "limits": limits, "rate": rng.uniform(0.3, 2.0, du)}
    return drawn(seed, kind, rest=rng.standard_normal(du), offset=rng.standard_normal(du), **others)


class Statement:
    """The law of a frozen policy as its documentation has it, without a thought for speed."""

    def __init__(self, policy: FrozenPolicy) -> None:
        self.policy = policy
        self.z = np.zeros(len(policy.A))
        self.u: Array = np.clip(0.0, *policy.limits)
        self.past: list[Array] = []
        self.begun = self.seen = False
        self.innovation: Array = np.zeros(0 if policy.C is None else len(policy.C))

    def act(self, sample: Array | None) -> Array:
        own, n = self.policy, self.policy.state_dim
        ahead = own.A @ self.z + own.B @ (self.u - own.rest) if self.begun else np.zeros(len(own.A))
        good = sample is not None and bool(np.isfinite(sample).all())
        w, z = np.zeros(n), ahead.copy()
        if own.C is not None and own.L is not None:
            w = own.L @ self.innovation
            z[:n] += w
            self.innovation = np.asarray(sample) - own.C @ (z[:n] + own.origin) if good else 0.0 * own.C[:, 0]
        elif good:
            z[:n] = np.asarray(sample) - own.origin
            w = z[:n] - ahead[:n] if self.seen else w
            self.seen = True
        self.begun, self.z, self.past = True, z, [w, *self.past][: own.memory]
        u = own.rest - own.K @ z + own.offset + sum(M @ w for M, w in zip(own.M, self.past, strict=False))
        u = np.clip(u, self.u - own.rate, self.u + own.rate)
        self.u = np.clip(u, *own.limits)
        return self.u


def loop_matrix(
    policy: FrozenPolicy,
    factor: complex = 1.0,
    delay: int = 0,
    channel: int | None = None,
    plant: control.LinearSystem | None = None,
) -> NDArray[Any]:
    """Return the matrix of plant and policy, where the plant gets a multiple of inputs, or gets them late.

    All inputs, or that of one channel. The plant is the nominal one if there is no other, whose states are then the
    first ones of the model. Limits are left aside.
    """
    law, du = policy.law, policy.input_dim
    F, G, Q, D = controller_matrices(law)
    A, B = (law.A, law.B) if plant is None else (plant.A, plant.B)
    nz, n = len(A), min(len(A), policy.state_dim)
    seen = np.zeros((law.sides["width"], nz))
    seen[:, :n] = law.C[:, :n] if law.observed else np.eye(n)
    late = [delay if channel in (None, a) else 0 for a in range(du)]
    size = nz + len(F) + sum(late)
    whole = np.zeros((size, size), np.complex128)
    told, got, first = np.zeros((du, size)), np.zeros((du, size), np.complex128), nz + len(F)
    told[:, :nz], told[:, nz:first] = D @ seen, Q
    whole[nz:first, :nz], whole[nz:first, nz:first] = G @ seen, F
    for a, d in enumerate(late):
        got[a] = told[a]
        if d:
            got[a] = np.eye(size)[first + d - 1]
            whole[first] = told[a]
            whole[first + 1 : first + d, first : first + d - 1] = np.eye(d - 1)
            first += d
        if channel in (None, a):
            got[a] *= factor
    whole[:nz, :nz] += A
    whole[:nz] += B @ got
    return whole


def radius(matrix: NDArray[Any]) -> float:
    """Return the spectral radius."""
    return float(np.abs(np.linalg.eigvals(matrix)).max())
