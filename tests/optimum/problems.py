"""What the tests of the optimum and of regret share: domains, costs in plain NumPy, and optima by cvxpy."""

import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import cvxpy
import numpy as np

import driftwise as dw
from driftwise._validate import Array
from driftwise.losses.base import DataLoss
from driftwise.losses.forms import CoordinateLoss
from tests.cases import stream

cp: Any = cvxpy
"""cvxpy, whose functions mypy cannot see."""

DIM = 4

DOMAINS: dict[str, dw.Domain] = {
    "ball": dw.Ball(DIM),
    "shifted ball": dw.Ball(DIM, radius=0.5, center=[1.0, -1.0, 0.0, 0.3]),
    "box": dw.Box([-1.0, 0.0, 0.2, -0.3], [1.0, 0.5, 0.9, 0.1]),
    "simplex": dw.Simplex(DIM, scale=2.0),
    "product": dw.Product(dw.Ball(2, radius=0.7), dw.Simplex(2)),
    "spectral": dw.SpectralBalls(shape=(1, 2, 2), radii=0.8),
}
CONES: tuple[str, ...] = tuple(name for name in DOMAINS if name != "spectral")

QUADRATIC: tuple[str, ...] = ("squared", "linear", "tracking")
KINKED: tuple[str, ...] = ("absolute", "quantile")
GENERAL: tuple[str, ...] = (*KINKED, "huber", "logistic", "filtered")


def built_in(kind: str, rounds: int, dim: int = DIM) -> DataLoss:
    """Return a stream of `tests.cases` that is data only."""
    losses = stream(kind, dim, rounds)
    assert isinstance(losses, DataLoss)
    return losses


def scores(losses: DataLoss, decisions: Array) -> Array:
    """Return what the losses see of the decisions: filtered inner products, and the decisions if they are tracked."""
    if isinstance(losses, CoordinateLoss):
        return decisions
    data, rounds = losses.data, np.arange(len(losses))
    past = [decisions[np.maximum(rounds - k, 0)] for k in range(data.taps.size)]
    return np.asarray(sum(tap * (data.features * w).sum(axis=1) for tap, w in zip(data.taps, past, strict=True)))


def round_losses(losses: DataLoss, decisions: Array) -> Array:
    """Return the loss of every round, memory included, from the definitions."""
    data, z = losses.data, scores(losses, decisions)
    if isinstance(losses, dw.TrackingLoss):
        return np.asarray(0.5 * ((z - data.features) ** 2).sum(axis=1))
    if isinstance(losses, dw.CapacityLoss):
        return np.asarray(z @ data.shape[0] + np.maximum(data.features - z, 0.0) @ data.shape[1])
    y = data.targets
    if isinstance(losses, dw.LinearLoss):
        return z
    if isinstance(losses, dw.AbsoluteLoss):
        return np.asarray(np.abs(z - y))
    if isinstance(losses, dw.HuberLoss):
        gap = np.abs(z - y)
        return np.where(gap <= losses.delta, 0.5 * gap**2, losses.delta * (gap - 0.5 * losses.delta))
    if isinstance(losses, dw.QuantileLoss):
        return np.where(z >= y, (1.0 - losses.quantile) * (z - y), losses.quantile * (y - z))
    if isinstance(losses, dw.LogisticLoss):
        return np.asarray(np.logaddexp(0.0, -y * z))
    return np.asarray(0.5 * (z - y) ** 2)


def held(losses: DataLoss, w: Array) -> Array:
    """Return the loss of every round if one decision is held throughout."""
    return round_losses(losses, np.tile(w, (len(losses), 1)))


def cost(losses: DataLoss, decisions: Array, price: float | dw.MoveCost) -> float:
    """Return loss plus switching cost, from the definitions."""
    changes = np.diff(decisions, axis=0)
    up, down = _sides(price, decisions.shape[1])
    each = np.where(changes > 0.0, up * changes, -down * changes)
    moves = each.sum(axis=1) if _adds_up(price) else np.sqrt((each**2).sum(axis=1))
    return float(round_losses(losses, decisions).sum() + moves.sum())


def _sides(price: float | dw.MoveCost, dim: int) -> Array:
    """Return the prices up and down of every coordinate, (2, d)."""
    sides = (price.up, price.down) if isinstance(price, dw.MoveCost) else (price, price)
    return np.array([np.broadcast_to(np.asarray(side, float), dim) for side in sides])


def _adds_up(price: float | dw.MoveCost) -> bool:
    return isinstance(price, dw.MoveCost) and price.norm == "l1"


