"""A round of a pool: what it says that everybody has cost is true, and mixing costs no more than is proved."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.pairs import layout
from tests.cases import DOMAINS, PRICES, STREAMS, every_pair, self_tuned, stream
from tests.pairs.accounts import by_account, excess, parts_of, stated

ROUNDS = 20

BUILT_IN = [kind for kind in STREAMS if "custom" not in kind and kind != "linear"]
"""Streams whose losses are known, and not only their gradients."""


def _heavy(kind: str, dim: int, seed: int = 3) -> dw.LossStream:
    """Return losses whose features and targets are now and then far out, so that they are clipped."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_t(1.2, (ROUNDS, dim)), rng.standard_t(1.2, ROUNDS)
    x[[9, 18]] *= 1e4
    y[[14, 19]] *= 1e4
    makers: dict[str, Callable[[], dw.LossStream]] = {
        "squared": lambda: dw.SquaredLoss(x, y),
        "absolute": lambda: dw.AbsoluteLoss(x, y),
        "quantile": lambda: dw.QuantileLoss(x, y, quantile=0.9),
        "huber": lambda: dw.HuberLoss(x, y, delta=0.3),
        "logistic": lambda: dw.LogisticLoss(x, np.sign(y)),
        "tracking": lambda: dw.TrackingLoss(x),
        "capacity": lambda: dw.CapacityLoss(x, shortage=np.linspace(1.5, 4.0, dim), price=0.7),
        "filtered": lambda: dw.FilteredLoss([1.0, 0.5, -0.25], x, y),
        "linear": lambda: dw.LinearLoss(x),
    }
    return makers[kind]()


def _check_account(learner: dw.SelfTunedLearner, losses: dw.LossStream) -> None:
    counted, said = by_account(learner, losses), stated(learner)
    assert said.own == pytest.approx(counted.own, rel=1e-9)
    np.testing.assert_allclose(said.pairs, counted.pairs, rtol=1e-9)
    assert excess(learner) <= 1e-12


@every_pair(kind=BUILT_IN, where=["ball", "box", "simplex", "product"], price=PRICES)
def test_what_everybody_has_cost_is_counted(kind: str, where: str, price: str) -> None:
    domain = DOMAINS[where]
    _check_account(self_tuned(domain, price), stream(kind, domain.dim, ROUNDS))


@every_pair(kind=BUILT_IN, dim=[1, 3], price=PRICES)
def test_what_everybody_has_cost_is_counted_where_losses_are_clipped(kind: str, dim: int, price: str) -> None:
    learner = self_tuned(dw.Box([-1.0] * dim, [2.0] * dim), price)
    _check_account(learner, _heavy(kind, dim))
    clipped = learner._vector[layout.CLIPS] > 0.0
    assert clipped
    assert np.any(parts_of(learner)["cut"] != 0.0)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("heavy", [False, True])
def test_linearised_costs_are_counted_from_gradients(price: str, heavy: bool) -> None:
    """Above the losses of the decisions; those of gradients that were clipped in full."""
    losses = _heavy("linear", 3) if heavy else stream("linear", 3, ROUNDS)
    learner, played = self_tuned(dw.Ball(3), price), 0.0
    twin = self_tuned(dw.Ball(3), price)
    counted = by_account(learner, losses)
    for t in range(ROUNDS):
        played += losses.unary_value(t, twin.act())
        twin.observe(losses[t])
    said = stated(learner)
    assert (learner._vector[layout.CLIPS] > 0.0) == heavy
    assert said.own == pytest.approx(counted.own - played, abs=1e-9)
    np.testing.assert_allclose(said.pairs, counted.pairs - played, rtol=1e-9, atol=1e-9)


Adversary = Callable[[int, Array, Array], Array]
"""Chooses the targets of a round: of the round, the decision and where all pairs are in the mean."""

