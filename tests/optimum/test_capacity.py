"""The best fixed capacity: no capacity on a fine grid costs less."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.optimum import bundle
from driftwise.regret import best_fixed, best_piecewise
from tests.regret.problems import DIM, DOMAINS, built_in, cheapest_held, held

RNG = np.random.default_rng(8)


@pytest.mark.parametrize("price", [0.0, 0.5, 1.0, 1.7, 5.0, 9.0])
@pytest.mark.parametrize("rounds", [1, 2, 5, 40])
def test_no_capacity_on_a_grid_costs_less(rounds: int, price: float) -> None:
    losses, box = dw.CapacityLoss(RNG.uniform(-1.0, 12.0, (rounds, 1)), 5.0, price), dw.Box([1.0], [10.0])
    fixed = best_fixed(losses, box)
    assert box.contains(fixed)
    candidates = np.concatenate([np.linspace(1.0, 10.0, 200), np.clip(losses.data.features[:, 0], 1.0, 10.0)])
    least = min(held(losses, np.array([w])).sum() for w in candidates)
    assert held(losses, fixed).sum() == pytest.approx(least, rel=1e-12)


def test_every_coordinate_has_its_own_quantile() -> None:
    demands = np.tile(np.arange(1.0, 11.0)[:, None], (1, 4))
    losses = dw.CapacityLoss(RNG.permuted(demands, axis=0), [5.0, 2.0, 0.5, 0.0], [1.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(best_fixed(losses, dw.Box(np.zeros(4), np.full(4, 20.0))), [8.0, 5.0, 0.0, 0.0])
    np.testing.assert_array_equal(best_fixed(losses, dw.Box(np.full(4, 2.0), np.full(4, 6.0))), [6.0, 5.0, 2.0, 2.0])


@pytest.mark.parametrize("name", ["ball", "simplex", "product", "box"])
def test_other_domains_are_solved_by_the_bundle_method(name: str) -> None:
    losses, domain = built_in("capacity", 30), DOMAINS[name]
    found = held(losses, best_fixed(losses, domain)).sum()
    assert found == pytest.approx(cheapest_held(losses, domain), rel=1e-6)
    assert held(losses, bundle.minimise("me", losses, domain)).sum() == pytest.approx(found, rel=1e-6)


def test_segments_have_quantiles_of_their_own() -> None:
    losses, box = built_in("capacity", 30), dw.Box(np.full(DIM, -1.0), np.ones(DIM))
    rows = best_piecewise(losses, box, segments=[0, 12])
    part = dw.CapacityLoss(losses.data.features[12:], losses.data.prices[1], losses.data.prices[0])
    np.testing.assert_array_equal(rows[12:], np.tile(best_fixed(part, box), (18, 1)))
    assert not np.array_equal(rows[0], rows[12])
