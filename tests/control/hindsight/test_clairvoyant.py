"""The cheapest inputs of all against the problem written out."""

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.hindsight import best_linear, best_policy, clairvoyant
from driftwise.control.hindsight.clairvoyant import _Riccati
from driftwise.control.hindsight.rollout import read_problem
from driftwise.errors import InputError, ParameterError
from tests.cases import check_refused
from tests.control.cases import PLANT, ROUNDS, UNIT, squares
from tests.control.hindsight.problems import QUADRATICS, SYSTEMS, given, least, of_inputs, problem, waves


def by_least_squares(states: float, inputs: float) -> Array:
    """Return the cheapest inputs of the double integrator for plain weights, from the problem written out."""
    asked = read_problem("asker", PLANT, UNIT, waves(2), [1.0, -0.5])
    F, r = of_inputs(asked)
    weights = np.sqrt([states, states, inputs])[:, None]
    found = np.linalg.lstsq((weights * F).reshape(-1, ROUNDS), -(weights[:, 0] * r).ravel(), rcond=None)
    return np.asarray(found[0], np.float64)


@pytest.mark.parametrize("kind", [*QUADRATICS, "targets"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_total_is_the_least(name: str, kind: str) -> None:
    asked = problem(name, kind)
    found = clairvoyant(*given(asked), start=asked.start)
    assert found.total == pytest.approx(least(asked, *of_inputs(asked)), rel=1e-7)
    assert found.gap is not None
    assert found.gap <= 1e-12 * found.total
    np.testing.assert_array_equal(found.states[0], asked.start)
    led_to = found.states @ asked.A.T + found.inputs @ asked.B.T + asked.disturbances
    np.testing.assert_allclose(led_to[:-1], found.states[1:], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("states", "inputs"), [(1.0, 1.0), (1.0, 1e-6), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)])
def test_inputs_are_those_of_dense_least_squares_also_where_weights_are_singular(states: float, inputs: float) -> None:
    cost = control.QuadraticCost(states, inputs)
    found = clairvoyant(PLANT, cost, waves(2), start=[1.0, -0.5])
    expected = by_least_squares(states, inputs)
    if states > 0.0:  # the input of the last rounds reaches no state that costs anything
        np.testing.assert_allclose(found.inputs[:-2, 0], expected[:-2], rtol=0, atol=1e-7)
    again = control.simulate(PLANT, control.LinearController(PLANT), cost, waves(2), start=[1.0, -0.5])
    assert found.total <= again.total
    assert found.gap is not None
    assert found.gap <= 1e-10 * max(found.total, 1e-300)
    if 0.0 in (states, inputs):
        np.testing.assert_allclose(found.inputs[-1], 0.0, atol=1e-12)


def test_it_pays_to_know_the_future() -> None:
    rows = np.zeros((20, 2))
    rows[10] = [3.0, 0.0]
    found = clairvoyant(PLANT, UNIT, rows)
    assert np.abs(found.inputs[:10]).max() > 0.1  # before anything has happened
    blind = control.simulate(PLANT, control.LinearController(PLANT), UNIT, rows)
    assert found.total < 0.8 * blind.total


def test_a_plant_that_nothing_can_stabilise_is_no_trouble_for_a_while() -> None:
    lost = control.LinearSystem([[1.2, 0.0], [0.0, 0.5]], [[0.0], [1.0]])
    asked = read_problem("asker", lost, UNIT, waves(2), None)
    assert clairvoyant(*given(asked)).total == pytest.approx(least(asked, *of_inputs(asked)), rel=1e-7)


def test_an_unstable_plant_is_no_trouble_for_long() -> None:
    system = control.random_system(4, 2, radius=1.3, seed=1)
    rows = 0.1 * np.random.default_rng(0).standard_normal((2000, 4))
    found = clairvoyant(system, UNIT, rows)
    assert found.gap is not None
    assert found.gap <= 1e-10 * found.total
    assert found.total < control.simulate(system, control.LinearController(system), UNIT, rows).total


@pytest.mark.parametrize("kind", ["stages", "scaled"])
def test_the_total_is_a_sum_of_squares_in_the_deviations(kind: str) -> None:
    # What makes the gap exact: second derivatives in the deviations do not couple rounds.
    asked = problem("wide", kind)
    riccati = _Riccati(asked)
    change = np.random.default_rng(1).standard_normal(riccati.offsets.shape)
    best = clairvoyant(*given(asked), start=asked.start)
    away = asked.roll(riccati.gains, change - riccati.offsets)
    pulls = asked.pull(riccati.gains, away)
    assert -0.5 * np.sum(pulls * riccati.newton(pulls)) == pytest.approx(away.total - best.total, rel=1e-9)


@pytest.mark.parametrize("name", ["double integrator", "wide"])
def test_costs_of_ones_own_have_the_inputs_of_the_same_costs_built_in(name: str) -> None:
    asked = problem(name, "scalar")
    own = clairvoyant(asked.system, squares(), asked.disturbances, start=asked.start)
    built_in = clairvoyant(*given(asked), start=asked.start)
    assert own.total == pytest.approx(built_in.total, rel=1e-12)
    np.testing.assert_allclose(own.inputs, built_in.inputs, rtol=0, atol=1e-6)
    assert own.gap is not None
    assert own.gap <= 1e-8 * own.total
    assert "not certain" not in own.status


def test_costs_of_ones_own_with_kinks_are_said_to_be_in_doubt() -> None:
    kinked = control.CustomCost(
        lambda x, u: float(np.abs(x).sum() + np.abs(u).sum()), lambda x, u: (np.sign(x), np.sign(u))
    )
    asked = problem("double integrator", "scalar", rounds=8)
    own = clairvoyant(asked.system, kinked, asked.disturbances)
    built_in = clairvoyant(asked.system, control.AbsoluteCost(1.0, 1.0), asked.disturbances)
    assert "not certain" in own.status
    assert own.gap is not None
    assert own.total - own.gap <= built_in.total <= own.total * (1.0 + 1e-6)


def test_a_target_is_what_shifted_coordinates_make_of_it() -> None:
    """The recipe of the refusal of best_policy and best_linear."""
    r, s, rows = np.array([2.0, 1.0]), np.array([-0.5]), waves(2)
    aimed = control.QuadraticCost([1.0, 2.0], 3.0, target=r, input_target=s)
    moved = rows + PLANT.A @ r + PLANT.B @ s - r
    mine = clairvoyant(PLANT, aimed, rows, start=[1.0, -0.5])
    shifted = clairvoyant(PLANT, control.QuadraticCost([1.0, 2.0], 3.0), moved, start=[1.0, -0.5] - r)
    assert mine.total == pytest.approx(shifted.total, rel=1e-12)
    np.testing.assert_allclose(mine.states, shifted.states + r, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(mine.inputs, shifted.inputs + s, rtol=0.0, atol=1e-10)
    for comparator in (best_policy, best_linear):
        check_refused(lambda one=comparator: one(PLANT, aimed, rows), "target", "w + A r + B s - r", kind=InputError)  # type: ignore[misc]


@pytest.mark.filterwarnings("ignore:.*not convex")
def test_bad_arguments_are_refused() -> None:
    rows = waves(2)
    check_refused(lambda: clairvoyant(PLANT, squares(), rows, input_bound=1.0), "built in", kind=InputError)
    check_refused(lambda: clairvoyant(PLANT, UNIT, rows, input_bound=0.0), "input_bound", kind=ParameterError)
    check_refused(lambda: clairvoyant(PLANT, UNIT, rows, input_bound=[1.0, 1.0]), "input_bound", kind=ParameterError)
    check_refused(lambda: clairvoyant(PLANT, UNIT, rows, input_bound=[1.0] * 3), "input_bound", kind=InputError)
    check_refused(lambda: clairvoyant(PLANT, UNIT, rows[0]), "disturbances", kind=InputError)
    literal = control.gradual(200, literal=True)
    check_refused(lambda: clairvoyant(PLANT, literal, waves(2, 200)), "not convex", kind=InputError)
    limited = control.LinearSystem(PLANT.A, PLANT.B, input_limit=1.0)
    check_refused(lambda: clairvoyant(limited, UNIT, rows), "input limit", kind=InputError)
    for actuator in ({"delay": 1}, {"lag": 0.5}, {"rate_limit": 1.0}, {"input_limit": [0.0, 1.0]}):
        acted = control.LinearSystem(PLANT.A, PLANT.B, **actuator)
        check_refused(lambda acted=acted: clairvoyant(acted, UNIT, rows), "delay or lag", "augmented", kind=InputError)  # type: ignore[misc]
