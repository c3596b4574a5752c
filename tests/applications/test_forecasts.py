"""Forecast combination: units, and the simple forecasts of a series."""

import numpy as np
import pytest

from driftwise.applications.data import load
from driftwise.applications.forecasts import forecasts
from tests.applications.cases import case, short


def test_equal_weights_cost_one_a_round() -> None:
    played = case("forecasts")
    assert played.losses.policy_losses(played.rules["Equal weights"]).mean() == pytest.approx(1.0)
    single = played.losses.policy_losses(played.members["Only one"])
    table = short("synthetic-polls").values
    ratio = np.mean((table[:, 1] - table[:, 0]) ** 2) / np.mean((table[:, 1:].mean(axis=1) - table[:, 0]) ** 2)
    assert single.mean() == pytest.approx(ratio)


def test_a_series_of_its_own_gets_simple_forecasts() -> None:
    played = forecasts(load("synthetic-traffic"))
    assert played.domain.dim == 6
    assert len(played.losses) == 3000
    assert "same hour yesterday" in played.what
