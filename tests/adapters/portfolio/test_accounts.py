"""Wealth, counted by hand and by the package."""

from typing import Any

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.adapters.portfolio import BuyAndHold, Rebalanced, Rule, account, backtest, rebalance
from driftwise.errors import InputError, ParameterError
from tests.adapters.portfolio.prices import relatives

HALF = np.array([0.5, 0.5])


@pytest.mark.parametrize("cost", [0.0, 0.001, 0.1, 0.49])
def test_what_is_left_pays_for_the_trade_to_the_last_digit(cost: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        before, after = rng.dirichlet(np.ones(5), 2)
        left, traded = rebalance(before, after, cost)
        assert left == pytest.approx(1.0 - cost * np.abs(left * after - before).sum(), abs=1e-14)
        assert traded == pytest.approx(np.abs(left * after - before).sum(), abs=1e-12)
        assert left <= 1.0


def test_a_trade_of_everything_has_a_formula() -> None:
    # 1 is sold, s is bought: s = 1 - c (1 + s)
    left, traded = rebalance([1.0, 0.0], [0.0, 1.0], cost=0.1)
    assert left == pytest.approx(0.9 / 1.1)
    assert traded == pytest.approx(1.0 + left)


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
