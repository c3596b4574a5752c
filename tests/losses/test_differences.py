"""Central differences: how near they come, and where there is no gradient to come near to."""

import math
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.losses.differences import central_differences
from tests.cases import check_refused

POINTS = [np.zeros(3), np.array([1e-8, -0.3, 2.0]), np.array([100.0, -50.0, 0.1])]


@pytest.mark.parametrize("w", POINTS, ids=str)
@pytest.mark.parametrize(
    ("value", "gradient"),
    [
        (lambda w: 0.5 * w @ w, lambda w: w),
        (lambda w: np.sum(np.logaddexp(w, 0.0)), lambda w: 1.0 / (1.0 + np.exp(-w))),
        (lambda w: np.sum(np.sqrt(1.0 + w * w)), lambda w: w / np.sqrt(1.0 + w * w)),
        (lambda w: w @ [1.0, -2.0, 3.0], lambda w: np.array([1.0, -2.0, 3.0])),
    ],
    ids=["square", "logistic", "pseudo-Huber", "linear"],
)
def test_they_are_gradients_to_a_billionth_of_the_values(value: Any, gradient: Any, w: Array) -> None:
    off = np.abs(central_differences("test", value, w) - gradient(w)).max()
    assert off <= 2e-9 * max(1.0, abs(value(w)))


def test_a_value_in_single_precision_is_given_a_larger_step() -> None:
    w = np.array([0.3, -2.0])
    found = central_differences("test", lambda w: np.float32(0.5 * (w.astype(np.float32) ** 2).sum()), w)
    np.testing.assert_allclose(found, w, atol=1e-3)
    assert np.abs(central_differences("test", lambda w: np.float32(0.5 * w @ w), w, step=6e-6) - w).max() > 1e-3


def test_at_a_kink_it_is_a_subgradient_and_at_the_end_of_the_domain_the_slope_inside() -> None:
    assert central_differences("test", lambda w: 3.0 * abs(w[0]), np.zeros(1)).tolist() == [0.0]
    # w log w - w is finite from 0 on.
    value = lambda w: math.inf if w[0] < 0.0 else (w[0] * math.log(w[0]) if w[0] > 0.0 else 0.0)  # noqa: E731
    assert central_differences("test", value, np.zeros(1))[0] < -10.0
    np.testing.assert_allclose(central_differences("test", value, np.ones(1)), [1.0], rtol=1e-9)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda w: math.nan, "the function is nan at w = [1.]"),
        (lambda w: math.inf if w[0] != 1.0 else 0.0, "not finite on either side of it along coordinate 0"),
        (lambda w: w, "must return one real number, such as ((w - 1) ** 2).sum(), got shape (1,)"),
        (lambda w: None, "got None"),
        (lambda w: "a", "got 'a'"),
        (lambda w: 1j, "got 1j"),
        (lambda w: True, "got True"),
        (lambda w: 1e200 * w[0], "at most 1e+100 in size"),
    ],
)
def test_what_has_no_gradient_is_refused(value: Any, words: str) -> None:
    check_refused(lambda: central_differences("test", value, np.ones(1)), words)


def test_the_point_is_the_callers_own() -> None:
    w = np.array([1.0, 2.0])

    def spoil(at: Array) -> float:
        size = float(at @ at)
        at[:] = 7.0
        return size

    np.testing.assert_allclose(central_differences("test", spoil, w), [2.0, 4.0], rtol=1e-9)
    assert w.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("memory", [0, 1])
def test_a_custom_loss_without_a_gradient_plays_as_with_one(memory: int) -> None:
    def value(t: int, w: Array) -> float:
        return float(np.sum(np.cosh(w - 0.1 * t)))

    def gradient(t: int, w: Array) -> Array:
        return np.asarray((memory + 1) * np.sinh(w - 0.1 * t))

    runs = [
        dw.play(dw.OGD(dw.Ball(2), step=0.2), dw.CustomLoss(value, given, 20, 2, memory), 1.0)
        for given in (gradient, None)
    ]
    np.testing.assert_allclose(runs[0].decisions, runs[1].decisions, atol=1e-8)
