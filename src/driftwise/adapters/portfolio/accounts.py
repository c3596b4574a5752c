"""A whole run of trades: wealth, exactly, of a rule or of decisions that have been made."""

import copy
import math

import numpy as np

from driftwise._frames.given import Labels
from driftwise._validate import Array, Indices, checked, instance, number
from driftwise.adapters.portfolio.names import Names, PerAsset, agreed, names_in, order_of, read_table, rows_of
from driftwise.adapters.portfolio.outcome import Backtest
from driftwise.adapters.portfolio.relatives import looked_at, read_relatives
from driftwise.adapters.portfolio.rule import Rule
from driftwise.adapters.portfolio.trades import moved, read_cost, settle, shares
from driftwise.domains import Simplex
from driftwise.errors import InputError, ParameterError


@checked
def backtest(rule: Rule, relatives: PerAsset, cost: float = 0.0, start: PerAsset | None = None) -> Backtest:
    """Play a rule on price relatives, and account for its wealth exactly.

    A copy of the rule plays, and is the `rule` of what is returned. So the same call gives the same result again.

    Parameters
    ----------
    rule : Rule
        Who invests. It stays as it is, and goes on from there if it has played before.
    relatives : array of shape (T, d)
        Price at the end of a round over price at its beginning, for every asset, above zero. Of a pandas or polars
        frame, or of a dict of columns, a `Portfolio` with names takes each asset by name; any other rule takes them in
        the order of the columns. More than half of them above 5, or below 0.2, are refused: those are prices or
        returns.
    cost : float, default 0.0
        Price of buying or selling one unit of wealth. A rule with a `cost` of its own needs the same here.
    start : array of shape (d,), optional
        Shares of wealth before the first trade; the same of each when left out. A rule that has holdings of its own,
        such as `Portfolio`, needs the same here. By name where it and the relatives have names.

    Examples
    --------
    Daily rebalancing gains where prices only wobble, until trade costs more than that:

    >>> import numpy as np
    >>> from driftwise.adapters.portfolio import Rebalanced, backtest
    >>> wobble = np.tile([[1.1, 1.0], [1 / 1.1, 1.0]], (50, 1))
    >>> [round(backtest(Rebalanced(), wobble, cost).log_wealth, 3) for cost in (0.0, 0.01, 0.05)]
    [0.114, 0.066, -0.122]
    """
    if isinstance(rule, type):
        raise ParameterError(f"backtest: rule must be a Rule, and {rule.__name__} is a class; give {rule.__name__}().")
    who = _copied(instance("backtest", "rule", rule, Rule, "BuyAndHold()"))
    x, found = read_relatives("backtest", relatives), names_in("backtest", "relatives", relatives)
    index, own = rows_of("backtest", relatives=relatives), who._names
    price, dim = read_cost("backtest", cost), x.shape[1]
    _agree(who, price)
    order = order_of("backtest", "relatives", found, own)
    aligned = found is not None and own is not None and set(found.names) == set(own)
    known = found.names if found is not None and (aligned or not found.counted) else own
    begin = _start("backtest", start, dim, known)
    with looked_at():
        weights = _played(who, x, begin, order, own or known)
    return _account("backtest", weights, x, price, begin, known, index, who)


def _played(who: Rule, x: Array, begin: Array, order: Indices | None, names: Names | None) -> Array:
    """Return what a rule decides, in the order of the relatives, told everything in the order of its own names."""
    weights, holdings = np.empty(x.shape), begin
    there = slice(None) if order is None else order
    for t in range(len(x)):  # a rule may do what it likes with what it is given
        given = who.act(holdings[there].copy())
        what = f"what {type(who).__name__}.act returns in round {t}"
        weights[t, there] = shares("backtest", what, given, x.shape[1], names)
        holdings = moved("backtest", weights[t : t + 1], x[t : t + 1], t)[1][0]
        who.observe(x[t, there].copy())
    return weights


def _start(owner: str, start: PerAsset | None, dim: int, names: Names | None) -> Array:
    return np.full(dim, 1.0 / dim) if start is None else shares(owner, "start", start, dim, names)


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
def account(weights: PerAsset, relatives: PerAsset, cost: float = 0.0, start: PerAsset | None = None) -> Backtest:
    """Account for the wealth of decisions that have been made, as `backtest` does for those of a rule.

    Parameters
    ----------
    weights : array of shape (T, d)
        Shares of wealth in each round, after the trade; by name where they and the relatives have names.
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
    x, names = read_relatives("account", relatives), agreed("account", "relatives", relatives)
    rows, theirs = read_table("account", "weights", weights), names_in("account", "weights", weights)
    if rows.shape != x.shape:
        raise InputError(f"account: weights must have the shape {x.shape} of relatives, got {rows.shape}.")
    dim = x.shape[1]
    if (order := order_of("account", "weights", theirs, names)) is not None:
        rows = np.ascontiguousarray(rows[:, order])
    names = agreed("account", "weights", weights) if names is None else names
    index = rows_of("account", relatives=relatives, weights=weights)
    if not Simplex(dim).contains(rows):
        raise InputError("account: every row of weights must be shares of wealth, none negative and one in all.")
    begin = _start("account", start, dim, names)
    return _account("account", rows, x, read_cost("account", cost), begin, names, index)


def _account(
    owner: str,
    weights: Array,
    x: Array,
    cost: float,
    start: Array,
    assets: Names | None,
    index: Labels,
    rule: Rule | None = None,
) -> Backtest:
    """Return what became of one unit of wealth: what is held before a trade does not depend on what trades cost."""
    gained, after = moved(owner, weights, x)
    left, traded = settle(np.vstack([start, after[:-1]]), weights, cost)
    run = Backtest(np.log(left) + np.log(gained), traded, 0.0 - np.log(left), weights, rule, assets or ())
    vars(run)["_index"] = index
    return run
