"""The hindsight optimum where the coordinates are independent of one another: each by itself, exactly.

That is so for losses that are sums over the coordinates, on a box, with prices that add up; and for one coordinate.
"""

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.domains.kernels import BOX
from driftwise.losses.base import DataLoss
from driftwise.movecost import MoveCost
from driftwise.optimum.duality import Answer, lower_bound, slopes_at
from driftwise.optimum.paths import BEND, JUMP, KINK, SLOPE, Terms, cheapest_path, path_dual


def limits(domain: Domain) -> tuple[Array, Array] | None:
    """Return the least and the largest of every coordinate if the domain is all that lies between; None if not."""
    if any(block.kind != BOX and block.size > 1 for block in domain.blocks):
        return None
    axes = np.eye(domain.dim)
    return np.asarray(-domain.support(-axes)), np.asarray(domain.support(axes))


def separable(losses: DataLoss, domain: Domain, cost: MoveCost) -> bool:
    """Tell whether every coordinate is a problem of its own."""
    prices = losses.dim == 1 or cost.norm == "l1" or cost.largest(losses.dim) == 0.0
    return losses.separable and prices and limits(domain) is not None


def solve(losses: DataLoss, domain: Domain, cost: MoveCost) -> Answer:
    """Return the cheapest sequence of decisions, with its lower bound."""
    found = limits(domain)
    assert found is not None
    low, high = found
    up, down = cost.prices(losses.dim)
    decisions, dual = np.empty((len(losses), losses.dim)), np.empty((len(losses), losses.dim))
    for k in range(losses.dim):
        curves, origin = _curves(losses, k, float(low[k]))
        terms = Terms(float(low[k]) - origin, float(high[k]) - origin, float(up[k]), float(down[k]))
        path = cheapest_path(curves, terms)
        decisions[:, k], dual[:, k] = origin + path, path_dual(curves, terms, path)
    decisions = domain.project(decisions)
    slopes = slopes_at(losses, decisions, _missing(losses, decisions, dual))
    return Answer(decisions, lower_bound(losses, domain, slopes, dual, cost), "every coordinate by itself")


def _line(losses: DataLoss, k: int) -> tuple[Array, Array, Array]:
    """Return how a score grows with coordinate k, and the target and the kink, where the score is the target."""
    x = np.ones(len(losses)) if losses.each else losses.data.features[:, k]
    y = losses.aims.reshape(len(losses), -1)[:, k if losses.each else 0]
    return x, y, np.divide(y, x, out=np.zeros_like(y), where=x != 0.0)


def _curves(losses: DataLoss, k: int, low: float) -> tuple[Array, float]:
    """Return the derivatives of the losses in coordinate k, as `cheapest_path` takes them, and where their 0 is.

    Parabolas are seen from the lower limit, so that nothing is lost far from the origin; kinks stay where they are, so
    that a decision at one is there exactly.
    """
    (bend, *sides, _), (x, y, kink) = losses.known_pieces, _line(losses, k)
    right, jump = (float(np.broadcast_to(side, losses.dim)[k]) for side in sides)
    curves, origin = np.zeros((4, len(losses))), 0.0 if jump > 0.0 or bend == 0.0 else low
    curves[BEND], curves[KINK], curves[JUMP] = bend * x**2, kink - origin, np.abs(x) * jump
    curves[SLOPE] = x * (bend * (x * origin - y) + np.where(x < 0.0, right, right - jump))
    return curves, origin


def _missing(losses: DataLoss, decisions: Array, dual: Array) -> Array:
    """Return by how much less than right of its kink each slope is; at a kink the multipliers say how much."""
    jump = losses.known_pieces.jump
    if not np.any(jump):
        return np.zeros(losses.aims.shape)
    x, _, kink = (np.stack(rows, axis=1) for rows in zip(*(_line(losses, k) for k in range(losses.dim)), strict=True))
    gaps = np.where(x == 0.0, -losses.aims.reshape(x.shape), np.sign(x) * (decisions - kink))
    steps = np.divide(np.diff(dual, axis=0, prepend=0.0), x, out=np.zeros_like(x), where=x != 0.0)
    left_over = slopes_at(losses, decisions, np.zeros(losses.aims.shape)).reshape(x.shape) - steps
    within = np.clip(left_over, jump * (gaps < 0.0), jump * (gaps <= 0.0))
    return np.asarray(within).reshape(losses.aims.shape)
