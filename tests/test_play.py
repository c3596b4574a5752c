"""A run as a whole: the same numbers by every road, and all or nothing when something goes wrong."""

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ArgumentError, HorizonError, InputError, ParameterError
from tests.cases import EUCLIDEAN, SCHEDULES, STREAMS, by_hand, check_refused, custom, knowledge, maker, squared, stream

ROUNDS = 18


def interpreted(kind: type[dw.Ensemble]) -> type[dw.Ensemble]:
    """Return the same learner with an `observe` of its own, which keeps it out of the compiled loop."""

    def observe(self: dw.Ensemble, gradient: Any) -> None:
        kind.observe(self, gradient)

    return type(f"Interpreted{kind.__name__}", (kind,), {"observe": observe})


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("name", ["OGD", "Ader original", "LazyScream appendix"])
def test_compiled_and_interpreted_runs_are_the_same_to_the_last_bit(name: str, kind: str) -> None:
    losses = stream(kind, 3, ROUNDS)
    learner_kind, settings = EUCLIDEAN[name]
    fast, slow = (cls(dw.Ball(3), **settings) for cls in (learner_kind, interpreted(learner_kind)))
    expected = dw.play(slow, losses, 2.0, record_weights=True)
    found = dw.play(fast, losses, 2.0, record_weights=True)
    for part in ("decisions", "losses", "moves", "weights"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
    assert knowledge(fast) == knowledge(slow)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", EUCLIDEAN)
def test_two_plays_in_a_row_decide_like_one(name: str, schedule: str) -> None:
    losses, make = squared(3, ROUNDS), maker(name, dw.Ball(3), ROUNDS, schedule)
    x, y = losses.data.features, losses.data.targets
    learner = make()
    parts = [dw.play(learner, dw.SquaredLoss(x[cut], y[cut])).decisions for cut in (slice(0, 7), slice(7, ROUNDS))]
    np.testing.assert_array_equal(np.vstack(parts), dw.play(make(), losses).decisions)
    assert learner.round == ROUNDS


def test_play_goes_on_from_a_decision_that_was_acted() -> None:
    losses, learner = squared(3, ROUNDS), maker("Scream appendix", dw.Ball(3), ROUNDS + 2)()
    learner.act()
    learner.observe([1.0, 0.0, 0.0])
    decision = learner.act()
    trace = dw.play(learner, losses)
    np.testing.assert_array_equal(trace.decisions[0], decision)
    assert not np.array_equal(learner.act(), decision)


@pytest.mark.parametrize(("kind", "memory"), [("custom", 0), ("custom with memory", 2)])
def test_a_compiled_custom_loss_equals_the_plain_one(kind: str, memory: int) -> None:
    make = maker("Scream appendix", dw.Ball(3), ROUNDS)
    fast, slow = stream(kind, 3, ROUNDS), custom(3, ROUNDS, memory, compile="never")
    assert isinstance(fast, dw.CustomLoss)
    assert fast.compiled
    assert not slow.compiled
    one, other = dw.play(make(), fast), dw.play(make(), slow)
    np.testing.assert_array_equal(one.decisions, other.decisions)
    np.testing.assert_allclose(one.losses, other.losses, rtol=1e-14)


@pytest.mark.parametrize("kind", [dw.Scream, interpreted(dw.Scream)], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("rounds", [14, 15, 16])
def test_recorded_weights_of_a_growing_pool(rounds: int, kind: type[dw.Ensemble]) -> None:
    learner = kind(dw.Ball(3), switching_cost=1.0, gradient_bound=2.0)  # type: ignore[call-arg]
    weights = dw.play(learner, squared(3, rounds), record_weights=True).weights
    assert weights is not None
    assert weights.shape == (rounds, learner.weights.size)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    # N = ceil(log2(1 + t) / 2) + 1 in the round that is the t-th update.
    joined = [math.ceil(0.5 * math.log2(1 + t)) + 1 for t in range(1, rounds + 1)]
    assert np.count_nonzero(weights, axis=1).tolist() == joined


def test_weights_are_not_recorded_unless_asked_for() -> None:
    assert dw.play(dw.OGD(dw.Ball(3), step=0.1), squared(3, ROUNDS)).weights is None


def test_a_subclass_with_a_decision_of_its_own_is_asked_for_it() -> None:
    class Opposite(dw.OGD):
        def _decide(self) -> Array:
            return -super()._decide()

    losses = squared(3, ROUNDS)
    np.testing.assert_array_equal(
        dw.play(Opposite(dw.Ball(3), step=0.1), losses).decisions, by_hand(Opposite(dw.Ball(3), step=0.1), losses)
    )


def test_a_subclass_that_learns_in_its_own_way_is_asked_to() -> None:
    class Contrary(dw.OGD):
        def _learn(self, gradient: Array) -> None:
            super()._learn(-gradient)

    losses = squared(3, ROUNDS)
    played = dw.play(Contrary(dw.Ball(3), step=0.1), losses).decisions
    np.testing.assert_array_equal(played, by_hand(Contrary(dw.Ball(3), step=0.1), losses))
    assert not np.array_equal(played, dw.play(dw.OGD(dw.Ball(3), step=0.1), losses).decisions)


def _failing(where: str, how: str, compile: str) -> dw.CustomLoss:
    """Return losses that go wrong in round 7: a bad number or an error, in the value or in the gradient."""
    nan = math.nan if how == "nan" else 1.0
    fails = how == "error"

    def value(t: int, w: Array) -> float:
        if where == "value" and t == 7:
            if fails:
                raise ValueError("my own mistake")
            return nan
        return 0.5 * float((w * w).sum())

    def gradient(t: int, w: Array) -> Array:
        if where == "gradient" and t == 7:
            if fails:
                raise ValueError("my own mistake")
            return w * nan
        return w - 0.5

    return dw.CustomLoss(value, gradient, 20, 3, compile=compile)


@pytest.mark.parametrize(
    ("where", "how", "compile"),
    [
        ("value", "nan", "always"),
        ("gradient", "nan", "always"),
        ("gradient", "error", "always"),
        *[(where, how, "never") for where in ("value", "gradient") for how in ("nan", "error")],
    ],
)
def test_play_is_all_or_nothing(where: str, how: str, compile: str) -> None:
    losses = _failing(where, how, compile)
    learner = maker("LazyScream appendix", dw.Ball(3), 30)()
    learner.act()
    learner.observe([0.1, 0.2, 0.3])
    decision = learner.act()
    before = knowledge(learner)
    with pytest.raises(ValueError, match="7" if how == "nan" else "my own mistake") as caught:
        dw.play(learner, losses)
    assert isinstance(caught.value, InputError) == (how == "nan")
    assert knowledge(learner) == before
    assert learner.round == 1
    assert np.array_equal(learner.act(), decision)
    learner.observe([0.1, 0.2, 0.3])


class Forgetful(dw.Learner):
    """A learner of one's own that keeps things it did not have at the start, and fails after some rounds."""

    def __init__(self, domain: dw.Domain, error: type[BaseException]) -> None:
        super().__init__(domain)
        self.error = error
        self.seen: list[float] = []

    def _decide(self) -> Array:
        return np.zeros(self.domain.dim)

    def _learn(self, gradient: Array) -> None:
        self.seen.append(float(gradient[0]))
        self.latest = gradient
        if self.round == 5:
            raise self.error("stop")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_learner_of_ones_own_is_put_back_as_it_was(error: type[BaseException]) -> None:
    learner = Forgetful(dw.Ball(3), error)
    before = pickle.dumps(learner)
    with pytest.raises(error, match="stop"):
        dw.play(learner, squared(3, ROUNDS))
    assert not hasattr(learner, "latest")
    assert pickle.dumps(learner) == before


@pytest.mark.parametrize("value", [1e90, 1e100])
def test_data_beyond_the_range_stops_a_compiled_run_and_changes_nothing(value: float) -> None:
    losses = squared(3, ROUNDS)
    features = losses.data.features.copy()
    features[7] = value
    learner = maker("Scream appendix", dw.Ball(3), ROUNDS)()
    before = knowledge(learner)
    check_refused(
        lambda: dw.play(learner, dw.SquaredLoss(features, losses.data.targets)), "round 7", "learner is unchanged"
    )
    assert knowledge(learner) == before


@pytest.mark.parametrize("played", [0, 5])
def test_a_run_longer_than_the_horizon_is_refused_at_once(played: int) -> None:
    learner = maker("Scream appendix", dw.Ball(3), ROUNDS - 1 + played)()
    if played:
        dw.play(learner, squared(3, played))
    before = knowledge(learner)
    check_refused(
        lambda: dw.play(learner, squared(3, ROUNDS)),
        f"{ROUNDS} rounds",
        f"horizon={ROUNDS + played}",
        kind=HorizonError,
    )
    assert knowledge(learner) == before


OGD = dw.OGD(dw.Ball(3), step=0.1)
UNTYPED: Any = dw.play


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: UNTYPED(OGD, squared(2, ROUNDS)), InputError, ("dim 2", "Ball(3")),
        (lambda: UNTYPED("me", squared(3, ROUNDS)), ParameterError, ("learner", "got 'me'")),
        (lambda: UNTYPED(OGD, [1.0]), ParameterError, ("losses", "got [1.0]")),
        (lambda: UNTYPED(OGD, squared(3, ROUNDS), -1.0), ParameterError, ("switching_cost", "got -1.0")),
        (lambda: UNTYPED(OGD, squared(3, ROUNDS), math.nan), ParameterError, ("switching_cost", "got nan")),
        (
            lambda: UNTYPED(OGD, squared(3, ROUNDS), dw.MoveCost(up=[1.0, 2.0])),
            ParameterError,
            ("switching_cost", "2 coordinates", "decisions have 3"),
        ),
        (lambda: UNTYPED(OGD), ArgumentError, ("play", "losses")),
        (lambda: UNTYPED(OGD, squared(3, ROUNDS), cost=1.0), ArgumentError, ("cost",)),
    ],
)
def test_wrong_calls_are_refused_by_name(
    call: Callable[[], object], kind: type[Exception], words: tuple[str, ...]
) -> None:
    check_refused(call, *words, kind=kind)
    assert OGD.round == 0


