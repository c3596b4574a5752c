"""The best policy in hindsight: reference numbers, brute force through `simulate`, and what is refused."""

import itertools
import time
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.hindsight import best_linear, best_policy, clairvoyant
from driftwise.errors import ArgumentError, InputError, ParameterError, StabilityError
from tests.cases import a_third, check_refused
from tests.control.cases import DATA, PLANT, UNIT
from tests.control.hindsight.problems import CENTRED, SYSTEMS, given, problem, waves

TABLE = [
    ("double_integrator", "sinusoid", 4065, 502),
    ("double_integrator", "random_walk", 21540, 1677),
    ("ten_states", "sinusoid", 7024, 3015),
    ("ten_states", "random_walk", 19236, 8237),
]


@pytest.mark.parametrize(("plant", "kind", "linear", "best"), TABLE)
def test_reference_totals(plant: str, kind: str, linear: float, best: float) -> None:
    data = np.load(DATA)
    system, rows = control.LinearSystem(data[f"{plant}_A"], data[f"{plant}_B"]), data[f"{plant}_{kind}"]
    lqr = control.simulate(system, control.LinearController(system), UNIT, rows)
    assert lqr.total == pytest.approx(linear, abs=0.5)
    short = best_policy(system, UNIT, rows, memory=5)
    assert short.total == pytest.approx(best, abs=0.5)
    assert short.gap is not None
    assert short.gap <= 1e-9 * short.total
    longer = best_policy(system, UNIT, rows)
    assert longer.policies.shape == (1, 10, *short.K.shape)
    assert 0.999 * short.total <= longer.total <= short.total


@a_third(kind=CENTRED, name=SYSTEMS)
def test_comparators_stand_in_order(kind: str, name: str) -> None:
    asked = problem(name, kind)
    settings: dict[str, Any] = {"start": asked.start}
    lqr = control.simulate(
        asked.system, control.LinearController(asked.system), asked.costs, asked.disturbances, **settings
    )
    totals = [
        clairvoyant(*given(asked), **settings).total,
        best_policy(*given(asked), memory=3, segments=6, **settings).total,
        best_policy(*given(asked), memory=3, segments=3, **settings).total,
        best_policy(*given(asked), memory=3, **settings).total,
        best_policy(*given(asked), memory=2, **settings).total,
        lqr.total,
    ]
    for lower, higher in itertools.pairwise(totals):
        assert lower <= higher * (1.0 + 1e-6)
    assert totals[0] < 0.999 * totals[-1]
    assert totals[0] <= best_linear(*given(asked), **settings).total <= lqr.total


def test_the_best_policy_is_the_minimum_of_simulated_costs() -> None:
    from scipy.optimize import minimize

    asked = problem("double integrator", "stages")
    K = control.lqr(asked.system)

    def simulated(flat: Array) -> float:
        policy = control.DisturbanceAction(K, flat.reshape(2, 1, 2))
        player = control.PolicyController(asked.system, policy)
        return control.simulate(asked.system, player, asked.costs, asked.disturbances, start=asked.start).total

    found = best_policy(*given(asked), K=K, memory=2, start=asked.start)
    assert simulated(found.policy.M.ravel()) == pytest.approx(found.total, rel=1e-12)
    lowest = minimize(simulated, np.zeros(4), method="BFGS")
    assert found.total == pytest.approx(lowest.fun, rel=1e-7)
    assert found.total <= lowest.fun + 1e-9


def test_results_describe_the_run() -> None:
    asked = problem("wide", "scaled")
    found = best_policy(*given(asked), memory=2, segments=[10, 20], start=asked.start)
    np.testing.assert_array_equal(found.segments, [0, 10, 20])
    assert found.policies.shape == (3, 2, 2, 3)
    assert found.decisions.shape == (30, 2, 2, 3)
    for t, s in ((0, 0), (9, 0), (10, 1), (19, 1), (20, 2), (29, 2)):
        np.testing.assert_array_equal(found.decisions[t], found.policies[s])
    moves = np.linalg.norm((found.policies[1:] - found.policies[:-1]).reshape(2, -1), axis=1)
    assert found.path_length == pytest.approx(moves.sum())
    assert found.total == found.costs.sum()
    np.testing.assert_array_equal(found.states[0], asked.start)
    assert not found.policies.flags.writeable
    assert "rounds=30" in repr(found)
    assert "gap=" in repr(found)
    check_refused(lambda: found.policy, "3 policies", "decisions", kind=InputError)
    assert best_policy(*given(asked), memory=2).path_length == 0.0


