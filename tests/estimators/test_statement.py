"""The step of a filter, and what statements share with it."""

import numpy as np
import pytest

from driftwise.estimators import SCORE, Kind, Seen
from driftwise.estimators.statement import Aim, apart, filter_step, floored, near


def test_the_step_of_a_filter_is_bayes_rule() -> None:
    """The precision grows by xx', and the mean solves the normal equations."""
    rng = np.random.default_rng(0)
    root, mean, x = rng.standard_normal((3, 3)), rng.standard_normal(3), np.array([1.0, -2.0])
    P, seen = root @ root.T + np.eye(3), Seen.of_score(0, x, 3.0, scales=[1.0, 1.0])
    row = np.append(x, 0.0)
    found, spread = filter_step(mean, P, seen)
    precision = np.linalg.inv(P) + np.outer(row, row)
    np.testing.assert_allclose(spread, np.linalg.inv(precision), rtol=1e-10)
    np.testing.assert_allclose(found, np.linalg.solve(precision, np.linalg.solve(P, mean) + 3.0 * row), rtol=1e-10)


def test_coordinates_of_a_loss_of_each_are_filters_of_their_own() -> None:
    mean, P = np.array([1.0, 2.0, 0.0]), np.diag([1.0, 3.0, 0.0])
    found, spread = filter_step(mean, P, Seen.of_levels(0, [3.0, 6.0]))
    np.testing.assert_allclose(found, [2.0, 5.0, 0.0])
    np.testing.assert_allclose(np.diag(apart(spread, 2)), [0.5, 0.75, 0.0])


def test_apart_keeps_a_weight_and_its_slope_together() -> None:
    kept = apart(np.ones((6, 6)), 2)
    np.testing.assert_array_equal(kept, np.tile(np.eye(3), (2, 2)))


def test_variances_are_not_negative_and_means_not_absurd() -> None:
    np.testing.assert_array_equal(floored(np.array([[-1e-20, 0.5], [0.5, 2.0]])), [[0.0, 0.5], [0.5, 2.0]])
    mean, start = np.array([1e9, -3.0, 1e9]), np.zeros(2)
    np.testing.assert_array_equal(near(mean, start, 2.0, Kind(SCORE, 2, bend=1.0)), [2e6, -3.0, 1e9])
    np.testing.assert_array_equal(near(mean, start, 2.0, Kind(SCORE, 2)), [8.0, -3.0, 1e9])


def test_the_longest_gradient_so_far_reaches_as_far_as_is_assumed() -> None:
    aim, seen = Aim(4.0), Seen.of_score(0, [1.0], 2.0, scales=[1.0])
    assert aim.target(seen) == pytest.approx(-4.0)
    assert aim.target(Seen.of_score(1, [1.0], 1.0, scales=[1.0])) == pytest.approx(-2.0)
    assert (aim.longest, aim.count) == (2.0, 2)
