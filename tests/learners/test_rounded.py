"""Whole-number decisions: feasible always, and in expectation the fractional decision and its path."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import HorizonError, InputError, OrderError, ParameterError
from driftwise.testing import check_learner
from driftwise.testing.promises import saved
from tests.cases import by_hand, check_refused, proposing

T, SEEDS = 24, 1000
BOXES = {
    "one whole": dw.Box(0.0, 6.0),
    "one fractional": dw.Box(0.4, 5.7),
    "three whole": dw.Box([0.0, -3.0, 2.0], [6.0, 3.0, 9.0]),
    "three fractional": dw.Box([0.2, -2.6, 1.5], [5.9, 3.3, 8.8]),
}
LEARNERS: dict[str, Callable[[dw.Box], dw.Learner]] = {
    "self-tuned": lambda box: dw.SelfTunedLearner(box, switching_cost=0.5),
    "OGD": lambda box: dw.OGD(box, step=0.3),
    "Scream": lambda box: dw.Scream(box, switching_cost=1.0, gradient_bound=8.0, horizon=T),
    "Ader": lambda box: dw.Ader(box, gradient_bound=3.0),
}


def _losses(box: dw.Box) -> dw.TrackingLoss:
    """Return targets that wander through the box and a little out of it."""
    rng = np.random.default_rng(3)
    middle, half = (box.low + box.high) / 2, (box.high - box.low) / 2
    waves = np.sin(np.arange(T)[:, None] / np.array([3.0, 4.0, 5.0])[: box.dim])
    return dw.TrackingLoss(middle + half * (waves + 0.4 * rng.normal(size=(T, box.dim))))


EVERY_TIME = [("OGD", box) for box in BOXES] + [("Scream", "three whole"), ("Ader", "one fractional")]
LEARNS = [*EVERY_TIME, ("self-tuned", "one whole"), ("self-tuned", "three fractional")]
FROM_GRADIENTS = ("OGD", "Scream", "Ader")
"""Learners that learn as much from a gradient as from the loss."""
AT_FULL_SIZE = [(name, box) for name in FROM_GRADIENTS for box in BOXES if (name, box) not in EVERY_TIME]


def _check_means(name: str, domain: dw.Box) -> None:
    """Check the number of moves, the mean decision and feasibility over a thousand seeds."""
    losses, learner = _losses(domain), LEARNERS[name](domain)
    fractional = by_hand(learner.clone(), losses)
    gradients = [losses.gradient(t, w) for t, w in enumerate(fractional)]
    inside = np.clip(fractional, np.ceil(domain.low), np.floor(domain.high))
    path = np.abs(np.diff(inside, axis=0)).sum()
    assert path > 2.0
    runs = np.empty((SEEDS, T, domain.dim))
    for seed in range(SEEDS):
        whole = dw.rounded(learner, seed)
        for t in range(T):
            runs[seed, t] = whole.act()
            whole.observe(gradients[t])
    assert np.array_equal(whole.fractional, fractional[-1])
    assert np.array_equal(runs, np.rint(runs))
    assert np.all((runs >= domain.low) & (runs <= domain.high))
    assert np.abs(runs - inside).max() < 1.0
    moves, steps = np.diff(runs, axis=1), np.diff(inside, axis=0)
    assert np.abs(moves).sum() / SEEDS == pytest.approx(path, rel=0.1)
    # Moves up and moves down are kept apart, so that each may have a price of its own.
    for sign in (1.0, -1.0):
        assert np.maximum(sign * moves, 0.0).sum() / SEEDS == pytest.approx(
            np.maximum(sign * steps, 0.0).sum(), rel=0.1
        )
    # A decision is one of two neighbours, so its standard deviation is at most a half.
    np.testing.assert_allclose(runs.mean(axis=0), inside, atol=5.0 * 0.5 / np.sqrt(SEEDS))


@pytest.mark.parametrize(("name", "box"), EVERY_TIME)
def test_over_a_thousand_seeds_moves_are_the_path_and_means_the_fractional_decisions(name: str, box: str) -> None:
    _check_means(name, BOXES[box])


@pytest.mark.full
@pytest.mark.parametrize(("name", "box"), AT_FULL_SIZE)
def test_the_same_for_the_other_pairs(name: str, box: str) -> None:
    _check_means(name, BOXES[box])


@pytest.mark.parametrize(("name", "box"), LEARNS)
def test_it_is_a_learner(name: str, box: str) -> None:
    check_learner(lambda: dw.rounded(LEARNERS[name](BOXES[box]), seed=5), _losses(BOXES[box]))


def test_the_learner_inside_learns_from_its_own_decision() -> None:
    box, losses = BOXES["three fractional"], _losses(BOXES["three fractional"])
    learner = LEARNERS["Scream"](box)
    whole, alone = dw.rounded(learner, seed=2), learner.clone()
    for t in range(T):
        x = whole.act()
        assert np.array_equal(whole.fractional, alone.act())
        assert x.dtype == np.float64
        assert not whole.fractional.flags.writeable
        whole.observe(losses[t])
        alone.observe(losses[t])
        assert np.array_equal(whole.weights, alone.weights)
        assert np.array_equal(whole.step_sizes, alone.step_sizes)
        assert whole.round == alone.round == t + 1
    assert whole.horizon == T
    check_refused(whole.act, "horizon", kind=HorizonError)
    assert learner.round == 0


def test_it_goes_on_from_where_the_learner_is() -> None:
    learner = dw.OGD(dw.Box(0.0, 9.0), step=0.5)
    learner.act()
    learner.observe([-5.0])
    whole = dw.rounded(learner, seed=0)
    assert whole.round == 1
    whole.act()
    assert whole.fractional == pytest.approx([2.5])


def test_play_and_copies_keep_the_thresholds() -> None:
    losses = _losses(BOXES["one whole"])
    whole = dw.rounded(LEARNERS["OGD"](BOXES["one whole"]), seed=7)
    twin = whole.clone()
    trace = dw.play(whole, losses, switching_cost=1.0)
    assert np.array_equal(trace.decisions, by_hand(twin, losses))
    assert trace.total_switching == float(np.abs(np.diff(trace.decisions[:, 0])).sum())
    other = dw.play(dw.rounded(LEARNERS["OGD"](BOXES["one whole"]), seed=np.random.default_rng(8)), losses)
    assert not np.array_equal(trace.decisions, other.decisions)


@pytest.mark.parametrize(
    ("wrong", "words", "kind"),
    [
        (lambda: dw.rounded(dw.OGD(dw.Ball(2), step=0.1), 0), ("must decide in a Box", "Ball"), ParameterError),
        (lambda: dw.rounded(dw.OGD(dw.Box([0.0, 1.2], [1.0, 1.8]), step=0.1)), ("coordinate 1", "1.2"), ParameterError),
        (lambda: dw.rounded("OGD"), ("must be a Learner",), ParameterError),  # type: ignore[arg-type]
        (lambda: dw.rounded(dw.OGD(dw.Box(0.0, 1.0), step=0.1), -1), ("seed",), ParameterError),
        (lambda: dw.rounded(dw.OGD(dw.Box(0.0, 1.0), step=0.1)).fractional, ("call act() first",), OrderError),
        (lambda: dw.rounded(dw.OGD(dw.Box(0.0, 1.0), step=0.1)).observe([1.0]), ("before act",), OrderError),
    ],
    ids=["ball", "no whole number", "no learner", "seed", "fractional", "order"],
)
def test_what_is_refused(wrong: Callable[[], Any], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(wrong, *words, kind=kind)


def test_bad_gradients_are_refused_by_the_learner_inside() -> None:
    whole = dw.rounded(dw.OGD(dw.Box(0.0, 4.0), step=0.1), seed=0)
    whole.act()
    check_refused(lambda: whole.observe([np.nan]), "got nan", kind=InputError)
    assert whole.round == 0
    whole.observe([1.0])


def test_hints_go_to_the_learner_inside() -> None:
    def make() -> dw.Learner:
        return dw.SelfTunedScream(dw.Box(0.0, 9.0), switching_cost=0.1)

    inner, outer = make(), dw.rounded(make(), seed=0)
    for t in range(30):
        gradient = np.array([np.sin(t / 3.0)])
        fractional = inner.act(hint=gradient)
        outer.act(hint=gradient)
        np.testing.assert_array_equal(outer.fractional, fractional)
        inner.observe(gradient)
        outer.observe(gradient)


def _advice(box: dw.Box) -> dict[str, Any]:
    """Return two proposals for every round, of which one is missing now and then."""
    rng = np.random.default_rng(1)
    table = {name: rng.uniform(box.low - 1.0, box.high + 1.0, (T, box.dim)) for name in ("mine", "yours")}
    table["yours"][rng.random(T) < 0.3] = np.nan
    return table


@pytest.mark.parametrize("hints", [False, True])
@pytest.mark.parametrize("box", BOXES)
def test_proposals_go_to_the_self_tuned_learner_inside(box: str, hints: bool) -> None:
    domain, losses, act = BOXES[box], _losses(BOXES[box]), proposing(_advice(BOXES[box]))
    inner = LEARNERS["self-tuned"](domain)
    outer = dw.rounded(inner, seed=0)
    assert outer.takes_proposals
    for t in range(T):
        hint = {"hint": losses.gradient(t, (domain.low + domain.high) / 2)} if hints else {}
        fractional = inner.act(**act(t), **hint)  # type: ignore[arg-type]
        whole = outer.act(**act(t), **hint)  # type: ignore[arg-type]
        np.testing.assert_array_equal(outer.fractional, fractional)
        assert np.array_equal(whole, np.rint(whole))
        assert domain.contains(whole)
        inner.observe(losses[t])
        outer.observe(losses[t])
    assert np.array_equal(outer.weights, inner.weights)
    assert outer.weights.size > 100


@pytest.mark.parametrize("box", ["one fractional", "three whole"])
def test_play_gives_proposals_to_the_self_tuned_learner_inside(box: str) -> None:
    losses, table = _losses(BOXES[box]), _advice(BOXES[box])
    learner = dw.rounded(LEARNERS["self-tuned"](BOXES[box]), seed=3)
    twin = learner.clone()
    trace = dw.play(learner, losses, proposals=table)
    np.testing.assert_array_equal(trace.decisions, by_hand(twin, losses, proposing(table)))
    assert not np.array_equal(trace.decisions, dw.play(trace.learner.clone(), losses).decisions)
    nested = dw.rounded(dw.rounded(LEARNERS["self-tuned"](BOXES[box]), seed=3), seed=9)
    np.testing.assert_array_equal(dw.play(nested, losses, proposals=table).decisions, trace.decisions)


def test_proposals_are_refused_where_they_have_no_use_and_change_nothing() -> None:
    box = BOXES["three whole"]
    plain = dw.rounded(dw.OGD(box, step=0.1))
    check_refused(lambda: plain.act(proposal=np.ones(3)), "SelfTunedLearner", kind=ParameterError)
    check_refused(lambda: dw.play(plain, _losses(box), proposals=np.ones((T, 3))), "proposals=", kind=ParameterError)
    learner = dw.rounded(LEARNERS["self-tuned"](box))
    before = saved(learner)
    for bad in (np.ones(2), {"a": [np.nan] * 3}, {3: np.ones(3)}):
        check_refused(lambda bad=bad: learner.act(proposal=bad), "proposal", kind=InputError)  # type: ignore[misc]
        assert saved(learner) == before
    learner.act()
    check_refused(lambda: learner.act(proposal=np.ones(3)), "first act of a round", kind=OrderError)
