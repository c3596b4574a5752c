"""The online Newton step, beside the matrix that it never inverts."""

import numpy as np

from driftwise.experiments.studies.decisions.baselines.newton import online_newton_step


def test_a_step_is_the_gradient_in_the_metric_of_all_gradients() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((25, 3)), rng.standard_normal(25)
    settings = [(0.3, 1.0), (1.0, 0.1)]
    made = online_newton_step(x, y, *np.array(settings).T)
    for k, (step, prior) in enumerate(settings):
        w, metric = np.zeros(3), prior * np.eye(3)
        for t in range(25):
            np.testing.assert_allclose(made[t, k], w, rtol=1e-7, atol=1e-10)
            gradient = (w @ x[t] - y[t]) * x[t]
            metric += np.outer(gradient, gradient)
            w = w - step * np.linalg.solve(metric, gradient)
