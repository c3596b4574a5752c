"""Shares of wealth: what a trade leaves that is paid for out of the portfolio itself, and how prices move them."""

import numpy as np

from driftwise._validate import Array, array, checked, number
from driftwise.adapters.portfolio.names import Names, PerAsset, agreed, lined_up
from driftwise.domains import Simplex
from driftwise.errors import ConvergenceError, InputError

DEAREST = 0.5
"""Costs of a unit of trade must be below this: selling everything and buying something else would cost all there is."""

SETTLED = 1e-15
"""Change of what is left at which it counts as found."""

STEPS = 100
"""Steps in which it is found: each halves the error at least, so after 50 of them only rounding noise is left."""

LEAST = float(np.finfo(np.float64).tiny)
"""What wealth is multiplied by in a round must not be below this, where numbers begin to lose digits."""


@checked
def rebalance(holdings: PerAsset, target: PerAsset, cost: float) -> tuple[float, float]:
    """Return what part of the wealth is left after a trade, and what part of it was traded.

    Every unit of wealth that is bought or sold costs `cost`, and that is paid out of the portfolio, so that less is
    left to be spread: the part s that is left solves ``s = 1 - cost |s target - holdings|_1``, which has one solution.

    Parameters
    ----------
    holdings : array of shape (d,)
        Shares of wealth before the trade.
    target : array of shape (d,)
        Shares of what is left, after it; by name where both have names.
    cost : float
        Price of buying or selling one unit of wealth, from 0 to below 0.5.

    Examples
    --------
    Half of the wealth is sold and spent on something else, at 1 % each way:

    >>> from driftwise.adapters.portfolio import rebalance
    >>> left, traded = rebalance([1.0, 0.0], [0.5, 0.5], cost=0.01)
    >>> round(left, 6), round(traded, 6)
    (0.99, 1.0)
    """
    before = shares("rebalance", "holdings", holdings)
    after = shares("rebalance", "target", target, before.size, agreed("rebalance", "holdings", holdings))
    left, traded = settle(before[None], after[None], read_cost("rebalance", cost))
    return float(left[0]), float(traded[0])


def settle(before: Array, after: Array, cost: float) -> tuple[Array, Array]:
    """Return what is left of wealth, and what was traded, of rows of shares and a cost that have been checked."""
    left = np.ones(len(before))
    for _ in range(STEPS):  # a contraction with factor `cost`
        traded = np.abs(left[:, None] * after - before).sum(axis=1)
        last, left = left, 1.0 - cost * traded
        if np.abs(left - last).max() <= SETTLED:
            break
    if not np.isfinite(left).all():
        raise ConvergenceError("rebalance: no part of the wealth pays for this trade; are these shares of wealth?")
    return left, traded


def moved(owner: str, weights: Array, x: Array, first: int = 0) -> tuple[Array, Array]:
    """Return what prices multiply wealth by, and the shares they leave, one row for each round from `first` on.

    `Growth` moves points of any scale; here what is divided by is the wealth that is counted, to the last bit.
    """
    gained = np.einsum("td,td->t", x, weights)
    lost = np.flatnonzero(~(gained >= LEAST))
    if lost.size:
        t = int(lost[0])
        raise InputError(
            f"{owner}: relatives must leave some wealth, and those of round {first + t} multiply it by {gained[t]:g}; "
            "are they prices at the end of a round over prices at its beginning?"
        )
    return gained, weights * x / gained[:, None]


def read_cost(owner: str, cost: float) -> float:
    """Return the price of a unit of trade, checked."""
    price = number(owner, "cost", cost, low=0.0)
    if price >= DEAREST:
        raise InputError(f"{owner}: cost is a share of what is traded, 0.001 for a tenth of a per cent; got {price:g}.")
    return price


def shares(owner: str, name: str, given: PerAsset, dim: int | None = None, names: Names | None = None) -> Array:
    """Return shares of wealth, checked, in the simplex to the last digit, and in the order of the names."""
    weights = array(owner, name, lined_up(owner, name, given, names), ("dim" if dim is None else dim,), copy=True)
    simplex = Simplex(weights.size)
    if not simplex.contains(weights):
        raise InputError(
            f"{owner}: {name} must be shares of wealth, none negative and one in all, got "
            f"{np.array2string(weights, threshold=8, precision=4)}."
        )
    return weights if simplex.contains(weights, tol=0.0) else simplex.project(weights)
