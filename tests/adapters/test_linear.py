"""One stream that is written over in every round says what a new one for each round would."""

import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.adapters._linear import FEWEST, LARGEST, WIDE, Scorer, Settings, risky
from driftwise.errors import HorizonError, InputError, ParameterError

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


def zero_or_one(features: Any, targets: Any) -> dw.LogisticLoss:
    """Return the logistic loss of labels 0 and 1."""
    return dw.LogisticLoss(features, 2.0 * np.asarray(targets) - 1.0)


def cut(features: Any, targets: Any) -> dw.SquaredLoss:
    """Return a loss of one coordinate too few."""
    return dw.SquaredLoss(features[:, 1:], targets)


@pytest.mark.parametrize("count", [FEWEST - 1, FEWEST])
@pytest.mark.parametrize("wrong", [0.0, 3.0])
def test_a_target_that_the_loss_does_not_take_is_refused_before_anything_is_learnt(count: int, wrong: float) -> None:
    rows, targets = rounds(count)
    signs = np.sign(targets)
    scorer = Settings("Test", dw.LogisticLoss, 0.3).new(3)
    scorer.learn_all(rows, signs)
    before = pickle.dumps(scorer)
    signs[-1] = wrong
    with pytest.raises(
        InputError, match=f"LogisticLoss: targets must be -1 or \\+1, got {wrong:g} in round {count - 1}"
    ):
        scorer.learn_all(rows, signs)
    with pytest.raises(InputError, match=f"got {wrong:g} in round 0"):
        scorer.learn(rows[0], wrong)
    assert pickle.dumps(scorer) == before


@pytest.mark.parametrize("count", [FEWEST - 1, FEWEST])
def test_a_loss_may_take_targets_as_something_else(count: int) -> None:
    rows, targets = rounds(count)
    signs = np.sign(targets)
    one, many, usual = (Settings("Test", loss, 0.3).new(3) for loss in (zero_or_one, zero_or_one, dw.LogisticLoss))
    for row, target in zip(rows, (signs > 0.0).astype(float).tolist(), strict=True):
        one.learn(row, target)
    many.learn_all(rows, (signs > 0.0).astype(float))
    usual.learn_all(rows, signs)
    assert usual.moved > 0.1
    assert one.weights.tobytes() == many.weights.tobytes() == usual.weights.tobytes()


def test_a_loss_makes_a_round_of_each_row() -> None:
    with pytest.raises(ParameterError, match="one round of each row, in as many coordinates, of 1 rows in 3"):
        Settings("Test", cut).new(3)


@pytest.mark.parametrize(
    ("loss", "made"), [("huber", 0), (QUANTILE, 0), (dw.LogisticLoss, 0), (dw.SquaredLoss, 0), (zero_or_one, 3)]
)
def test_only_losses_that_nobody_knows_are_made_anew_in_every_round(
    loss: Any, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer, stream = Settings("Test", loss).new(3), Settings.stream
    calls: list[Any] = []

    def counted(*given: Any) -> Any:
        calls.append(given)
        return stream(*given)

    monkeypatch.setattr(Settings, "stream", counted)
    for _ in range(3):
        scorer.learn(np.ones(3), 1.0)
    assert len(calls) == made


def few(domain: dw.Domain) -> dw.Learner:
    return dw.Scream(domain, horizon=51, switching_cost=1.0, gradient_bound=10.0)


@pytest.mark.parametrize("count", [1, FEWEST - 1, FEWEST])
def test_rounds_beyond_the_horizon_are_refused_before_the_first(count: int) -> None:
    rows, targets = rounds(50)
    scorer = Settings("Test", "squared", radius=10.0, learner=few).new(3)
    scorer.learn_all(rows[: 51 - count], targets[: 51 - count])
    before = pickle.dumps(scorer)
    with pytest.raises(
        HorizonError, match=f"horizon of 51, and has learnt {51 - count} rounds: {count} more .*horizon=52"
    ):
        scorer.learn_all(rows[:count], targets[:count])
    if count == 1:
        with pytest.raises(HorizonError, match=r"Test: .* 1 more and"):
            scorer.learn(rows[0], 1.0)
    assert pickle.dumps(scorer) == before
    scorer.learn_all(rows[: count - 1], targets[: count - 1])
    assert scorer.learner.round == 50


def by_coordinate(domain: dw.Domain) -> dw.Learner:
    return dw.SelfTunedLearner(domain, switching_cost=dw.MoveCost(up=[1.0, 2.0, 3.0]))


def test_a_price_of_another_kind_is_refused_before_anything_is_learnt() -> None:
    settings = Settings("Test", "squared", radius=10.0, learner=by_coordinate)
    scorer = settings.new(3)
    scorer.learn(np.ones(3), 1.0)
    settings.reprice(2.0)
    before = pickle.dumps(scorer)
    text = "Test: this one was built for prices with norm"
    with pytest.raises(ParameterError, match=text):
        scorer.learn(np.ones(3), 1.0)
    with pytest.raises(ParameterError, match=text):
        scorer.learn_all(np.ones((40, 3)), np.ones(40))
    assert pickle.dumps(scorer) == before


def test_a_round_that_was_interrupted_between_the_verbs_is_finished_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, targets = rounds(4)
    settings = Settings("Test", "squared", 0.3)
    scorer, other = settings.new(3), settings.new(3)

    def interrupt() -> None:
        raise KeyboardInterrupt

    scorer.learn(rows[0], 1.0)
    with monkeypatch.context() as patch:
        patch.setattr(scorer, "_act", interrupt)
        with pytest.raises(KeyboardInterrupt):
            scorer.learn(rows[1], 2.0)
    scorer.learn_all(rows[2:], targets[2:])
    for row, target in zip(rows, [1.0, 2.0, *targets[2:].tolist()], strict=True):
        other.learn(row, target)
    assert scorer.weights.tobytes() == other.weights.tobytes()
    assert (scorer.moved, scorer.paid) == (other.moved, other.paid)


def test_a_copy_goes_on_by_itself() -> None:
    rows, targets = rounds(40)
    scorer = Settings("Test", "squared", 0.3).new(3)
    scorer.learn_all(rows, targets)
    before, other = pickle.dumps(scorer), scorer.copy()
    other.learn(rows[0], 1.0)
    other.learn_all(rows, targets)
    assert pickle.dumps(scorer) == before
    scorer.learn(rows[0], 1.0)
    scorer.learn_all(rows, targets)
    assert scorer.weights.tobytes() == other.weights.tobytes()
    assert (scorer.moved, scorer.paid) == (other.moved, other.paid)


class Own(dw.Learner):
    """Stays where it is."""

    def _decide(self) -> Array:
        return np.zeros(self.domain.dim)

    def _learn(self, gradient: Array) -> None:
        """Learn nothing."""


def test_it_is_risky_to_let_several_models_learn_whose_learners_nobody_knows() -> None:
    makers: tuple[tuple[Callable[[dw.Domain], dw.Learner] | None, bool], ...] = (
        (None, False),
        (few, False),
        (Own, True),
    )
    for make, expected in makers:
        settings = Settings("Test", "squared", radius=10.0, learner=make)
        assert risky([settings.new(2), settings.new(2)]) == expected
        assert not risky([settings.new(2)])
