"""Feedback that comes late: when it is learnt, what it is about, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise.errors import InputError, OrderError, ParameterError
from tests.cases import check_refused
from tests.learners.rounds import BALL, MAKE, Mean, gradients, play_on_time


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("name", MAKE)
def test_feedback_on_time_makes_the_learner_without_a_window(name: str, numbered: bool) -> None:
    rows, learner = gradients(40), MAKE[name](late=10)
    expected = play_on_time(MAKE[name](), rows)
    for t, row in enumerate(rows):
        np.testing.assert_array_equal(learner.act(), expected[t])
        learner.observe(row, round=t) if numbered else learner.observe(row)


@pytest.mark.parametrize("name", MAKE)
def test_feedback_that_comes_before_the_next_act_comes_on_time(name: str) -> None:
    rows, learner = gradients(40), MAKE[name](late=1)
    expected = play_on_time(MAKE[name](), rows)
    for t, row in enumerate(rows):
        np.testing.assert_array_equal(learner.act(), expected[t])
        learner.skip()
        learner.observe(row, round=t)
    assert (learner.round, learner.skipped) == (40, 0)


@pytest.mark.parametrize("name", MAKE)
def test_feedback_that_comes_while_a_round_is_open_waits_for_its_end(name: str) -> None:
    rows, learner, twin = gradients(30), MAKE[name](late=3), MAKE[name](late=3)
    for one in (learner, twin):
        play_on_time(one, rows[:20])
        one.act()
        one.skip()
    w = learner.act().copy()
    learner.observe(rows[20], round=20)
    np.testing.assert_array_equal(learner.act(), w)
    assert learner.skipped == 0
    learner.observe(rows[21])
    twin.act()
    twin.observe(rows[21])
    twin.observe(rows[20], round=20)
    np.testing.assert_array_equal(learner.act(), twin.act())
    np.testing.assert_array_equal(play_on_time(learner, rows), play_on_time(twin, rows))


def mixed(learner: dw.Learner, rows: Any, seed: int, classes: Any = (), *, reload: bool = False) -> list[Any]:
    """Play with feedback that is lost, late or on time, at random, and return the decisions."""
    rng, owed, path, late = np.random.default_rng(seed), {}, [], learner.late  # type: ignore[var-annotated]
    for t, row in enumerate(rows):
        assert learner.round == t
        path.append(learner.act().tolist())
        for k in [k for k in owed if rng.random() < 0.3 and k >= t - late]:
            learner.observe(owed.pop(k), round=k)
        if reload and t % 3 == 0:
            learner = dw.from_bytes(learner.to_bytes(), classes=classes).clone()
        assert learner.act().tolist() == path[-1]
        if rng.random() < 0.5:
            learner.observe(row)
        else:
            learner.skip()
            owed[t] = row
        for k in [k for k in owed if rng.random() < 0.3 and k >= t + 1 - late]:
            learner.observe(owed.pop(k), round=k)
        if reload and t % 3 == 1:
            learner = dw.from_bytes(learner.to_bytes(), classes=classes)
        assert learner.skipped == len(owed)
    return path


@pytest.mark.parametrize("name", MAKE)
@given(seed=st.integers(0, 10**6), late=st.integers(1, 6))
def test_any_mix_goes_on_bit_for_bit_after_saving(name: str, seed: int, late: int) -> None:
    rows, classes = gradients(25, seed), [Mean]
    plain = mixed(MAKE[name](late=late), rows, seed)
    saved = mixed(MAKE[name](late=late), rows, seed, classes, reload=True)
    assert plain == saved
    domain = MAKE[name]().domain
    assert all(domain.contains(np.array(w)) for w in plain)


STREAMS: dict[str, Any] = {
    "tracking": dw.TrackingLoss,
    "capacity": dw.CapacityLoss,
    "huber": lambda rows: dw.HuberLoss(rows, rows.sum(axis=1), delta=0.3),
    "quantile": lambda rows: dw.QuantileLoss(rows, rows.sum(axis=1), quantile=0.8),
    "filtered": lambda rows: dw.FilteredLoss([0.5, 0.5], rows, rows.sum(axis=1)),
    "logistic": lambda rows: dw.LogisticLoss(rows, np.where(rows[:, 0] > 1.0, 1.0, -1.0)),
}


@pytest.mark.parametrize("kind", STREAMS)
@given(seed=st.integers(0, 10**6))
def test_whole_losses_that_wait_are_saved(kind: str, seed: int) -> None:
    rows = np.abs(gradients(25, seed))
    stream = STREAMS[kind](rows)
    losses = [stream[t] for t in range(25)]
    plain = mixed(dw.SelfTunedLearner(BALL, switching_cost=0.5, late=4), losses, seed)
    assert plain == mixed(dw.SelfTunedLearner(BALL, switching_cost=0.5, late=4), losses, seed, reload=True)


@pytest.mark.parametrize("name", [name for name in MAKE if name not in ("rounded", "of somebody else")])
def test_a_loss_is_asked_at_what_was_played_then(name: str) -> None:
    learner, asked = MAKE[name](late=5), []

    class Spy:
        def value(self, w: Any) -> float:
            return 0.0

        def gradient(self, w: Any) -> Any:
            asked.append(w.copy())
            return [0.3, -0.4]

    play_on_time(learner, gradients(8))
    w = learner.act().copy()
    learner.skip()
    play_on_time(learner, gradients(3, seed=1))
    learner.observe(Spy(), round=8)  # type: ignore[arg-type]
    np.testing.assert_array_equal(asked[0], w)


def test_a_stream_is_read_at_the_round_that_is_said() -> None:
    losses = dw.streams.drifting_regression(rounds=12, dim=2, seed=2)
    learner, twin = (dw.OGD(BALL, step=0.1, late=4) for _ in range(2))
    for one in (learner, twin):
        one.act()
        one.skip()
    learner.observe(losses, round=0)
    twin.observe(losses[0], round=0)
    np.testing.assert_array_equal(learner.act(), twin.act())
    with pytest.raises(InputError):
        learner.observe(dw.TrackingLoss([[0.0, 0.0, 0.0]]), round=1)


def test_base_learners_with_gradients_of_their_own_are_asked_where_they_stood() -> None:
    losses = dw.streams.drifting_regression(rounds=40, dim=2, seed=2)
    for horizon in (None, 40):
        learner = dw.Ader(BALL, gradient_bound=2.0, variant="original", late=6, horizon=horizon)
        asked: list[Any] = []
        for t in range(40):
            learner.act()
            if t in (10, 20):
                stood, w = learner.base_decisions.copy(), learner.act().copy()
                learner.skip()
            else:
                learner.observe(losses[t])
            if t in (13, 23):

                class Spy:
                    def value(self, w: Any) -> float:
                        return losses.unary_value(t - 3, w)  # noqa: B023

                    def gradient(self, w: Any) -> Any:
                        asked.append(w.copy())  # noqa: B023
                        return losses.gradient(t - 3, w)  # noqa: B023

                asked.clear()
                learner.observe(Spy(), round=t - 3)  # type: ignore[arg-type]
                np.testing.assert_array_equal(asked, [*stood, w])
        assert learner.skipped == 0


def test_what_is_refused() -> None:
    row = np.array([0.1, 0.2])
    none = dw.OGD(BALL, step=0.1)
    none.act()
    none.skip()
    check_refused(lambda: none.observe(row, round=0), "late=0", "build one with late=1", kind=OrderError)
    learner = dw.OGD(BALL, step=0.1, late=2)
    for t in range(5):
        learner.act()
        learner.observe(row) if t == 3 else learner.skip()
    before = learner.to_bytes()
    cases = {
        2: "comes 3 rounds late, and with late=2 it is taken from round 3 on",
        3: "round 3 has had its feedback",
        6: "for round 6, and this is round 5",
        5: "observe was called before act in round 5",
    }
    for k, words in cases.items():
        check_refused(lambda k=k: learner.observe(row, round=k), words, kind=OrderError)  # type: ignore[misc]
    for k in (-1, 1.5, "4", True):  # type: ignore[assignment]
        check_refused(lambda k=k: learner.observe(row, round=k), "round must be", kind=ParameterError)  # type: ignore[misc]
    check_refused(lambda: learner.observe(None, round=4), "no feedback for round 4", kind=InputError)
    with pytest.raises(InputError):
        learner.observe([np.nan, 0.0], round=4)
    assert learner.to_bytes() == before
    learner.observe(row, round=4)
    check_refused(lambda: learner.observe(row, round=4), "round 4 has had its feedback", kind=OrderError)


def test_late_feedback_that_is_bad_may_come_again() -> None:
    learner = dw.OGD(BALL, step=0.1, late=2, on_bad_input="skip")
    learner.act()
    learner.observe([np.nan, 0.0])
    assert (learner.skipped, learner.refused) == (1, 1)
    learner.observe([np.inf, 0.0], round=0)
    assert (learner.skipped, learner.refused) == (1, 2)
    learner.observe([1.0, 0.0], round=0)
    assert (learner.skipped, learner.refused) == (0, 2)
    np.testing.assert_array_equal(learner.act(), [-0.1, 0.0])


def test_the_dead_zone_lies_around_what_was_played() -> None:
    """Two updates between two rounds: the decision leaves the last one that was played, not one in between."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        learner = dw.SelfTunedScream(BALL, switching_cost=3.0, late=3)
        play_on_time(learner, rng.normal(size=(12, 2)))
        w = learner.act().copy()
        learner.skip()
        learner.observe(rng.normal(size=2), round=12)
        learner.act()
        learner.skip()
        played = learner._parts["played"].copy()
        learner.observe(rng.normal(size=2), round=13)
        centre, decision = learner._parts["centre"], learner.act()
        way, gone = (centre - played).ravel(), (decision - played).ravel()
        assert abs(way[0] * gone[1] - way[1] * gone[0]) <= 1e-12
        assert np.linalg.norm(gone) <= np.linalg.norm(way) + 1e-12
        assert w.shape == decision.shape


def test_play_goes_on_after_rounds_without_feedback() -> None:
    losses = dw.streams.drifting_regression(rounds=30, dim=2, seed=5)
    for name in ("Scream", "SelfTunedScream", "SelfTunedLearner"):
        learner, twin = MAKE[name](late=4), MAKE[name](late=4)
        for one in (learner, twin):
            play_on_time(one, gradients(6))
            one.act()
            one.skip()
            one.act()
            one.observe(gradients(1)[0], round=6)
        trace = dw.play(learner, losses)
        for t in range(30):
            np.testing.assert_array_equal(twin.act(), trace.decisions[t])
            twin.observe(losses[t])
        assert learner.round == twin.round == 37
        assert dw.from_bytes(learner.to_bytes()).round == 37
