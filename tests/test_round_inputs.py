"""Hints and proposals of a whole run: the same as through the two verbs, from arrays, lists and frames."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import driftwise as dw
from driftwise.errors import ArgumentError, InputError, ParameterError
from tests.cases import check_refused

ROUNDS = 24
BALL = dw.Ball(2, radius=2.0)
TARGETS = np.stack([np.sign(np.sin(np.arange(ROUNDS) / 3.0)), np.cos(np.arange(ROUNDS) / 4.0)], axis=1)
LOSSES = dw.TrackingLoss(TARGETS)
HINTS = -TARGETS + 0.1 * np.random.default_rng(0).standard_normal(TARGETS.shape)
HINTS[[0, 5, 6, 20]] = np.nan


class Own(dw.Learner):
    """A learner of one's own that plays against its hint."""

    def __init__(self, domain: dw.Domain) -> None:
        super().__init__(domain)
        self.guess = np.zeros(domain.dim)

    def _decide(self) -> np.ndarray:
        return self.domain.project(-self.guess)

    def _learn(self, gradient: np.ndarray) -> None:
        self.guess = 0.0 * gradient

    def _take_hint(self, hint: np.ndarray) -> None:
        self.guess = hint


LEARNERS: dict[str, Callable[[], dw.Learner]] = {
    "OGD": lambda: dw.OGD(BALL, step=0.5),
    "Scream": lambda: dw.Scream(BALL, switching_cost=1.0, gradient_bound=4.0, horizon=ROUNDS + 1),
    "Scream anytime": lambda: dw.Scream(BALL, switching_cost=1.0, gradient_bound=4.0),
    "SelfTunedScream": lambda: dw.SelfTunedScream(BALL, switching_cost=0.5),
    "SelfTunedLearner": lambda: dw.SelfTunedLearner(BALL, switching_cost=0.5),
    "rounded": lambda: dw.rounded(dw.SelfTunedScream(dw.Box([-2.0] * 2, [2.0] * 2), switching_cost=0.5), seed=1),
    "own": lambda: Own(BALL),
}


def _by_hand(learner: dw.Learner, given: dict[str, np.ndarray] | None = None) -> np.ndarray:
    decisions = np.empty(TARGETS.shape)
    for t in range(ROUNDS):
        options: dict[str, Any] = {} if np.isnan(HINTS[t, 0]) else {"hint": HINTS[t]}
        if given:
            options["proposal"] = {name: rows[t] for name, rows in given.items() if not np.isnan(rows[t, 0])}
        decisions[t] = learner.act(**options)
        learner.observe(LOSSES[t])
    return decisions


@pytest.mark.parametrize("name", LEARNERS)
def test_hints_of_a_run_are_those_of_the_two_verbs_bit_for_bit(name: str) -> None:
    learner, other = LEARNERS[name](), LEARNERS[name]()
    trace = dw.play(learner, LOSSES, 0.5, hints=HINTS, record_weights=True)
    decisions = _by_hand(other)
    assert trace.decisions.tobytes() == decisions.tobytes()
    assert learner.act().tobytes() == other.act().tobytes()
    without = dw.play(LEARNERS[name](), LOSSES, 0.5)
    assert without.hints is None
    assert trace.decisions.tobytes() != without.decisions.tobytes()
    again = dw.play(
        trace.learner.clone(), trace.stream, trace.switching_cost, proposals=trace.proposals, hints=trace.hints
    )
    assert again.decisions.tobytes() == trace.decisions.tobytes()


@pytest.mark.parametrize("name", LEARNERS)
def test_no_hint_in_any_round_is_a_run_without(name: str) -> None:
    trace = dw.play(LEARNERS[name](), LOSSES, 0.5, hints=np.full(TARGETS.shape, np.nan))
    assert trace.decisions.tobytes() == dw.play(LEARNERS[name](), LOSSES, 0.5).decisions.tobytes()


def test_hints_and_proposals_go_together() -> None:
    learner, other = (dw.SelfTunedLearner(BALL, switching_cost=0.5) for _ in range(2))
    given = {"late": np.where(np.arange(ROUNDS)[:, None] < 3, np.nan, TARGETS), "still": np.ones(TARGETS.shape)}
    trace = dw.play(learner, LOSSES, 0.5, proposals=given, hints=HINTS)
    assert trace.decisions.tobytes() == _by_hand(other, given).tobytes()
    rounded = dw.rounded(dw.SelfTunedLearner(dw.Box([-2.0] * 2, [2.0] * 2), switching_cost=0.5))
    assert set(dw.play(rounded, LOSSES, 0.5, proposals=given, hints=HINTS).decisions.ravel()) <= set(range(-2, 3))


