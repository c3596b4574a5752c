"""Assets are matched by what they are called, wherever data say so."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from driftwise.adapters.portfolio import BuyAndHold, Portfolio, Rebalanced, Rule, account, backtest, rebalance
from driftwise.errors import InputError, ParameterError
from tests.adapters.portfolio.prices import relatives

X = relatives(40, 3)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
MIXED = FRAME[["c", "a", "b"]]
BACK = [1, 2, 0]
"""Where a, b and c are among the columns of MIXED."""


@pytest.mark.parametrize(
    "given",
    [
        pd.Series({"b": 1.0, "a": 2.0}),
        {"b": 1.0, "a": 2.0},
        pl.DataFrame({"b": [1.0], "a": [2.0]}),
        pd.DataFrame({"b": [1.0], "a": [2.0]}, index=["today"]),
        [2.0, 1.0],
        pd.Series([2.0, 1.0]),  # nobody has named these
    ],
    ids=["series", "dict", "polars", "frame", "list", "counted"],
)
def test_a_round_goes_by_name(given: Any) -> None:
    one = Portfolio(["a", "b"])
    one.act()
    one.observe(given)
    np.testing.assert_allclose(one.holdings, [2 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (pd.Series({"b": 1.0, "x": 2.0}), "lacks 'a' and has 'x', which is none of them"),
        ({"a": 1.0}, "lacks 'b'"),
        ({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, "has 'c', 'd', which are none of them"),
        (pd.Series([1.0, 2.0], index=["a", "a"]), "'a' is twice in relatives"),
        ({"a": 1.0, "b": "up"}, "relatives must be"),
        ({"a": 1.0, "b": float("nan")}, "relatives must be finite"),
        (pd.Series({"a": 1.0, "b": None}), "relatives must be finite"),
    ],
)
def test_other_assets_are_refused_and_change_nothing(given: Any, words: str) -> None:
    one = Portfolio(["a", "b"])
    one.act()
    before, held = one.learner.to_bytes(), one.holdings
    with pytest.raises(InputError, match=words):
        one.observe(given)
    assert one.learner.to_bytes() == before
    assert one.holdings is held


def test_a_portfolio_made_of_a_number_takes_names_by_position() -> None:
    one = Portfolio(2)
    one.act()
    one.observe({"b": 1.0, "a": 2.0})
    np.testing.assert_allclose(one.holdings, [1 / 3, 2 / 3])
    np.testing.assert_array_equal(backtest(Portfolio(3), MIXED).weights, backtest(Portfolio(3), MIXED.values).weights)


@pytest.mark.parametrize("kind", ["pandas", "polars", "dict"])
def test_a_backtest_of_a_portfolio_goes_by_name(kind: str) -> None:
    given: Any = {"pandas": MIXED, "polars": pl.from_pandas(MIXED), "dict": MIXED.to_dict("series")}[kind]
    start = [0.2, 0.3, 0.5]
    plain = backtest(Portfolio(["a", "b", "c"], cost=0.001, start=start), X, 0.001, start=start)
    rule = Portfolio(["a", "b", "c"], cost=0.001, start={"c": 0.5, "a": 0.2, "b": 0.3})
    run = backtest(rule, given, 0.001, start=pd.Series({"b": 0.3, "a": 0.2, "c": 0.5}))
    assert run.assets == ("c", "a", "b")  # weights are in the order of the relatives
    assert plain.assets == ("a", "b", "c")
    np.testing.assert_allclose(run.weights[:, BACK], plain.weights, rtol=1e-9)
    assert run.log_wealth == pytest.approx(plain.log_wealth, rel=1e-9)
    assert isinstance(run.rule, Portfolio)
    assert isinstance(plain.rule, Portfolio)
    np.testing.assert_allclose(run.rule.holdings, plain.rule.holdings, rtol=1e-9)  # its own are in its own
    assert account(run.weights, given, 0.001, start=[0.5, 0.2, 0.3]).log_wealth == pytest.approx(run.log_wealth)


def test_a_backtest_refuses_other_names() -> None:
    for names in (["x", "y", "z"], ["a", "b", "x"]):
        with pytest.raises(InputError, match="relatives must be of the assets"):
            backtest(Portfolio(names), FRAME)
    with pytest.raises(InputError, match="'a' is twice in relatives"):
        backtest(BuyAndHold(), FRAME.set_axis(["a", "b", "a"], axis=1))
    with pytest.raises(InputError, match="start must be of the assets"):
        backtest(BuyAndHold(), FRAME, start=pd.Series({"a": 0.5, "b": 0.2, "x": 0.3}))
    with pytest.raises(InputError, match="shape"):
        backtest(BuyAndHold(), {"a": [1.0, 1.0], "b": [1.0]})


class ByName(Rule):
    """Returns shares with names."""

    def act(self, holdings: Any) -> Any:
        return {"a": 0.2, "b": 0.3, "c": 0.5}

    def observe(self, relatives: Any) -> None:
        """Do nothing."""


def test_shares_with_names_go_by_name() -> None:
    named = {"a": 0.2, "b": 0.3, "c": 0.5}
    wanted = np.tile([0.5, 0.2, 0.3], (40, 1))
    for rule in (Rebalanced(pd.Series(named)), ByName()):
        np.testing.assert_array_equal(backtest(rule, MIXED).weights, wanted)
    np.testing.assert_allclose(backtest(BuyAndHold(named), MIXED).weights[0], wanted[0])
    np.testing.assert_array_equal(backtest(Rebalanced([0.5, 0.2, 0.3]), MIXED).weights, wanted)  # by position
    with pytest.raises(InputError, match="has 'a', which is none of them"):
        backtest(Rebalanced({"x": 0.2, "b": 0.3, "c": 0.5}), MIXED)
    weights = pd.DataFrame(np.random.default_rng(0).dirichlet(np.ones(3), 40), columns=["a", "b", "c"])
    run = account(weights, MIXED, 0.01)
    assert run.log_wealth == pytest.approx(account(weights.to_numpy(), X, 0.01).log_wealth)
    assert run.assets == ("c", "a", "b")
    assert account(weights, X).assets == ("a", "b", "c")
    assert rebalance({"a": 0.3, "b": 0.7}, {"b": 0.7, "a": 0.3}, 0.1) == (1.0, 0.0)
    with pytest.raises(InputError, match="target must be of the assets"):
        rebalance({"a": 0.3, "b": 0.7}, {"b": 0.7, "c": 0.3}, 0.1)


def test_names_come_from_whatever_has_them() -> None:
    for names in (FRAME.columns, np.array(["a", "b", "c"]), pl.from_pandas(FRAME).columns, ("a", "b", "c")):
        assert Portfolio(names).assets == ("a", "b", "c")
    numbers = FRAME.set_axis([10107, 14593, 3], axis=1)
    one = Portfolio(numbers.columns)
    assert one.assets == ("10107", "14593", "3")
    run = backtest(one, numbers.iloc[:, ::-1])
    np.testing.assert_allclose(run.weights[:, ::-1], backtest(one, X).weights, rtol=1e-9)


def test_columns_that_only_count_are_matched_where_a_portfolio_has_the_same() -> None:
    frame = pd.DataFrame(X)
    run = backtest(Portfolio(frame.columns[::-1]), frame)
    assert run.assets == ("0", "1", "2")
    assert isinstance(run.rule, Portfolio)
    np.testing.assert_allclose(
        run.rule.holdings[::-1], backtest(Portfolio(3), X).weights[-1] * X[-1] / run.weights[-1].dot(X[-1])
    )
    assert backtest(Portfolio(["a", "b", "c"]), frame).assets == ("a", "b", "c")


@pytest.mark.parametrize(
    "assets",
    [["a", "a"], pd.Index(["a", "b", "a"]), pd.Index([1, "1"]), {"a", "b"}, {"a": 1, "b": 2}, b"ab", FRAME, None],
)
def test_what_are_no_names_is_refused(assets: Any) -> None:
    with pytest.raises(ParameterError, match="assets"):
        Portfolio(assets)
