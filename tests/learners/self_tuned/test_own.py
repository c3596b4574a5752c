"""Estimators and movers of one's own, in Python: they see what compiled ones see, and are asked before the decision."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import movers
from driftwise._validate import Array
from driftwise.errors import DriftwiseError
from driftwise.estimators import EACH, GRADIENT, SCORE, Estimator, Seen, Smoothing
from driftwise.testing.promises import saved
from tests.cases import DOMAINS, by_hand, check_refused, proposing, self_tuned, squared, stream
from tests.pairs.accounts import excess, points_of

ROUNDS = 20
BALL = dw.Ball(3, radius=9.0)


class PlainSmoothing(Smoothing):
    """The statement of an estimator in NumPy, which is not compiled."""

    def family(self, kind: Any) -> Any:
        """Return None: its methods are to be called."""
        return


class PlainFollow(movers.Mover):
    """Follow, in Python."""

    name = "follow"

    def share(self, step: movers.Step) -> float:
        """Return 1."""
        return 1.0


@pytest.mark.parametrize("where", ["ball", "box", "simplex"])
@pytest.mark.parametrize("kind", ["squared", "absolute", "logistic", "tracking", "capacity"])
def test_an_estimator_in_python_is_one_of_the_pool(kind: str, where: str) -> None:
    """Smoothing, compiled and as it is stated in NumPy, is in charge to the same degree."""
    domain = DOMAINS[where]
    losses = stream(kind, domain.dim, ROUNDS)
    fast, slow = (self_tuned(domain, estimators=[how(0.3)]) for how in (Smoothing, PlainSmoothing))
    expected, found = by_hand(fast, losses), by_hand(slow, losses)
    assert slow.members == fast.members
    if kind == "capacity":  # a compiled forecast has an offset: a running quantile of its errors
        return
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(slow.weights, fast.weights, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("kind", ["squared", "tracking", "linear"])
def test_a_mover_in_python_is_one_of_the_pool(kind: str) -> None:
    losses = stream(kind, 3, ROUNDS)
    table = {"mine": np.random.default_rng(0).uniform(-0.5, 0.5, (ROUNDS, 3))}
    fast, slow = (
        self_tuned(BALL, "l1", estimators=[Smoothing(0.3)], movers=[way()]) for way in (movers.Follow, PlainFollow)
    )
    expected, found = (by_hand(learner, losses, proposing(table)) for learner in (fast, slow))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)
    assert set(slow.members) == set(fast.members)
    assert np.array_equal(dw.play(slow.clone(), losses).decisions, by_hand(slow, losses))
    assert excess(slow) <= 1e-12


class Watching(Estimator):
    """Keeps what it sees, and the gradient of it, and proposes the start."""

    name, forms = "watching", (SCORE, EACH, GRADIENT)

    list: Any

    def begin(self, point: Array, domain: dw.Domain) -> None:
        """Begin with an empty list."""
        self.point, self.domain, self.list = point, domain, []

    def learn(self, seen: Seen) -> None:
        """Note the round."""
        self.list.append((seen, np.array(seen.gradient(seen.decision))))

    def propose(self) -> Array:
        """Return the start."""
        return self.point


def _watched(losses: dw.LossStream) -> tuple[list[tuple[Seen, Array]], Array]:
    """Return what an estimator sees of losses, and the decisions."""
    learner = self_tuned(BALL, estimators=[Watching(), Smoothing(0.1)], start=[0.1, 0.2, 0.3])
    decisions = by_hand(learner, losses)
    watching: Any = learner._estimators[0]
    assert np.array_equal(watching.point, [0.1, 0.2, 0.3])
    assert repr(watching.domain) == repr(BALL)
    assert [seen.rounds for seen, _ in watching.list] == list(range(ROUNDS))
    return watching.list, decisions


X = np.random.default_rng(6).uniform(0.5, 1.0, (ROUNDS, 3))
Y = 4.0 + np.random.default_rng(7).uniform(-1.0, 1.0, ROUNDS)
"""Features and targets of which none is so far out that it is clipped."""


@pytest.mark.parametrize("losses", [dw.SquaredLoss(X, Y), dw.HuberLoss(X, Y), dw.LogisticLoss(X, np.sign(Y))], ids=repr)
def test_of_a_score_it_sees_features_in_units_of_the_curvature(losses: Any) -> None:
    seen, decisions = _watched(losses)
    for t, (what, gradient) in enumerate(seen):
        assert what.kind.form == SCORE
        assert what.curve == 1.0 or not isinstance(losses, dw.SquaredLoss)
        np.testing.assert_array_equal(what.decision, decisions[t])
        np.testing.assert_allclose(what.features, np.sqrt(what.curve) * X[t], rtol=1e-12)
        np.testing.assert_allclose(gradient, losses.gradient(t, decisions[t]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(what.scales, np.mean(X**2, axis=0) * what.curve, rtol=1e-9)


@pytest.mark.parametrize("losses", [dw.TrackingLoss(4.0 + X), dw.CapacityLoss(4.0 + X, shortage=3.0)], ids=repr)
def test_of_levels_it_sees_the_targets(losses: Any) -> None:
    seen, decisions = _watched(losses)
    for t, (what, gradient) in enumerate(seen):
        assert what.kind.form == EACH
        np.testing.assert_array_equal(what.targets, 4.0 + X[t])
        np.testing.assert_array_equal(what.features, np.ones(3))
        np.testing.assert_allclose(gradient, losses.gradient(t, decisions[t]), rtol=1e-12, atol=1e-15)


def test_what_is_far_out_it_sees_clipped() -> None:
    rows = 4.0 + X
    rows[15] = 1e9
    seen, _ = _watched(dw.TrackingLoss(rows))
    assert np.all(np.abs(seen[15][0].targets) < 100.0)
    assert np.all(seen[15][0].targets > rows[14])


def test_of_gradients_it_sees_the_gradient() -> None:
    seen, _ = _watched(dw.LinearLoss(X))
    for t, (what, gradient) in enumerate(seen):
        np.testing.assert_allclose(what.targets, X[t], rtol=1e-12)
        np.testing.assert_allclose(what.features, X[t] / np.linalg.norm(X[t]), rtol=1e-12)
        np.testing.assert_allclose(gradient, X[t], rtol=1e-12)
    check_refused(lambda: seen[-1][0].slope(0.0), "nothing is known")


class Returning(Estimator):
    """Proposes what it is told to."""

    name, forms = "returning", (SCORE,)

    def __init__(self, what: Any) -> None:
        self.what = what

    def begin(self, point: Array, domain: dw.Domain) -> None:
        """Begin with nothing."""

    def learn(self, seen: Seen) -> None:
        """Learn nothing."""

    def propose(self) -> Any:
        """Return it."""
        return self.what


class Going(movers.Mover):
    """Goes the part of the way that it is told to."""

    name = "going"

    def __init__(self, part: Any) -> None:
        self.part = part

    def share(self, step: movers.Step) -> Any:
        """Return it."""
        return self.part


def test_pairs_of_a_mover_in_python_stay_while_their_proposal_is_missing() -> None:
    learner, losses = self_tuned(BALL, estimators=[], movers=[Going(0.5)]), squared(3, ROUNDS)
    for t in range(ROUNDS):
        before = points_of(learner)
        learner.act(proposal={"mine": np.full(3, 0.05 * t)} if t % 3 else None)
        if t % 3 == 0 and t > 1:
            np.testing.assert_array_equal(points_of(learner), before)
        learner.observe(losses[t])


@pytest.mark.parametrize("bad", [np.zeros(2), [np.nan] * 3, "abc", 1e200 * np.ones(3)], ids=repr)
def test_a_wrong_proposal_of_an_estimator_is_named(bad: Any) -> None:
    learner = self_tuned(BALL, estimators=[Returning(bad)])
    learner.act()
    check_refused(lambda: learner.observe(squared(3, 1)[0]), "Returning.propose")


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, "half", None, [1.0]], ids=repr)
def test_a_wrong_share_of_a_mover_is_named(bad: Any) -> None:
    learner = self_tuned(BALL, estimators=[Smoothing(1.0)], movers=[Going(bad)])
    learner.act()
    learner.observe(squared(3, 2)[0])
    check_refused(learner.act, "Going.share")


def test_an_estimator_without_opinion_leaves_its_pairs_where_they_are() -> None:
    learner = self_tuned(BALL, estimators=[Returning(None)])
    assert np.ptp(by_hand(learner, squared(3, ROUNDS)), axis=0).max() == 0.0


class Failing(Estimator):
    """Fails in its sixth round."""

    name, forms = "failing", (SCORE, EACH, GRADIENT)

    def begin(self, point: Array, domain: dw.Domain) -> None:
        """Begin to count."""
        self.rounds = 0

    def learn(self, seen: Seen) -> None:
        """Count, and fail."""
        self.rounds += 1
        if self.rounds == 6:
            raise RuntimeError("my own mistake")

    def propose(self) -> None:
        """Have no opinion."""


@pytest.mark.parametrize("kind", ["squared", "tracking", "linear"])
def test_play_puts_back_a_learner_whose_estimator_fails(kind: str) -> None:
    learner, losses = self_tuned(BALL, estimators=[Failing(), Smoothing(0.3)]), stream(kind, 3, ROUNDS)
    by_hand(learner, stream(kind, 3, 2))
    before = saved(learner)
    with pytest.raises(RuntimeError, match="my own mistake"):
        dw.play(learner, losses)
    assert saved(learner) == before


@pytest.mark.parametrize("kind", ["squared", "tracking", "linear"])
def test_a_round_in_which_an_estimator_fails_is_a_round_for_all_others(kind: str) -> None:
    losses = stream(kind, 3, ROUNDS)
    learner, sound = (self_tuned(BALL, estimators=[first, Smoothing(0.3)]) for first in (Failing(), Watching()))
    failed = 0
    for t in range(ROUNDS):
        learner.act()
        sound.act()
        try:
            learner.observe(losses[t])
        except RuntimeError:
            failed += 1
        sound.observe(losses[t])
        assert learner.round == t + 1
    assert failed == 1
    smoothing = [name.startswith("smoothing") for name in learner.members]
    if kind == "tracking":  # its targets do not depend on the decisions
        np.testing.assert_array_equal(points_of(learner)[smoothing], points_of(sound)[smoothing])


def test_a_learner_with_parts_in_python_takes_the_kinds_it_is_given() -> None:
    with pytest.raises(DriftwiseError, match="estimators"):
        dw.SelfTunedLearner(BALL, switching_cost=0.1, estimators=[Watching])  # type: ignore[list-item]
