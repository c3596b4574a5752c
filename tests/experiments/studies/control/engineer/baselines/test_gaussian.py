"""LQG is what its parts are: the filter's errors are the smallest, and the offset-free one has no offset."""

import numpy as np
import pytest

from driftwise.experiments.studies.control.engineer.baselines.design import design
from driftwise.experiments.studies.control.engineer.baselines.gaussian import kalman, lqg, offset_free, spread
from driftwise.experiments.studies.control.engineer.baselines.law import total_cost, trajectory
from driftwise.experiments.studies.control.engineer.disturbances import disturbances
from driftwise.experiments.studies.control.engineer.output import JUDGED, SEEN
from driftwise.experiments.studies.control.engineer.plants import MAKERS

EVERY = pytest.mark.parametrize("name", SEEN + JUDGED)


@EVERY
def test_the_gain_is_what_the_recursion_converges_to(name: str) -> None:
    plant = MAKERS[name]()
    A, C, n = plant.A, plant.measured, len(plant.A)
    assumed = spread(plant)
    np.testing.assert_allclose(assumed, plant.load @ plant.load.T, atol=1e-5)
    P = np.eye(n)
    for _ in range(5000):
        gain = P @ C.T @ np.linalg.inv(C @ P @ C.T + 0.02**2 * np.eye(len(C)))
        P = A @ (P - gain @ C @ P) @ A.T + assumed
    np.testing.assert_allclose(kalman(A, C, assumed, 0.02), gain, rtol=1e-5, atol=1e-8)


@EVERY
def test_on_white_loads_nothing_linear_beats_the_filter(name: str) -> None:
    """Its cost is that of the state's LQR plus what not seeing the state costs; a wrong noise level costs more."""
    plant = MAKERS[name]()
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(20_000, plant.load.shape[1])) @ plant.load.T
    noise = 0.02 * rng.normal(size=(20_000, len(plant.measured)))

    def cost(assumed: float, current: bool = True) -> float:
        law = lqg(plant, assumed, current=current)
        return total_cost(*trajectory(plant.A, plant.B, law, rows, plant.measured, noise), len(plant.A))

    assert cost(0.02) < min(cost(0.002), cost(0.2))
    assert cost(0.02) < cost(0.02, current=False)


@EVERY
@pytest.mark.parametrize("current", [False, True])
def test_a_load_that_stays_is_answered_as_if_it_were_known(name: str, current: bool) -> None:
    plant = MAKERS[name]()
    n, load = len(plant.A), plant.load.sum(axis=1)
    law, rows = offset_free(plant, 0.02, current=current), np.tile(load, (4000, 1))
    states, inputs = trajectory(plant.A, plant.B, law, rows, plant.measured)
    optimum = design(plant.A, plant.B)
    rest = np.linalg.solve(np.eye(n) - optimum.closed, load - plant.B @ (optimum.constant() @ load))
    np.testing.assert_allclose(states[-1], rest, atol=1e-6)
    np.testing.assert_allclose(inputs[-1], -optimum.K @ rest - optimum.constant() @ load, atol=1e-6)


def test_the_offset_free_one_pays_on_loads_that_stay_for_a_while() -> None:
    plant = MAKERS["two masses"]()
    rows = disturbances(plant, "two masses", "AR(1)", "load", 1500)
    free, plain = (
        total_cost(*trajectory(plant.A, plant.B, make(plant, 0.02), rows, plant.measured), 4)
        for make in (offset_free, lqg)
    )
    assert free < 0.6 * plain