PROPOSALS: list[Any] = [[[1.0], [0.0], [0.2]], [[1.0], [0.0], None], [[1.0], [0.0], [0.3]], [[-1.0], [0.0], [0.1]]]
TARGETS = dw.TrackingLoss([[1.0], [0.5], [1.0], [-1.0]])


@pytest.mark.parametrize("mode", ["mix", "follow"])
def test_a_committee_plays_as_by_hand(mode: str) -> None:
    committee, other = (dw.Committee(3, 0.5, mode=mode, seed=2) for _ in range(2))
    trace = dw.play(committee, TARGETS, 2.0, proposals=PROPOSALS, record_weights=True)
    decisions, weights = [], []
    for t, rows in enumerate(PROPOSALS):
        decisions.append(other.act(rows))
        weights.append(other.weights)
        other.observe(TARGETS[t])
    np.testing.assert_array_equal(trace.decisions, decisions)
    assert trace.weights is not None
    np.testing.assert_array_equal(trace.weights, weights)
    assert trace.weights[1, 2] == 0.0
    assert committee.round == 4
    np.testing.assert_array_equal(committee.weights, other.weights)
    assert trace.total_switching == 2.0 * np.abs(np.diff(trace.decisions.ravel())).sum()
    assert trace.proposals is PROPOSALS
    assert trace.learner.round == 0
    again = dw.play(trace.learner.clone(), trace.stream, trace.switching_cost, proposals=trace.proposals)
    np.testing.assert_array_equal(again.decisions, trace.decisions)
    assert trace.summary().startswith("Committee, 4 rounds")


