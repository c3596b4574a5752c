"""Wealth, exactly: what is left after a trade that is paid for out of the portfolio itself, and a whole run of them."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftwise._settings import Fixed
from driftwise._validate import Array, array, checked, number
from driftwise.domains import Simplex
from driftwise.errors import InputError

DEAREST = 0.5
"""Costs of a unit of trade must be below this: selling everything and buying something else would cost all there is."""

SETTLED = 1e-15
"""Change of what is left at which it counts as found."""


class Rule(Fixed):
    """A way to invest: shares of wealth before each round, and what the prices did, after it.

    One of your own is a subclass with these two methods.

    Examples
    --------
    All in the asset that did best in the last round:

    >>> import numpy as np
    >>> from driftwise.adapters.portfolio import Rule, backtest
    >>> class Chase(Rule):
    ...     best = 0
    ...
    ...     def act(self, holdings):
    ...         return np.eye(len(holdings))[self.best]
    ...
    ...     def observe(self, relatives):
    ...         self.best = int(np.argmax(relatives))
    >>> round(backtest(Chase(), [[2.0, 1.0], [0.5, 1.0]], cost=0.01).log_wealth, 3)
    -0.01
    """

    @abstractmethod
    def act(self, holdings: Array) -> ArrayLike:
        """Return the shares of wealth to go to.

        Parameters
        ----------
        holdings : array of shape (d,)
            Shares of wealth as they are, after prices have moved them.
        """

    @abstractmethod
    def observe(self, relatives: Array) -> None:
        """Take in a round.

        Parameters
        ----------
        relatives : array of shape (d,)
            Price at its end over price at its beginning, for every asset.
        """


@checked
def rebalance(holdings: ArrayLike, target: ArrayLike, cost: float) -> tuple[float, float]:
    """Return what part of the wealth is left after a trade, and what part of it was traded.

    Every unit of wealth that is bought or sold costs `cost`, and that is paid out of the portfolio, so that less is
    left to be spread: the part s that is left solves ``s = 1 - cost |s target - holdings|_1``, which has one solution.

    Parameters
    ----------
    holdings : array of shape (d,)
        Shares of wealth before the trade.
    target : array of shape (d,)
        Shares of what is left, after it.
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
    after = shares("rebalance", "target", target, before.size)
    left, traded = settle(before[None], after[None], read_cost("rebalance", cost))
    return float(left[0]), float(traded[0])


def settle(before: Array, after: Array, cost: float) -> tuple[Array, Array]:
    """Return what is left of wealth, and what was traded, of rows of shares and a cost that have been checked."""
    left = np.ones(len(before))
    while True:  # a contraction with factor `cost`
        traded = np.abs(left[:, None] * after - before).sum(axis=1)
        once_more = 1.0 - cost * traded
        if np.abs(once_more - left).max() <= SETTLED:
            return once_more, traded
        left = once_more


@dataclass(frozen=True)
class Backtest:
    """What became of one unit of wealth; made by `backtest`.

    Attributes
    ----------
    growth : array of shape (T,)
        Logarithm of what wealth was multiplied by in each round, trade and prices together.
    traded : array of shape (T,)
        Part of the wealth that was bought or sold at the beginning of each round.
    paid : array of shape (T,)
        Logarithm of what trading left of the wealth, with its sign reversed.
    weights : array of shape (T, d)
        Shares of wealth in each round, after the trade.

    Examples
    --------
    >>> from driftwise.adapters.portfolio import BuyAndHold, backtest
    >>> run = backtest(BuyAndHold(), [[2.0, 1.0], [2.0, 1.0]])
    >>> round(run.wealth, 4), run.turnover
    (2.5, 0.0)
    """

    growth: Array
    traded: Array
    paid: Array
    weights: Array

    @property
    def log_wealth(self) -> float:
        """Logarithm of the final wealth."""
        return float(self.growth.sum())

    @property
    def wealth(self) -> float:
        """What one unit of wealth has become."""
        return float(np.exp(self.log_wealth))

    @property
    def turnover(self) -> float:
        """Sum of the parts of wealth that were bought or sold."""
        return float(self.traded.sum())


