"""Right-sizing: the costs are what the problem says they are."""

import dataclasses

import numpy as np
import pytest

from driftwise.applications.capacity import capacity
from tests.applications.cases import case, short


def test_forecasts_are_what_was_seen_a_season_ago_with_headroom() -> None:
    played, data = case("capacity"), short("synthetic-traffic")
    demand = data.values[:, 0] / data.values[:, 0].mean()
    assert list(played.forecasts) == ["Same hour yesterday + 10 %", "Same hour a week ago + 10 %"]
    for rows, rounds in zip(played.forecasts.values(), (24, 168), strict=True):
        assert np.isnan(rows[:rounds]).all()
        assert rows[rounds:, 0] == pytest.approx(np.minimum(1.1 * demand[:-rounds], 3.0))
    days = capacity(dataclasses.replace(data, step="day"))
    assert list(days.forecasts) == ["Same day a week ago + 10 %"]


def test_capacity_costs_what_is_kept_and_five_times_what_is_short() -> None:
    played, data = case("capacity"), short("synthetic-traffic")
    demand = data.values[:, 0] / data.values[:, 0].mean()
    levels = played.rules["Last value"]
    costs = levels[:, 0] + 5.0 * np.maximum(demand - levels[:, 0], 0.0)
    assert played.losses.policy_losses(levels) == pytest.approx(costs)
    assert played.gradient_bound == pytest.approx(played.losses.gradient_bound(played.domain))
