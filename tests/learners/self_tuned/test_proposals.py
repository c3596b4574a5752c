"""Forecasts and rules of the user's: named, missing, late, refused, and worth what they are worth."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import InputError, OrderError
from driftwise.learners.self_tuned.proposals import read_proposals, read_table
from driftwise.testing.promises import saved
from tests.cases import DOMAINS, by_hand, check_refused, proposing, self_tuned, squared, stream

ROUNDS = 20
BALL = dw.Ball(3)


def _table(names: str, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(-0.5, 0.5, (ROUNDS, 3)) for name in names}


def _parts(learner: dw.SelfTunedLearner, name: str) -> dict[str, float]:
    """Return the weights of the pairs of a proposal, by mover."""
    members = zip(learner.members, learner.weights, strict=True)
    return {member.removeprefix(f"{name}, "): weight for member, weight in members if member.startswith(f"{name}, ")}


@pytest.mark.parametrize("where", DOMAINS)
def test_proposals_are_put_into_the_domain(where: str) -> None:
    domain = DOMAINS[where]
    far = 9.0 * np.linspace(-1.0, 1.3, domain.dim)
    found = read_proposals(domain, {"far": far, "missing": None})
    assert list(found) == ["far"]
    np.testing.assert_array_equal(found["far"], domain.project(far))
    table = read_table("play", domain, {"far": [far, np.full(domain.dim, np.nan)]}, 2)
    np.testing.assert_array_equal(table["far"], [domain.project(far), np.full(domain.dim, np.nan)])
    learner = self_tuned(domain)
    for t in range(3):
        assert domain.contains(learner.act(proposal=far))
        learner.observe(stream("squared", domain.dim, 3)[t])


@pytest.mark.parametrize("kind", ["squared", "tracking", "linear"])
def test_a_proposal_has_every_mover(kind: str) -> None:
    learner = self_tuned(BALL)
    learner.act(proposal={"mine": np.ones(3)})
    learner.observe(stream(kind, 3, ROUNDS)[0])
    movers = ["follow", "prox", *(f"prox {tau}" for tau in (1024, 256, 64, 16, 4)), "ski rental"]
    assert list(_parts(learner, "mine")) == movers


def test_without_a_name_it_is_called_proposal() -> None:
    one, other = self_tuned(BALL), self_tuned(BALL)
    table, losses = _table("a"), squared(3, ROUNDS)
    first = by_hand(one, losses, lambda t: {"proposal": table["a"][t]})
    second = by_hand(other, losses, lambda t: {"proposal": {"proposal": table["a"][t].tolist()}})
    np.testing.assert_array_equal(first, second)
    assert saved(one) == saved(other)
    assert "proposal, follow" in one.members


def test_numbers_do_in_one_dimension() -> None:
    learner, losses = self_tuned(dw.Box(0.0, 1.0)), stream("tracking", 1, ROUNDS)
    rows = np.linspace(0.1, 0.9, ROUNDS)
    expected = by_hand(learner, losses, lambda t: {"proposal": [rows[t]]})
    played = dw.play(self_tuned(dw.Box(0.0, 1.0)), losses, proposals=rows).decisions
    np.testing.assert_array_equal(played, expected)


def test_the_order_of_names_decides_on_the_order_of_members_alone() -> None:
    table, losses = _table("ab"), squared(3, ROUNDS)
    one, other = self_tuned(BALL), self_tuned(BALL)
    first = by_hand(one, losses, proposing(table))
    second = by_hand(other, losses, proposing({name: table[name] for name in "ba"}))
    np.testing.assert_allclose(second, first, rtol=0.0, atol=1e-12)
    assert one.members != other.members
    assert set(one.members) == set(other.members)
    for name in "ab":
        np.testing.assert_allclose(list(_parts(one, name).values()), list(_parts(other, name).values()), atol=1e-12)


def test_names_may_come_in_any_order_in_later_rounds() -> None:
    table, losses = _table("ab"), squared(3, ROUNDS)
    backwards = {name: table[name] for name in "ba"}
    one, other = self_tuned(BALL), self_tuned(BALL)
    expected = by_hand(one, losses, proposing(table))
    found = by_hand(other, losses, lambda t: proposing(backwards if t % 2 else table)(t))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize("kind", ["squared", "capacity", "linear"])
def test_pairs_stay_where_they_are_while_their_proposal_is_missing(kind: str, left_out: bool) -> None:
    learner, losses, table = self_tuned(BALL), stream(kind, 3, ROUNDS), _table("a")
    for t in range(ROUNDS):
        missing = 5 <= t < 12
        before = None if t == 0 else _points(learner, "a")
        given = None if missing and left_out else {"a": None if missing else table["a"][t]}
        learner.act(proposal=given)
        if missing:
            assert before is not None
            np.testing.assert_array_equal(_points(learner, "a"), before)
        elif t:
            np.testing.assert_array_equal(_points(learner, "a")[0], BALL.project(table["a"][t]))
        learner.observe(losses[t])


def _points(learner: dw.SelfTunedLearner, name: str) -> Array:
    """Return where the pairs of a proposal are."""
    assert learner._plan is not None
    lanes = learner.lanes[[member.startswith(f"{name}, ") for member in learner.members]]
    return np.array(learner._plan.views(learner._vector)["points"][lanes // 4, :, lanes % 4])


@pytest.mark.parametrize("kind", ["squared", "tracking", "linear"])
@pytest.mark.parametrize("price", ["free", "l1"])
def test_newcomers_begin_where_the_decision_was_with_their_prior_weight(kind: str, price: str) -> None:
    learner, losses = self_tuned(BALL, price), stream(kind, 3, ROUNDS)
    for t in range(12):
        decision = learner.act()
        learner.observe(losses[t])
    old = learner.weights
    learner._join(["late"])
    np.testing.assert_array_equal(_points(learner, "late"), np.tile(decision, (8, 1)))
    assert learner._plan is not None
    prior = np.exp(learner._plan.views(learner._vector)["log_prior"][learner.lanes])
    share = prior / prior.sum()
    np.testing.assert_allclose(list(_parts(learner, "late").values()), share[-8:], rtol=1e-9)
    np.testing.assert_allclose(learner.weights[:-8], old * (1.0 - share[-8:].sum()), rtol=0.0, atol=1e-12)


def test_it_begins_in_the_middle_of_the_first_proposals() -> None:
    given = {"a": [0.2, 0.0, 0.0], "b": [0.0, 0.6, 0.0], "c": None}
    np.testing.assert_allclose(self_tuned(BALL).act(proposal=given), [0.1, 0.3, 0.0], rtol=1e-15)
    assert np.array_equal(self_tuned(BALL, start=[0.0, 0.0, 0.5]).act(proposal=given), [0.0, 0.0, 0.5])
    assert np.array_equal(self_tuned(BALL).act(proposal={"a": None}), np.zeros(3))
    learner = self_tuned(BALL)
    first = learner.act(proposal=given)
    learner.observe(squared(3, 1)[0])
    assert np.array_equal(_points(learner, "a"), np.tile(first, (8, 1)))


FORECASTS: dict[str, Callable[[Array], dw.LossStream]] = {
    "tracking": lambda rows: dw.TrackingLoss(rows),
    "capacity": lambda rows: dw.CapacityLoss(rows, shortage=3.0),
    "custom": lambda rows: dw.CustomLoss(
        lambda t, w: 0.5 * float(((w - rows[t]) ** 2).sum()), lambda t, w: w - rows[t], len(rows), 1, compile="never"
    ),
}


@pytest.mark.parametrize("kind", FORECASTS)
def test_a_perfect_forecast_is_nearly_followed(kind: str) -> None:
    rng, price, rounds = np.random.default_rng(3), 0.05, 400
    rows = rng.choice([0.1, 0.5, 0.9], (rounds, 1)) + 0.01 * rng.normal(size=(rounds, 1))
    losses, domain = FORECASTS[kind](rows), dw.Box([0.0], [1.0])
    alone = dw.play(dw.SelfTunedLearner(domain, switching_cost=price), losses, price)
    helped = dw.play(dw.SelfTunedLearner(domain, switching_cost=price), losses, price, proposals={"oracle": rows})
    followed = sum(losses.unary_value(t, row) for t, row in enumerate(rows)) + price * np.abs(np.diff(rows[:, 0])).sum()
    assert followed < 0.7 * alone.total
    assert helped.total <= followed + 0.15 * (alone.total - followed)


def test_a_useless_forecast_costs_little() -> None:
    rng, price = np.random.default_rng(4), 0.3
    rows = 0.5 + np.cumsum(0.02 * rng.normal(size=(400, 1)), axis=0)
    losses, domain = dw.TrackingLoss(rows), dw.Box([-1.0], [2.0])
    alone, with_noise = (
        dw.play(dw.SelfTunedLearner(domain, switching_cost=price), losses, price, proposals=table).total
        for table in (None, {"noise": rng.uniform(-1.0, 2.0, (400, 1))})
    )
    assert with_noise <= 1.1 * alone + 0.05


BAD: list[tuple[Any, str]] = [
    (np.zeros(2), "proposal must be"),
    (np.array([np.nan, 0.0, 0.0]), "proposal must be"),
    ([1e200, 0.0, 0.0], "proposal must be"),
    ("abc", "proposal must be"),
    ({"a": np.zeros((1, 3))}, "proposal 'a' must be"),
    ({"a": np.zeros(3), "b": [np.inf] * 3}, "proposal 'b' must be"),
    ({"a": np.zeros(3), 7: np.zeros(3)}, "names of proposals must be words, got 7"),
    ({"": np.zeros(3)}, "names of proposals must be words, got ''"),
    ({"a": {"b": np.zeros(3)}}, "proposal 'a' must be"),
]


@pytest.mark.parametrize(("bad", "words"), BAD)
@pytest.mark.parametrize("played", [0, 4])
def test_a_bad_proposal_is_refused_and_changes_nothing(played: int, bad: Any, words: str) -> None:
    learner = self_tuned(BALL)
    if played:
        by_hand(learner, squared(3, played), proposing(_table("a")))
    twin, before = learner.clone(), saved(learner)
    check_refused(lambda: learner.act(proposal=bad), "SelfTunedLearner.act", words, kind=InputError)
    check_refused(lambda: learner.act(hint=np.zeros(2), proposal={"c": np.zeros(3)}), "hint", kind=InputError)
    assert saved(learner) == before
    assert np.array_equal(learner.act(), twin.act())


def test_a_proposal_belongs_to_the_first_act_of_a_round() -> None:
    learner = self_tuned(BALL)
    decision = learner.act()
    before = saved(learner)
    check_refused(lambda: learner.act(proposal=np.ones(3)), "first act of a round", kind=OrderError)
    assert saved(learner) == before
    assert np.array_equal(learner.act(), decision)


def test_what_was_given_is_neither_kept_nor_changed() -> None:
    learner, mine = self_tuned(BALL), np.array([0.5, 0.0, 0.0])
    learner.act(proposal=mine)
    learner.observe(squared(3, 2)[0])
    assert np.array_equal(mine, [0.5, 0.0, 0.0])
    twin = learner.clone()
    mine[:] = -9.0
    assert np.array_equal(learner.act(), twin.act())


COPIES: dict[str, Callable[[dw.SelfTunedLearner], dw.SelfTunedLearner]] = {
    "clone": lambda learner: learner.clone(),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda learner: pickle.loads(pickle.dumps(learner)),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("mid_round", [False, True])
@pytest.mark.parametrize("kind", ["squared", "tracking", "linear"])
def test_copies_know_the_proposals(way: str, mid_round: bool, kind: str) -> None:
    losses, table, learner = stream(kind, 3, ROUNDS), _table("abc"), self_tuned(BALL)
    table["b"][:6] = np.nan
    table["c"][:14] = np.nan
    act = proposing(table)
    for t in range(10):
        learner.act(**act(t))
        learner.observe(losses[t])
    if mid_round:
        learner.act(**act(10))
    twin = COPIES[way](learner)
    assert twin.members == learner.members
    for t in range(10, ROUNDS):
        given = {} if t == 10 and mid_round else act(t)
        assert np.array_equal(learner.act(**given), twin.act(**given))
        learner.observe(losses[t])
        twin.observe(losses[t])
    assert np.array_equal(twin.weights, learner.weights)
    assert "c, follow" in twin.members
