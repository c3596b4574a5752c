"""Right-sizing: the costs are what the problem says they are."""

import numpy as np
import pytest

from tests.applications.cases import case, short


def test_capacity_costs_what_is_kept_and_five_times_what_is_short() -> None:
    played, data = case("capacity"), short("synthetic-traffic")
    demand = data.values[:, 0] / data.values[:, 0].mean()
    levels = played.rules["Last value"]
    costs = levels[:, 0] + 5.0 * np.maximum(demand - levels[:, 0], 0.0)
    assert played.losses.policy_losses(levels) == pytest.approx(costs)
    assert played.gradient_bound == pytest.approx(played.losses.gradient_bound(played.domain))
