"""Wealth, counted by hand and by the package."""

import threading
from typing import Any

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.adapters.portfolio import (
    BuyAndHold,
    ExponentiatedGradient,
    OnlineNewton,
    Portfolio,
    Rebalanced,
    Rule,
    account,
    backtest,
    rebalance,
)
from driftwise.errors import InputError, ParameterError
from tests.adapters.portfolio.prices import relatives

HALF = np.array([0.5, 0.5])


def test_a_run_is_what_a_ledger_in_money_says() -> None:
    x, cost = relatives(60), 0.01
    targets = np.random.default_rng(1).dirichlet(np.ones(4), 60)
    money = np.full(4, 0.25)  # of each asset
    wealth = []
    for row, target in zip(x, targets, strict=True):
        before, low, high = money.sum(), 0.0, 1.0
        for _ in range(100):  # what is left, by bisection
            left = 0.5 * (low + high)
            paid = cost * np.abs(left * before * target - money).sum()
            low, high = (left, high) if left * before + paid < before else (low, left)
        money = low * before * target * row
        wealth.append(money.sum())
    run = account(targets, x, cost)
    np.testing.assert_allclose(np.exp(np.cumsum(run.growth)), wealth, rtol=1e-12)
    assert run.wealth == pytest.approx(wealth[-1])
    assert run.log_wealth == pytest.approx(np.log(wealth[-1]))
    free = account(targets, x)
    assert free.log_wealth - run.log_wealth == pytest.approx(run.paid.sum())
    assert free.paid.sum() == 0.0