def sequences(domain: dw.Domain, rounds: int, seed: int) -> Iterator[Array]:
    """Yield sequences in the domain: still, jumping in steps, wandering, and at the edge all the time."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((rounds, domain.dim))
    yield domain.project(np.tile(noise[0], (rounds, 1)))
    yield domain.project(np.repeat(noise, 5, axis=0)[:rounds])
    yield domain.project(0.1 * np.cumsum(noise, axis=0))
    yield domain.project(100.0 * noise)


def inside(domain: dw.Domain, W: Any) -> list[Any]:
    """Return cvxpy's constraints that keep every row of W in a domain."""
    if isinstance(domain, dw.Ball):
        return [cp.norm(W - np.tile(domain.center, (W.shape[0], 1)), axis=1) <= domain.radius]
    if isinstance(domain, dw.Box):
        return [np.tile(domain.low, (W.shape[0], 1)) <= W, np.tile(domain.high, (W.shape[0], 1)) >= W]
    if isinstance(domain, dw.Simplex):
        return [W >= 0.0, cp.sum(W, axis=1) == domain.scale]
    if isinstance(domain, dw.Product):
        parts = np.split(np.arange(domain.dim), np.cumsum([factor.dim for factor in domain.factors])[:-1])
        return [each for k, part in enumerate(parts) for each in inside(domain.factors[k], W[:, part])]
    assert isinstance(domain, dw.SpectralBalls)
    assert domain.shape[0] == 1
    return [cp.sigma_max(cp.reshape(row, domain.shape[1:], order="C")) <= domain.radii[0] for row in W]


def model(losses: DataLoss, W: Any) -> Any:
    """Return the total loss of the rows of W as a cvxpy expression."""
    data, rounds = losses.data, np.arange(len(losses))
    if isinstance(losses, dw.TrackingLoss):
        return 0.5 * cp.sum_squares(W - data.features)
    if isinstance(losses, dw.CapacityLoss):
        price, shortage = (np.tile(each, (len(losses), 1)) for each in data.shape)
        return cp.sum(cp.multiply(price, W) + cp.multiply(shortage, cp.pos(data.features - W)))
    past = [W[np.maximum(rounds - k, 0)] for k in range(data.taps.size)]
    z = sum(h * cp.sum(cp.multiply(data.features, w), axis=1) for h, w in zip(data.taps, past, strict=True))
    if isinstance(losses, dw.LinearLoss):
        return cp.sum(z)
    if isinstance(losses, dw.AbsoluteLoss):
        return cp.sum(cp.abs(z - data.targets))
    if isinstance(losses, dw.HuberLoss):
        return 0.5 * cp.sum(cp.huber(z - data.targets, losses.delta))
    if isinstance(losses, dw.QuantileLoss):
        gap = data.targets - z
        return cp.sum(cp.maximum(losses.quantile * gap, (losses.quantile - 1.0) * gap))
    if isinstance(losses, dw.LogisticLoss):
        return cp.sum(cp.logistic(-cp.multiply(data.targets, z)))
    return 0.5 * cp.sum_squares(z - data.targets)


def solve(objective: Any, constraints: list[Any]) -> float:
    """Return the least value of a cvxpy problem, by Clarabel and to nine digits or so."""
    problem = cp.Problem(cp.Minimize(objective), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that ten digits could not quite be had
        problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10, accept_unknown=True)
    assert problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
    return float(problem.value)


def cheapest(losses: DataLoss, domain: dw.Domain, price: float | dw.MoveCost) -> float:
    """Return the least cost of any sequence of decisions."""
    W = cp.Variable((len(losses), losses.dim))
    moves: Any = 0.0
    if len(losses) > 1 and isinstance(price, dw.MoveCost):
        up, down = (np.tile(side, (len(losses) - 1, 1)) for side in _sides(price, losses.dim))
        each = cp.maximum(cp.multiply(up, W[1:] - W[:-1]), cp.multiply(down, W[:-1] - W[1:]))
        each = cp.pos(each)  # which it is anyway, but cvxpy does not see that
        moves = cp.sum(each) if _adds_up(price) else cp.sum(cp.norm(each, axis=1))
    elif len(losses) > 1:
        moves = price * cp.sum(cp.norm(W[1:] - W[:-1], axis=1))
    return solve(model(losses, W) + moves, inside(domain, W))


def cheapest_held(losses: DataLoss, domain: dw.Domain) -> float:
    """Return the least loss of any decision that is held throughout."""
    w = cp.Variable((1, losses.dim))
    W = np.ones((len(losses), 1)) @ w
    return solve(model(losses, W), inside(domain, w))


class Still(dw.Learner):
    """A learner of one's own, without base-learners, that never moves."""

    def _decide(self) -> Array:
        return np.zeros(self.domain.dim)

    def _learn(self, gradient: Array) -> None:
        pass


def left_cold(package: str, after: str) -> str:
    """Return which entries of a package a new process has not compiled (or loaded) after it has run a statement."""
    code = (
        f"from driftwise import _compile\n"
        f"from {package}.warm import warm\n"
        f"{after}\n"
        f"ours = [kernel for kernel in _compile._OURS if kernel.__module__.startswith('{package}.')]\n"
        f"assert ours\n"
        f"print(*sorted(kernel.__name__ for kernel in ours if not kernel.signatures) or ['none'])\n"
    )
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
