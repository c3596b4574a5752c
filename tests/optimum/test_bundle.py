"""The bundle method: minima of any convex losses against cvxpy and the closed forms, or a typed error."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ConvergenceError, InputError, ParameterError
from driftwise.optimum import bundle
from driftwise.regret import best_fixed
from tests.cases import check_refused, custom
from tests.optimum.problems import CONES, DIM, DOMAINS, GENERAL, QUADRATIC, built_in, cheapest_held, held

ROUNDS = 30


@pytest.mark.parametrize("name", CONES)
@pytest.mark.parametrize("kind", QUADRATIC + GENERAL)
def test_minima_agree_with_cvxpy(kind: str, name: str) -> None:
    losses, domain = built_in(kind, ROUNDS), DOMAINS[name]
    found = bundle.minimise("me", losses, domain)
    assert domain.contains(found)
    assert held(losses, found).sum() == pytest.approx(cheapest_held(losses, domain), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("kind", ["absolute", "squared"])
def test_the_unit_of_the_losses_does_not_matter(kind: str, unit: float) -> None:
    plain = built_in(kind, ROUNDS)
    losses = type(plain)(unit * plain.data.features, unit * plain.data.targets)
    found = bundle.minimise("me", losses, dw.Ball(DIM))
    assert held(plain, found).sum() == pytest.approx(cheapest_held(plain, dw.Ball(DIM)), rel=1e-6)


def test_the_median_is_found_exactly_enough() -> None:
    losses = dw.AbsoluteLoss(np.ones(5), [0.9, -0.2, 0.1, 0.4, -3.0])
    assert bundle.minimise("me", losses, dw.Ball(1, radius=5.0))[0] == pytest.approx(0.1, abs=1e-6)


def test_the_middle_of_a_users_own_bowls_is_found() -> None:
    losses = custom(3, ROUNDS, compile="never")
    centers = np.array([-losses.gradient(t, np.zeros(3)) for t in range(ROUNDS)])
    found = bundle.minimise("me", losses, dw.Ball(3, radius=5.0))
    np.testing.assert_allclose(found, centers.mean(axis=0), rtol=0.0, atol=1e-4)


def test_losses_that_do_not_depend_on_the_decision_are_settled_at_once() -> None:
    losses = dw.CustomLoss(lambda t, w: 1.0, lambda t, w: 0.0 * w, 5, 2)
    np.testing.assert_array_equal(bundle.minimise("me", losses, dw.Ball(2)), [0.0, 0.0])


def hills(t: int, w: Array) -> float:
    return float(-(w @ w) + w[0])


def slopes_of_hills(t: int, w: Array) -> Array:
    return np.asarray(-2.0 * w + np.eye(2)[0])


def test_losses_that_are_not_convex_are_refused() -> None:
    losses = dw.CustomLoss(hills, slopes_of_hills, 5, 2)
    check_refused(lambda: best_fixed(losses, dw.Ball(2)), "best_fixed", "not convex", "tangent", kind=InputError)


def test_a_gradient_that_is_not_that_of_the_value_is_refused() -> None:
    losses = dw.CustomLoss(lambda t, w: float(w @ w), lambda t, w: 1.0 - 2.0 * w, 5, 2)
    check_refused(lambda: best_fixed(losses, dw.Ball(2)), "its gradient is not that of its value", kind=InputError)


def test_too_few_steps_end_in_an_error_that_brackets_the_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "MOST_STEPS", 3)
    losses = built_in("absolute", ROUNDS)
    check_refused(lambda: best_fixed(losses, dw.Ball(DIM)), "best_fixed", "3 steps", kind=ConvergenceError)
    with pytest.raises(ConvergenceError) as caught:
        best_fixed(losses, dw.Ball(DIM))
    low, high = (float(word.rstrip(".")) for word in str(caught.value).split("between ")[1].split(" and "))
    assert low < cheapest_held(losses, dw.Ball(DIM)) <= high


def test_spectral_balls_are_refused() -> None:
    check_refused(
        lambda: best_fixed(built_in("absolute", 5), DOMAINS["spectral"]),
        "best_fixed",
        "balls, boxes and simplices",
        kind=ParameterError,
    )


@pytest.mark.parametrize(
    ("value", "gradient"),
    [
        (lambda t, w: -(w[0] ** 2), lambda t, w: -2.0 * w),
        (lambda t, w: float(np.cos(w[0])), lambda t, w: -np.sin(w)),
        (lambda t, w: (w[0] ** 2 - 1.0) ** 2, lambda t, w: 4.0 * w * (w**2 - 1.0)),
    ],
    ids=["hill", "wave", "double well"],
)
def test_a_stationary_point_that_is_no_minimum_is_not_taken_for_one(value: Any, gradient: Any) -> None:
    losses = dw.CustomLoss(value, gradient, rounds=10, dim=1)
    check_refused(lambda: bundle.minimise("owner", losses, dw.Box([-2.0], [3.0])), "is not convex", kind=InputError)


def test_some_rounds_only() -> None:
    losses = dw.AbsoluteLoss(np.ones(9), [9.0, 9.0, 1.0, 2.0, 4.0, 9.0, 9.0, 9.0, 9.0])
    assert bundle.minimise("owner", losses, dw.Box([0.0], [10.0]), range(2, 5)) == pytest.approx([2.0], abs=1e-6)
