"""The Kalman filter, beside what is known of it."""

import numpy as np
import pytest

from driftwise.experiments.studies.decisions.baselines.kalman import random_walk


def test_without_drift_it_is_ridge_regression() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    made = random_walk(x, y, np.array([0.0]), np.array([4.0]))
    expected = np.linalg.solve(x[:19].T @ x[:19] + np.eye(3) / 4.0, x[:19].T @ y[:19])
    np.testing.assert_allclose(made[19, 0], expected, rtol=1e-9)


def test_on_a_level_its_gain_settles_where_theory_says() -> None:
    q, y = 0.25, np.zeros(200)
    y[150] = 1.0
    made = random_walk(np.ones((200, 1)), y, np.array([q]), np.array([1.0]))[:, 0, 0]
    ahead = (q + np.sqrt(q * q + 4.0 * q)) / 2.0
    assert made[150] == 0.0
    assert made[151] == pytest.approx(ahead / (1.0 + ahead), rel=1e-9)
