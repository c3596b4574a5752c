import numpy as np
import pytest

from driftwise import control
from driftwise.control.policies.disturbance_action import DisturbanceAction
from driftwise.errors import ArgumentError, InputError, ParameterError, StabilityError
from tests.cases import check_refused
from tests.control.cases import PLANT, UNIT, WIDE, policies

GAIN = np.array([[0.3, 1.0]])


def test_a_linear_controller_is_its_gain() -> None:
    rng = np.random.default_rng(0)
    mine = control.LinearController(PLANT, GAIN)
    for _ in range(10):
        x = rng.standard_normal(2)
        np.testing.assert_allclose(mine.act(x), -GAIN @ x, rtol=1e-14, atol=1e-15)
        mine.observe(UNIT)
    np.testing.assert_array_equal(control.LinearController(WIDE).K, control.lqr(WIDE))
    assert mine.horizon is None
    np.testing.assert_array_equal(mine.weights, [1.0])


def test_a_linear_controller_within_a_bound() -> None:
    mine = control.LinearController(PLANT, GAIN, input_bound=0.5)
    np.testing.assert_array_equal(mine.act([100.0, 0.0]), [-0.5])


def test_a_policy_controller_plays_its_policy() -> None:
    rng = np.random.default_rng(1)
    policy = DisturbanceAction(control.lqr(WIDE), policies(rng, 1, 4, 2, 3)[0])
    rows = rng.uniform(-1.0, 1.0, (15, 3))
    trace = control.simulate(WIDE, control.PolicyController(WIDE, policy), UNIT, rows, start=[1.0, 0.0, -1.0])
    for t in range(15):
        np.testing.assert_allclose(trace.inputs[t], policy.act(trace.states[t], rows[:t]), rtol=0.0, atol=1e-12)


def test_a_policy_of_zeros_is_the_gain() -> None:
    rows = np.random.default_rng(2).uniform(-1.0, 1.0, (15, 2))
    zero = control.PolicyController(PLANT, DisturbanceAction(GAIN, np.zeros((6, 1, 2))))
    one = control.simulate(PLANT, zero, UNIT, rows)
    other = control.simulate(PLANT, control.LinearController(PLANT, GAIN), UNIT, rows)
    np.testing.assert_array_equal(one.inputs, other.inputs)


def test_a_policy_never_changes() -> None:
    policy = DisturbanceAction(GAIN, np.full((2, 1, 2), 50.0))
    mine = control.PolicyController(PLANT, policy)
    control.simulate(PLANT, mine, control.QuadraticCost(9.0, 9.0), np.full((20, 2), 0.1))
    np.testing.assert_array_equal(mine.policy.M, policy.M)
    np.testing.assert_array_equal(mine.policy.K, GAIN)


def test_a_policy_stands_still_whatever_a_cost_says() -> None:
    mine = control.PolicyController(PLANT, DisturbanceAction(GAIN, np.full((1, 1, 2), 3.0)))
    mine.act([1.0, 1.0])
    mine.observe(control.CustomCost(lambda x, u: 1e90 * float(x @ x), lambda x, u: (2e90 * x, 0.0 * u)))
    np.testing.assert_array_equal(mine.policy.M, np.full((1, 1, 2), 3.0))
    np.testing.assert_array_equal(mine.weights, [1.0])


def test_bad_parts_are_refused() -> None:
    policy = DisturbanceAction(GAIN, np.zeros((2, 1, 2)))
    for call, word, kind in (
        (lambda: control.LinearController(PLANT, [[0.0, 0.0]]), "eigenvalue", StabilityError),
        (lambda: control.LinearController(PLANT, [[1.0]]), "K", InputError),
        (lambda: control.LinearController("plant"), "system", ParameterError),  # type: ignore[arg-type]
        (lambda: control.LinearController(PLANT, gain=GAIN), "gain", ArgumentError),  # type: ignore[call-arg]
        (lambda: control.PolicyController(WIDE, policy), "policy.K", InputError),
        (lambda: control.PolicyController(PLANT, GAIN), "policy", ParameterError),  # type: ignore[arg-type]
        (lambda: control.PolicyController(PLANT), "policy", ArgumentError),  # type: ignore[call-arg]
        (lambda: control.PolicyController(PLANT, policy, horizon=3), "horizon", ArgumentError),  # type: ignore[call-arg]
    ):
        check_refused(call, word, kind=kind)


@pytest.mark.parametrize("bound", [1.0, [1.0]])
def test_bounds_are_taken_by_every_controller(bound: object) -> None:
    policy = DisturbanceAction(GAIN, np.zeros((2, 1, 2)))
    mine = control.PolicyController(PLANT, policy, input_bound=bound)  # type: ignore[arg-type]
    np.testing.assert_array_equal(mine.act([50.0, 50.0]), [-1.0])
