"""The built-in costs: values, gradients, what is refused."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from driftwise._validate import Array, read_only
from driftwise.control.costs import (
    AbsoluteCost,
    CostSequence,
    CustomCost,
    DataCost,
    HuberCost,
    QuadraticCost,
    gradual,
)
from driftwise.errors import ArgumentError, InputError, ParameterError
from tests.cases import check_refused
from tests.control.costs.cases import BUILT_IN, Q, R, U, X, size


def huber(z: Array, width: float) -> Array:
    return np.where(np.abs(z) <= width, z**2 / (2.0 * width), np.abs(z) - width / 2.0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("quadratic", X @ Q @ X + U @ R @ U),
        ("absolute", 0.3 + 2.0 * 1.5 + 0.5 * 0.4 + 3.0 * 4.0),
        ("huber", np.array([1.0, 0.0, 2.0]) @ huber(X, 0.7) + np.array([0.5, 3.0]) @ huber(U, 0.7)),
    ],
)
def test_values_follow_the_formula(name: str, expected: float) -> None:
    assert BUILT_IN[name].value(X, U) == pytest.approx(expected, rel=1e-14)
    assert BUILT_IN[name].value(read_only(X.copy()), U.tolist()) == BUILT_IN[name].value(X, U)


@pytest.mark.parametrize("cost", BUILT_IN.values(), ids=BUILT_IN.keys())
def test_gradients_are_those_of_the_values(cost: DataCost) -> None:
    h = 1e-6
    slope_x, slope_u = cost.gradient(X, U)
    for i, unit in enumerate(np.eye(3)):
        assert (cost.value(X + h * unit, U) - cost.value(X - h * unit, U)) / (2 * h) == pytest.approx(
            slope_x[i], abs=1e-7
        )
    for i, unit in enumerate(np.eye(2)):
        assert (cost.value(X, U + h * unit) - cost.value(X, U - h * unit)) / (2 * h) == pytest.approx(
            slope_u[i], abs=1e-7
        )


@pytest.mark.parametrize("cost", BUILT_IN.values(), ids=BUILT_IN.keys())
def test_built_in_costs_pass_the_probe_of_custom_ones(cost: DataCost) -> None:
    CustomCost(cost.value, cost.gradient).probe(3, 2)

    def uphill(x: Array, u: Array) -> tuple[Array, Array]:
        slope_x, slope_u = cost.gradient(x, u)
        return -slope_x, -slope_u

    with pytest.raises(InputError):
        CustomCost(cost.value, uphill).probe(3, 2)


def test_values_come_from_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftwise.control.costs.base.one_value", lambda *arguments: 17.0)
    assert BUILT_IN["quadratic"].value(X, U) == 17.0


def test_weights_and_names_can_be_read_back() -> None:
    cost = HuberCost([1.0, 2.0], [3.0], width=0.5)
    np.testing.assert_array_equal(cost.state_weights, [1.0, 2.0])
    np.testing.assert_array_equal(cost.input_weights, [3.0])
    assert cost.width == 0.5
    assert repr(cost) == "HuberCost(state_dim=2, input_dim=1)"
    assert repr(gradual(5)) == "CostSequence(rounds=5, state_dim=2, input_dim=1)"
    assert repr(CustomCost(size, size)) == "CustomCost(size)"


@pytest.mark.parametrize(
    ("call", "words", "kind"),
    [
        (lambda: QuadraticCost([[1.0, 2.0]], 1.0), ("Q", "(1, 1)"), InputError),
        (lambda: QuadraticCost([1.0, math.nan], 1.0), ("Q", "nan"), InputError),
        (lambda: QuadraticCost(1.0, 1e101), ("R", "1e+100"), InputError),
        (lambda: QuadraticCost("x", 1.0), ("Q",), InputError),
        (lambda: QuadraticCost([[1.0, 3.0], [3.0, 1.0]], 1.0), ("Q", "eigenvalue -2"), ParameterError),
        (lambda: QuadraticCost(1.0, -0.25), ("R", "eigenvalue -0.25", 'if_not_convex="warn"'), ParameterError),
        (lambda: QuadraticCost(1.0, 1.0, if_not_convex="ignore"), ("if_not_convex", "'warn'"), ParameterError),
        (lambda: QuadraticCost(1.0, 1.0, rule="warn"), ("rule", "if_not_convex"), ArgumentError),  # type: ignore[call-arg]
        (lambda: AbsoluteCost([1.0, -1.0], 1.0), ("state_weights", "-1 at [1]"), ParameterError),
        (lambda: AbsoluteCost(1.0, [[1.0]]), ("input_weights",), InputError),
        (lambda: HuberCost(1.0, -1e-9), ("input_weights", "-1e-09 at [0]"), ParameterError),
        (lambda: HuberCost(1.0, 1.0, width=0.0), ("width",), ParameterError),
        (lambda: BUILT_IN["huber"].value(X, X), ("HuberCost.value", "u", "(2,)"), InputError),
        (lambda: BUILT_IN["absolute"].gradient([1.0, math.inf, 0.0], U), ("AbsoluteCost.gradient", "x"), InputError),
        (lambda: CustomCost(1.0, huber), ("value", "function"), ParameterError),  # type: ignore[arg-type]
        (lambda: QuadraticCost([1.0], 1.0).probe(2, 1), ("state_dim 2", "state_dim 1"), InputError),
    ],
)
def test_bad_costs_are_refused(call: Callable[[], object], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(call, *words, kind=kind)


def test_gradient_constants() -> None:
    assert QuadraticCost(np.array([[2.0, 1.0], [1.0, 2.0]]), 2.5).gradient_constant == pytest.approx(6.0)
    assert QuadraticCost([1.0, 1.0], 4.0).gradient_constant == 8.0
    assert AbsoluteCost(1.0, 1.0).gradient_constant is None
    assert HuberCost(1.0, 1.0).gradient_constant is None
    assert CustomCost(size, size).gradient_constant is None
    weak, strong = QuadraticCost(1.0, 1.0), QuadraticCost(1.0, 3.0)
    assert CostSequence([weak, strong, weak]).gradient_constant == 6.0
    assert CostSequence([weak, AbsoluteCost(1.0, 1.0)]).gradient_constant is None
    assert CostSequence.scaled(strong, [1.0, 8.0], [1.0, 0.5]).gradient_constant == 16.0
    rng = np.random.default_rng(3)
    cost = BUILT_IN["quadratic"]
    assert cost.gradient_constant is not None
    for _ in range(100):
        x, u = rng.standard_normal(3), rng.standard_normal(2)
        slope_x, slope_u = cost.gradient(x, u)
        assert np.linalg.norm(slope_x) <= cost.gradient_constant * np.linalg.norm(x) * (1 + 1e-12)
        assert np.linalg.norm(slope_u) <= cost.gradient_constant * np.linalg.norm(u) * (1 + 1e-12)
