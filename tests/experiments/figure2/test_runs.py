"""Single runs of Figure 2."""

import numpy as np
import pytest

from driftwise import SpectralBalls, control
from driftwise.experiments.figure2 import runs
from driftwise.experiments.figure2.environments import NAMES, environment
from driftwise.experiments.figure2.runs import FIXED, LEARNERS, LINEAR, LQR, REFERENCES, STAGED, Staged, run

ROUNDS = 1500


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_that_of_the_library(name: str) -> None:
    world = environment(name, True, ROUNDS, 3)
    controller = control.ScreamController(world.plant, horizon=ROUNDS, memory=world.memory)
    trace = control.simulate(world.plant, controller, world.costs, world.disturbances, seed=3)
    result = run(name, True, "Scream", False, None, ROUNDS, 3)
    assert result["total"] == trace.total
    assert result["cost"][-1] == pytest.approx(trace.total)


def test_hindsight_is_in_order_where_it_is_exact() -> None:
    """On the nominal linear system itself more freedom never costs more."""
    world = environment("LDS, abrupt", False, ROUNDS, 0)
    still = world._replace(plant=control.LinearSystem(world.plant.A, world.plant.B))
    total = {}
    for name in REFERENCES:
        chosen = runs._reference(still, name, 0)
        total[name] = control.simulate(still.plant, chosen, still.costs, still.disturbances).total
    assert total[LINEAR] <= total[LQR]
    assert total[STAGED] < total[FIXED] < total[LQR]


def test_staged_policies_are_played_stage_by_stage() -> None:
    learner = Staged(SpectralBalls((1, 1, 1), 5.0), np.array([[1.0], [2.0]]), [0, 3])
    played = []
    for _ in range(5):
        played.append(float(learner.act()[0]))
        learner.observe(np.zeros(1))
    assert played == [1.0, 1.0, 1.0, 2.0, 2.0]


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_random_start_has_the_norm_that_is_said_and_costs_more(learner: str) -> None:
    world = environment("LDS, gradual", False, ROUNDS, 1)
    controller = runs._learner(world, LEARNERS[learner], True, 1.0, ROUNDS, 1)
    assert isinstance(controller, control.LearningController)
    assert np.linalg.norm(controller.policy.M) == pytest.approx(runs.RADIUS)
    started, zero = (run("LDS, gradual", False, learner, at, 8.0, ROUNDS, 1)["total"] for at in (True, False))
    assert started > 1.03 * zero


def test_the_gradient_size_is_what_most_gradients_stay_below() -> None:
    world = environment("LDS, gradual", False, ROUNDS, 1)
    losses = control.TruncatedLosses(world.plant, world.costs, runs._seen(world, 1), world.memory)
    norms = [np.linalg.norm(losses.gradient(t, np.zeros(losses.dim))) for t in range(ROUNDS)]
    assert 0.9 <= np.mean(norms < np.float64(runs._gradient_size(world, 1))) <= 0.99