def test_hints_go_with_a_price_for_each_round() -> None:
    prices = np.linspace(0.1, 1.0, ROUNDS)
    learner, other = (dw.SelfTunedScream(BALL, switching_cost=0.5) for _ in range(2))
    trace = dw.play(learner, LOSSES, prices, hints=HINTS)
    for t in range(ROUNDS):
        hint = None if np.isnan(HINTS[t, 0]) else HINTS[t]
        assert trace.decisions[t].tobytes() == other.act(hint, switching_cost=prices[t]).tobytes()
        other.observe(LOSSES[t])


NAN = float("nan")


@pytest.mark.parametrize(
    "hints",
    [
        [[NAN], [1.0], [-2.0], [NAN]],
        [NAN, 1.0, -2.0, NAN],
        [None, 1, -2, None],
        [None, [1.0], [-2.0], None],
        np.array([NAN, 1.0, -2.0, NAN]),
        pd.Series([NAN, 1.0, -2.0, NAN]),
        pd.Series([None, 1, -2, None], dtype="Int64"),
        pd.DataFrame({"guess": [NAN, 1.0, -2.0, NAN]}),
        pl.Series([None, 1, -2, None]),
        pl.DataFrame({"guess": [None, 1.0, -2.0, NAN]}),
    ],
    ids=lambda hints: type(hints).__module__ + " " + type(hints).__name__,
)
def test_hints_may_be_given_in_many_forms(hints: Any) -> None:
    losses = dw.TrackingLoss([1.0, -1.0, 2.0, 0.0])
    trace = dw.play(dw.SelfTunedScream(dw.Ball(1, radius=3.0), switching_cost=0.5), losses, hints=hints)
    assert trace.hints is not None
    np.testing.assert_array_equal(trace.hints, [[NAN], [1.0], [-2.0], [NAN]])
    assert not trace.hints.flags.writeable


def test_a_list_may_have_none_for_a_vector() -> None:
    hints: list[Any] = [None if np.isnan(row[0]) else row.tolist() for row in HINTS]
    trace = dw.play(dw.OGD(BALL, step=0.5), LOSSES, hints=hints)
    np.testing.assert_array_equal(trace.hints, HINTS)


def test_whole_numbers_are_hints_without_gaps() -> None:
    trace = dw.play(dw.OGD(BALL, step=0.5), LOSSES, hints=np.ones(TARGETS.shape, int))
    np.testing.assert_array_equal(trace.hints, np.ones(TARGETS.shape))


def test_what_is_changed_later_does_not_change_the_trace() -> None:
    mine = HINTS.copy()
    trace = dw.play(dw.OGD(BALL, step=0.5), LOSSES, hints=mine)
    mine[:] = 7.0
    np.testing.assert_array_equal(trace.hints, HINTS)


DAYS = pd.date_range("2024-03-01", periods=ROUNDS, name="day")
DATED = dw.TrackingLoss(pd.DataFrame(TARGETS, index=DAYS))


