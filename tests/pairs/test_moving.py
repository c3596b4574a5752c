"""How pairs move, what they are charged for it, and the decision that is mixed of them."""

import numpy as np
import pytest

import driftwise as dw
from driftwise import movers
from driftwise.pairs import layout
from driftwise.pairs.moving import ZONE
from tests.cases import DOMAINS, PRICES, by_hand, every_pair, self_tuned, stream
from tests.pairs.accounts import parts_of, points_of

ROUNDS = 14


@every_pair(where=DOMAINS, kind=["squared", "tracking", "capacity", "linear"], price=PRICES)
def test_every_pair_is_charged_for_its_own_move(where: str, kind: str, price: str) -> None:
    domain = DOMAINS[where]
    learner, losses = self_tuned(domain, price), stream(kind, domain.dim, ROUNDS)
    learner.act()
    learner.observe(losses[0])
    for t in range(1, ROUNDS):
        before, start = points_of(learner), parts_of(learner)["decision"].copy()
        decision = learner.act()
        points, parts = points_of(learner), parts_of(learner)
        expected = np.asarray(learner._cost(points - before))
        np.testing.assert_allclose(parts["own"][learner.lanes], expected, rtol=1e-9, atol=1e-14)
        assert learner._vector[layout.MOVED] == pytest.approx(float(learner._cost(decision - start)), abs=1e-14)
        np.testing.assert_allclose(domain.project(points), points, rtol=0.0, atol=1e-9)
        if kind != "linear":
            np.testing.assert_allclose(decision, learner.weights @ points, rtol=0.0, atol=1e-12)
        learner.observe(losses[t])
    assert np.ptp(points, axis=0).max() > 0.0


@pytest.mark.parametrize("kind", ["squared", "tracking"])
def test_where_moves_are_free_all_movers_follow(kind: str) -> None:
    learner, losses = self_tuned(dw.Ball(3), "free"), stream(kind, 3, ROUNDS)
    for t in range(ROUNDS):
        learner.act()
        learner.observe(losses[t])
    learner.act()
    where = dict(zip(learner.members, points_of(learner), strict=True))
    for name, point in where.items():
        if name.startswith(("least", "Kalman", "smoothing", "trend")) and "ski" not in name:
            np.testing.assert_allclose(point, where[f"{name.split(', ')[0]}, follow"], rtol=0.0, atol=1e-12)


def test_where_moves_are_dear_only_those_who_follow_move() -> None:
    learner = dw.SelfTunedLearner(dw.Ball(3), switching_cost=1e6)
    losses = stream("squared", 3, ROUNDS)
    for t in range(ROUNDS):
        assert np.linalg.norm(learner.act()) < 1e-6
        learner.observe(losses[t])
    learner.act()
    for name, point in zip(learner.members, points_of(learner), strict=True):
        follows = name.endswith(", follow") and not name.startswith("Scream")
        assert bool(np.any(point != 0.0)) == follows, name


def test_prices_that_add_up_let_every_coordinate_move_by_itself() -> None:
    """One coordinate jumps, the other wavers too little to be worth a move."""
    rng = np.random.default_rng(0)
    rows = np.stack([np.where(np.arange(40) < 20, 0.1, 0.9), 0.5 + 0.01 * rng.normal(size=40)], axis=1)
    points = {}
    for norm in ("l1", "l2"):
        price = dw.MoveCost(up=0.3, down=0.3, norm=norm)
        ways = [movers.Prox(4.0)]
        learner = dw.SelfTunedLearner(dw.Box([0.0] * 2, [1.0] * 2), switching_cost=price, start=[0.1, 0.5], movers=ways)
        by_hand(learner, dw.TrackingLoss(rows))
        points[norm] = dict(zip(learner.members, points_of(learner), strict=True))["smoothing 1, prox 4"]
    assert points["l1"][0] > 0.5
    assert points["l1"][1] == 0.5
    assert points["l2"][1] != 0.5


def test_from_gradients_the_decision_stays_within_the_dead_zone_around_the_mixture() -> None:
    learner, losses, lambda_ = dw.SelfTunedLearner(dw.Ball(3), switching_cost=0.5), stream("linear", 3, 100), 0.5
    lengths: list[float] = []
    for t in range(100):
        decision = learner.act()
        if t:
            usual = np.sqrt(np.mean(np.square(lengths)))
            radius = 2.0 * ZONE / np.sqrt(t) * (lambda_ / (lambda_ + usual)) ** 2
            assert np.linalg.norm(decision - learner.weights @ points_of(learner)) <= radius + 1e-12
        learner.observe(losses[t])
        lengths.append(float(np.linalg.norm(parts_of(learner)["targets"])))
