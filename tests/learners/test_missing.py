"""Rounds without feedback, and bad input that is passed over."""

import math
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import ArgumentError, InputError, OrderError, ParameterError
from tests.cases import check_refused
from tests.learners.rounds import BALL, MAKE, Mean, gradients, play_on_time

BAD: dict[str, Any] = {"nan": [math.nan, 0.0], "inf": [0.0, -math.inf], "short": [1.0], "huge": [1e200, 0.0], "word": "x"}


@pytest.mark.parametrize("name", MAKE)
def test_skipped_rounds_are_counted_and_otherwise_have_not_been(name: str) -> None:
    rows, learner, twin = gradients(40), MAKE[name](), MAKE[name]()
    expected = play_on_time(twin, rows)
    for t, row in enumerate(rows):
        for _ in range(t % 3):
            np.testing.assert_array_equal(learner.act(), expected[t])
            learner.skip()
        np.testing.assert_array_equal(learner.act(), expected[t])
        learner.observe(row)
    missed = sum(t % 3 for t in range(40))
    assert (learner.round, learner.skipped, learner.refused) == (40 + missed, missed, 0)


@pytest.mark.parametrize("name", MAKE)
def test_observe_none_is_skip(name: str) -> None:
    learner, twin = MAKE[name](), MAKE[name]()
    for one in (learner, twin):
        play_on_time(one, gradients(5))
        one.act()
    learner.skip()
    twin.observe(None)
    assert learner.to_bytes() == twin.to_bytes() if name != "of somebody else" else learner.skipped == twin.skipped


@pytest.mark.parametrize("name", MAKE)
def test_skip_comes_after_act(name: str) -> None:
    learner = MAKE[name]()
    check_refused(learner.skip, "skip was called before act in round 0", kind=OrderError)
    learner.act()
    learner.skip()
    check_refused(learner.skip, "skip was called before act in round 1", kind=OrderError)
    check_refused(lambda: learner.observe(None), "observe was called before act in round 1", kind=OrderError)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", MAKE)
def test_bad_feedback_may_be_passed_over(name: str, bad: str) -> None:
    rows, learner = gradients(12), MAKE[name](on_bad_input="skip")
    expected = play_on_time(MAKE[name](), rows)
    for t, row in enumerate(rows):
        if t % 4 == 0:
            np.testing.assert_array_equal(learner.act(), expected[t])
            learner.observe(BAD[bad])
        np.testing.assert_array_equal(learner.act(), expected[t])
        learner.observe(row)
    assert (learner.round, learner.skipped, learner.refused) == (15, 3, 3)
    with pytest.raises(OrderError):
        learner.observe(rows[0])
    assert learner.refused == 3


@pytest.mark.parametrize("name", [name for name in MAKE if name != "of somebody else"])
def test_bad_feedback_that_raises_leaves_the_bytes_as_they_were(name: str) -> None:
    learner = MAKE[name]()
    play_on_time(learner, gradients(6))
    learner.act()
    before = learner.to_bytes()
    for bad in BAD.values():
        with pytest.raises(InputError):
            learner.observe(bad)
        assert learner.to_bytes() == before


def test_a_bad_hint_or_proposal_counts_as_not_given() -> None:
    rows = gradients(8)
    for name in ("Scream", "SelfTunedScream", "SelfTunedLearner"):
        learner, twin = MAKE[name](on_bad_input="skip"), MAKE[name]()
        for row in rows:
            np.testing.assert_array_equal(learner.act([math.nan, 1.0]), twin.act())
            learner.observe(row)
            twin.observe(row)
        assert (learner.refused, learner.skipped) == (8, 0)
    learner, twin = MAKE["SelfTunedLearner"](on_bad_input="skip"), MAKE["SelfTunedLearner"]()
    assert isinstance(learner, dw.SelfTunedLearner)
    for row in rows:
        np.testing.assert_array_equal(learner.act(proposal=[1.0]), twin.act())
        learner.observe(row)
        twin.observe(row)
    assert learner.refused == 8


@pytest.mark.parametrize("name", ["Scream", "SelfTunedScream", "OGD"])
def test_the_hint_of_a_skipped_round_is_taken_back(name: str) -> None:
    rows, learner, twin = gradients(30), MAKE[name](), MAKE[name]()
    for t, row in enumerate(rows):
        if t == 3:  # a hint before, so that both have base-learners that heed them
            np.testing.assert_array_equal(learner.act([0.1, 0.2]), twin.act([0.1, 0.2]))
        if t in (7, 20) and name != "SelfTunedScream":
            learner.act([5.0, -5.0])
            learner.skip()
        np.testing.assert_array_equal(learner.act(), twin.act())
        learner.observe(row)
        twin.observe(row)


def test_after_the_hint_of_a_skipped_round_the_dead_zone_lies_where_was_played() -> None:
    learner = dw.SelfTunedScream(BALL, switching_cost=1.0)
    for row in gradients(20):
        learner.act(row)
        learner.observe(row)
    w = learner.act([9.0, 9.0]).copy()
    learner.skip()
    again = learner.clone()
    assert np.linalg.norm(again.act() - w) <= 2.0
    assert BALL.contains(again.act())
    assert dw.from_bytes(learner.to_bytes()).act().tolist() == again.act().tolist()


def test_rules_are_settings() -> None:
    learner = MAKE["Scream"](on_bad_input="skip", late=3)
    assert (learner.on_bad_input, learner.late) == ("skip", 3)
    again = dw.from_bytes(learner.to_bytes())
    assert (again.on_bad_input, again.late) == ("skip", 3)
    own = Mean(BALL, on_bad_input="skip", late=2)  # type: ignore[call-arg]
    assert (own.on_bad_input, own.late) == ("skip", 2)
    again = dw.from_bytes(own.to_bytes(), classes=[Mean])
    assert (again.on_bad_input, again.late) == ("skip", 2)
    assert (Mean(BALL).on_bad_input, Mean(BALL).late) == ("raise", 0)
    with pytest.raises(ArgumentError, match="Did you mean late"):
        Mean(BALL, lates=2)  # type: ignore[call-arg]
    for name in MAKE:
        check_refused(lambda name=name: MAKE[name](on_bad_input="ignore"), "on_bad_input", kind=ParameterError)
        check_refused(lambda name=name: MAKE[name](late=-1), "late", kind=ParameterError)


def test_a_self_tuned_learner_may_skip_before_it_has_learnt_anything() -> None:
    losses = dw.TrackingLoss([[1.0, 0.0], [0.5, 0.5], [0.2, 0.1]])
    learner, twin = (dw.SelfTunedLearner(BALL, switching_cost=1.0) for _ in range(2))
    for _ in range(3):
        learner.act()
        learner.skip()
    for t in range(3):
        np.testing.assert_array_equal(learner.act(), twin.act())
        learner.observe(losses[t])
        twin.observe(losses[t])
    assert learner.overhead == twin.overhead


def test_moves_of_a_round_without_a_loss_are_counted_with_the_next() -> None:
    losses = dw.streams.drifting_regression(rounds=60, dim=2, seed=4)
    learner = dw.SelfTunedLearner(BALL, switching_cost=0.3)
    suffered, path = 0.0, []
    for t in range(60):
        path.append(learner.act(proposal={"mine": [0.1 * (t % 5), 0.0]}).copy())
        if t % 3 == 1:
            learner.skip()
        else:
            suffered += losses.unary_value(t, path[-1])
            learner.observe(losses[t])
    moves = 0.3 * float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
    certificate = learner.certificate()
    assert certificate.cost == pytest.approx(suffered + moves, rel=1e-6)