@pytest.mark.parametrize(
    ("hints", "kind", "words"),
    [
        (HINTS[:5], InputError, (f"play: hints must be finite real numbers of shape ({ROUNDS}, 2)",)),
        (HINTS[:, :1], InputError, (f"of shape ({ROUNDS}, 2)",)),
        (HINTS[:, 0], InputError, (f"of shape ({ROUNDS}, 2)",)),
        (3.0, InputError, (f"of shape ({ROUNDS}, 2)",)),
        ("guess", InputError, ("hints must be",)),
        ([[1.0, 2.0], [3.0]], InputError, ("hints must be",)),
        (np.where(np.isnan(HINTS), np.inf, HINTS), InputError, ("got inf at [0, 0]",)),
        (np.full(TARGETS.shape, 1e101), InputError, ("at most 1e+100 in size",)),
        (np.where(HINTS > 0.9, NAN, HINTS), InputError, ("has NaN beside numbers",)),
        (np.full(TARGETS.shape, True), InputError, ("dtype bool",)),
        (pd.DataFrame({"a": ["x"] * ROUNDS, "b": 1.0}), InputError, ("hints must be numbers", "in the column 'a'")),
        (pd.DataFrame(HINTS, index=DAYS[::-1]), InputError, ("losses and hints have different indexes",)),
        (pl.DataFrame(HINTS).lazy(), InputError, ("hints is a polars LazyFrame",)),
    ],
)
def test_wrong_hints_are_refused_before_anything_is_played(hints: Any, kind: type[Exception], words: Any) -> None:
    learner = dw.SelfTunedScream(BALL, switching_cost=0.5)
    before = pickle.dumps(learner)
    check_refused(lambda: dw.play(learner, DATED, hints=hints), *words, kind=kind)
    assert pickle.dumps(learner) == before


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: dw.StronglyAdaptive(BALL, switching_cost=1.0, gradient_bound=4.0),
            "round 1: StronglyAdaptive makes no use of hints",
        ),
        (
            lambda: dw.Ader(BALL, gradient_bound=4.0, variant="original"),
            "round 1: Ader.act: a hint goes with",
        ),
        (
            lambda: dw.LazyScream(BALL, switching_cost=1.0, gradient_bound=4.0, horizon=ROUNDS, epoch=4),
            "round 1: LazyScream.act: a hint goes with",
        ),
        (
            lambda: dw.SelfTunedLearner(BALL, switching_cost=1.0, estimators=[dw.estimators.Smoothing(0.3)]),
            "SelfTunedLearner makes use of hints by self-tuned Scream",
        ),
    ],
    ids=["none", "own gradients", "epochs", "no Scream"],
)
def test_learners_that_use_no_hints_say_so_and_are_as_they_were(make: Callable[[], dw.Learner], words: str) -> None:
    learner = make()
    before = learner.to_bytes()
    check_refused(lambda: dw.play(learner, LOSSES, hints=HINTS), words, kind=ParameterError)
    assert learner.to_bytes() == before
    dw.play(learner, LOSSES, hints=np.full(TARGETS.shape, NAN))


def test_a_self_tuned_learner_without_scream_takes_no_hint_in_its_first_round_either() -> None:
    learner = dw.SelfTunedLearner(BALL, switching_cost=1.0, estimators=[dw.estimators.Smoothing(0.3)])
    check_refused(lambda: learner.act(hint=[1.0, 0.0]), "self-tuned Scream, which is not one", kind=ParameterError)
    assert dw.SelfTunedLearner(BALL, switching_cost=1.0).act(hint=[1.0, 0.0]).shape == (2,)


def test_committees_and_fleets_take_no_hints() -> None:
    check_refused(
        lambda: dw.play(dw.Committee(2), LOSSES, proposals=np.zeros((ROUNDS, 2, 2)), hints=HINTS),
        "hints= goes with a learner; Committee takes proposals=",
        kind=ParameterError,
    )
    untyped: Any = dw.play
    fleet = dw.Fleet(dw.OGD(BALL, step=0.5), size=2)
    check_refused(
        lambda: untyped(fleet, [LOSSES, LOSSES], hints=HINTS), "play(fleet.member(id), ...)", kind=ParameterError
    )


def test_a_table_says_that_there_were_hints(tmp_path: Path) -> None:
    trace = dw.play(dw.SelfTunedScream(BALL, switching_cost=0.5), LOSSES, 0.5, hints=HINTS)
    trace.to_parquet(tmp_path / "run.parquet")
    for read, given in ((dw.Trace.from_pandas, trace.to_pandas()), (dw.Trace.from_parquet, tmp_path / "run.parquet")):
        back: dw.Trace = read(given)
        assert back.total == trace.total
        with pytest.raises(ArgumentError, match=r"Trace.hints: .* give it when reading"):
            _ = back.hints
        again = back.to_pandas().attrs
        assert again == trace.to_pandas().attrs
        whole: dw.Trace = read(given, hints=HINTS)
        np.testing.assert_array_equal(whole.hints, HINTS)
        check_refused(lambda r=read, g=given: r(g, hints=HINTS[:3]), "hints must be", kind=InputError)  # type: ignore[misc]
    plain = dw.play(dw.SelfTunedScream(BALL, switching_cost=0.5), LOSSES, 0.5)
    assert dw.Trace.from_pandas(plain.to_pandas()).hints is None
    assert "hints" not in plain.to_pandas().attrs["driftwise"]


