"""The paper's environments for controllers."""

import numpy as np
import pytest

from driftwise import control
from driftwise.experiments.figure2.environments import CORRELATED, INDEPENDENT, NAMES, NOISE, PUSH, environment


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("correlated", [False, True])
def test_disturbances_are_of_one_size_and_correlated_as_said(name: str, correlated: bool) -> None:
    rows = np.vstack([environment(name, correlated, 10_000, seed).disturbances for seed in range(5)])
    moved = rows[:, 1]
    expected = PUSH if name == "pendulum" else NOISE
    assert moved.std() == pytest.approx(expected, rel=0.1)
    near = float(np.corrcoef(moved[1:], moved[:-1])[0, 1])
    assert near > 0.9 if correlated else abs(near) < 0.02


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
