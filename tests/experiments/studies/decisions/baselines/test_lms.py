"""Normalised least mean squares."""

import numpy as np

from driftwise.experiments.studies.decisions.baselines.lms import normalised_lms


def test_a_share_of_one_makes_the_whole_error_good() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    made = normalised_lms(x, y, np.array([1.0, 0.25]))
    for t in range(19):
        before, after = (y[t] - made[s] @ x[t] for s in (t, t + 1))
        np.testing.assert_allclose(after, before * np.array([0.0, 0.75]), atol=1e-12)


def test_on_a_level_it_is_exponential_smoothing() -> None:
    y = np.random.default_rng(1).standard_normal(50)
    made = normalised_lms(np.ones((50, 1)), y, np.array([0.3, 1.0]))[:, :, 0]
    level = 0.0
    for t in range(50):
        assert made[t, 0] == level
        level = level + 0.3 * (y[t] - level)
    np.testing.assert_allclose(made[1:, 1], y[:-1])


def test_features_that_are_zero_teach_nothing() -> None:
    assert not normalised_lms(np.zeros((3, 2)), np.ones(3), np.array([1.0])).any()