@checked
def backtest(rule: Rule, relatives: ArrayLike, cost: float = 0.0, start: ArrayLike | None = None) -> Backtest:
    """Play a rule on price relatives, and account for its wealth exactly.

    Parameters
    ----------
    rule : Rule
        Who invests.
    relatives : array of shape (T, d)
        Price at the end of a round over price at its beginning, for every asset, above zero.
    cost : float, default 0.0
        Price of buying or selling one unit of wealth.
    start : array of shape (d,), optional
        Shares of wealth before the first trade; the same of each when left out.

    Examples
    --------
    Daily rebalancing gains where prices only wobble, until trade costs more than that:

    >>> import numpy as np
    >>> from driftwise.adapters.portfolio import Rebalanced, backtest
    >>> wobble = np.tile([[1.1, 1.0], [1 / 1.1, 1.0]], (50, 1))
    >>> [round(backtest(Rebalanced(), wobble, cost).log_wealth, 3) for cost in (0.0, 0.01, 0.05)]
    [0.114, 0.066, -0.122]
    """
    x = read_relatives("backtest", relatives)
    price, dim = read_cost("backtest", cost), x.shape[1]
    begin = np.full(dim, 1.0 / dim) if start is None else shares("backtest", "start", start, dim)
    weights, holdings = np.empty(x.shape), begin
    for t in range(len(x)):
        target = shares("backtest", f"what {type(rule).__name__}.act returns in round {t}", rule.act(holdings), dim)
        weights[t], holdings = target, target * x[t] / float(target @ x[t])
        rule.observe(x[t])
    return _account(weights, x, price, begin)


@checked
def account(weights: ArrayLike, relatives: ArrayLike, cost: float = 0.0, start: ArrayLike | None = None) -> Backtest:
    """Account for the wealth of decisions that have been made, as `backtest` does for those of a rule.

    Parameters
    ----------
    weights : array of shape (T, d)
        Shares of wealth in each round, after the trade.
    relatives : array of shape (T, d)
        Price at the end of a round over price at its beginning, for every asset, above zero.
    cost : float, default 0.0
        Price of buying or selling one unit of wealth.
    start : array of shape (d,), optional
        Shares of wealth before the first trade; the same of each when left out.

    Examples
    --------
    >>> from driftwise.adapters.portfolio import account
    >>> round(account([[1.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 3.0]]).wealth, 6)
    6.0
    """
    x = read_relatives("account", relatives)
    rows, dim = array("account", "weights", weights, x.shape, copy=True), x.shape[1]
    if not Simplex(dim).contains(rows):
        raise InputError("account: every row of weights must be shares of wealth, none negative and one in all.")
    begin = np.full(dim, 1.0 / dim) if start is None else shares("account", "start", start, dim)
    return _account(rows, x, read_cost("account", cost), begin)


def _account(weights: Array, x: Array, cost: float, start: Array) -> Backtest:
    """Return what became of one unit of wealth: what is held before a trade does not depend on what trades cost."""
    gained = np.einsum("td,td->t", x, weights)
    before = np.vstack([start, (weights * x / gained[:, None])[:-1]])
    left, traded = settle(before, weights, cost)
    return Backtest(np.log(left) + np.log(gained), traded, -np.log(left), weights)


def read_relatives(owner: str, given: ArrayLike) -> Array:
    """Return price relatives, checked."""
    x = array(owner, "relatives", given, ("rounds", "dim"))
    if not x.min() > 0.0:
        raise InputError(f"{owner}: relatives must be above zero, got {x.min():g} in round {int(x.min(1).argmin())}.")
    return x


def read_cost(owner: str, cost: float) -> float:
    """Return the price of a unit of trade, checked."""
    price = number(owner, "cost", cost, low=0.0)
    if price >= DEAREST:
        raise InputError(f"{owner}: cost is a share of what is traded, 0.001 for a tenth of a per cent; got {price:g}.")
    return price


def shares(owner: str, name: str, given: ArrayLike, dim: int | None = None) -> Array:
    """Return shares of wealth, checked, and in the simplex to the last digit."""
    weights = array(owner, name, given, ("dim" if dim is None else dim,), copy=True)
    simplex = Simplex(weights.size)
    if not simplex.contains(weights):
        raise InputError(
            f"{owner}: {name} must be shares of wealth, none negative and one in all, got "
            f"{np.array2string(weights, threshold=8, precision=4)}."
        )
    return weights if simplex.contains(weights, tol=0.0) else simplex.project(weights)
