"""The hindsight optimum where the coordinates have nothing to do with one another: each by itself, exactly.

That is so for losses that are sums over the coordinates, on a box, with prices that add up; and for one coordinate.
"""

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.domains.kernels import BOX
from driftwise.losses import kernels
from driftwise.losses.base import DataLoss
from driftwise.movecost import MoveCost, as_move_cost
from driftwise.optimum.duality import Answer, lower_bound, slopes_at
from driftwise.optimum.paths import BEND, JUMP, KINK, SLOPE, Terms, cheapest_path, path_dual


def limits(domain: Domain) -> tuple[Array, Array] | None:
    """Return the least and the largest of every coordinate if the domain is all that lies between; None if not."""
    if any(block.kind != BOX and block.size > 1 for block in domain.blocks):
        return None
    axes = np.eye(domain.dim)
    return np.asarray(-domain.support(-axes)), np.asarray(domain.support(axes))


def separable(losses: DataLoss, domain: Domain, cost: float | MoveCost) -> bool:
    """Tell whether every coordinate is a problem of its own, of the kind that `solve` knows."""
    link, alone = losses.data.link, losses.dim == 1
    sums = link in (kernels.TRACKING, kernels.LINEAR, kernels.CAPACITY) or (link == kernels.SQUARED and alone)
    prices = alone or cost == 0.0 or (isinstance(cost, MoveCost) and cost.norm == "l1")
    return sums and prices and losses.memory == 0 and limits(domain) is not None


def solve(losses: DataLoss, domain: Domain, cost: float | MoveCost) -> Answer:
    """Return the cheapest sequence of decisions, with its lower bound."""
    found = limits(domain)
    assert found is not None
    low, high = found
    up, down = as_move_cost(cost).prices(losses.dim)
    decisions, dual = np.empty((len(losses), losses.dim)), np.empty((len(losses), losses.dim))
    for k in range(losses.dim):
        curves, origin = _curves(losses, k, float(low[k]))
        terms = Terms(float(low[k]) - origin, float(high[k]) - origin, float(up[k]), float(down[k]))
        path = cheapest_path(curves, terms)
        decisions[:, k], dual[:, k] = origin + path, path_dual(curves, terms, path)
    decisions = domain.project(decisions)
    slopes = slopes_at(losses.data, decisions)
    if losses.data.link == kernels.CAPACITY:  # at a kink there are many, and the multipliers say which
        price, shortage = losses.data.prices
        short = decisions <= losses.data.features, decisions < losses.data.features
        steps = np.diff(dual, axis=0, prepend=0.0)
        slopes = np.clip(steps, price - shortage * short[0], price - shortage * short[1])
    return Answer(decisions, lower_bound(losses.data, domain, slopes, dual, cost), "every coordinate by itself")


def _curves(losses: DataLoss, k: int, low: float) -> tuple[Array, float]:
    """Return the derivatives of the losses in coordinate k, as `cheapest_path` takes them, and where their 0 is.

    Parabolas are seen from the lower limit, so that nothing is lost far from the origin; kinks stay where they are, so
    that a decision at one is there exactly.
    """
    data, curves, origin = losses.data, np.zeros((4, len(losses))), 0.0
    column = data.features[:, k]
    if data.link == kernels.CAPACITY:
        price, shortage = data.prices[:, k]
        curves[SLOPE], curves[KINK], curves[JUMP] = price - shortage, column, shortage
    elif data.link == kernels.LINEAR:
        curves[SLOPE] = column
    elif data.link == kernels.TRACKING:
        curves[BEND], curves[SLOPE], origin = 1.0, low - column, low
    else:
        curves[BEND], curves[SLOPE], origin = column**2, column * (column * low - data.targets), low
    return curves, origin