def test_a_backtest_is_the_account_of_its_decisions() -> None:
    x = relatives(30)
    run = backtest(Rebalanced(), x, 0.01, start=[1.0, 0.0, 0.0, 0.0])
    again = account(run.weights, x, 0.01, start=[1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(run.growth, again.growth)
    assert run.traded[0] == pytest.approx(1.5, abs=0.02)
    assert run.turnover == again.turnover > run.traded[0]


def test_the_same_prices_for_all_change_nothing() -> None:
    run = backtest(Rebalanced(), np.full((5, 3), 1.1), cost=0.1)
    assert run.turnover == pytest.approx(0.0, abs=1e-15)
    assert run.wealth == pytest.approx(1.1**5)


class Wrong(Rule):
    """Returns what it is made with."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def act(self, holdings: Array) -> Any:
        return self.given

    def observe(self, relatives: Array) -> None:
        raise AssertionError("its decision should have been refused")


@pytest.mark.parametrize("given", [[0.5, 0.6], [1.5, -0.5], [np.nan, 1.0], [1.0], "all"])
def test_what_are_no_shares_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match=r"what Wrong\.act returns in round 0"):
        backtest(Wrong(given), np.ones((3, 2)))
    with pytest.raises(InputError, match="target"):
        rebalance(HALF, given, 0.01)
    with pytest.raises(InputError, match="start"):
        backtest(BuyAndHold(), np.ones((3, 2)), start=given)
    with pytest.raises(InputError, match="weights"):
        account([[0.5, 0.5], [0.5, 0.6]], np.ones((2, 2)))


@pytest.mark.parametrize("cost", [0.5, 1.0, 5.0])
def test_a_cost_is_a_share_of_what_is_traded(cost: float) -> None:
    for ask in (lambda: rebalance(HALF, HALF, cost), lambda: backtest(BuyAndHold(), np.ones((3, 2)), cost)):
        with pytest.raises(InputError, match="cost is a share of what is traded"):
            ask()
    with pytest.raises(ParameterError, match="cost"):
        rebalance(HALF, HALF, -0.1)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan])
def test_relatives_are_above_zero(bad: float) -> None:
    x = np.ones((4, 2))
    x[2, 1] = bad
    with pytest.raises(InputError, match="relatives"):
        backtest(BuyAndHold(), x)
    with pytest.raises(InputError, match="relatives"):
        account(np.full((4, 2), 0.5), x)


class First(Rule):
    """All in the first asset."""

    def act(self, holdings: Array) -> Array:
        return np.asarray(np.eye(len(holdings))[0])

    def observe(self, relatives: Array) -> None:
        """Do nothing."""


class Careless(First):
    """The same, written over what it is given."""

    def act(self, holdings: Array) -> Array:
        holdings[:] = super().act(holdings)
        return holdings

    def observe(self, relatives: Array) -> None:
        relatives -= 1.0


def test_a_rule_may_write_over_what_it_is_given() -> None:
    x = relatives(20)
    given, start = x.copy(), np.array([0.0, 0.0, 0.5, 0.5])
    clean, careless = backtest(First(), x, 0.1, start), backtest(Careless(), given, 0.1, start)
    np.testing.assert_array_equal(careless.growth, clean.growth)
    np.testing.assert_array_equal(careless.traded, clean.traded)
    assert careless.traded[0] > 1.8  # the first trade is paid for, too
    np.testing.assert_array_equal(given, x)
    np.testing.assert_array_equal(start, [0.0, 0.0, 0.5, 0.5])


class Keeper(First):
    """Keeps what it is shown."""

    def __init__(self) -> None:
        self.shown: list[Array] = []

    def act(self, holdings: Array) -> Array:
        self.shown.append(holdings)
        return np.full(len(holdings), 1.0 / len(holdings))


def test_a_rule_is_shown_the_holdings_that_are_accounted_for() -> None:
    x = relatives(20)
    run = backtest(Keeper(), x, 0.01)
    assert isinstance(run.rule, Keeper)
    traded = [rebalance(before, after, 0.01)[1] for before, after in zip(run.rule.shown, run.weights, strict=True)]
    np.testing.assert_allclose(run.traded, traded, atol=1e-15)
    np.testing.assert_allclose(run.rule.shown[5], run.weights[4] * x[4] / (run.weights[4] @ x[4]), rtol=1e-14)


@pytest.mark.parametrize(
    "rule",
    [BuyAndHold([0.7, 0.1, 0.1, 0.1]), ExponentiatedGradient(0.5), OnlineNewton(), Portfolio(4, cost=0.01), Keeper()],
)
def test_the_same_call_gives_the_same_result_again(rule: Rule) -> None:
    x = relatives(30)
    one, two = backtest(rule, x, 0.01), backtest(rule, x, 0.01)
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.growth, two.growth)
    assert one.rule is not two.rule
    assert one.rule is not rule


def test_the_rule_that_has_played_can_be_read() -> None:
    one = Portfolio(4, cost=0.01)
    run = backtest(one, relatives(30), 0.01)
    assert isinstance(run.rule, Portfolio)
    assert (one.learner.round, run.rule.learner.round) == (0, 30)
    assert run.rule.log_wealth == pytest.approx(run.log_wealth, rel=1e-9)
    assert not run.rule.holdings.flags.writeable
    assert account(run.weights, relatives(30)).rule is None


class Locked(First):
    """Cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


def test_what_cannot_play_is_refused() -> None:
    with pytest.raises(ParameterError, match="Locked cannot be copied"):
        backtest(Locked(), np.ones((3, 2)))
    with pytest.raises(ParameterError, match=r"rule must be a Rule, and BuyAndHold is a class; give BuyAndHold\(\)"):
        backtest(BuyAndHold, np.ones((3, 2)))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="rule must be a Rule, such as"):
        backtest("hold", np.ones((3, 2)))  # type: ignore[arg-type]


class Dear(First):
    """Counts on a cost."""

    def __init__(self, cost: Any) -> None:
        self.cost = cost


def test_a_rule_that_counts_on_another_cost_is_refused() -> None:
    x = relatives(10)
    assert backtest(Dear(0.1 + 0.2 - 0.2), x, 0.1).growth.size == 10  # but for rounding
    assert backtest(Dear(None), x, 0.1).growth.size == 10
    for rule in (Dear(0.2), Portfolio(4), Portfolio(4, cost=0.01)):
        with pytest.raises(InputError, match=r"counts on a cost of .*, and cost is 0\.1"):
            backtest(rule, x, 0.1)
    with pytest.raises(ParameterError, match="the cost of Dear"):
        backtest(Dear("much"), x, 0.1)


def test_a_round_that_leaves_nothing_is_refused() -> None:
    x = np.ones((4, 2))
    x[2] = 5e-324  # half of it is zero
    with pytest.raises(InputError, match="those of round 2 multiply it by 0"):
        account(np.full((4, 2), 0.5), x, cost=0.1)
    with pytest.raises(InputError, match="those of round 2 multiply it by 0"):
        backtest(Rebalanced(), x, cost=0.1)
    x[2] = 1e-300
    assert account(np.full((4, 2), 0.5), x, cost=0.1).log_wealth == pytest.approx(np.log(1e-300))
