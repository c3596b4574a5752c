"""The rules of the field, against their formulas."""

from typing import Any

import numpy as np
import pytest

from driftwise.adapters.portfolio import (
    BuyAndHold,
    ExponentiatedGradient,
    OnlineNewton,
    Rebalanced,
    Rule,
    backtest,
    best_constant,
)
from driftwise.errors import InputError, OrderError, ParameterError
from tests.adapters.portfolio.prices import relatives

X = relatives(80)
HALF = np.array([0.5, 0.5])


def test_buy_and_hold_ends_with_the_mean_of_its_assets() -> None:
    run = backtest(BuyAndHold(), X, cost=0.1)
    assert run.wealth == pytest.approx(np.prod(X, axis=0).mean())
    assert run.turnover == pytest.approx(0.0, abs=1e-12)
    first = np.array([0.7, 0.1, 0.1, 0.1])
    run = backtest(BuyAndHold(first), X, cost=0.1)
    assert run.traded[0] > 0.8
    assert run.turnover == pytest.approx(run.traded[0])
    assert np.exp(run.growth.sum() + run.paid[0]) == pytest.approx(first @ np.prod(X, axis=0))


def test_rebalancing_keeps_its_shares() -> None:
    w = np.array([0.1, 0.2, 0.3, 0.4])
    run = backtest(Rebalanced(w), X)
    assert run.log_wealth == pytest.approx(np.log(X @ w).sum())
    np.testing.assert_array_equal(run.weights, np.tile(w, (80, 1)))


@pytest.mark.parametrize("eta", [0.05, 2.0])
def test_exponentiated_gradient_is_the_update_of_the_paper(eta: float) -> None:
    w = np.full(4, 0.25)
    for row, x in zip(backtest(ExponentiatedGradient(eta), X).weights, X, strict=True):
        np.testing.assert_allclose(row, w, rtol=1e-12)
        w = w * np.exp(eta * x / (w @ x))
        w = w / w.sum()


def test_huge_steps_stay_in_the_simplex() -> None:
    run = backtest(ExponentiatedGradient(1e5), X)
    assert np.isfinite(run.log_wealth)


def test_no_constant_shares_end_above_the_best() -> None:
    best = best_constant(X)
    top = backtest(Rebalanced(best), X).log_wealth
    for w in np.random.default_rng(0).dirichlet(np.ones(4), 200):
        assert np.log(X @ w).sum() <= top + 1e-9
    # Cover's condition: no asset's mean of x_i / <w, x> is above 1, and those that are held have 1.
    means = (X / (X @ best)[:, None]).mean(axis=0)
    assert means.max() <= 1.0 + 1e-5
    np.testing.assert_allclose(means[best > 1e-3], 1.0, atol=1e-5)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ParameterError, match="eta"):
        ExponentiatedGradient(-1.0)
    for rule in (BuyAndHold, Rebalanced):
        with pytest.raises(InputError, match="weights must be shares"):
            rule([0.5, 0.4])


@pytest.mark.parametrize(
    "rule", [BuyAndHold(HALF), Rebalanced(), Rebalanced(HALF), ExponentiatedGradient(), OnlineNewton()]
)
def test_what_a_rule_returns_is_nothing_of_its_own(rule: Any) -> None:
    given = rule.act(HALF.copy())
    given[:] = [1.0, 0.0]
    np.testing.assert_array_equal(rule.act(HALF.copy()), HALF)


@pytest.mark.parametrize("rule", [BuyAndHold(HALF), ExponentiatedGradient(), OnlineNewton()])
def test_shares_come_before_prices(rule: Rule) -> None:
    with pytest.raises(OrderError, match=rf"{type(rule).__name__}: observe was called before act"):
        rule.observe(np.ones(2))
    np.testing.assert_array_equal(rule.act(np.array([1.0, 0.0])), HALF)


@pytest.mark.parametrize("rule", [ExponentiatedGradient(0.5), OnlineNewton()])
@pytest.mark.parametrize("bad", [[1.0], [1.0, np.nan], [1.0, 0.0], "up"])
def test_prices_that_are_none_change_nothing(rule: Rule, bad: Any) -> None:
    rule.act(HALF)
    rule.observe(np.array([1.2, 1.0]))
    before = rule.act(HALF)
    with pytest.raises(InputError, match="relatives"):
        rule.observe(bad)
    np.testing.assert_array_equal(rule.act(HALF), before)
