"""Everyone on one universe of assets."""

import dataclasses

import numpy as np
import pytest

from driftwise.adapters.portfolio import best_constant
from driftwise.applications.data import Dataset, load
from driftwise.applications.portfolios import contest
from driftwise.applications.portfolios.contest import Universe, hold_universe, relatives_of


def short(rounds: int) -> Dataset:
    """Return the first days of four synthetic stocks."""
    data = load("synthetic-stocks")
    return dataclasses.replace(data, values=data.values[: rounds + 1, :4], columns=data.columns[:4])


@pytest.fixture(scope="module")
def universe() -> Universe:
    return hold_universe(short(150), [0.0, 0.01], lambda what: None)


def test_relatives_are_the_prices_growth() -> None:
    data = short(20)
    x = relatives_of(data)
    assert x.shape == (20, 4)
    np.testing.assert_allclose(np.cumprod(x, axis=0), data.values[1:] / data.values[0])


def test_doing_nothing_and_hindsight_end_where_arithmetic_says(universe: Universe) -> None:
    x = relatives_of(universe.data)
    final = np.prod(x, axis=0)
    for cost in universe.entries:
        assert universe.log_wealth(contest.HOLD, cost) == pytest.approx(np.log(final.mean()))
    assert universe.log_wealth(contest.UNIFORM, 0.0) == pytest.approx(np.log(x.mean(axis=1)).sum())
    assert universe.log_wealth(contest.BEST_ASSET, 0.0) == pytest.approx(np.log(final.max()))
    assert universe.log_wealth(contest.BEST_CONSTANT, 0.0) == pytest.approx(np.log(x @ best_constant(x)).sum())


def test_trades_are_paid_for_and_ranks_are_those_of_wealth(universe: Universe) -> None:
    free, dear = universe.entries.values()
    assert free[0].label == dear[0].label == contest.SELF_TUNED
    for entries in (free, dear):
        ends = [one.run.log_wealth for one in entries[1:]]
        assert ends == sorted(ends, reverse=True)
    for label in (contest.UNIFORM, contest.EG, contest.NEWTON, contest.BEST_CONSTANT):
        assert universe.log_wealth(label, 0.01) < universe.log_wealth(label, 0.0)
    assert all(one.run.paid.sum() == 0.0 for one in free)


def test_what_is_tuned_is_no_worse_than_the_default_and_says_its_setting(universe: Universe) -> None:
    pairs = {contest.TUNED_EG: contest.EG, contest.TUNED_NEWTON: contest.NEWTON}
    for cost, entries in universe.entries.items():
        for tuned, default in pairs.items():
            assert universe.log_wealth(tuned, cost) >= universe.log_wealth(default, cost)
        settings = {one.label: one.setting for one in entries if one.setting}
        assert settings.keys() == {*pairs, contest.BEST_ASSET, contest.BEST_CONSTANT}
        assert settings[contest.TUNED_EG].startswith("eta ")
        assert settings[contest.BEST_ASSET].startswith("stock ")