@pytest.mark.parametrize("name", ["OGD", "SelfTunedScream", "SelfTunedLearner"])
def test_no_theorem_is_claimed_for_a_run_with_hints(name: str) -> None:
    trace = dw.play(LEARNERS[name](), LOSSES, 0.5, hints=HINTS)
    found = dw.regret.certificate(trace, np.zeros(TARGETS.shape))
    assert not found.guaranteed
    assert "a hint had been given" in str(found)
    assert dw.regret.certificate(dw.play(LEARNERS[name](), LOSSES, 0.5), np.zeros(TARGETS.shape)).guaranteed


def test_a_run_with_hints_is_not_decomposed() -> None:
    trace = dw.play(LEARNERS["Scream"](), LOSSES, 1.0, hints=HINTS)
    check_refused(lambda: dw.regret.decompose(trace, TARGETS), "without hints", kind=InputError)


LEVELS = dw.TrackingLoss(pd.Series(TARGETS[:, 1], index=DAYS))
RULES = pd.DataFrame({"last": np.roll(TARGETS[:, 1], 1), "half": 0.5}, index=DAYS)
RULES.loc[DAYS[:3], "last"] = np.nan


@pytest.mark.parametrize("rules", [RULES, pl.from_pandas(RULES)], ids=["pandas", "polars"])
def test_a_committee_takes_a_frame_with_a_column_for_each_member(rules: Any) -> None:
    lists: list[Any] = [[None if np.isnan(last) else last, half] for last, half in RULES.to_numpy().tolist()]
    trace = dw.play(dw.Committee(2, 0.5), LEVELS, 0.5, proposals=rules, record_weights=True)
    same = dw.play(dw.Committee(2, 0.5), LEVELS, 0.5, proposals=lists, record_weights=True)
    assert trace.decisions.tobytes() == same.decisions.tobytes()
    assert trace.weights is not None
    assert trace.weights[:3, 0].tolist() == [0.0] * 3  # asleep
    again = dw.play(trace.learner.clone(), trace.stream, trace.switching_cost, proposals=trace.proposals)
    assert again.decisions.tobytes() == trace.decisions.tobytes()
    frame = trace.to_pandas()
    assert frame.index.equals(DAYS)
    assert list(frame.columns[-2:]) == ["weight_0", "weight_1"]
    back = dw.Trace.from_pandas(frame, learner=trace.learner, stream=LEVELS, proposals=trace.proposals)
    assert back.total == trace.total
    assert back.domain is None


@pytest.mark.parametrize("rules", [RULES, pl.from_pandas(RULES)], ids=["pandas", "polars"])
def test_a_self_tuned_learner_takes_a_frame_with_a_column_for_each_name(rules: Any) -> None:
    named = {name: RULES[name].to_numpy() for name in RULES}
    learner = dw.SelfTunedLearner(dw.Box(-2.0, 2.0), switching_cost=0.5)
    trace = dw.play(learner, LEVELS, 0.5, proposals=rules)
    same = dw.play(dw.SelfTunedLearner(dw.Box(-2.0, 2.0), switching_cost=0.5), LEVELS, 0.5, proposals=named)
    assert trace.decisions.tobytes() == same.decisions.tobytes()
    assert any(name.startswith("last") for name in learner.members)
    of_series = dict(RULES.items())
    again = dw.play(dw.SelfTunedLearner(dw.Box(-2.0, 2.0), switching_cost=0.5), LEVELS, 0.5, proposals=of_series)
    assert again.decisions.tobytes() == same.decisions.tobytes()


def test_a_frame_of_one_forecast_has_a_column_for_each_coordinate() -> None:
    frame = pd.DataFrame(TARGETS, index=DAYS)
    runs = [
        dw.play(dw.SelfTunedLearner(BALL, switching_cost=0.5), DATED, 0.5, proposals=each)
        for each in (frame, TARGETS, {"proposal": frame})
    ]
    assert len({run.decisions.tobytes() for run in runs}) == 1


def test_proposals_of_other_days_or_of_words_are_refused() -> None:
    other = RULES.shift(freq="D")
    for learner in (dw.Committee(2), dw.SelfTunedLearner(dw.Box(-2.0, 2.0), switching_cost=0.5)):
        check_refused(lambda it=learner: dw.play(it, LEVELS, proposals=other), "losses and proposals have different")  # type: ignore[misc]
        check_refused(
            lambda it=learner: dw.play(it, LEVELS, proposals=RULES.assign(half="x")),  # type: ignore[misc]
            "proposals must be numbers",
            "'half'",
        )
        check_refused(lambda it=learner: dw.play(it, LEVELS, proposals=RULES[:3].to_numpy()), "proposals")  # type: ignore[misc]
