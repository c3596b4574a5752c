"""The self-tuned learner: who is in the pool for which losses, and what it takes in."""

import functools
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import estimators, movers
from driftwise.errors import InputError, OrderError
from driftwise.pairs import layout
from driftwise.testing.promises import saved
from tests.cases import STREAMS, by_hand, check_refused, self_tuned, squared, stream

ROUNDS = 18
BALL = dw.Ball(3)

SCORES = ("squared", "absolute", "quantile", "huber", "logistic", "filtered")
LEVELS = ("tracking", "capacity")


def _members(kind: str, dim: int, **settings: Any) -> set[str]:
    """Return the names of the estimators in the pool for a stream."""
    learner = self_tuned(dw.Box([-1.0] * dim, [1.0] * dim), **settings)
    by_hand(learner, stream(kind, dim, 2))
    assert learner.members[0] == "stay"
    return {name.split(",")[0] for name in learner.members[1:]}


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("dim", [1, 3])
def test_the_pool_has_those_who_suit_the_losses(kind: str, dim: int) -> None:
    found = _members(kind if "custom" not in kind else "plain custom", dim)
    assert "Scream" in found
    filters, seasons = {"least squares 1", "Kalman 0.01", "smoothing 0.3", "trend 0.01"}, {"season naive"}
    assert filters <= found if kind in SCORES + LEVELS else not filters & found
    assert seasons <= found if kind in LEVELS else not seasons & found
    assert ("change points" in found) == (kind in SCORES or (kind in LEVELS and dim == 1))
    from_gradients = {name for name in found if name.startswith("Newton") or "within" in name}
    assert bool(from_gradients) == (kind not in SCORES + LEVELS)


def test_before_the_first_round_there_is_only_the_start() -> None:
    learner = self_tuned(BALL, start=[0.5, 0.0, 0.0])
    assert learner.members == ["stay"]
    assert np.array_equal(learner.weights, [1.0])
    assert learner.overhead == 0.0
    assert np.array_equal(learner.act(), [0.5, 0.0, 0.0])
    assert learner.members == ["stay"]
    learner.observe(squared(3, 1)[0])
    assert len(learner.members) == learner.weights.size > 90
    assert len(set(learner.members)) == len(learner.members)


@pytest.mark.parametrize("kind", STREAMS)
def test_a_whole_stream_a_round_and_its_loss_teach_the_same(kind: str) -> None:
    losses, one, other = stream(kind, 3, ROUNDS), self_tuned(BALL), self_tuned(BALL)
    for t in range(ROUNDS):
        assert np.array_equal(one.act(), other.act())
        one.observe(losses[t])
        other.observe(losses)
    assert saved(one) == saved(other)


@pytest.mark.parametrize("kind", ["linear", "custom", "plain custom", "custom with memory"])
def test_where_only_gradients_are_known_they_teach_the_same(kind: str) -> None:
    losses, one, other = stream(kind, 3, ROUNDS), self_tuned(BALL), self_tuned(BALL)
    for t in range(ROUNDS):
        assert np.array_equal(one.act(), other.act())
        one.observe(losses[t])
        other.observe(losses.gradient(t, other.act()))
    assert np.array_equal(one.weights, other.weights)


@pytest.mark.parametrize("first", ["squared", "tracking", "capacity", "linear"])
def test_losses_of_all_kinds_are_taken_in_any_order(first: str) -> None:
    learner = self_tuned(BALL)
    by_hand(learner, stream(first, 3, 3))
    members = learner.members
    for kind in STREAMS:
        for t in range(3):
            learner.act()
            learner.observe(stream(kind, 3, 3)[t])
        learner.act()
        learner.observe(np.array([0.1, -0.2, 0.3]))
        assert BALL.contains(learner.act())
        assert abs(learner.weights.sum() - 1.0) <= 1e-12
    assert learner.members == members
    assert learner.round == 3 + 4 * len(STREAMS)


def test_gradients_count_where_losses_are_usual() -> None:
    """In a pool made for losses, gradients that all point the same way move the decision the other way."""
    learner = dw.SelfTunedLearner(dw.Box([-1.0], [1.0]), switching_cost=0.01)
    by_hand(learner, dw.TrackingLoss(np.zeros((5, 1))))
    for _ in range(60):
        learner.act()
        learner.observe([1.0])
    assert learner.act()[0] < -0.8


@pytest.mark.parametrize("kind", ["squared", "tracking", "linear"])
def test_hints_are_taken_in_every_round(kind: str) -> None:
    losses, learner, without = stream(kind, 3, ROUNDS), self_tuned(BALL), self_tuned(BALL)
    moved = False
    for t in range(ROUNDS):
        guess = losses.gradient(t, without.act())
        moved = not np.array_equal(learner.act(hint=guess), without.act()) or moved
        check_refused(lambda: learner.act(hint=np.zeros(3)), "first act", kind=OrderError)
        learner.observe(losses[t])
        without.observe(losses[t])
    assert moved


def test_good_hints_help() -> None:
    rng = np.random.default_rng(3)
    gradients = np.sign(np.sin(np.arange(600) / 10.0))[:, None] * [1.0, 0.0] + 0.2 * rng.standard_normal((600, 2))

    def cost(hinted: bool) -> float:
        learner, total, before = dw.SelfTunedLearner(dw.Ball(2), switching_cost=0.5), 0.0, np.zeros(2)
        for gradient in gradients:
            w = learner.act(hint=gradient) if hinted else learner.act()
            total += gradient @ w + 0.5 * float(np.linalg.norm(w - before)) + 1.5
            before = w
            learner.observe(gradient)
        return total

    assert cost(True) < cost(False)


