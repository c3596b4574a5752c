"""What a run of trades is shown as, and the tables made of it."""

import copy
import json

import numpy as np
import pandas as pd
import pytest

from driftwise.adapters.portfolio import BuyAndHold, Portfolio, Rebalanced, account, backtest
from driftwise.errors import InputError
from tests.adapters.portfolio.prices import relatives

DAYS = pd.date_range("2024-03-01", periods=30, freq="B", name="day")
FRAME = pd.DataFrame(relatives(30, 2), index=DAYS, columns=["gold", "cash"])


def test_it_is_short_in_words() -> None:
    run = backtest(Rebalanced(), FRAME, 0.001)
    assert repr(run) == f"Backtest(Rebalanced, rounds=30, assets=2, log_wealth={run.log_wealth:.6g})"
    assert repr(account(run.weights, FRAME)).startswith("Backtest(rounds=30, assets=2, log_wealth=")
    assert repr(copy.deepcopy(run)) == repr(run)


def test_its_table_has_the_dates_and_the_names() -> None:
    run = backtest(Portfolio(["cash", "gold"], cost=0.001), FRAME, 0.001)
    frame = run.to_pandas()
    pd.testing.assert_index_equal(frame.index, DAYS, exact="equiv")
    assert list(frame) == ["round", "growth", "traded", "paid", "w_gold", "w_cash"]
    np.testing.assert_array_equal(frame[["w_gold", "w_cash"]], run.weights)
    np.testing.assert_array_equal(frame["growth"], run.growth)
    assert json.loads(frame.attrs["driftwise"])["assets"] == ["gold", "cash"]
    other = run.to_polars()
    assert other.columns[0] == "day"
    np.testing.assert_array_equal(other["w_cash"].to_numpy(), run.weights[:, 1])
    again = account(pd.DataFrame(run.weights, DAYS, run.assets), FRAME.to_numpy())
    pd.testing.assert_index_equal(again.index, DAYS)
    assert backtest(BuyAndHold(), FRAME.to_numpy()).index is None
    assert list(backtest(BuyAndHold(), FRAME.to_numpy()).to_pandas())[-2:] == ["w_0", "w_1"]


def test_dates_of_a_dict_of_series_are_kept_too() -> None:
    run = backtest(BuyAndHold(), {name: FRAME[name] for name in FRAME})
    pd.testing.assert_index_equal(run.index, DAYS)
    np.testing.assert_array_equal(run.weights, backtest(BuyAndHold(), FRAME).weights)
    with pytest.raises(InputError, match="different indexes"):
        backtest(BuyAndHold(), {"gold": FRAME["gold"], "cash": FRAME["cash"].shift(freq="B")})


def test_time_does_not_go_backwards() -> None:
    with pytest.raises(InputError, match="time goes backwards in the index of relatives"):
        backtest(BuyAndHold(), FRAME[::-1])
    with pytest.raises(InputError, match="different indexes"):
        account(pd.DataFrame(np.full((30, 2), 0.5), DAYS.shift(1), ["gold", "cash"]), FRAME)


def test_its_card_says_how_it_ended() -> None:
    run = backtest(Rebalanced([0.25, 0.75]), FRAME, 0.001)
    shown = run._repr_html_()
    for words in (
        "Backtest of Rebalanced",
        "30 rounds, from 2024-03-01 to 2024-04-11",
        "75.0%",
        f"{run.log_wealth:.6g}",
    ):
        assert words in shown
    assert "<svg" in shown
