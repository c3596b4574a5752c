"""A run of a self-tuned learner as a whole is that of the two verbs, to the last bit."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import InputError
from driftwise.testing.promises import saved
from tests.cases import (
    DOMAINS,
    PRICES,
    STREAMS,
    by_hand,
    check_refused,
    every_pair,
    proposing,
    self_tuned,
    squared,
    stream,
)

ROUNDS = 18


@every_pair(where=DOMAINS, kind=STREAMS, price=PRICES)
def test_it_plays_as_by_hand(where: str, kind: str, price: str) -> None:
    domain, losses = DOMAINS[where], stream(kind, DOMAINS[where].dim, ROUNDS)
    fast, slow = self_tuned(domain, price), self_tuned(domain, price)
    trace = dw.play(fast, losses, record_weights=True)
    np.testing.assert_array_equal(trace.decisions, by_hand(slow, losses))
    assert saved(fast) == saved(slow)
    assert trace.moves.sum() > 0.0
    assert trace.weights is not None
    assert trace.weights.shape == (ROUNDS, len(fast.members))
    np.testing.assert_allclose(trace.weights.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert trace.weights.min() >= 0.0


def _proposals(names: str, rounds: int = ROUNDS, dim: int = 3) -> dict[str, Array]:
    """Return proposals of each name, one of three of them missing."""
    rng = np.random.default_rng(5)
    table = {name: rng.uniform(-0.6, 0.6, (rounds, dim)) for name in names}
    for rows in table.values():
        rows[rng.random(rounds) < 0.3] = np.nan
        rows[0] = 0.3
    return table


@pytest.mark.parametrize("kind", STREAMS)
def test_it_plays_proposals_as_by_hand(kind: str) -> None:
    losses, table = stream(kind, 3, ROUNDS), _proposals("ab")
    fast, slow = self_tuned(dw.Ball(3)), self_tuned(dw.Ball(3))
    trace = dw.play(fast, losses, proposals=table, record_weights=True)
    np.testing.assert_array_equal(trace.decisions, by_hand(slow, losses, proposing(table)))
    assert saved(fast) == saved(slow)
    assert trace.weights is not None
    assert trace.weights.shape == (ROUNDS, len(fast.members))
    again = dw.play(trace.learner.clone(), losses, proposals=trace.proposals)
    np.testing.assert_array_equal(again.decisions, trace.decisions)


@pytest.mark.parametrize("first", [1, 7, ROUNDS - 1, ROUNDS])
def test_a_proposal_that_joins_late_joins_in_its_round(first: int) -> None:
    losses, table = squared(3, ROUNDS), _proposals("abc")
    table["b"][:first] = np.nan
    fast, slow = self_tuned(dw.Ball(3)), self_tuned(dw.Ball(3))
    trace = dw.play(fast, losses, proposals=table, record_weights=True)
    np.testing.assert_array_equal(trace.decisions, by_hand(slow, losses, proposing(table)))
    assert saved(fast) == saved(slow)
    assert fast.members == slow.members


def test_two_plays_of_proposals_decide_like_one() -> None:
    losses, table = squared(3, ROUNDS), _proposals("ab")
    x, y, learner = losses.data.features, losses.data.targets, self_tuned(dw.Ball(3))
    parts = [
        dw.play(learner, dw.SquaredLoss(x[cut], y[cut]), proposals={name: rows[cut] for name, rows in table.items()})
        for cut in (slice(0, 7), slice(7, ROUNDS))
    ]
    whole = dw.play(self_tuned(dw.Ball(3)), losses, proposals=table)
    np.testing.assert_array_equal(np.vstack([part.decisions for part in parts]), whole.decisions)


@pytest.mark.parametrize("played", [0, 1, 6])
@pytest.mark.parametrize("kind", ["squared", "capacity", "linear"])
def test_it_goes_on_from_a_decision_that_was_acted(kind: str, played: int) -> None:
    losses, fast, slow = stream(kind, 3, ROUNDS), self_tuned(dw.Ball(3)), self_tuned(dw.Ball(3))
    for learner in (fast, slow):
        for t in range(played):
            learner.act()
            learner.observe(losses[t])
        decision = learner.act()
    trace = dw.play(fast, losses)
    np.testing.assert_array_equal(trace.decisions[0], decision)
    np.testing.assert_array_equal(trace.decisions, by_hand(slow, losses))
    assert saved(fast) == saved(slow)


@pytest.mark.parametrize("first", STREAMS)
def test_it_plays_losses_of_another_kind_as_by_hand(first: str) -> None:
    fast, slow = self_tuned(dw.Ball(3)), self_tuned(dw.Ball(3))
    for kind in (first, "tracking", "squared", "logistic", "linear", "capacity", "custom"):
        losses = stream(kind, 3, ROUNDS)
        np.testing.assert_array_equal(dw.play(fast, losses).decisions, by_hand(slow, losses), err_msg=kind)
    assert saved(fast) == saved(slow)


@pytest.mark.parametrize("value", [1e90, 1e100])
@pytest.mark.parametrize("played", [0, 5])
def test_data_beyond_the_range_leaves_it_as_it_was(value: float, played: int) -> None:
    losses, learner = squared(3, ROUNDS), self_tuned(dw.Ball(3))
    features, targets = losses.data.features.copy(), losses.data.targets.copy()
    features[7], targets[7] = value, -value
    if played:
        by_hand(learner, squared(3, played))
    before = saved(learner)
    huge = dw.FilteredLoss([1e60], features, targets)
    check_refused(lambda: dw.play(learner, huge), "round 7", "learner is unchanged", kind=InputError)
    assert saved(learner) == before
    dw.play(learner, losses)


@pytest.mark.parametrize(
    ("proposals", "words"),
    [
        ({"a": np.zeros((ROUNDS - 1, 3))}, "proposals 'a'"),
        ({"a": np.zeros((ROUNDS, 2))}, "proposals 'a'"),
        ({"a": np.full((ROUNDS, 3), [0.0, np.nan, 0.0])}, "proposals 'a'"),
        ({"a": np.full((ROUNDS, 3), np.inf)}, "proposals 'a'"),
        ({"a": np.zeros((ROUNDS, 3)), 4: np.zeros((ROUNDS, 3))}, "names of proposals"),
        ({"": np.zeros((ROUNDS, 3))}, "names of proposals"),
        (np.zeros(ROUNDS), "proposals"),
        ("abc", "proposals"),
    ],
)
def test_wrong_tables_of_proposals_are_refused(proposals: Any, words: str) -> None:
    learner = self_tuned(dw.Ball(3))
    before = saved(learner)
    check_refused(lambda: dw.play(learner, squared(3, ROUNDS), proposals=proposals), "play", words, kind=InputError)
    assert saved(learner) == before
