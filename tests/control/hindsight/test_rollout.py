"""Rollouts against plain Python and against `simulate`, and their gradients against differences."""

from typing import Any, cast

import numpy as np
import pytest

from driftwise import control
from driftwise.control.hindsight.rollout import cost_slopes, cost_values, need_finite, read_gain, read_problem
from driftwise.errors import InputError, StabilityError
from tests.cases import check_refused
from tests.control.cases import COSTS, PLANT, PLANTS, ROUNDS, UNIT, policies, squares
from tests.control.hindsight.problems import SYSTEMS, played, problem, waves

EACH = np.arange(ROUNDS)


@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_rollout_is_the_run_by_plain_python(name: str, kind: str) -> None:
    given = problem(name, kind)
    T, dx, du = given.size
    K = control.lqr(given.system)
    M = policies(np.random.default_rng(0), T, 4, du, dx)
    found = given.roll(K[None], given.extra_inputs(M, EACH))
    expected = played(given, K, M)
    np.testing.assert_allclose(np.hstack([found.states, found.inputs]), expected, rtol=0, atol=1e-12)
    values = [cost.value(row[:dx], row[dx:]) for cost, row in zip(given.costs, expected, strict=True)]
    np.testing.assert_allclose(found.costs, values, rtol=1e-12, atol=1e-12)
    assert found.total == pytest.approx(sum(values))


@pytest.mark.parametrize("kind", ["quadratic", "absolute"])
def test_a_rollout_is_the_simulation_of_the_policy(kind: str) -> None:
    given = problem("wide", kind)
    _, dx, du = given.size
    policy = control.DisturbanceAction(control.lqr(given.system), policies(np.random.default_rng(1), 1, 3, du, dx)[0])
    trace = control.simulate(
        given.system,
        control.PolicyController(given.system, policy),
        given.costs,
        given.disturbances,
        start=given.start,
    )
    extra = given.extra_inputs(policy.M[None].copy(), np.zeros(ROUNDS, np.int64))
    found = given.roll(policy.K[None].copy(), extra)
    np.testing.assert_allclose(found.states, trace.states, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.costs, trace.costs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", ["quadratic", "scalar", "Huber", "stages", "scaled"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_gradients_are_those_of_the_total(name: str, kind: str) -> None:
    given = problem(name, kind)
    T, dx, du = given.size
    rng = np.random.default_rng(2)
    gains = control.lqr(given.system) + 0.01 * rng.standard_normal((T, du, dx))
    M, change = policies(rng, 3, 2, du, dx), rng.standard_normal((3, 2, du, dx))
    index = np.arange(T) // (T // 3)

    def total(step: float) -> float:
        return given.roll(gains, given.extra_inputs(M + step * change, index)).total

    at = given.roll(gains, given.extra_inputs(M, index))
    pulls = given.pull(gains, at)
    slope = float(np.sum(given.policy_slopes(pulls, index, M.shape) * change))
    assert slope == pytest.approx((total(1e-5) - total(-1e-5)) / 2e-5, rel=1e-6)


def test_costs_of_ones_own_have_the_values_and_gradients_of_the_built_in_ones() -> None:
    given = problem("wide", "scalar")
    own = read_problem("own", given.system, squares(), given.disturbances, given.start)
    rng = np.random.default_rng(3)
    x, u = rng.standard_normal((ROUNDS, 3)), rng.standard_normal((ROUNDS, 2))
    np.testing.assert_allclose(cost_values(own.costs, x, u), cost_values(given.costs, x, u), rtol=1e-14)
    for mine, other in zip(cost_slopes(own.costs, x, u), cost_slopes(given.costs, x, u), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-14)


def test_costs_are_infinite_from_where_a_plant_diverges() -> None:
    T = 600
    given = read_problem("own", control.LinearSystem(2.0, 1.0), UNIT, np.ones(T), None)
    found = given.roll(np.zeros((1, 1, 1)), np.zeros((T, 1)))
    first = int(np.argmax(np.isinf(found.costs)))
    assert 2.0 ** (first - 1) < 1e100 < 2.0**first
    assert np.isinf(found.costs[first:]).all()
    assert np.isfinite(found.costs[:first]).all()
    check_refused(lambda: need_finite("asker", found), "asker", f"round {first}", "diverges", kind=InputError)


def test_costs_of_ones_own_that_overflow_are_infinite() -> None:
    def value(x: np.ndarray, u: np.ndarray) -> float:
        return float(np.cosh(x).sum() + np.cosh(u).sum())

    cost = control.CustomCost(value, lambda x, u: (np.sinh(x), np.sinh(u)))
    given = read_problem("own", control.LinearSystem(2.0, 1.0), cost, np.ones(15), None)
    found = given.roll(np.zeros((1, 1, 1)), np.zeros((15, 1)))
    assert list(np.isinf(found.costs)) == [2.0**t - 1.0 > 230.0 for t in range(15)]


@pytest.mark.parametrize("name", ["varying", "pendulum", "limited"])
def test_other_plants_are_refused_with_the_reason(name: str) -> None:
    plant = PLANTS[name]
    rows = np.zeros((5, plant.state_dim))
    check_refused(
        lambda: read_problem("asker", plant, UNIT, rows, None), "asker", "depends on the policy", kind=InputError
    )


def test_bad_problems_are_refused() -> None:
    rows, noise = waves(2), cast(Any, control.GaussianDisturbance())
    check_refused(lambda: read_problem("a", PLANT, UNIT, noise, None), "trace.disturbances")
    check_refused(lambda: read_problem("a", PLANT, UNIT, rows[:, :1], None), "(T, 2)", kind=InputError)
    check_refused(lambda: read_problem("a", PLANT, UNIT, rows * np.nan, None), "finite", kind=InputError)
    check_refused(lambda: read_problem("a", PLANT, UNIT, rows, [1.0]), "start", kind=InputError)
    check_refused(lambda: read_problem("a", PLANT, [UNIT] * 3, rows, None), "one a round", kind=InputError)
    check_refused(lambda: read_gain("a", PLANT, [[0.0, 0.0]]), "stabilise", kind=StabilityError)
    check_refused(lambda: read_gain("a", PLANT, [[0.0]]), "(1, 2)", kind=InputError)
