"""Where controllers are tried: a plant, its cost and disturbances, and rounds by hand."""

import numpy as np
import pytest

from driftwise import control
from driftwise.errors import ParameterError
from driftwise.testing import check_controller
from driftwise.testing.worlds import ROUNDS, Record, controller_at, end_round, go_on, new_world
from tests.cases import check_refused

PLANT = control.double_integrator()
TIGHT = control.LinearSystem(PLANT.A, PLANT.B, input_limit=0.05)


def linear(system: control.System = PLANT) -> control.LinearController:
    return control.LinearController(system)


def test_the_world_of_a_controller_is_its_own_plant_and_a_cost_of_one() -> None:
    world = new_world("me", linear(), None, None, seed=3)
    assert world.system is PLANT
    assert world.cost.value(np.array([1.0, 2.0]), np.array([3.0])) == 14.0
    assert world.rows.shape == (ROUNDS, 2)
    again, other = (new_world("me", linear(), None, None, seed) for seed in (3, 4))
    np.testing.assert_array_equal(world.rows, again.rows)
    np.testing.assert_array_equal(world.start, again.start)
    assert not np.array_equal(world.rows, other.rows)


def test_a_short_horizon_gives_a_short_world() -> None:
    assert len(new_world("me", control.ScreamController(PLANT, horizon=7), None, None, 0).rows) == 7


@pytest.mark.parametrize(
    ("system", "cost", "words"),
    [
        ("plant", None, ("me: system", "LinearSystem(A, B)")),
        (control.random_system(3, 1), None, ("was not made for a plant such as",)),
        (None, 3.0, ("me: cost", "QuadraticCost(1.0, 1.0)")),
    ],
)
def test_a_world_that_does_not_fit_is_refused(system: object, cost: object, words: tuple[str, ...]) -> None:
    check_refused(lambda: new_world("me", linear(), system, cost, 0), *words, kind=ParameterError)  # type: ignore[arg-type]


def test_too_short_a_horizon_is_refused() -> None:
    short = control.ScreamController(PLANT, horizon=3)
    check_refused(lambda: new_world("me", short, None, None, 0), "at least 4 rounds", kind=ParameterError)


def test_a_round_by_hand_is_the_equation_of_the_plant() -> None:
    controller = linear(TIGHT)
    world = new_world("me", controller, None, None, 0)
    x = np.array([1.0, 1.0])
    u = controller.act(x)
    assert abs(u[0]) > 0.05, "the limit must matter here"
    applied, following = end_round(controller, world, 0, x, u)
    np.testing.assert_array_equal(applied, np.clip(u, -0.05, 0.05))
    np.testing.assert_allclose(following, PLANT.A @ x + PLANT.B @ applied + world.rows[0], rtol=0.0, atol=1e-15)
    assert controller.round == 1


def test_going_on_continues_where_the_controller_is() -> None:
    world = new_world("me", linear(), None, None, 1)
    whole = go_on(linear(), world, world.start, ROUNDS)
    assert whole.shape == (ROUNDS, 1)
    trace = control.simulate(PLANT, linear(), world.cost, world.rows, seed=world.seed, start=world.start)
    np.testing.assert_array_equal(whole, trace.inputs)
    states = np.concatenate([trace.states, trace.final_state[None]])
    record = Record(states, whole, whole, trace.costs)
    for mid_round in (False, True):
        controller = controller_at(linear, world, record, 5, mid_round)
        assert controller.round == 5
        assert (controller._acted is not None) == mid_round
        if not mid_round:
            np.testing.assert_array_equal(go_on(controller, world, states[5], ROUNDS), whole[5:])
    assert go_on(controller, world, states[5], 5).shape == (0, 1)


def test_a_plant_remembers_the_inputs_on_their_way() -> None:
    slow = control.LinearSystem(PLANT.A, PLANT.B, delay=2, lag=0.3, rate_limit=0.05)
    world = new_world("me", linear(slow), None, None, 1)
    whole = go_on(linear(slow), world, world.start, ROUNDS)
    trace = control.simulate(slow, linear(slow), world.cost, world.rows, seed=world.seed, start=world.start)
    assert np.abs(whole - trace.inputs).max() > 0.0, "the rate limit must matter here"
    states = np.concatenate([trace.states, trace.final_state[None]])
    record = Record(states, whole, trace.inputs, trace.costs)
    half = controller_at(lambda: linear(slow), world, record, 9, False)
    np.testing.assert_array_equal(go_on(half, world, states[9], ROUNDS), whole[9:])
    check_controller(lambda: linear(slow))
