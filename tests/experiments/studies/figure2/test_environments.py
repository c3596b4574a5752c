"""The paper's environments for controllers."""

import numpy as np
import pytest

from driftwise import control
from driftwise.experiments.studies.figure2.environments import CORRELATED, INDEPENDENT, NAMES, PUSH, environment


@pytest.mark.parametrize("name", NAMES)
def test_correlated_disturbances_are_as_large_as_independent_ones(name: str) -> None:
    near, size = {}, {}
    for correlated in (False, True):
        rows = [environment(name, correlated, 10_000, seed).disturbances[:, 1] for seed in range(5)]
        size[correlated] = [float(each.std()) for each in rows]
        near[correlated] = [float(np.corrcoef(each[1:], each[:-1])[0, 1]) for each in rows]
    assert size[True] == pytest.approx(size[False], rel=0.2)
    assert min(near[True]) > 0.9
    assert max(map(abs, near[False])) < 0.05
    if name == "pendulum":
        assert size[False] == pytest.approx([PUSH] * 5, rel=0.05)


def test_independent_noise_costs_lqr_about_one_a_round() -> None:
    for seed in range(5):
        world = environment("LDS, gradual", False, 10_000, seed)
        trace = control.simulate(
            world.plant, control.LinearController(world.plant), world.costs, world.disturbances, seed=seed
        )
        assert trace.total == pytest.approx(10_000, rel=0.15)


def test_the_pendulum_is_pushed_in_its_velocity_only() -> None:
    assert not environment("pendulum", False, 100, 0).disturbances[:, 0].any()


def test_every_seed_has_a_plant_of_its_own_and_the_same_every_time() -> None:
    first, again, other = (environment("LDS, abrupt", False, 100, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.plant.A, again.plant.A)
    np.testing.assert_array_equal(first.disturbances, again.disturbances)
    assert not np.allclose(first.plant.A, other.plant.A)
    assert isinstance(first.plant, control.TimeVaryingSystem)


def test_abrupt_costs_have_five_stages() -> None:
    costs = environment("LDS, abrupt", False, 1000, 0).costs
    weights = [costs[t].value([1.0, 0.0], [0.0]) for t in range(1000)]
    assert len(set(weights)) == 5
    assert set(INDEPENDENT) == set(CORRELATED) == set(NAMES)
