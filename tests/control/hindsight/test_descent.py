"""Quasi-Newton and projected steps on functions whose minimum is known."""

import math

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.control.hindsight.descent import projected, quasi_newton

BENDS = 10.0 ** np.linspace(0.0, 4.0, 12)
CENTER = np.linspace(-1.0, 2.0, 12)


def bowl(x: Array) -> tuple[float, Array]:
    return 1.0 + float(BENDS @ (x - CENTER) ** 2), 2.0 * BENDS * (x - CENTER)


def rosenbrock(x: Array) -> tuple[float, Array]:
    a, b = x
    return (1 - a) ** 2 + 100 * (b - a * a) ** 2, np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])


def test_quasi_newton_finds_the_bottom_of_a_bowl() -> None:
    np.testing.assert_allclose(quasi_newton(bowl, np.zeros(12)), CENTER, rtol=0, atol=1e-6)


def test_quasi_newton_follows_a_bent_valley() -> None:
    np.testing.assert_allclose(quasi_newton(rosenbrock, np.array([-1.2, 1.0])), [1.0, 1.0], rtol=0, atol=1e-6)


def test_the_right_curvature_needs_one_step() -> None:
    calls = []

    def counted(x: Array) -> tuple[float, Array]:
        calls.append(x)
        return bowl(x)

    found = quasi_newton(counted, np.zeros(12), newton=lambda slope: -0.5 * slope / BENDS, most=1)
    np.testing.assert_allclose(found, CENTER, rtol=1e-12)
    assert len(calls) == 2


def test_quasi_newton_stays_where_values_are_finite() -> None:
    def walled(x: Array) -> tuple[float, Array]:
        if x[0] <= 0.0:
            return math.inf, np.zeros(1)
        return float(x[0] - 0.01 * np.log(x[0])), np.array([1.0 - 0.01 / x[0]])

    assert quasi_newton(walled, np.array([5.0]))[0] == pytest.approx(0.01, rel=1e-5)


def test_quasi_newton_gets_near_a_kink() -> None:
    def kinked(x: Array) -> tuple[float, Array]:
        return 1.0 + abs(x[0] - 1.0) + 0.1 * x[1] ** 2, np.array([np.sign(x[0] - 1.0), 0.2 * x[1]])

    assert kinked(quasi_newton(kinked, np.array([3.3, 2.0])))[0] == pytest.approx(1.0, abs=1e-6)


def test_quasi_newton_stays_at_a_minimum() -> None:
    np.testing.assert_array_equal(quasi_newton(bowl, CENTER), CENTER)


@pytest.mark.parametrize("bend", [1.0, 2e4, 1e8])
def test_projected_steps_end_at_the_nearest_point(bend: float) -> None:
    ball = dw.Ball(12, radius=0.5)

    def distance(x: Array) -> tuple[float, Array]:
        return float((x - CENTER) @ (x - CENTER)), 2.0 * (x - CENTER)

    def gap(x: Array, slope: Array) -> float:
        return float(slope @ x + ball.support(-slope))

    found = projected(distance, ball.project, gap, CENTER, bend=bend, enough=1e-12, most=200_000)
    np.testing.assert_allclose(found, 0.5 * CENTER / np.linalg.norm(CENTER), rtol=0, atol=1e-6)


def test_projected_steps_end_when_the_gap_is_small_enough() -> None:
    box = dw.Box(np.full(12, -0.5), np.full(12, 0.5))
    calls = []

    def gap(x: Array, slope: Array) -> float:
        return float(slope @ x + box.support(-slope))

    def counted(x: Array) -> tuple[float, Array]:
        calls.append(x)
        return bowl(x)

    found = projected(counted, box.project, gap, np.zeros(12), bend=2e4, enough=1e-6, most=100_000)
    assert gap(found, bowl(found)[1]) <= 1e-6 * bowl(found)[0]
    np.testing.assert_allclose(found, np.clip(CENTER, -0.5, 0.5), rtol=0, atol=0.02)
    assert len(calls) < 20_000
