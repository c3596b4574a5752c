"""Quadratic costs with targets: values, gradients, stages, what compiled code is told, what is refused."""

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftwise._compile import brief
from driftwise._memory import part
from driftwise._validate import Array
from driftwise.control.costs import AbsoluteCost, Cost, CostSequence, CustomCost, QuadraticCost
from driftwise.control.costs.kernels import has_target, is_quadratic, targets_differ, write_target
from driftwise.errors import InputError
from tests.cases import check_refused
from tests.control.costs.cases import Q, R, U, X, agree

GOAL, REST = np.array([0.5, -1.0, 2.0]), np.array([0.1, -0.3])
AIMED = QuadraticCost(Q, R, target=GOAL, input_target=REST)


@brief
def _told(cost: Array, t: int, goal: Array, rest: Array, numbers: Array) -> None:
    """Write what kernels say about the targets of round t, and compare them with those in `goal` and `rest`."""
    pointer = part(cost, 0)
    numbers[0] = targets_differ(pointer, t, part(goal, 0), part(rest, 0), goal.size, rest.size)
    numbers[1] = 1.0 if has_target(pointer) else 0.0
    numbers[2] = 1.0 if is_quadratic(pointer) else 0.0
    write_target(pointer, 0, t, part(goal, 0), goal.size)
    write_target(pointer, 1, t, part(rest, 0), rest.size)


def told(cost: Any, t: int, goal: Any, rest: Any) -> tuple[bool, bool, bool, Array, Array]:
    """Return whether targets differ, are there, are those of a quadratic cost, and which they are."""
    goal, rest, numbers = np.array(goal, float), np.array(rest, float), np.zeros(3)
    _told(cost.vector, t, goal, rest, numbers)
    return bool(numbers[0]), bool(numbers[1]), bool(numbers[2]), goal, rest


def test_the_cost_is_that_of_the_distances_to_the_targets() -> None:
    plain = QuadraticCost(Q, R)
    assert AIMED.value(X, U) == plain.value(X - GOAL, U - REST)
    assert AIMED.value(GOAL, REST) == 0.0
    for mine, other in zip(AIMED.gradient(X, U), plain.gradient(X - GOAL, U - REST), strict=True):
        np.testing.assert_array_equal(mine, other)
    CustomCost(AIMED.value, AIMED.gradient).probe(3, 2)


def test_one_target_may_do_and_numbers_are_those_of_one_coordinate() -> None:
    of_state, of_input = QuadraticCost(2.0, 1.0, target=GOAL), QuadraticCost(2.0, 1.0, input_target=REST)
    assert (of_state.state_dim, of_state.input_dim) == (3, None)
    assert (of_input.state_dim, of_input.input_dim) == (None, 2)
    off = X - GOAL
    assert of_state.value(X, U) == pytest.approx(2.0 * off @ off + U @ U)
    assert of_input.value(X, U) == pytest.approx(2.0 * X @ X + (U - REST) @ (U - REST))
    single = QuadraticCost(1.0, 1.0, target=20, input_target=[2.0])
    assert (single.state_dim, single.input_dim) == (1, 1)
    assert single.value([21.0], [4.0]) == 5.0
    np.testing.assert_array_equal(single.target, [20.0])
    np.testing.assert_array_equal(single.input_target, [2.0])


def test_targets_can_be_read_and_are_copies() -> None:
    given = GOAL.copy()
    cost = QuadraticCost(1.0, 1.0, target=given)
    given[:] = 7.0
    np.testing.assert_array_equal(cost.target, GOAL)
    assert cost.input_target is None
    assert QuadraticCost(1.0, 1.0).target is None
    assert cost.target is not None
    cost.target[:] = 9.0
    np.testing.assert_array_equal(cost.target, GOAL)
    with pytest.raises(AttributeError):
        cost.target = GOAL  # type: ignore[misc]
    for twin in (copy.deepcopy(AIMED), pickle.loads(pickle.dumps(AIMED))):
        assert twin.value(X, U) == AIMED.value(X, U)
        np.testing.assert_array_equal(twin.target, GOAL)


def test_gradients_are_bounded_by_the_distance_to_a_target() -> None:
    assert AIMED.gradient_constant is None
    still = QuadraticCost(Q, R, target=0.0 * GOAL, input_target=0.0 * REST)
    assert still.gradient_constant == QuadraticCost(Q, R).gradient_constant
    costs = CostSequence.stages([AIMED, QuadraticCost(2.0 * Q, R)], 6)
    assert costs.gradient_constant is None
    bound_x, bound_u = costs.steepest(2.0, 1.0)
    norms: list[float] = [2.0 * float(np.linalg.norm(0.5 * (W + W.T), 2)) for W in (Q, 2.0 * Q, R)]
    assert bound_x == pytest.approx(max(norms[0] * (2.0 + np.linalg.norm(GOAL)), norms[1] * 2.0))
    assert bound_u == pytest.approx(norms[2] * (1.0 + np.linalg.norm(REST)))
    rng = np.random.default_rng(1)
    for x, u in zip(rng.standard_normal((50, 3)), rng.standard_normal((50, 2)), strict=True):
        slope_x, slope_u = AIMED.gradient(2.0 * x / np.linalg.norm(x), u / np.linalg.norm(u))
        assert np.linalg.norm(slope_x) <= bound_x
        assert np.linalg.norm(slope_u) <= bound_u


