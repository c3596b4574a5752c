"""Local linear trends: compiled and in NumPy, and where they lead."""

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.estimators import Kalman, Seen, Trend
from tests.cases import every_pair
from tests.estimators.agreement import DIMS, LEVELS, SCORES, check_agrees, problem


@every_pair(drift=[1e-2, 1e-7, 0.0], kind=(*SCORES, *LEVELS), dim=DIMS)
def test_compiled_trends_are_the_ones_stated(drift: float, kind: str, dim: int) -> None:
    # A trend whose errors are bounded swings to and fro, and rounding with it.
    check_agrees(Trend(drift), *problem(kind, dim), rtol=1e-6 if kind == "huber" else 1e-8)


def test_they_agree_on_a_simplex() -> None:
    check_agrees(Trend(), dw.Simplex(4, scale=2.0), problem("squared", 4)[1])


def _forecasts(one: Trend | Kalman, levels: Array) -> Array:
    one.begin(np.zeros(1), dw.Box([-1e3], [1e3]))
    path = []
    for t, level in enumerate(levels):
        path.append(one.propose()[0])
        one.learn(Seen.of_levels(t, [level]))
    return np.array(path)


def test_a_trend_is_ahead_of_a_filter_of_levels() -> None:
    climb = 3.0 * np.arange(60.0)
    assert _forecasts(Trend(1e-2), climb)[-1] == pytest.approx(climb[-1], abs=0.1)
    assert _forecasts(Kalman(1e-2), climb)[-1] < climb[-1] - 5.0


def test_without_one_it_is_the_more_nervous() -> None:
    noise = np.random.default_rng(0).standard_normal(300)
    assert _forecasts(Trend(1e-2), noise)[50:].std() > 1.5 * _forecasts(Kalman(1e-3), noise)[50:].std()


def test_of_a_straight_line_it_learns_slope_and_level() -> None:
    """With hardly any drift it is close to the regression on time."""
    levels = 5.0 + 0.3 * np.arange(200.0) + np.sin(np.arange(200.0))
    one = Trend(1e-8)
    one.begin(np.zeros(1), dw.Box([-1e3], [1e3]))
    for t, level in enumerate(levels):
        one.learn(Seen.of_levels(t, [level]))
    slope, level = np.polyfit(np.arange(200.0), levels, 1)
    assert one.propose()[0] == pytest.approx(level + 200.0 * slope, rel=0.01)