def test_the_proposals_of_a_committee_may_be_numbers_or_an_array() -> None:
    rows = np.array([[0.2, 0.4], [0.5, 0.1], [0.3, 0.3], [0.9, 0.0]])
    numbers = dw.play(dw.Committee(2), TARGETS, proposals=rows)
    vectors = dw.play(dw.Committee(2), TARGETS, proposals=rows[:, :, None])
    np.testing.assert_array_equal(numbers.decisions, vectors.decisions)


def test_a_committee_is_put_back_as_it_was() -> None:
    committee = dw.Committee(2)
    before = pickle.dumps(committee)
    rows = [[0.0, 1.0], [0.0, 1.0], [0.0, np.nan], [0.0, 1.0]]
    check_refused(lambda: dw.play(committee, TARGETS, proposals=rows), "proposals", kind=InputError)
    assert pickle.dumps(committee) == before


def test_committees_and_proposals_go_together() -> None:
    refused = [
        (lambda: dw.play(dw.Committee(2), TARGETS), "needs proposals="),
        (lambda: dw.play(dw.Committee(2), TARGETS, proposals=[[1.0, 2.0]]), "each of the 4 rounds"),
        (lambda: dw.play(dw.Committee(2), TARGETS, proposals=3.0), "each of the 4 rounds"),
        (lambda: dw.play(dw.Committee(2), TARGETS, proposals=np.zeros((4, 2, 2))), "dim 1"),
        (lambda: dw.play(dw.OGD(dw.Ball(1), step=0.1), TARGETS, proposals=PROPOSALS), "goes with a Committee"),
        (lambda: dw.play(dw.OGD(dw.Ball(1), step=0.1), TARGETS, record_weights="x"), "record_weights"),  # type: ignore[call-overload]
    ]
    for call, text in refused:
        check_refused(call, text)