ADVERSARIES: dict[str, Adversary] = {
    "away": lambda t, w, mean: np.where(w > 0.5, -1.0, 2.0),
    "away from the last": lambda t, w, mean: np.where((w > 0.5) == (t % 7 < 4), -1.0, 2.0),
    "growing": lambda t, w, mean: 0.5 + (1.5 if t % 2 else -1.5) * 1.2 ** min(t, 60) * np.sign(0.5 - w + 1e-9),
    "long then short": lambda t, w, mean: np.full(w.size, 2.0 if t < 25 else (-1.0 if t % 2 else 2.0)),
    "between": lambda t, w, mean: mean + (0.3 if t % 3 else -0.3),
}


def _round_of(form: str, target: Array, w: Array) -> Any:
    """Return a round of a form of loss that wants decisions to be at a target."""
    if form == "score":
        return dw.SquaredLoss(np.ones((1, w.size)), [target.sum()])[0]
    if form == "kinked score":
        return dw.AbsoluteLoss(np.ones((1, w.size)), [target.sum()])[0]
    if form == "each":
        return dw.TrackingLoss(target[None])[0]
    if form == "kinked each":
        return dw.CapacityLoss(target[None], shortage=3.0)[0]
    return np.asarray(w - target)


FORMS = ("score", "kinked score", "each", "kinked each", "gradient")


@every_pair(adversary=ADVERSARIES, form=FORMS, price=[0.0, 0.2, 5.0])
def test_mixing_costs_no_more_than_is_proved_whatever_an_adversary_does(
    adversary: str, form: str, price: float
) -> None:
    learner = dw.SelfTunedLearner(dw.Box([-1.0, -1.0], [2.0, 2.0]), switching_cost=price)
    for t in range(60):
        w = learner.act()
        mean = w if t == 0 else parts_of(learner)["points"].mean(axis=(0, 2))
        learner.observe(_round_of(form, ADVERSARIES[adversary](t, w, mean), w))
        assert excess(learner) <= 1e-12
    assert learner.overhead > 0.0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("price", [0.0, 0.3])
def test_mixing_costs_no_more_than_is_proved_on_sequences_that_were_searched_for(form: str, price: float) -> None:
    """Climb towards the sequence that comes nearest to breaking the inequality."""
    rng, rounds = np.random.default_rng(7), 16

    def worst(targets: Array) -> float:
        learner = dw.SelfTunedLearner(dw.Box([-1.0], [1.0]), switching_cost=price)
        found = -1.0
        for target in targets:
            learner.observe(_round_of(form, target, learner.act()))
            found = max(found, excess(learner)) if learner.round > 3 else found
        return found

    targets = rng.uniform(-1.0, 1.0, (rounds, 1))
    first = best = worst(targets)
    for _ in range(40):
        other = np.where(rng.random((rounds, 1)) < 0.2, rng.choice([-1.0, 1.0, 0.0, 30.0], (rounds, 1)), targets)
        found = worst(other)
        if found >= best:
            targets, best = other, found
    assert first <= best <= 1e-12


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("price", [0.0, 0.3, 3.0])
def test_newcomers_leave_the_inequality_as_it_is(form: str, price: float) -> None:
    """A proposal joins after rounds in which everybody had to move, and is nonsense from then on."""
    learner = dw.SelfTunedLearner(dw.Box([-1.0], [1.0]), switching_cost=price)
    for t in range(260):
        target = np.array([1.0 if t % 10 < 5 else -1.0])
        w = learner.act(proposal={"nonsense": -target} if t >= 220 else None)
        learner.observe(_round_of(form, target, w))
        assert excess(learner) <= 1e-12
    assert "nonsense, follow" in learner.members


def test_a_pair_that_was_right_all_along_has_most_of_the_weight() -> None:
    learner = dw.SelfTunedLearner(dw.Box([-1.0], [1.0]), switching_cost=0.01, start=[0.0])
    for t in range(60):
        target = [1.0 if t % 2 else -1.0]
        learner.act(proposal={"oracle": target})
        learner.observe(dw.TrackingLoss([target])[0])
    names = learner.members
    oracle = sum(weight for name, weight in zip(names, learner.weights, strict=True) if name.startswith("oracle"))
    assert oracle > 0.9
