"""The set-point: the costs are what the problem says they are."""

import pytest

from tests.applications.cases import case, short


def test_energy_costs_power_that_is_used_and_product_that_is_bought() -> None:
    played, data = case("energy"), short("synthetic-prices")
    prices = data.values[:, 0] / data.values[:, 0].mean()
    levels = played.rules["Window rule, default"]
    costs = prices * levels[:, 0] + (1.0 - levels[:, 0])
    assert played.losses.policy_losses(levels) + played.constant == pytest.approx(costs)