def test_stages_have_their_own_targets() -> None:
    other, plain = QuadraticCost(Q, R, target=-GOAL), QuadraticCost(Q, R)
    listed: list[Cost] = [AIMED, other, plain, AIMED]
    costs = CostSequence(listed)
    agree(costs, listed)
    assert costs.data is not None
    assert costs.data.stage.tolist() == [0, 1, 2, 0]
    np.testing.assert_array_equal(costs.data.state_target, [GOAL, -GOAL, 0.0 * GOAL])
    np.testing.assert_array_equal(costs.data.input_target, [REST, 0.0 * REST, 0.0 * REST])
    assert costs[1] is other
    agree(CostSequence.constant(AIMED, 3), [AIMED] * 3)
    for t, (goal, rest) in enumerate([(GOAL, REST), (-GOAL, 0.0 * REST), (0.0 * GOAL, 0.0 * REST)]):
        assert costs.model is not None
        differ, there, quadratic, found, found_rest = told(costs.model, t, goal, rest)
        assert (differ, there, quadratic) == (False, True, True)
        np.testing.assert_array_equal(found, goal)
        np.testing.assert_array_equal(found_rest, rest)
        assert told(costs.model, t, goal + np.array([0.0, 0.0, 1e-9]), rest)[0]
        assert told(costs.model, t, goal, rest - np.array([1e-9, 0.0]))[0]


def test_a_sequence_knows_whether_it_has_targets() -> None:
    still = QuadraticCost(Q, R, target=0.0 * GOAL)
    assert CostSequence.constant(AIMED, 3).aimed
    assert CostSequence([still, AIMED, still]).aimed
    assert CostSequence([AbsoluteCost(1.0, 1.0), QuadraticCost(1.0, 1.0, input_target=REST)]).aimed
    assert CostSequence.scaled(AIMED, [1.0, 2.0], [1.0, 1.0]).aimed
    for costs in ([still], [QuadraticCost(Q, R), AbsoluteCost(1.0, 1.0)]):
        assert not CostSequence(costs).aimed


def test_a_sequence_of_numbers_and_targets_knows_its_dimension() -> None:
    """The first cost takes any number of states; compiled code must not read a target that is too short."""
    costs = CostSequence([QuadraticCost(1.0, 1.0), QuadraticCost(1.0, 1.0, target=GOAL)])
    assert costs.model is not None
    assert (costs.state_dim, costs.model.state_dim) == (3, 3)
    check_refused(lambda: costs.model.value([1.0], [1.0]), "(3,)", kind=InputError)  # type: ignore[union-attr]
    short = QuadraticCost(1.0, 1.0, target=[1.0])
    check_refused(lambda: CostSequence([QuadraticCost(1.0, 1.0, target=GOAL), short]), "1 and 3", kind=InputError)


def test_factors_multiply_the_two_parts() -> None:
    scaled = CostSequence.scaled(AIMED, [1.0, 3.0], [2.0, 0.5])
    off, left = X - GOAL, U - REST
    assert scaled[1].value(X, U) == pytest.approx(3.0 * off @ Q @ off + 0.5 * left @ R @ left)
    agree(scaled, list(scaled))
    again = scaled[1]
    assert isinstance(again, QuadraticCost)
    np.testing.assert_array_equal(again.target, GOAL)


def test_a_cost_without_targets_says_so() -> None:
    assert told(QuadraticCost(1.0, 1.0), 5, np.zeros(4), np.zeros(2))[:3] == (False, False, True)
    differ, there, _, goal, rest = told(QuadraticCost(1.0, 1.0), 5, np.ones(4), np.zeros(2))
    assert differ
    assert not there
    assert not goal.any()
    assert not rest.any()


def test_a_subclass_with_a_value_of_its_own_has_no_bounds() -> None:
    class Twice(QuadraticCost):
        def value(self, x: Any, u: Any) -> float:
            return 2.0 * super().value(x, u)

    assert Twice(1.0, 1.0, target=GOAL).steepest(1.0, 1.0) is None
    assert Twice(1.0, 1.0).gradient_constant is None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: QuadraticCost(Q, R, target=[1.0, 2.0]), ("target", "(3,)")),
        (lambda: QuadraticCost(Q, R, target=1.0), ("target", "(3,)")),
        (lambda: QuadraticCost(Q, R, input_target=[[1.0, 2.0]]), ("input_target", "(2,)")),
        (lambda: QuadraticCost(1.0, 1.0, target=[1.0, math.nan]), ("target", "nan")),
        (lambda: QuadraticCost(1.0, 1.0, target=math.inf), ("target", "inf")),
        (lambda: QuadraticCost(1.0, 1.0, target="warm"), ("target", "warm")),
        (lambda: AIMED.value(X[:2], U), ("x", "(3,)")),
        (lambda: QuadraticCost(1.0, 1.0, target=GOAL).probe(2, 1), ("state_dim 2", "state_dim 3")),
        (lambda: QuadraticCost(1.0, 1.0, input_target=REST).probe(2, 1), ("input_dim 1", "input_dim 2")),
    ],
)
def test_bad_targets_are_refused(call: Callable[[], object], words: tuple[str, ...]) -> None:
    check_refused(call, *words, kind=InputError)
