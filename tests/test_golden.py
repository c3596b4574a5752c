"""Decisions of every algorithm against an independent plain transcription of the paper."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import driftwise as dw
from tests.cases import by_hand

T, G, LAMBDA = 400, 2.0, 3.0
BALL = dw.Ball(3)

LEARNERS: dict[str, Callable[[], dw.Learner]] = {
    "ogd": lambda: dw.OGD(BALL, gradient_bound=G, horizon=T),
    "ader_improved": lambda: dw.Ader(BALL, gradient_bound=G, horizon=T),
    "ader_original": lambda: dw.Ader(BALL, gradient_bound=G, horizon=T, variant="original"),
    "scream_theorem": lambda: dw.Scream(BALL, switching_cost=LAMBDA, gradient_bound=G, horizon=T, rate="theorem"),
    "scream_appendix": lambda: dw.Scream(BALL, switching_cost=LAMBDA, gradient_bound=G, horizon=T),
    "lazy_theorem": lambda: dw.LazyScream(BALL, switching_cost=LAMBDA, gradient_bound=G, horizon=T, rate="theorem"),
    "lazy_appendix": lambda: dw.LazyScream(BALL, switching_cost=LAMBDA, gradient_bound=G, horizon=T),
}


@pytest.mark.parametrize("way", ["play", "by hand"])
@pytest.mark.parametrize("name", LEARNERS)
def test_decisions_are_those_of_the_transcription(name: str, way: str) -> None:
    golden = np.load(Path(__file__).parent / "data" / "golden.npz")
    losses, learner = dw.SquaredLoss(golden["x"], golden["y"]), LEARNERS[name]()
    decisions = dw.play(learner, losses).decisions if way == "play" else by_hand(learner, losses)
    assert np.ptp(golden[name], axis=0).min() > 1e-3
    np.testing.assert_allclose(decisions, golden[name], rtol=0.0, atol=1e-12)
