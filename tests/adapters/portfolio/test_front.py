"""A portfolio by hand: the learner inside, its holdings, and its wealth."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.adapters.portfolio import Portfolio, backtest
from driftwise.errors import FrozenError, InputError, OrderError, ParameterError
from tests.adapters.portfolio.prices import relatives

X = relatives(60)


@pytest.mark.parametrize("equal_shares", [False, True])
def test_it_says_what_a_backtest_says(equal_shares: bool) -> None:
    one = Portfolio(4, cost=0.01, equal_shares=equal_shares)
    run = backtest(Portfolio(4, cost=0.01, equal_shares=equal_shares), X, cost=0.01)
    for x, w in zip(X, run.weights, strict=True):
        np.testing.assert_array_equal(one.act(), w)
        np.testing.assert_array_equal(one.act(), w)
        one.observe(x)
        np.testing.assert_allclose(one.holdings, w * x / (w @ x), rtol=1e-12)
    assert one.log_wealth == pytest.approx(run.log_wealth, rel=1e-9)
    assert one.turnover == pytest.approx(run.turnover, rel=1e-9)
    assert ("the same of each, follow" in one.learner.members) == equal_shares


def test_what_the_learner_is_charged_is_nearly_what_wealth_has_lost() -> None:
    one = Portfolio(4, cost=0.001)
    for x in X:
        one.act()
        one.observe(x)
    found = one.learner.certificate("stay")
    assert found.cost == pytest.approx(-one.log_wealth, abs=1e-4)  # a price is linear, wealth is not quite
    assert -found.pair_cost == pytest.approx(np.log(np.prod(X, axis=0).mean()))
    assert found.within
    assert found.cost <= found.pair_cost - np.log(0.9) + 1e-9  # nine tenths of its trust are in staying


@pytest.mark.parametrize("bad", [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0, np.nan], [1.0, 1.0, 1.0, 0.0], "up"])
def test_prices_that_are_none_change_nothing(bad: Any) -> None:
    one = Portfolio(["a", "b", "c", "d"], cost=0.01)
    one.act()
    one.observe(X[0])
    w = one.act()
    before, state = one.learner.to_bytes(), (one.holdings, one.log_wealth, one.turnover)
    with pytest.raises(InputError, match="relatives"):
        one.observe(bad)
    assert one.learner.to_bytes() == before
    assert state == (one.holdings, one.log_wealth, one.turnover)
    assert one.act() is w


def test_holdings_that_are_not_its_own_are_refused() -> None:
    one = Portfolio(4, cost=0.01)
    before = one.learner.to_bytes()
    for wrong, words in (([1.0, 0.0, 0.0, 0.0], "must be its own"), ([0.5, 0.5], "holdings"), ("all", "holdings")):
        with pytest.raises(InputError, match=words):
            one.act(wrong)
    assert one.learner.to_bytes() == before
    np.testing.assert_array_equal(one.act(one.holdings), one.act())
    start = [1.0, 0.0, 0.0, 0.0]
    with pytest.raises(InputError, match="give backtest the same start"):
        backtest(Portfolio(4, cost=0.01), X, 0.01, start=start)
    fits = Portfolio(4, cost=0.01, start=start)
    run = backtest(fits, X, 0.01, start=start)
    assert isinstance(run.rule, Portfolio)
    assert run.rule.log_wealth == pytest.approx(run.log_wealth, rel=1e-9)
    with pytest.raises(InputError, match="must be its own"):
        backtest(run.rule, X, 0.01, start=start)  # it has played, and holds something else by now
    assert backtest(run.rule, X, 0.01, start=run.rule.holdings).growth.size == 60


def test_order_and_settings() -> None:
    one = Portfolio(2)
    with pytest.raises(OrderError, match="call act"):
        one.observe([1.0, 1.0])
    with pytest.raises(FrozenError):
        one.cost = 0.1
    assert repr(one) == "Portfolio(2 assets, cost=0, round=0)"


def test_its_card_says_what_it_holds() -> None:
    one = Portfolio(["<gold>", "cash"], cost=0.001)
    assert "ready to act" in one._repr_html_()
    one.act()
    assert "waits for prices" in one._repr_html_()
    one.observe([3.0, 1.0])
    shown = one._repr_html_()
    assert "&lt;gold&gt;" in shown
    assert "75.0%" in shown
    assert f"{one.log_wealth:.6g}" in shown


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"assets": 1}, "at least two assets"),
        ({"assets": "AAPL"}, "must be a number or names"),
        ({"assets": ["a", 2]}, "assets"),
        ({"assets": 0}, "assets"),
        ({"assets": ["a", "a"]}, "'a' is there twice"),
        ({"assets": 2, "start": [0.5, 0.6]}, "start must be shares"),
        ({"assets": 2, "cost": -0.1}, "cost"),
        ({"assets": 2, "cost": 0.7}, "share of what is traded"),
    ],
)
def test_what_is_no_portfolio_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises((InputError, ParameterError), match=words):
        Portfolio(**given)


def test_it_goes_on_from_a_saved_learner() -> None:
    one = Portfolio(4, cost=0.01)
    for x in X[:20]:
        one.act()
        one.observe(x)
    again = dw.from_bytes(one.learner.to_bytes())
    for x in X[20:]:
        np.testing.assert_array_equal(again.act(), one.act())
        again.observe(dw.LogWealthLoss(x[None])[0], held=dw.Growth(x))
        one.observe(x)