@pytest.mark.parametrize(
    ("segments", "starts"), [(1, [0]), (4, [0, 7, 15, 22]), (30, list(range(30))), ([0, 5], [0, 5])]
)
def test_segments_are_a_number_or_rounds(segments: Any, starts: list[int]) -> None:
    asked = problem("scalar", "scalar")
    np.testing.assert_array_equal(best_policy(*given(asked), memory=2, segments=segments).segments, starts)


def test_a_policy_for_every_round_reaches_what_a_clairvoyant_reaches() -> None:
    # With one state and one input, M_t w_{t-1} is any input at all, as long as no disturbance is 0.
    asked = problem("scalar", "quadratic")
    free = best_policy(*given(asked), memory=1, segments=30)
    # In the first round there is no disturbance to answer to, and the second begins in the state that is the first one.
    rows = asked.disturbances
    known = clairvoyant(asked.system, asked.costs[0], rows[1:], start=rows[0])
    assert free.total == pytest.approx(known.total, rel=1e-9)


def test_the_gain_may_be_given() -> None:
    asked = problem("double integrator", "scalar")
    K = np.array([[0.3, 1.0]])
    found = best_policy(*given(asked), K=K, memory=25)
    np.testing.assert_array_equal(found.K, K)
    # With a long memory the gain hardly matters.
    assert found.total == pytest.approx(best_policy(*given(asked), memory=25).total, rel=1e-2)


def test_a_sinusoid_that_leaves_policies_undetermined_is_no_trouble() -> None:
    rows = np.sin(0.2 * np.arange(300))[:, None] * np.array([0.3, -0.2])
    found = best_policy(PLANT, UNIT, rows, memory=20)
    assert found.gap is not None
    assert found.gap <= 1e-7 * found.total
    assert np.abs(found.policies).max() < 100.0


@pytest.mark.parametrize(
    ("settings", "words", "kind"),
    [
        ({"memory": 0}, ["memory"], ParameterError),
        ({"segments": 0}, ["segments"], ParameterError),
        ({"segments": 31}, ["segments", "30"], ParameterError),
        ({"segments": [3, 2]}, ["rising order"], InputError),
        ({"segments": [0, 30]}, ["29"], InputError),
        ({"segments": [0.5]}, ["segments"], InputError),
        ({"segments": "two"}, ["segments"], ParameterError),
        ({"domain": dw.Ball(3)}, ["(1, 2)", "SpectralBalls"], ParameterError),
        ({"domain": dw.SpectralBalls((2, 2, 1), 1.0)}, ["(1, 2)"], ParameterError),
        ({"domain": dw.SpectralBalls((2, 1, 2), 1.0), "memory": 3}, ["3 matrices"], ParameterError),
        ({"domain": 1.0}, ["domain"], ParameterError),
        ({"K": [[np.nan, 0.0]]}, ["K"], InputError),
        ({"start": [1.0]}, ["start"], InputError),
        ({"horizon": 3}, ["horizon"], ArgumentError),
        ({"memory": 3000, "segments": 5}, ["fewer segments"], ParameterError),
    ],
)
def test_bad_arguments_are_refused(settings: dict[str, Any], words: list[str], kind: type[Exception]) -> None:
    check_refused(lambda: best_policy(PLANT, UNIT, waves(2), **settings), "best_policy", *words, kind=kind)


def test_a_gain_that_does_not_stabilise_is_refused() -> None:
    check_refused(lambda: best_policy(PLANT, UNIT, waves(2), K=[[0.0, 0.0]]), "stabilise", kind=StabilityError)


@pytest.mark.filterwarnings("ignore:.*not convex")
def test_costs_that_are_not_convex_are_refused() -> None:
    check_refused(
        lambda: best_policy(PLANT, control.gradual(200, literal=True), waves(2, 200)), "not convex", kind=InputError
    )
    bent = control.QuadraticCost([1.0, -1.0], 1.0, if_not_convex="warn")
    check_refused(lambda: best_policy(PLANT, bent, waves(2)), "not convex", kind=InputError)


@pytest.mark.full
def test_three_hundred_unknowns_over_ten_thousand_rounds_take_seconds() -> None:
    data = np.load(DATA)
    system = control.LinearSystem(data["ten_states_A"], data["ten_states_B"])
    rows = np.tile(data["ten_states_random_walk"], (5, 1))
    best_policy(system, UNIT, rows[:50], memory=10)
    began = time.perf_counter()
    found = best_policy(system, UNIT, rows, memory=10)
    assert time.perf_counter() - began < 20.0
    assert found.gap is not None
    assert found.gap < 1e-9 * found.total
