"""The linear alternatives do what they are used for: gains are optimal, offsets vanish, constants are removed."""

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.experiments.studies.control.engineer.baselines.design import design
from driftwise.experiments.studies.control.engineer.baselines.integral import WEIGHTS, integral, regulator
from driftwise.experiments.studies.control.engineer.baselines.law import total_cost, trajectory
from driftwise.experiments.studies.control.engineer.baselines.observer import observer
from driftwise.experiments.studies.control.engineer.disturbances import disturbances
from driftwise.experiments.studies.control.engineer.plants import MAKERS, Plant

EVERY = pytest.mark.parametrize("name", MAKERS)


def constant(plant: Plant, rounds: int = 3000) -> Array:
    return np.tile(plant.load.sum(axis=1), (rounds, 1))


@EVERY
def test_the_regulator_is_lqr_as_the_library_has_it(name: str) -> None:
    plant = MAKERS[name]()
    system = control.LinearSystem(plant.A, plant.B)
    np.testing.assert_allclose(regulator(plant).D, -control.lqr(system), rtol=1e-6, atol=1e-9)
    rows = disturbances(plant, name, "steps", "states", 200)
    theirs = control.simulate(system, control.LinearController(system), control.QuadraticCost(1.0, 1.0), rows)
    states, inputs = trajectory(plant.A, plant.B, regulator(plant), rows)
    np.testing.assert_allclose(states, theirs.states, atol=1e-9)
    np.testing.assert_allclose(inputs, theirs.inputs, atol=1e-9)


@EVERY
@pytest.mark.parametrize("weight", WEIGHTS)
def test_integral_action_leaves_no_offset(name: str, weight: float) -> None:
    plant = MAKERS[name]()
    states, _ = trajectory(plant.A, plant.B, integral(plant, weight), constant(plant))
    without, _ = trajectory(plant.A, plant.B, regulator(plant), constant(plant))
    offset, before = (np.abs(rows[-1] @ plant.regulated.T).max() for rows in (states, without))
    # With the least weight the slowest plants still go there at the end of the run.
    assert offset < (1e-6 if weight > min(WEIGHTS) else 1e-2) * max(before, 1e-3)


@EVERY
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_the_observer_answers_a_constant_with_the_cheapest_rest(name: str, rate: float) -> None:
    """In the end it pays the least x'x + u'u among all states and inputs at rest under the disturbance."""
    plant = MAKERS[name]()
    n = len(plant.A)
    states, inputs = trajectory(plant.A, plant.B, observer(plant, rate), constant(plant))
    still = np.hstack([np.eye(n) - plant.A, -plant.B])
    rest = np.linalg.lstsq(still, constant(plant)[0], rcond=None)[0]  # of least norm
    np.testing.assert_allclose(np.concatenate([states[-1], inputs[-1]]), rest, atol=1e-8)


@EVERY
def test_preview_of_what_is_known_ahead_is_nearly_the_best_there_is(name: str) -> None:
    """The clairvoyant optimum of the library, by another method, is cheaper by less than a hundredth."""
    plant = MAKERS[name]()
    optimum, rows = design(plant.A, plant.B), disturbances(plant, name, "AR(1)", "states", 900)
    rows[400:] = 0.0  # the end of a run, which is known to the clairvoyant only, must not matter
    gains, x, total = optimum.preview(), np.zeros(len(plant.A)), 0.0
    for t in range(600):
        u = -optimum.K @ x - np.einsum("kij,kj->i", gains, rows[t : t + len(gains)])
        total += x @ x + u @ u
        x = plant.A @ x + plant.B @ u + rows[t]
    system = control.LinearSystem(plant.A, plant.B)
    best = control.clairvoyant(system, control.QuadraticCost(1.0, 1.0), rows[:600]).total
    assert best <= total < 1.01 * best
    np.testing.assert_allclose(gains.sum(axis=0), optimum.constant(), atol=0.1 * np.abs(optimum.constant()).max())


def test_the_observer_beats_lqr_on_a_random_walk_and_loses_on_noise() -> None:
    plant = MAKERS["reactor"]()
    for kind, wins in (("random walk", True), ("white", False)):
        rows = disturbances(plant, "reactor", kind, "load", 1500)
        with_it, without = (
            total_cost(*trajectory(plant.A, plant.B, law, rows), 3) for law in (observer(plant), regulator(plant))
        )
        assert (with_it < 0.9 * without) == wins
