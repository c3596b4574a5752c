"""Theorem 7 and its relatives: the sum of their parts, and never below the regret of a run."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise.control import bounds
from driftwise.control.bounds.problem import read_problem
from driftwise.errors import ParameterError
from driftwise.regret import bounds as learning
from tests.cases import check_refused
from tests.control.bounds.cases import SCALES, drawn_policies, random_case
from tests.control.cases import LEARNING, PLANT

BOUNDS: dict[str, Callable[..., float]] = {
    "gradient": bounds.gradient_controller,
    "Scream": bounds.scream_controller,
    "lazy Scream": bounds.lazy_scream_controller,
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_is_truncation_and_learning_with_the_constants_of_the_controller(name: str, scale: str) -> None:
    sizes: dict[str, Any] = {"disturbance_bound": 0.5, "cost_gradient": 3.0, "memory": 6, "radii": 0.7, "scale": scale}
    mine = LEARNING[name](PLANT, horizon=400, **sizes)
    problem: dict[str, Any] = {
        "horizon": 300,
        "path_length": 2.0,
        "gradient_bound": mine.constants.gradient_bound,
        "diameter": mine.constants.diameter,
        "switching_cost": mine.constants.switching_cost,
        "policy": True,
    }
    if name == "gradient":
        step = float(mine.learner.step_sizes[0])
        expected = learning.ogd(**problem, step=step)
    elif name == "Scream":
        expected = learning.scream(**problem, tuned_for=400)
    else:
        assert isinstance(mine.learner, dw.Ensemble)
        expected = learning.lazy_scream(**problem, tuned_for=400, epoch=mine.learner.program.epoch)
    forgotten = bounds.truncation_error(PLANT, horizon=300, start=0.3, **sizes)
    found = BOUNDS[name](PLANT, horizon=300, path_length=2.0, tuned_for=400, start=0.3, **sizes)
    assert found == pytest.approx(expected + forgotten, rel=1e-12)


@pytest.mark.parametrize("name", BOUNDS)
def test_with_a_memory_of_the_order_of_log_t_bounds_grow_like_the_root_of_t(name: str) -> None:
    found = [BOUNDS[name](PLANT, horizon=T, path_length=0.0) for T in (10**4, 10**6, 10**8)]
    assert found[1] / found[0] < 15.0
    assert found[2] / found[1] < 15.0
    fixed = [BOUNDS[name](PLANT, horizon=T, path_length=0.0, memory=2) for T in (10**8, 10**10)]
    assert fixed[1] / fixed[0] > 50.0


def adversary(seed: int, bound: float) -> control.Disturbance:
    kinds: list[control.Disturbance] = [
        control.AdversarialDisturbance(bound),
        control.UniformDisturbance(bound),
        control.SinusoidDisturbance(0.5 * bound, period=7.0 + seed),
    ]
    return kinds[seed % 3]


@pytest.mark.parametrize("name", BOUNDS)
def test_no_regret_is_above_its_bound(name: str) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        case = random_case(rng, (20, 150))
        shared: dict[str, Any] = {"memory": case.memory, "K": case.K, "radii": case.radii}
        shared["disturbance_bound"] = case.disturbance_bound
        costs = control.QuadraticCost(1.0, np.full(case.K.shape[0], 2.0))
        mine = LEARNING[name](
            case.system, horizon=case.rounds, scale="certified", cost_gradient=4.0, start="random", **shared
        )
        trace = control.simulate(case.system, mine, costs, adversary(seed, case.disturbance_bound), seed=seed)
        moving = drawn_policies(rng, case, case.rounds)
        best = control.best_policy(case.system, costs, trace.disturbances, K=case.K, domain=mine.learner.domain)
        for v in (moving, best.decisions):
            measured = control.dynamic_policy_regret(trace, v)
            P = control.path_length(v)
            assert measured <= BOUNDS[name](
                case.system, horizon=case.rounds, path_length=P, cost_gradient=4.0, **shared
            )


def test_a_first_state_is_counted() -> None:
    """Far from the origin, the state's own way back is most of the regret."""
    plant = control.LinearSystem(0.9, 1.0)
    shared: dict[str, Any] = {"K": 0.0, "memory": 3, "radii": 0.5}
    mine = control.ScreamController(plant, horizon=50, scale="certified", **shared)
    trace = control.simulate(plant, mine, control.QuadraticCost(1.0, 1.0), np.ones((50, 1)), start=[300.0])
    measured = control.dynamic_policy_regret(trace, np.full((3, 1, 1), -0.5))
    at_rest = bounds.scream_controller(plant, horizon=50, path_length=0.0, **shared)
    started = bounds.scream_controller(plant, horizon=50, path_length=0.0, start=300.0, **shared)
    assert measured <= started
    assert started > at_rest


def test_constants_are_those_of_the_controllers() -> None:
    for scale in SCALES:
        mine = control.ScreamController(PLANT, horizon=70, memory="log", scale=scale)
        problem = read_problem("test", PLANT, horizon=70, scale=scale)
        assert problem.constants == mine.constants
        assert problem.memory == mine.memory
        assert problem.reach() == mine.problem.reach()


@pytest.mark.parametrize("name", BOUNDS)
def test_bad_arguments_are_refused(name: str) -> None:
    good: dict[str, Any] = {"horizon": 9, "path_length": 0.0}
    bound = BOUNDS[name]
    check_refused(lambda: bound(PLANT, **{**good, "path_length": -1.0}), "path_length")
    check_refused(lambda: bound(PLANT, **good, tuned_for=8), "tuned_for", kind=ParameterError)
    check_refused(lambda: bound(PLANT, **good, memory="all"), "memory", "'log'", kind=ParameterError)
    check_refused(lambda: bound(PLANT, **good, cost_gradient=0.0), "cost_gradient")
