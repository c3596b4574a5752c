"""Scream: its constants against the formulas of the paper."""

import math

import numpy as np
import pytest

import driftwise as dw
from tests.cases import paper_pool

G, RADIUS = 2.5, 0.7
D = 2.0 * RADIUS


def paper_rate(form: str, G: float, lambda_: float, T: int) -> float:
    if form == "theorem":
        return math.sqrt(2.0 / ((2.0 * lambda_ + G) * (lambda_ + G) * D**2 * T))
    G_meta = G * D * (1.0 + 2.0 * lambda_ / math.sqrt(lambda_ * G + G**2))
    return math.sqrt(2.0 / (G_meta * (lambda_ * D + G_meta) * T))


@pytest.mark.parametrize("rate", ["theorem", "appendix"])
@pytest.mark.parametrize("lambda_", [0.0, 0.4, 30.0])
@pytest.mark.parametrize("T", [1, 3, 4, 100, 4095, 4096])
def test_pool_prior_and_rate_are_those_of_the_paper(T: int, lambda_: float, rate: str) -> None:
    learner = dw.Scream(dw.Ball(3, radius=RADIUS), switching_cost=lambda_, gradient_bound=G, horizon=T, rate=rate)
    i = np.arange(1, paper_pool(T, 1.0) + 1)
    steps = 2.0 ** (i - 1) * math.sqrt(D**2 / ((lambda_ * G + G**2) * T))
    np.testing.assert_allclose(learner.step_sizes, steps, rtol=1e-14)
    np.testing.assert_allclose(learner.weights, (i.size + 1) / i.size / (i * (i + 1)), rtol=1e-14)
    found = learner.program.rate / math.sqrt(learner.program.clock)
    assert found == pytest.approx(paper_rate(rate, G, lambda_, T), rel=1e-14)
    assert learner.program.switching_cost == lambda_


def test_the_appendix_rate_is_the_default() -> None:
    def rate(**form: str) -> float:
        return dw.Scream(dw.Ball(3), switching_cost=2.0, gradient_bound=1.0, **form).program.rate  # type: ignore[arg-type]

    assert rate() == rate(rate="appendix") != rate(rate="theorem")


def test_base_learners_pay_for_their_own_movement() -> None:
    """Two pools that differ in lambda only: the dear one holds more weight on small steps."""
    losses = dw.TrackingLoss(np.where(np.arange(300)[:, None] % 2, 1.0, -1.0))
    cheap, dear = (
        dw.learners.Ensemble(
            dw.Ball(1),
            pool=dw.learners.Pool([0.5, 10.0]),
            meta=dw.learners.Meta(0.5, prior=[1.0, 1.0]),
            surrogate=dw.learners.Surrogate(lambda_),
            horizon=300,
        )
        for lambda_ in (0.0, 1.0)
    )
    for learner in (cheap, dear):
        dw.play(learner, losses)
    assert dear.weights[0] > cheap.weights[0] > 0.5


@pytest.mark.parametrize("T", [14, 15, 16, 63, 64])
def test_without_a_horizon_the_pool_is_the_one_for_the_rounds_to_come(T: int) -> None:
    learner = dw.Scream(dw.Ball(2), switching_cost=1.0, gradient_bound=1.0)
    dw.play(learner, dw.LinearLoss(np.full((T - 1, 2), 0.1)))
    i = np.arange(paper_pool(T, 1.0))
    np.testing.assert_allclose(learner.step_sizes, 2.0**i * math.sqrt(2.0 / T), rtol=1e-14)
    assert learner.weights.size == i.size
