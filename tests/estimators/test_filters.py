"""Least squares and Kalman filters: compiled and in NumPy, and both against textbook formulas."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.estimators import Estimator, Kalman, RecursiveLeastSquares, Seen
from tests.cases import every_pair
from tests.estimators.agreement import DIMS, LEVELS, SCORES, check_agrees, problem, rounds_of

FILTERS: dict[str, Estimator] = {
    "least squares": RecursiveLeastSquares(),
    "forgetting": RecursiveLeastSquares(0.9),
    "Kalman": Kalman(1e-2),
    "Kalman with an intercept": Kalman(1e-3, intercept=True),
    "Kalman by median": Kalman(1e-2, "median"),
    "Kalman by own": Kalman(1e-3, "own"),
}


@every_pair(name=FILTERS, kind=(*SCORES, *LEVELS), dim=DIMS)
def test_compiled_filters_are_the_ones_stated(name: str, kind: str, dim: int) -> None:
    check_agrees(FILTERS[name], *problem(kind, dim))


@pytest.mark.parametrize("name", FILTERS)
def test_they_agree_on_a_simplex(name: str) -> None:
    check_agrees(FILTERS[name], dw.Simplex(4, scale=2.0), problem("squared", 4)[1])


@pytest.mark.parametrize("name", FILTERS)
def test_they_agree_where_features_come_late_and_in_other_units(name: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((120, 4)) * [1.0, 1e3, 1.0, 1e-3]
    x[:40, 2], x[:, 0] = 0.0, 1.0
    x[:3] = 0.0
    losses = dw.SquaredLoss(x, x @ [1.0, 1e-3, -1.0, 500.0] + 0.1 * rng.standard_normal(120))
    check_agrees(FILTERS[name], dw.Ball(4, radius=1e3), losses)


@pytest.mark.parametrize("name", FILTERS)
def test_a_first_error_of_nothing_does_not_cost_them_their_prior(name: str) -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((60, 2))
    y = x @ [0.7, -0.4]
    y[0] = 0.0
    check_agrees(FILTERS[name], dw.Ball(2), dw.AbsoluteLoss(x, y))


def test_least_squares_is_ridge_regression_on_all_rounds() -> None:
    domain, losses = problem("squared", 3)
    one, rows, targets = RecursiveLeastSquares(), [], []
    one.begin(np.zeros(3), domain)
    for seen, _ in rounds_of(RecursiveLeastSquares(), domain, losses):
        one.learn(seen)
        rows.append(seen.features)
        targets.append(seen.targets[0])
    X = np.array(rows)
    ridge = np.diag(0.01 * X[0] ** 2)
    np.testing.assert_allclose(one.propose(), np.linalg.solve(X.T @ X + ridge, X.T @ targets), rtol=1e-9)


def test_least_squares_with_forgetting_discounts_the_past() -> None:
    one, levels = RecursiveLeastSquares(0.5), np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    one.begin(np.zeros(1), dw.Box([0.0], [99.0]))
    for t, level in enumerate(levels):
        one.learn(Seen.of_levels(t, [level]))
    weights = 0.5 ** np.arange(5, -1, -1.0)
    assert one.propose()[0] == pytest.approx(weights @ levels / (weights.sum() + 0.01 * 0.5**5), rel=1e-12)


def test_a_kalman_filter_of_a_level_settles_on_the_gain_of_the_textbook() -> None:
    q = 0.02
    one = Kalman(q)
    one.begin(np.zeros(1), dw.Box([-9.0], [9.0]))
    for t in range(500):
        one.learn(Seen.of_levels(t, [0.0]))
    one.learn(Seen.of_levels(500, [1.0]))
    before = q / 2.0 + np.sqrt(q * q / 4.0 + q)  # the root of P = P / (1 + P) + q
    assert one.propose()[0] == pytest.approx(before / (1.0 + before), rel=1e-9)


def test_an_intercept_takes_what_no_feature_explains() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((400, 2))
    losses, truth = dw.SquaredLoss(x, x @ [0.5, -0.2] + 7.0), np.array([0.5, -0.2])
    ends = {}
    for given in (False, True):
        *_, (_, ends[given]) = rounds_of(Kalman(1e-3, intercept=given), dw.Ball(2, radius=30.0), losses)
    assert np.linalg.norm(ends[True] - truth) < 0.05 < 0.3 < np.linalg.norm(ends[False] - truth)


def test_least_squares_does_not_care_about_units() -> None:
    rng, units = np.random.default_rng(5), np.array([1.0, 100.0, 0.01])
    x, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    ends = []
    for rows in (x, x * units):
        one = RecursiveLeastSquares(0.9)
        one.begin(np.zeros(3), dw.Ball(3, radius=1e3))
        for t, (row, target) in enumerate(zip(rows, y, strict=True)):
            one.learn(Seen.of_score(t, row, target, scales=(rows[: t + 1] ** 2).mean(axis=0)))
        ends.append(one.propose())
    np.testing.assert_allclose(ends[1] * units, ends[0], rtol=1e-9)
