"""Prices and returns are told from relatives."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from driftwise.adapters.portfolio import (
    BuyAndHold,
    ExponentiatedGradient,
    OnlineNewton,
    Portfolio,
    Rebalanced,
    Rule,
    account,
    backtest,
    best_constant,
)
from driftwise.errors import InputError
from tests.adapters.portfolio.prices import relatives

X = relatives(60)
PRICES = np.cumprod(np.vstack([[90.0, 30.0, 12.0, 3.0], X]), axis=0)


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_prices_and_returns_are_refused_with_what_to_do(kind: Any) -> None:
    prices: Any = kind(PRICES)
    for ask in (
        lambda x: backtest(BuyAndHold(), x),
        lambda x: account(np.full(x.shape, 0.25), x),
        best_constant,
    ):
        with pytest.raises(InputError, match="If they are prices, give ") as found:
            ask(prices)
        ratio = str(found.value).split(", give ")[1].removesuffix(".")
        np.testing.assert_allclose(eval(ratio, {"prices": prices, "pl": pl}), X)  # what it says to do is right
        for returns in (X - 1.0, abs(X - 1.0), 100.0 * (X - 1.0)):
            with pytest.raises(InputError, match=r"If they are returns, give 1 \+ returns") as found:
                ask(kind(returns))


def test_a_round_of_prices_or_returns_is_refused() -> None:
    one = Portfolio(["a", "b"])
    one.act()
    before = one.learner.to_bytes()
    wrong: list[Any] = [[0.01, 0.02], [-0.01, 0.02], [101.0, 17.0], {"b": 0.01, "a": 0.0}]
    for bad in wrong:
        with pytest.raises(InputError, match=r"(returns|prices), give"):
            one.observe(bad)
    assert one.learner.to_bytes() == before
    for rule in (ExponentiatedGradient(), OnlineNewton()):
        rule.act(np.array([0.5, 0.5]))
        with pytest.raises(InputError, match="If they are prices"):
            rule.observe(np.array([101.0, 17.0]))


def test_a_crash_of_one_asset_and_a_bad_round_of_all_are_allowed() -> None:
    one = Portfolio(["a", "b"])
    for crash in ([0.001, 1.0], [1.0, 40.0], [0.3, 0.3]):
        one.act()
        one.observe(crash)
    assert one.log_wealth < 10.0
    x = X.copy()
    x[7] = 0.1  # within a table, also for rules that look at rounds
    x[8, 0] = 1e-6
    rules: list[Rule] = [BuyAndHold(), Rebalanced(), ExponentiatedGradient(), OnlineNewton(), Portfolio(4)]
    for rule in rules:
        run = backtest(rule, x)
        assert run.growth[7] == pytest.approx(np.log(0.1))
        assert isinstance(run.rule, Rule)
    assert isinstance(run.rule, Portfolio)
    run.rule.act()
    with pytest.raises(InputError, match="If they are returns"):  # by hand again
        run.rule.observe(x[7])