@pytest.mark.parametrize("kind", ["squared", "logistic", "tracking", "capacity", "linear"])
def test_what_costs_nothing_teaches_nothing(kind: str) -> None:
    """Features of 0, targets where the start is, gradients of 0."""
    start, zeros = np.array([0.5, 0.1, -0.2]), np.zeros((20, 3))
    losses: dict[str, dw.LossStream] = {
        "squared": dw.SquaredLoss(zeros, np.zeros(20)),
        "logistic": dw.LogisticLoss(zeros, np.ones(20)),
        "tracking": dw.TrackingLoss(np.tile(start, (20, 1))),
        "capacity": dw.CapacityLoss(np.tile(start, (20, 1)), shortage=3.0),
        "linear": dw.LinearLoss(zeros),
    }
    learner = self_tuned(BALL, start=start)
    np.testing.assert_allclose(by_hand(learner, losses[kind]), np.tile(start, (20, 1)), rtol=1e-12)
    assert abs(learner.weights.sum() - 1.0) <= 1e-12


@pytest.mark.parametrize("kind", ["squared", "tracking", "linear"])
def test_a_pool_of_few_is_a_pool(kind: str) -> None:
    losses = stream(kind, 3, ROUNDS)
    alone = self_tuned(BALL, estimators=[])
    assert np.ptp(by_hand(alone, losses), axis=0).max() == 0.0
    assert alone.members == ["stay"]
    assert alone.weights.tolist() == [1.0]
    one = self_tuned(BALL, estimators=[estimators.SelfTunedScream()], movers=[movers.Follow()])
    by_hand(one, losses)
    assert one.members == ["stay", "Scream, follow"]
    patient = self_tuned(BALL, estimators=[estimators.Smoothing(0.3)], movers=[movers.Prox(16.0)])
    by_hand(patient, losses)
    assert patient.members == ["stay", *(["smoothing 0.3, prox 16"] if kind != "linear" else [])]


@pytest.mark.parametrize("kind", ["squared", "tracking"])
def test_followed_alone_self_tuned_scream_is_itself(kind: str) -> None:
    """With nobody else but staying in the pool, and staying hopeless, it decides as the learner of its name does."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 1.0, (80, 1))
    losses = dw.SquaredLoss(x, 5.0 * x[:, 0]) if kind == "squared" else dw.TrackingLoss(4.0 + x)
    pool = dw.SelfTunedLearner(
        dw.Box([0.0], [9.0]),
        switching_cost=0.0,
        estimators=[estimators.SelfTunedScream()],
        movers=[movers.Follow()],
    )
    expected = dw.play(dw.SelfTunedScream(dw.Box([0.0], [9.0]), switching_cost=0.0), losses).decisions
    played = dw.play(pool, losses)
    assert pool.weights[1] > 0.999
    if pool._vector[layout.CLIPS] == 0.0:
        np.testing.assert_allclose(played.decisions[40:], expected[40:], rtol=0.02)


def test_estimators_are_not_shared_between_learners() -> None:
    class Count(estimators.Estimator):
        name, forms = "count", (layout.SCORE,)

        def begin(self, point: Any, domain: Any) -> None:
            self.rounds = 0

        def learn(self, seen: Any) -> None:
            self.rounds += 1

        def propose(self) -> Any:
            return np.full(3, 0.01 * self.rounds)

    own = [Count()]
    first, second = (dw.SelfTunedLearner(BALL, switching_cost=0.1, estimators=own) for _ in range(2))
    by_hand(first, squared(3, ROUNDS))
    by_hand(second, squared(3, 4))
    assert not hasattr(own[0], "rounds")
    counts: list[Any] = [learner._estimators[0] for learner in (first, second)]
    assert [count.rounds for count in counts] == [ROUNDS, 4]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"switching_cost": -1.0}, "switching_cost"),
        ({"switching_cost": dw.MoveCost(up=[1.0, 2.0])}, "2 coordinates"),
        ({"switching_cost": 1.0, "period": 1}, "period"),
        ({"switching_cost": 1.0, "period": 2.5}, "period"),
        ({"switching_cost": 1.0, "start": [2.0, 0.0, 0.0]}, "start"),
        ({"switching_cost": 1.0, "start": [0.0, 0.0]}, "start"),
        ({"switching_cost": 1.0, "estimators": [3]}, "estimators"),
        ({"switching_cost": 1.0, "movers": ["follow"]}, "movers"),
        ({"switching_cost": 1.0, "movers": []}, "at least one mover"),
        ({"switching_cost": 1.0, "horizon": 5}, "horizon"),
        ({}, "switching_cost"),
    ],
)
def test_what_it_does_not_take_is_refused(settings: dict[str, Any], words: str) -> None:
    check_refused(functools.partial(dw.SelfTunedLearner, BALL, **settings), words)


def test_losses_of_another_dimension_are_refused() -> None:
    learner = self_tuned(BALL)
    learner.act()
    for bad in (squared(2, 3), squared(2, 3)[0], stream("tracking", 4, 3)[1], stream("plain custom", 2, 3)[0]):
        before = saved(learner)
        check_refused(functools.partial(learner.observe, bad), "dim", kind=InputError)
        assert saved(learner) == before
