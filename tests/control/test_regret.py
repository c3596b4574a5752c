"""Regret of simulations: definitions by hand, every form of a comparator, and what cannot be compared."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.hindsight import best_linear, best_policies, best_policy, clairvoyant
from driftwise.control.regret import dynamic_policy_regret, path_length, policy_costs, regret_over_time
from driftwise.errors import ArgumentError, InputError, OrderError, ParameterError
from tests.cases import check_refused
from tests.control.cases import (
    CONTROLLERS,
    DISTURBANCES,
    PLANT,
    PLANTS,
    ROUNDS,
    UNIT,
    WIDE,
    controller,
    costs,
    policies,
    roll,
)

START = np.array([0.5, -0.2, 0.1])
ROWS = DISTURBANCES["array"](3)
COSTS = costs("stages", 3, 2)
K = control.lqr(WIDE)
RNG = np.random.default_rng(0)
SEQUENCE = policies(RNG, ROUNDS, 4, 2, 3)


def simulated(name: str = "Scream", **settings: Any) -> control.ControlTrace:
    return control.simulate(WIDE, controller(name, WIDE), COSTS, ROWS, start=START, **settings)


TRACE = simulated(record_policies=True)


def by_plain_python(gain: Array, window: Array) -> Array:
    """Return the costs of one policy a round."""
    states, inputs = roll(WIDE, gain, window, ROWS, START)
    return np.array([cost.value(x, u) for cost, x, u in zip(COSTS, states[:-1], inputs, strict=True)])


BEST = best_policy(WIDE, COSTS, ROWS, memory=4, start=START)
PIECEWISE = best_policy(WIDE, COSTS, ROWS, memory=4, segments=3, start=START)
MOVING = best_policies(WIDE, COSTS, ROWS, switching_cost=0.1, memory=4, start=START)
LINEAR = best_linear(WIDE, COSTS, ROWS, start=START)
KNOWING = clairvoyant(WIDE, COSTS, ROWS, start=START)
GAIN = K + 0.05

COMPARATORS: dict[str, tuple[Any, Callable[[], Array]]] = {
    "best policy": (BEST, lambda: by_plain_python(K, BEST.decisions)),
    "best policies": (PIECEWISE, lambda: by_plain_python(K, PIECEWISE.decisions)),
    "moving policies": (MOVING, lambda: by_plain_python(K, MOVING.decisions)),
    "best gain": (LINEAR, lambda: by_plain_python(np.array(LINEAR.K), np.zeros_like(SEQUENCE))),
    "clairvoyant": (KNOWING, lambda: KNOWING.costs),
    "policy": (control.DisturbanceAction(GAIN, SEQUENCE[0]), lambda: by_plain_python(GAIN, SEQUENCE[[0] * ROUNDS])),
    "policies": (SEQUENCE, lambda: by_plain_python(K, SEQUENCE)),
    "one policy": (SEQUENCE[1], lambda: by_plain_python(K, SEQUENCE[[1] * ROUNDS])),
    "gain": (GAIN, lambda: by_plain_python(GAIN, np.zeros_like(SEQUENCE))),
    "gain in a list": (GAIN.tolist(), lambda: by_plain_python(GAIN, np.zeros_like(SEQUENCE))),
    "controller": (controller("gradient", WIDE), lambda: simulated("gradient").costs),
    "trace": (simulated("Ader"), lambda: simulated("Ader").costs),
}


@pytest.mark.parametrize("name", COMPARATORS)
def test_regret_is_the_difference_of_the_costs(name: str) -> None:
    comparator, expected = COMPARATORS[name]
    other = expected()
    over_time = regret_over_time(TRACE, comparator)
    assert over_time.shape == (ROUNDS,)
    np.testing.assert_allclose(over_time, np.cumsum(TRACE.costs - other), rtol=0, atol=1e-9)
    assert dynamic_policy_regret(TRACE, comparator) == pytest.approx(over_time[-1], abs=1e-9)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_regret_to_oneself_is_zero(name: str) -> None:
    trace = simulated(name)
    assert dynamic_policy_regret(trace, trace) == 0.0
    assert dynamic_policy_regret(trace, trace.controller) == 0.0


def test_regret_to_ones_own_policies_is_zero() -> None:
    np.testing.assert_allclose(regret_over_time(TRACE, TRACE.policies), 0.0, atol=1e-12)


def test_regret_to_ones_own_gain_is_zero() -> None:
    np.testing.assert_allclose(regret_over_time(simulated("linear"), K), 0.0, atol=1e-12)


def test_a_controller_given_as_comparator_is_left_as_it_was() -> None:
    fresh = controller("Scream", WIDE)
    dynamic_policy_regret(TRACE, fresh)
    assert fresh.round == 0


def test_regret_to_better_comparators_is_larger() -> None:
    regrets = [dynamic_policy_regret(TRACE, other) for other in (TRACE, BEST, PIECEWISE, KNOWING)]
    assert regrets == sorted(regrets)
    assert regrets[0] < regrets[-1]


def test_the_gain_of_an_array_of_policies_may_be_given() -> None:
    expected = TRACE.total - by_plain_python(GAIN, SEQUENCE).sum()
    assert dynamic_policy_regret(TRACE, SEQUENCE, K=GAIN) == pytest.approx(expected)
    np.testing.assert_allclose(policy_costs(TRACE, SEQUENCE, GAIN), by_plain_python(GAIN, SEQUENCE))


def test_policies_around_no_gain_in_particular_are_around_lqr() -> None:
    class Idle(control.Controller):
        def _decide(self, x: Array) -> Array:
            return np.zeros(2)

        def _learn(self, x: Array, applied: Array, cost: control.Cost) -> None:
            pass

    trace = control.simulate(WIDE, Idle(3, 2), COSTS, ROWS, start=START)
    assert dynamic_policy_regret(trace, SEQUENCE) == pytest.approx(trace.total - by_plain_python(K, SEQUENCE).sum())


def test_costs_of_policies_need_no_trace() -> None:
    found = policy_costs((WIDE, COSTS, ROWS, START), SEQUENCE)
    np.testing.assert_allclose(found, by_plain_python(K, SEQUENCE), rtol=1e-12)
    np.testing.assert_allclose(policy_costs(TRACE, BEST.policy), BEST.costs, rtol=1e-12, atol=1e-12)
    at_rest = policy_costs((PLANT, UNIT, [[1.0, 0.0], [0.0, 0.0]]), [[[0.0, 0.0]]], K=[[0.5, 1.0]])
    np.testing.assert_allclose(at_rest, [0.0, 1.25])


def test_disturbances_of_an_adversary_are_played_again() -> None:
    push = control.AdversarialDisturbance(0.2)
    trace = control.simulate(PLANT, controller("linear"), UNIT, push, rounds=50)
    best = best_policy(PLANT, UNIT, trace.disturbances, memory=3)
    assert dynamic_policy_regret(trace, best) > 0.0
    states, inputs = roll(PLANT, best.K, best.decisions, trace.disturbances, np.zeros(2))
    again = float(np.sum(states[:-1] ** 2) + np.sum(inputs**2))
    assert dynamic_policy_regret(trace, best) == pytest.approx(trace.total - again)
    other = control.simulate(PLANT, control.LinearController(PLANT, [[0.3, 1.0]]), UNIT, push, rounds=50)
    check_refused(lambda: dynamic_policy_regret(trace, other), "adversary", kind=InputError)


def test_costs_of_ones_own_have_regret_too() -> None:
    own = control.CustomCost(lambda x, u: float(x @ x + u @ u), lambda x, u: (2.0 * x, 2.0 * u))
    trace = control.simulate(PLANT, controller("gradient"), own, DISTURBANCES["array"](2))
    same = control.simulate(PLANT, controller("gradient"), UNIT, DISTURBANCES["array"](2))
    gain = [[0.4, 1.0]]
    assert dynamic_policy_regret(trace, gain) == pytest.approx(dynamic_policy_regret(same, gain), rel=1e-12)


@pytest.mark.parametrize("name", ["varying", "pendulum", "limited"])
def test_on_other_plants_there_is_no_regret(name: str) -> None:
    plant = PLANTS[name]
    rows = np.zeros((5, plant.state_dim))
    trace = control.simulate(plant, control.LinearController(plant), UNIT, rows)
    check_refused(
        lambda: dynamic_policy_regret(trace, control.lqr(plant)),
        "dynamic_policy_regret",
        "depends on the policy",
        "compare their total costs",
        kind=InputError,
    )


OTHER_START = best_policy(WIDE, COSTS, ROWS, memory=2)
OTHER_ROWS = clairvoyant(WIDE, COSTS, ROWS + 0.01, start=START)
OTHER_COSTS = best_linear(WIDE, UNIT, ROWS, start=START)
SHORTER = clairvoyant(WIDE, UNIT, ROWS[:-1], start=START)


@pytest.mark.parametrize(
    ("comparator", "words"),
    [
        (OTHER_START, ["first state", "trace.states[0]"]),
        (OTHER_ROWS, ["disturbances"]),
        (OTHER_COSTS, ["other costs", "trace.cost_sequence"]),
        (SHORTER, ["cannot be compared"]),
        (SEQUENCE[:-1], [f"({ROUNDS}, H, 2, 3)"]),
        (np.zeros((3, 2)), ["(2, 3)"]),
        (np.zeros(3), ["(H, 2, 3)", "ControlTrace"]),
        (np.full((2, 3), np.nan), ["finite"]),
        ("best", ["best_policy"]),
        (None, ["best_policy"]),
        (np.full((2, 3), 1e60), ["diverges"]),
    ],
)
def test_what_cannot_be_compared_is_refused(comparator: Any, words: list[str]) -> None:
    check_refused(lambda: regret_over_time(TRACE, comparator), "regret_over_time", *words, kind=InputError)


def test_a_controller_that_has_played_is_refused() -> None:
    played = controller("linear", WIDE)
    control.simulate(WIDE, played, UNIT, ROWS)
    check_refused(lambda: dynamic_policy_regret(TRACE, played), "played already", "its trace", kind=OrderError)


def test_bad_arguments_are_refused() -> None:
    bad: Any = 3
    check_refused(lambda: dynamic_policy_regret(bad, K), "ControlTrace", kind=ParameterError)
    check_refused(lambda: dynamic_policy_regret(TRACE, K, gain=K), "gain", kind=ArgumentError)  # type: ignore[call-arg]
    check_refused(lambda: policy_costs(bad, SEQUENCE), "(system, costs, disturbances)", kind=InputError)
    check_refused(lambda: policy_costs(TRACE, SEQUENCE[:3]), "policies", kind=InputError)
    check_refused(lambda: policy_costs(TRACE, SEQUENCE, K=[[0.0]]), "K", kind=InputError)
    check_refused(lambda: path_length(np.zeros((3, 2))), "(T, H, du, dx)", kind=InputError)


def test_path_length_is_the_sum_of_frobenius_distances() -> None:
    moves = [np.sqrt(np.sum((b - a) ** 2)) for a, b in itertools.pairwise(SEQUENCE)]
    assert path_length(SEQUENCE) == pytest.approx(sum(moves), rel=1e-12)
    assert path_length(PIECEWISE) == pytest.approx(path_length(PIECEWISE.decisions), rel=1e-12)
    assert path_length(BEST) == 0.0
