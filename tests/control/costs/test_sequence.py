"""The costs of all rounds of a run."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from driftwise._validate import Array
from driftwise.control.costs import (
    AbsoluteCost,
    Cost,
    CostSequence,
    CustomCost,
    DataCost,
    HuberCost,
    QuadraticCost,
    SoftLimits,
    abrupt,
    as_costs,
    gradual,
    pendulum,
)
from driftwise.errors import ArgumentError, InputError, ParameterError, RoundIndexError
from tests.cases import check_refused
from tests.control.costs.cases import BUILT_IN, CONVEX, NOT_CONVEX, R, U, X, agree


@pytest.mark.parametrize("cost", BUILT_IN.values(), ids=BUILT_IN.keys())
def test_a_list_is_stored_by_its_distinct_costs(cost: DataCost) -> None:
    listed: list[Cost] = [cost, cost, CostSequence.scaled(cost, [2.0], [3.0])[0], cost]
    costs = CostSequence(listed)
    agree(costs, listed)
    assert costs.data is not None
    assert costs.data.state.shape[0] == 1
    assert costs.data.scales.tolist() == [[1, 1], [1, 1], [2, 3], [1, 1]]
    assert costs[1] is cost


def test_equal_weights_are_stored_once_and_different_ones_in_order() -> None:
    listed: list[Cost] = [QuadraticCost(q, r) for q, r in ((1.0, 1.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0))]
    costs = CostSequence(listed)
    agree(costs, listed)
    assert costs.data is not None
    assert costs.data.stage.tolist() == [0, 1, 0, 2]
    assert costs.data.scales.shape == (1, 2)


@pytest.mark.parametrize("cost", BUILT_IN.values(), ids=BUILT_IN.keys())
def test_constant_stages_and_scaled(cost: DataCost) -> None:
    agree(CostSequence.constant(cost, 4), [cost] * 4)
    long = CostSequence.constant(cost, 10**6).data
    assert long is not None
    assert (long.state.shape[0], long.stage.shape, long.scales.shape) == (1, (1,), (1, 2))
    other: DataCost = {
        "QuadraticCost": QuadraticCost([3.0, 1.0, 2.0], R),
        "AbsoluteCost": AbsoluteCost([3.0, 1.0, 2.0], [1.0, 0.0]),
        "HuberCost": HuberCost([3.0, 1.0, 2.0], [1.0, 0.0], width=0.7),
        "SoftLimits": SoftLimits(QuadraticCost([3.0, 1.0, 2.0], R), [-1.0, -0.5, -2.0], [0.1, 0.2, math.inf]),
    }[type(cost).__name__]
    agree(CostSequence.stages([cost, other], 5), [cost] * 3 + [other] * 2)
    agree(CostSequence.stages([cost, other], lengths=[1, 3]), [cost] + [other] * 3)
    a, b = np.array([1.0, 0.0, 0.5]), np.array([2.0, 1.0, 0.25])
    scaled = CostSequence.scaled(cost, a, b)
    zero_x, zero_u = np.zeros(3), np.zeros(2)
    for t in range(3):
        assert scaled[t].value(X, U) == pytest.approx(a[t] * cost.value(X, zero_u) + b[t] * cost.value(zero_x, U))
    agree(scaled, list(scaled))
    again = CostSequence.scaled(next(iter(scaled)), [3.0], [0.5])  # type: ignore[arg-type]
    assert again[0].value(X, U) == pytest.approx(3.0 * cost.value(X, zero_u) + cost.value(zero_x, U))


def test_a_scaled_round_knows_its_weights() -> None:
    cost = CostSequence.scaled(QuadraticCost([1.0, 2.0], 4.0), [1.0, 3.0], [1.0, 0.5])[1]
    assert isinstance(cost, QuadraticCost)
    np.testing.assert_array_equal(cost.Q, np.diag([3.0, 6.0]))
    np.testing.assert_array_equal(cost.R, [[2.0]])
    assert cost.gradient_constant == 12.0


def test_what_compiled_code_cannot_run_has_no_data() -> None:
    custom = CustomCost(*CONVEX["squares"])
    for listed in (
        [custom, custom],
        [QuadraticCost(1.0, 1.0), AbsoluteCost(1.0, 1.0)],
        [HuberCost(1.0, 1.0), HuberCost(1.0, 1.0, width=2.0)],
        [QuadraticCost(1.0, 1.0), custom],
    ):
        costs = CostSequence(listed)
        assert costs.data is None
        assert [costs[t] for t in range(2)] == listed
    assert CostSequence([custom]).state_dim is None
    assert CostSequence([custom, QuadraticCost([1.0, 1.0], 1.0)]).state_dim == 2


def test_a_subclass_that_changes_the_arithmetic_does_not_run_as_data() -> None:
    class Twice(QuadraticCost):
        def value(self, x: ArrayLike, u: ArrayLike) -> float:
            return 2.0 * super().value(x, u)

    cost = Twice(1.0, 1.0)
    costs = CostSequence.constant(cost, 2)
    assert (costs.data, costs.gradient_constant) == (None, None)
    assert costs[1].value([1.0], [1.0]) == 4.0
    check_refused(lambda: CostSequence.scaled(cost, [1.0], [1.0]), "Twice", kind=ParameterError)


def test_negative_factors_follow_the_rule_of_the_cost() -> None:
    factors = [1.0, -0.5], [1.0, 1.0]
    words = ("CostSequence.scaled", "round 1", "state factor", "-0.5")
    check_refused(lambda: CostSequence.scaled(QuadraticCost(1.0, 1.0), *factors), *words, kind=ParameterError)
    check_refused(lambda: CostSequence.scaled(AbsoluteCost(1.0, 1.0), *factors), *words, kind=ParameterError)
    with pytest.warns(UserWarning, match="round 1 is not convex") as caught:
        costs = CostSequence.scaled(QuadraticCost(1.0, 1.0, if_not_convex="warn"), *factors)
    assert [warning.filename for warning in caught] == [__file__]
    assert costs[1].value([2.0], [1.0]) == -1.0


QUADRATIC = QuadraticCost([1.0, 1.0], 1.0)


@pytest.mark.parametrize(
    ("call", "words", "kind"),
    [
        (lambda: CostSequence([]), ("one or more",), InputError),
        (lambda: CostSequence(QUADRATIC), ("list",), InputError),  # type: ignore[arg-type]
        (lambda: CostSequence([QUADRATIC, 3.0]), ("costs[1]", "3.0"), InputError),  # type: ignore[list-item]
        (lambda: CostSequence([QUADRATIC, QuadraticCost([1.0], 1.0)]), ("state_dim", "1 and 2"), InputError),
        (lambda: CostSequence.constant(QUADRATIC, 0), ("rounds",), ParameterError),
        (lambda: CostSequence.constant(3.0, 4), ("cost", "QuadraticCost"), ParameterError),  # type: ignore[arg-type]
        (lambda: CostSequence.constant(QUADRATIC, round=3), ("constant", "rounds"), ArgumentError),  # type: ignore[call-arg]
        (lambda: CostSequence.stages([QUADRATIC] * 3, 2), ("rounds", "at least 3"), ParameterError),
        (lambda: CostSequence.stages([QUADRATIC] * 3), ("either rounds or lengths",), ParameterError),
        (lambda: CostSequence.stages([QUADRATIC] * 3, 9, lengths=[3, 3, 3]), ("either rounds",), ParameterError),
        (lambda: CostSequence.stages([QUADRATIC] * 3, lengths=[3, 3]), ("lengths", "3", "2"), InputError),
        (lambda: CostSequence.stages([QUADRATIC] * 2, lengths=[3, 0]), ("lengths", "at least 1"), ParameterError),
        (lambda: CostSequence.scaled(QUADRATIC, [1.0, 1.0], [1.0]), ("input_factors", "(2,)"), InputError),
        (lambda: CostSequence.scaled(QUADRATIC, 1.0, 1.0), ("state_factors",), InputError),
        (lambda: CostSequence.scaled(QUADRATIC, [math.nan], [1.0]), ("state_factors", "nan"), InputError),
        (
            lambda: CostSequence.scaled(CustomCost(*CONVEX["squares"]), [1.0], [1.0]),  # type: ignore[arg-type]
            ("DataCost", "CustomCost"),
            ParameterError,
        ),
        *((lambda t=t: gradual(10)[t], ("from 0 to 9",), RoundIndexError) for t in (-1, 10, 1.0, True, None)),
        (lambda: gradual(0), ("gradual", "rounds"), ParameterError),
        (lambda: gradual(10, state_dim=0), ("state_dim",), ParameterError),
        (lambda: gradual(10, literal=1), ("literal",), ParameterError),  # type: ignore[arg-type]
        (lambda: gradual(10, literall=True), ("literal",), ArgumentError),  # type: ignore[call-arg]
        (lambda: abrupt(4), ("rounds", "at least 5"), ParameterError),
        (lambda: abrupt(10, seed=-1), ("seed",), ParameterError),
        (lambda: pendulum(2.5), ("pendulum", "rounds"), ParameterError),  # type: ignore[arg-type]
    ],
)
def test_bad_sequences_are_refused(call: Callable[[], object], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(call, *words, kind=kind)


def test_as_costs_takes_a_cost_a_sequence_or_a_list() -> None:
    costs = as_costs("simulate", QUADRATIC, 7, 2, 1)
    assert len(costs) == 7
    assert as_costs("simulate", costs, 7, 2, 1) is costs
    agree(as_costs("simulate", [QUADRATIC] * 3, 3, 2, 1), [QUADRATIC] * 3)
    assert as_costs("simulate", (QUADRATIC,), 1, 2, 1)[0] is QUADRATIC


@pytest.mark.parametrize(
    ("costs", "dims", "words"),
    [
        (QUADRATIC, (3, 1), ("simulate", "state_dim 3", "state_dim 2")),
        (gradual(4), (2, 2), ("simulate", "input_dim 2", "input_dim 1")),
        ([QUADRATIC] * 5, (2, 1), ("simulate", "4", "5")),
        (gradual(3), (2, 1), ("simulate", "4", "3")),
        ([], (2, 1), ("simulate",)),
        ([1.0] * 4, (2, 1), ("simulate", "costs[0]")),
        (1.0, (2, 1), ("simulate", "costs")),
        (None, (2, 1), ("simulate", "costs")),
    ],
)
def test_as_costs_refuses(costs: Any, dims: tuple[int, int], words: tuple[str, ...]) -> None:
    check_refused(lambda: as_costs("simulate", costs, 4, *dims), *words, kind=InputError)


def test_as_costs_probes_costs_of_the_user() -> None:
    good = CustomCost(*CONVEX["squares"])
    bad = CustomCost(*NOT_CONVEX["saddle"])
    as_costs("simulate", good, 10**5, 2, 1)
    check_refused(lambda: as_costs("simulate", bad, 4, 2, 1), "not convex", kind=ParameterError)
    check_refused(lambda: as_costs("simulate", [good] * 3 + [bad], 4, 2, 1), "not convex", kind=ParameterError)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        as_costs("simulate", [CustomCost(*NOT_CONVEX["saddle"], if_not_convex="warn")] * 4, 4, 2, 1)
    assert len(caught) == 1


def test_of_many_different_costs_the_first_and_the_last_are_among_those_probed() -> None:
    calls: set[int] = set()

    def make(n: int) -> CustomCost:
        def value(x: Array, u: Array) -> Any:
            calls.add(n)
            return x @ x

        return CustomCost(value, lambda x, u: (2 * x, 0 * u))

    as_costs("simulate", [make(n) for n in range(1000)], 1000, 2, 1)
    assert len(calls) == 100
    assert {0, 999} <= calls
    assert max(np.diff(sorted(calls))) <= 11


def test_the_model_is_one_cost_with_the_data_of_all_rounds() -> None:
    cheap, dear = QuadraticCost([1.0, 1.0], 0.1), QuadraticCost([1.0, 1.0], 10.0)
    costs = CostSequence.stages([cheap, dear], 10)
    assert isinstance(costs.model, QuadraticCost)
    assert costs.model.data is costs.data
    x, u = np.array([1.0, -2.0]), np.array([3.0])
    for t in range(10):
        assert costs.model.of_round(t).value(x, u) == costs[t].value(x, u)
    assert costs.model.gradient_constant == costs.gradient_constant == 20.0
    assert cheap.gradient_constant == 2.0  # as it was
    mixed = CostSequence([cheap, AbsoluteCost([1.0, 1.0], 1.0)])
    assert mixed.model is None
    assert mixed.data is None
