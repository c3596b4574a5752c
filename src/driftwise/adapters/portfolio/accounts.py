"""A whole run of trades: wealth, exactly, of a rule or of decisions that have been made."""

import copy
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, checked, instance, number
from driftwise.adapters.portfolio.rule import Rule
from driftwise.adapters.portfolio.trades import moved, read_cost, read_relatives, settle, shares
from driftwise.domains import Simplex
from driftwise.errors import InputError, ParameterError


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
    rule : Rule or None
        The copy of the rule that has played, as it is at the end; None where decisions were given.

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
    rule: Rule | None = None

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

    A copy of the rule plays, and is the `rule` of what is returned. So the same call gives the same result again.

    Parameters
    ----------
    rule : Rule
        Who invests. It stays as it is, and goes on from there if it has played before.
    relatives : array of shape (T, d)
        Price at the end of a round over price at its beginning, for every asset, above zero.
    cost : float, default 0.0
        Price of buying or selling one unit of wealth. A rule with a `cost` of its own needs the same here.
    start : array of shape (d,), optional
        Shares of wealth before the first trade; the same of each when left out. A rule that has holdings of its own,
        such as `Portfolio`, needs the same here.

    Examples
    --------
    Daily rebalancing gains where prices only wobble, until trade costs more than that:

    >>> import numpy as np
    >>> from driftwise.adapters.portfolio import Rebalanced, backtest
    >>> wobble = np.tile([[1.1, 1.0], [1 / 1.1, 1.0]], (50, 1))
    >>> [round(backtest(Rebalanced(), wobble, cost).log_wealth, 3) for cost in (0.0, 0.01, 0.05)]
    [0.114, 0.066, -0.122]
    """
    who = _copied(instance("backtest", "rule", rule, Rule, "BuyAndHold()"))
    x = read_relatives("backtest", relatives)
    price, dim = read_cost("backtest", cost), x.shape[1]
    _agree(who, price)
    begin = np.full(dim, 1.0 / dim) if start is None else shares("backtest", "start", start, dim)
    weights, holdings = np.empty(x.shape), begin
    for t in range(len(x)):  # a rule may do what it likes with what it is given
        given = who.act(holdings.copy())
        weights[t] = shares("backtest", f"what {type(rule).__name__}.act returns in round {t}", given, dim)
        holdings = moved("backtest", weights[t : t + 1], x[t : t + 1], t)[1][0]
        who.observe(x[t].copy())
    return _account("backtest", weights, x, price, begin, who)


def _copied(rule: Rule) -> Rule:
    try:
        return copy.deepcopy(rule)
    except TypeError as error:
        kind = type(rule).__name__
        raise ParameterError(
            f"backtest: a copy of the rule plays, and {kind} cannot be copied ({error}); give it a __deepcopy__."
        ) from error


def _agree(rule: Rule, cost: float) -> None:
    """Raise if a rule counts on another cost."""
    own, kind = getattr(rule, "cost", None), type(rule).__name__
    if own is not None and not math.isclose(number("backtest", f"the cost of {kind}", own), cost, rel_tol=1e-9):
        raise InputError(
            f"backtest: {kind} counts on a cost of {own:g}, and cost is {cost:g}; give both the same, or account for "
            "its decisions at another one by account(run.weights, relatives, cost)."
        )


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
    return _account("account", rows, x, read_cost("account", cost), begin)


def _account(owner: str, weights: Array, x: Array, cost: float, start: Array, rule: Rule | None = None) -> Backtest:
    """Return what became of one unit of wealth: what is held before a trade does not depend on what trades cost."""
    gained, after = moved(owner, weights, x)
    left, traded = settle(np.vstack([start, after[:-1]]), weights, cost)
    return Backtest(np.log(left) + np.log(gained), traded, -np.log(left), weights, rule)
