"""Recursive least squares, beside the regression that it stands for."""

import numpy as np

from driftwise.experiments.studies.decisions.baselines.squares import recursive_least_squares


def test_the_weights_solve_the_regression_of_all_rounds_so_far() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    settings = [(1.0, 0.5), (0.9, 2.0)]
    made = recursive_least_squares(x, y, *np.array(settings).T)
    assert made.shape == (30, 2, 3)
    assert not made[0].any()
    for k, (forgetting, prior) in enumerate(settings):
        for t in (1, 7, 29):
            weight = forgetting ** np.arange(t - 1, -1, -1.0)
            matrix = (x[:t] * weight[:, None]).T @ x[:t] + prior * forgetting**t * np.eye(3)
            np.testing.assert_allclose(made[t, k], np.linalg.solve(matrix, x[:t].T @ (weight * y[:t])), rtol=1e-8)
