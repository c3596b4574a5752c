"""Dead bands around wishes."""

import numpy as np

import driftwise as dw
from driftwise.experiments.studies.decisions.baselines.dead_band import BANDS, with_dead_bands


def test_the_bill_is_that_of_the_library() -> None:
    """Hold by hand, and let the library work out what that costs."""
    rng = np.random.default_rng(0)
    x, y, radius = rng.standard_normal((40, 2)), rng.standard_normal(40), 1.5
    wishes = np.cumsum(0.3 * rng.standard_normal((40, 3, 2)), axis=0)
    bill = with_dead_bands(wishes, x, y, radius)
    losses, ball = dw.SquaredLoss(x, y), dw.Ball(2, radius)
    for n in range(3):
        inside = ball.project(wishes[:, n])
        for k, band in enumerate(BANDS):
            held = inside[:1].repeat(40, axis=0)
            for t in range(1, 40):
                held[t] = inside[t] if np.linalg.norm(inside[t] - held[t - 1]) > band else held[t - 1]
            path = np.linalg.norm(np.diff(held, axis=0), axis=1).sum()
            np.testing.assert_allclose(bill.losses[k, n], losses.policy_losses(held).sum(), rtol=1e-9)
            np.testing.assert_allclose(bill.paths[k, n], path, rtol=1e-9, atol=1e-12)


def test_what_diverged_costs_infinitely_much() -> None:
    wishes = np.array([[[0.0], [0.0]], [[np.nan], [1.0]]])
    costs = with_dead_bands(wishes, np.ones((2, 1)), np.ones(2), 2.0).at(1.0)
    assert np.isfinite(costs[:, 1]).all()
    assert not np.isnan(costs).any()
