"""Soft limits of states: values, gradients, stages, bounds, what is refused."""

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.control.costs import AbsoluteCost, Cost, CostSequence, CustomCost, QuadraticCost, SoftLimits
from driftwise.errors import InputError, ParameterError
from tests.cases import check_refused
from tests.control.costs.cases import Q, R, U, X, agree
from tests.control.costs.test_targets import AIMED, GOAL, told

LOW, HIGH = np.array([-1.0, -math.inf, 0.5]), np.array([0.2, 3.0, math.inf])
WEIGHT = np.array([2.0, 3.0, 5.0])
SOFT = SoftLimits(AIMED, LOW, HIGH, WEIGHT)


def expected(x: Array, u: Array) -> tuple[float, Array, Array]:
    """Return the cost and its gradients by the formula."""
    above, below = np.maximum(0.0, x - HIGH), np.maximum(0.0, LOW - x)
    slope_x, slope_u = AIMED.gradient(x, u)
    value = AIMED.value(x, u) + float(WEIGHT @ (above**2 + below**2))
    return value, slope_x + 2.0 * WEIGHT * (above - below), slope_u


def test_values_and_gradients_follow_the_formula() -> None:
    rng = np.random.default_rng(0)
    for x, u in zip(2.0 * rng.standard_normal((40, 3)), rng.standard_normal((40, 2)), strict=True):
        value, slope_x, slope_u = expected(x, u)
        assert SOFT.value(x, u) == pytest.approx(value, rel=1e-13)
        found = SOFT.gradient(x, u)
        np.testing.assert_allclose(found[0], slope_x, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(found[1], slope_u)
    within = np.array([0.0, -9.0, 0.6])
    assert SOFT.value(within, U) == AIMED.value(within, U)
    CustomCost(SOFT.value, SOFT.gradient).probe(3, 2)


def test_numbers_hold_for_any_number_of_states() -> None:
    cost = SoftLimits(QuadraticCost(0.0, 1.0), high=1.0, weight=2.0)
    assert (cost.state_dim, cost.input_dim) == (None, None)
    assert cost.value([3.0], [0.0]) == 8.0
    assert cost.value([3.0, -9.0, 2.0], [1.0]) == 11.0
    assert [array.tolist() for array in (cost.low, cost.high, cost.weight)] == [[-math.inf], [1.0], [2.0]]
    assert SoftLimits(QuadraticCost([1.0, 1.0], 1.0), 0.0).low.tolist() == [0.0, 0.0]
    assert SoftLimits(QuadraticCost(1.0, 1.0, target=GOAL), 0.0).state_dim == 3
    assert SoftLimits(QuadraticCost(1.0, 1.0), [0.0, 1.0]).state_dim == 2


def test_the_weight_is_a_hundred_times_that_of_the_states_unless_given() -> None:
    assert SoftLimits(QuadraticCost([1.0, 7.0], 1.0), 0.0).weight.tolist() == [700.0, 700.0]
    assert SoftLimits(QuadraticCost(0.0, 1.0), 0.0).weight.tolist() == [100.0]


def test_the_cost_within_can_be_read() -> None:
    inner = SOFT.inner
    assert type(inner) is QuadraticCost
    assert inner.value(X, U) == AIMED.value(X, U)
    np.testing.assert_array_equal(inner.Q, AIMED.Q)
    np.testing.assert_array_equal(inner.R, AIMED.R)
    np.testing.assert_array_equal(inner.target, GOAL)
    assert (inner.state_dim, inner.input_dim) == (3, 2)
    np.testing.assert_array_equal(SOFT.low, LOW)
    np.testing.assert_array_equal(SOFT.high, HIGH)
    np.testing.assert_array_equal(SOFT.weight, WEIGHT)
    assert repr(SOFT) == "SoftLimits(state_dim=3, input_dim=2)"
    assert (SOFT.quadratic, SOFT.smooth, SOFT.convex, SOFT.compiled) == (False, True, True, True)
    for twin in (copy.deepcopy(SOFT), pickle.loads(pickle.dumps(SOFT))):
        assert twin.value(X, U) == SOFT.value(X, U)
        np.testing.assert_array_equal(twin.high, HIGH)


def test_a_scaled_cost_is_taken_with_its_factors() -> None:
    scaled = CostSequence.scaled(QuadraticCost([1.0, 2.0], 4.0), [3.0], [0.5])[0]
    assert isinstance(scaled, QuadraticCost)
    cost = SoftLimits(scaled, high=0.0, weight=10.0)
    assert cost.value([1.0, 0.0], [1.0]) == 3.0 + 2.0 + 10.0
    np.testing.assert_array_equal(cost.inner.Q, np.diag([3.0, 6.0]))


def test_limits_change_between_stages_and_are_scaled_with_the_states() -> None:
    night = SoftLimits(AIMED, LOW - 1.0, HIGH, WEIGHT)
    listed: list[Cost] = [SOFT, night, SOFT]
    costs = CostSequence(listed)
    agree(costs, listed)
    assert costs.data is not None
    assert costs.data.limits.shape == (2, 3, 3)
    assert costs.data.stage.tolist() == [0, 1, 0]
    scaled = CostSequence.scaled(SOFT, [2.0, 0.5], [1.0, 3.0])
    agree(scaled, list(scaled))
    state_part = SOFT.value(X, AIMED.input_target)  # type: ignore[arg-type]
    input_part = SOFT.value(X, U) - state_part
    assert scaled[1].value(X, U) == pytest.approx(0.5 * state_part + 3.0 * input_part)
    later = scaled[1]
    assert isinstance(later, SoftLimits)
    np.testing.assert_array_equal(later.weight, 0.5 * WEIGHT)
    np.testing.assert_allclose(later.inner.Q, 0.5 * AIMED.Q)
    check_refused(lambda: CostSequence.scaled(SOFT, [-1.0], [1.0]), "state factor", kind=ParameterError)
    assert CostSequence([SOFT, AIMED]).data is None
    assert CostSequence([SOFT, AIMED])[1] is AIMED


def test_compiled_code_knows_that_slopes_are_not_linear() -> None:
    differ, there, quadratic, goal, _ = told(SOFT, 0, GOAL, AIMED.input_target)
    assert (differ, there, quadratic) == (False, True, False)
    np.testing.assert_array_equal(goal, GOAL)


def test_gradients_are_bounded() -> None:
    around = SoftLimits(QuadraticCost(Q, R), [-1.0, -2.0, 0.0], [1.0, 0.0, 3.0], WEIGHT)
    assert SOFT.gradient_constant is None
    assert SoftLimits(QuadraticCost(Q, R), high=-0.1).gradient_constant is None
    assert SoftLimits(QuadraticCost(Q, R), low=0.1).gradient_constant is None
    constant = around.gradient_constant
    assert constant is not None
    assert constant == pytest.approx(2.0 * np.linalg.norm(0.5 * (Q + Q.T), 2) + 2.0 * 5.0)
    bound_x, bound_u = CostSequence.constant(SOFT, 3).steepest(2.0, 1.0)
    rng = np.random.default_rng(1)
    steepest = 0.0
    for x, u in zip(rng.standard_normal((200, 3)), rng.standard_normal((200, 2)), strict=True):
        slope_x, slope_u = around.gradient(x, u)
        assert np.linalg.norm(slope_x) <= constant * np.linalg.norm(x)
        assert np.linalg.norm(slope_u) <= constant * np.linalg.norm(u)
        slope_x, slope_u = SOFT.gradient(2.0 * x / np.linalg.norm(x), u / np.linalg.norm(u))
        steepest = max(steepest, float(np.linalg.norm(slope_x)))
        assert np.linalg.norm(slope_u) <= bound_u
    assert 0.3 * bound_x < steepest <= bound_x
    any_size = CostSequence.constant(SoftLimits(QuadraticCost(1.0, 1.0), low=0.5), 2)
    check_refused(lambda: any_size.steepest(1.0, 1.0), "bounded only", kind=InputError)


@pytest.mark.filterwarnings("ignore:.*not convex")
def test_the_rule_for_costs_that_are_not_convex_is_that_of_the_cost_within() -> None:
    cost = SoftLimits(QuadraticCost([1.0, -1.0], 1.0, if_not_convex="warn"), 0.0, weight=1.0)
    assert not cost.convex
    assert cost.if_not_convex == cost.inner.if_not_convex == "warn"


class Twice(QuadraticCost):
    """A cost with a value of its own."""

    def value(self, x: Any, u: Any) -> float:
        return 2.0 * super().value(x, u)


@pytest.mark.parametrize(
    ("call", "words", "kind"),
    [
        (lambda: SoftLimits(AbsoluteCost(1.0, 1.0), 0.0), ("cost", "QuadraticCost"), ParameterError),  # type: ignore[arg-type]
        (lambda: SoftLimits(Twice(1.0, 1.0), 0.0), ("Twice", "of its own"), ParameterError),
        (lambda: SoftLimits(AIMED), ("low, high or both",), ParameterError),
        (lambda: SoftLimits(AIMED, 1.0, 0.0), ("low 1 and high 0 for state 0",), ParameterError),
        (lambda: SoftLimits(AIMED, LOW, [1.0, 1.0, 0.4]), ("for state 2",), ParameterError),
        (lambda: SoftLimits(AIMED, math.inf), ("low inf",), ParameterError),
        (lambda: SoftLimits(AIMED, high=-math.inf), ("high -inf",), ParameterError),
        (lambda: SoftLimits(AIMED, 0.0, weight=0.0), ("weight must be above 0",), ParameterError),
        (lambda: SoftLimits(AIMED, 0.0, weight=[1.0, -1.0, 1.0]), ("-1 for state 1",), ParameterError),
        (lambda: SoftLimits(AIMED, 0.0, weight=math.inf), ("weight", "inf"), InputError),
        (lambda: SoftLimits(AIMED, [0.0, 1.0]), ("same number of states", "2, 3"), InputError),
        (lambda: SoftLimits(AIMED, [math.nan] * 3), ("low", "nan"), InputError),
        (lambda: SoftLimits(AIMED, "a"), ("low", "'a'"), InputError),
        (lambda: SoftLimits(AIMED, [[0.0] * 3]), ("low", "(states,)"), InputError),
    ],
)
def test_bad_limits_are_refused(call: Callable[[], object], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(call, *words, kind=kind)
