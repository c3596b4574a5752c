"""One stream that is written over in every round says what a new one for each round would."""

import functools
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.adapters._linear import FEWEST, LARGEST, WIDE, Scorer, Settings
from driftwise.errors import ParameterError

QUANTILE = functools.partial(dw.QuantileLoss, quantile=0.8)
LOSSES: dict[str, Any] = {
    "squared": dw.SquaredLoss,
    "absolute": dw.AbsoluteLoss,
    "huber": dw.HuberLoss,
    "quantile": QUANTILE,
}


def rounds(count: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(count, 3))
    return rows, rows @ [1.0, -2.0, 0.5] + rng.normal(size=count)


@pytest.mark.parametrize("name", LOSSES)
def test_it_decides_as_the_learner_does_with_a_stream_of_its_own(name: str) -> None:
    rows, targets = rounds(80)
    scorer = Scorer(Settings("Test", name if name != "quantile" else QUANTILE, 0.3, radius=50.0), dw.Ball(3, 50.0))
    usual = [one for one in dw.estimators.default() if not isinstance(one, dw.estimators.SelfTunedScream)]
    trace = dw.play(
        dw.SelfTunedLearner(dw.Ball(3, 50.0), switching_cost=0.3, estimators=usual), LOSSES[name](rows, targets), 0.3
    )
    for row, target, decision in zip(rows, targets.tolist(), trace.decisions, strict=True):
        assert scorer.weights.tobytes() == decision.tobytes()
        before = scorer.moved
        scorer.learn(row, target)
    assert before == pytest.approx(trace.moves.sum())


@pytest.mark.parametrize("count", [1, FEWEST - 1, FEWEST, FEWEST + 20])
def test_many_rounds_are_one_after_another(count: int) -> None:
    rows, targets = rounds(count)
    settings = Settings("Test", "squared", 0.3)
    one, many = settings.new(3), settings.new(3)
    for row, target in zip(rows, targets.tolist(), strict=True):
        one.learn(row, target)
    many.learn_all(rows, targets)
    assert many.weights.tobytes() == one.weights.tobytes()
    assert (many.moved, many.paid) == pytest.approx((one.moved, one.paid))
    many.learn(rows[0], 1.0)
    one.learn(rows[0], 1.0)
    assert many.weights.tobytes() == one.weights.tobytes()


def test_the_penalty_spares_the_intercept() -> None:
    settings = Settings("Test", "squared", l2=1.0, radius=100.0, intercept=True, learner=lambda d: dw.OGD(d, step=0.5))
    scorer = settings.new(2)
    scorer.learn(np.array([1.0, 1.0]), 8.0)
    assert scorer.weights.tolist() == [4.0, 4.0]  # half of the error of 8, in each coordinate
    scorer.learn(np.array([1.0, 1.0]), 8.0)
    assert scorer.weights.tolist() == [4.0, 2.0]  # no error, and half of the penalty


def test_the_largest_numbers_are_taken_by_every_learner() -> None:
    for learner in (None, lambda domain: dw.OGD(domain, step=0.1), lambda d: dw.SelfTunedScream(d, switching_cost=1.0)):
        scorer = Settings("Test", "squared", 0.1, radius=WIDE, learner=learner).new(3)
        for sign in (1.0, -1.0, 1.0):
            scorer.learn(np.full(3, LARGEST), sign * LARGEST)
            scorer.learn(np.ones(3), 1.0)
        assert scorer.learner.round == 6
        assert np.isfinite(scorer.weights).all()


def test_a_new_price_counts_from_the_next_decision_on() -> None:
    settings = Settings("Test", "squared", 1.0, radius=10.0, learner=lambda domain: dw.OGD(domain, step=0.5))
    scorer = settings.new(1)
    scorer.learn(np.ones(1), 2.0)
    assert (scorer.moved, scorer.paid) == (1.0, 1.0)
    settings.reprice(10.0)
    scorer.learn(np.ones(1), 3.0)
    assert (scorer.moved, scorer.paid) == (2.0, 11.0)
    with pytest.raises(ParameterError, match="Test: switching_cost must be"):
        settings.reprice(float("nan"))
    assert settings.price == 10.0
