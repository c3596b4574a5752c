"""The committee: what it decides, what it is proved to cost, who sleeps, and what it shows."""

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ArgumentError, InputError, ParameterError
from driftwise.learners.committee.layout import Flags
from tests.strategies import seeds

N, T = 5, 60
PRICES: dict[str, float | dw.MoveCost] = {"blind": 0.0, "plain": 3.0, "up and down": dw.MoveCost(up=3.0, down=1.0)}
SHAPES: dict[str, tuple[int, ...]] = {"numbers": (), "vectors": (3,), "matrices": (2, 2)}
MODES = ("mix", "follow")
World = tuple[Array, Array, Flags]


def _world(seed: int, shape: tuple[int, ...] = (), asleep: float = 0.0) -> World:
    """Return proposals (T, N, *shape) of members with habits, targets (T, *shape), and who is awake (T, N)."""
    rng = np.random.default_rng(seed)
    targets = np.cumsum(rng.normal(size=(T, *shape)), axis=0) * 0.3
    noise = rng.normal(size=(T, N, *shape)) * np.geomspace(0.05, 2.0, N).reshape(1, N, *(1 for _ in shape))
    awake = rng.random((T, N)) >= asleep
    awake[np.arange(T), rng.integers(N, size=T)] = True
    return targets[:, None] + noise, targets, awake


def _distance(target: Array) -> Callable[[Any], float]:
    return lambda x: float(np.abs(x - target).sum())


def _some(values: Array, awake: Flags) -> list[Any]:
    return [value if here else None for value, here in zip(values, awake, strict=True)]


class _Run:
    """A run by the two verbs, with the books kept here."""

    def __init__(self, committee: dw.Committee, world: World, price: Any) -> None:
        cost = price if isinstance(price, dw.MoveCost) else dw.MoveCost(price, norm="l2")
        decisions, weights, members = [], [], []
        self.charges = np.zeros((T, N))
        last: list[Any] = [None] * N
        for t, (proposals, target, awake) in enumerate(zip(*world, strict=True)):
            decisions.append(committee.act(_some(proposals, awake)))
            weights.append(committee.weights)
            members.append(committee.member)
            committee.observe(_distance(target))
            for i in np.flatnonzero(awake):
                move = 0.0 if last[i] is None else float(cost(np.ravel(proposals[i] - last[i])))
                self.charges[t, i] = _distance(target)(proposals[i]) + move
                last[i] = proposals[i]
        self.decisions, self.weights, self.members = np.array(decisions), np.array(weights), members
        self.costs = np.array([_distance(target)(x) for x, target in zip(decisions, world[1], strict=True)])
        self.costs[1:] += cost(np.diff(self.decisions.reshape(T, -1), axis=0))


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_mixture_is_the_weighted_mean_and_weights_favour_who_is_good(shape: str, price: str) -> None:
    world = _world(1, SHAPES[shape])
    run = _Run(dw.Committee(N, PRICES[price]), world, PRICES[price])
    np.testing.assert_allclose(run.decisions, np.einsum("tn,tn...->t...", run.weights, world[0]), rtol=1e-12)
    np.testing.assert_allclose(run.weights[0], 1.0 / N)
    assert run.weights[-1].argmax() == run.charges.sum(axis=0).argmin()
    assert run.weights[-1].max() > 0.9


@pytest.mark.parametrize("shape", SHAPES)
def test_following_takes_exactly_one_proposal(shape: str) -> None:
    world = _world(2, SHAPES[shape], asleep=0.3)
    run = _Run(dw.Committee(N, 2.0, mode="follow", seed=4), world, 2.0)
    for x, member, proposals, awake in zip(run.decisions, run.members, world[0], world[2], strict=True):
        assert awake[member]
        assert np.array_equal(x, proposals[member])


def test_a_decision_is_a_float_or_a_read_only_array_of_its_own() -> None:
    for mode in MODES:
        assert type(dw.Committee(2, mode=mode).act([1, 2])) is float
        proposals = np.arange(8.0).reshape(2, 2, 2)
        x = dw.Committee(2, mode=mode).act(proposals)
        assert isinstance(x, np.ndarray)
        assert x.shape == (2, 2)
        assert not x.flags.writeable
        kept = x.copy()
        proposals[:] = 9.0
        assert np.array_equal(x, kept)


@settings(max_examples=25)
@given(seeds, st.sampled_from(list(PRICES)), st.sampled_from(list(SHAPES)), st.sampled_from([0.0, 0.4]), st.booleans())
def test_the_proved_inequality_for_mixtures(seed: int, price: str, shape: str, asleep: float, even: bool) -> None:
    world = _world(seed, SHAPES[shape], asleep)
    prior = np.full(N, 1.0 / N) if even else np.array([0.5, 0.3, 0.1, 0.06, 0.04])
    committee = dw.Committee(N, PRICES[price], prior=prior)
    run = _Run(committee, world, PRICES[price])
    for i in range(N):
        here = world[2][:, i]
        bound = (1.0 + math.log(1.0 / prior[i]) / math.log(N)) * committee.overhead
        assert run.costs[here].sum() <= run.charges[here, i].sum() + bound + 1e-9


@settings(max_examples=15)
@given(seeds, st.sampled_from([0.0, 0.4]))
def test_the_proved_inequality_for_following(seed: int, asleep: float) -> None:
    """The expected cost is known exactly: weights do not depend on the draws, and two rounds share their draw."""
    price, world = 3.0, _world(seed, (), asleep)
    committee = dw.Committee(N, price, mode="follow")
    run = _Run(committee, world, price)
    proposals, targets, awake = world
    expected = (run.weights * np.where(awake, np.abs(proposals - targets[:, None]), 0.0)).sum(axis=1)
    for t in range(1, T):
        change = run.weights[t] - run.weights[t - 1]
        joint = np.diag(np.minimum(run.weights[t], run.weights[t - 1]))
        gains = np.maximum(change, 0.0)
        joint += np.outer(np.maximum(-change, 0.0), gains / max(gains.sum(), 1e-300))
        expected[t] += price * (joint * np.abs(proposals[t][None] - proposals[t - 1][:, None])).sum()
    for i in range(N):
        here = awake[:, i]
        assert expected[here].sum() <= run.charges[here, i].sum() + 2.0 * committee.overhead + 1e-9


@settings(max_examples=20)
@given(seeds, st.sampled_from([0.0, 0.5, 20.0]), st.sampled_from(MODES))
def test_the_overhead_is_below_its_proved_bound(seed: int, price: float, mode: str) -> None:
    world = _world(seed)
    committee = dw.Committee(N, price, mode=mode)
    run = _Run(committee, world, price)
    s, S = np.ptp(run.charges, axis=1).max(), price * np.ptp(world[0], axis=1).max()
    bound = math.sqrt(T * math.log(N) * s * (s / 4 + S / 2)) + 3 * (s + S) + S * (1 + 2 * math.log(N))
    assert committee.overhead <= bound


@settings(max_examples=20)
@given(seeds, st.sampled_from([1e-6, 1e6, 0.37]), st.sampled_from(MODES), st.sampled_from([0.0, 0.3]))
def test_another_unit_of_cost_changes_nothing(seed: int, unit: float, mode: str, asleep: float) -> None:
    world = _world(seed, (2,), asleep)
    found: tuple[list[Any], list[Any]] = ([], [])
    for scale, decisions in zip((1.0, unit), found, strict=True):
        committee = dw.Committee(N, dw.MoveCost(up=3.0 * scale, down=scale), mode=mode)
        for proposals, target, awake in zip(*world, strict=True):
            decisions.append(committee.act(_some(proposals, awake)))
            committee.observe([scale * _distance(target)(x) for x in proposals])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6, atol=1e-6)


@settings(max_examples=20)
@given(seeds, st.sampled_from(MODES))
def test_shifting_all_losses_of_a_round_changes_nothing(seed: int, mode: str) -> None:
    (proposals, targets, _), rng = _world(seed), np.random.default_rng(seed)
    committee, shifted = dw.Committee(N, 2.0, mode=mode), dw.Committee(N, 2.0, mode=mode)
    for rows, target in zip(proposals, targets, strict=True):
        assert committee.act(rows) == pytest.approx(shifted.act(rows), rel=1e-6, abs=1e-6)
        losses = np.abs(rows - target)
        committee.observe(losses)
        shifted.observe(losses + rng.normal() * 100.0)


def test_changes_of_member_are_half_the_movement_of_the_weights() -> None:
    proposals, targets, _ = _world(5)
    losses = np.abs(proposals - targets[:, None])
    changes = []
    for seed in range(200):
        committee = dw.Committee(N, 0.2, mode="follow", seed=seed)
        members, weights = [], []
        for rows, values in zip(proposals[:30], losses, strict=False):
            committee.act(rows)
            members.append(committee.member)
            weights.append(committee.weights)
            committee.observe(values)
        changes.append(np.count_nonzero(np.diff(np.array(members))))
    expected = 0.5 * np.abs(np.diff(weights, axis=0)).sum()
    assert expected > 1.0
    assert np.mean(changes) == pytest.approx(expected, abs=4.0 * float(np.std(changes)) / math.sqrt(200))


def test_draws_come_from_the_seed() -> None:
    world = _world(6)
    runs = [_Run(dw.Committee(N, mode="follow", seed=seed), world, 0.0).members for seed in (3, 3, 4)]
    given = _Run(dw.Committee(N, mode="follow", seed=np.random.default_rng(3)), world, 0.0).members
    assert runs[0] == runs[1] == given != runs[2]


def test_sleepers_do_not_decide_and_what_is_said_of_them_is_ignored() -> None:
    a, b = dw.Committee(3, 1.0), dw.Committee(3, 1.0)
    for committee, blank in ((a, None), (b, 7.0)):
        assert committee.act([1.0, None, 2.0]) == 1.5
        assert committee.weights.tolist() == [0.5, 0.0, 0.5]
        committee.observe([1.0, blank, 2.0])
    assert np.array_equal(a.weights, b.weights)
    assert a.act([None, 4.0, None]) == 4.0


def test_who_wakes_up_is_as_good_as_the_committee_was() -> None:
    committee = dw.Committee(3)
    for _ in range(50):
        committee.act([0.0, 1.0, None])
        committee.observe([0.0, 1.0, None])
    weights = committee.weights
    # Its share of a third is kept while the rate stands; the rate falls most in the first round.
    assert 1.0 / 3.0 < weights[2] < weights[0]
    assert weights[1] < 1e-3


def test_whoever_moves_pays_for_it() -> None:
    committee = dw.Committee(2, 1.0)
    for t in range(20):
        committee.act([t % 2, 0.5])
        committee.observe([0.0, 0.5])
    assert committee.weights[1] > 0.99
    blind = dw.Committee(2)
    for t in range(20):
        blind.act([t % 2, 0.5])
        blind.observe([0.0, 0.5])
    assert blind.weights[0] > 0.99


@pytest.mark.parametrize("mode", MODES)
def test_within_three_per_cent_of_the_best_rule_on_a_synthetic_demand(mode: str) -> None:
    rng = np.random.default_rng(0)
    t = np.arange(1000)
    demand = np.maximum(1.0 + 0.5 * np.sin(2 * np.pi * t / 24) + 0.15 * rng.normal(size=t.size), 0.05)
    last = np.concatenate([demand[:1], demand[:-1]])
    day = np.concatenate([demand[:24], demand[:-24]])
    slow = np.array([np.quantile(demand[max(0, s - 168) : s + 1], 0.8) for s in t - 1 + (t == 0)])
    table = np.stack([last, 1.1 * last, day, 1.1 * day, slow, np.full(t.size, 1.6), np.full(t.size, 0.8)], axis=1)
    losses = table + 5.0 * np.maximum(demand[:, None] - table, 0.0)
    blind_excess = []
    for price in (0.5, 5.0, 20.0):
        best = (losses.sum(axis=0) + price * np.abs(np.diff(table, axis=0)).sum(axis=0)).min()
        totals = []
        for known in (price, 0.0):
            committee = dw.Committee(7, known, mode=mode)
            x = []
            for rows, values in zip(table, losses, strict=True):
                x.append(committee.act(rows))
                committee.observe(values)
            decisions = np.array(x)
            running = decisions + 5.0 * np.maximum(demand - decisions, 0.0)
            totals.append(running.sum() + price * np.abs(np.diff(decisions)).sum())
        assert totals[0] <= 1.03 * best
        blind_excess.append(totals[1] / best)
    assert blind_excess[-1] > 2.0


@pytest.mark.parametrize("mode", MODES)
def test_copies_go_on_alike_and_alone(mode: str) -> None:
    world = _world(8, (2,), asleep=0.2)
    ways: list[Callable[[dw.Committee], dw.Committee]] = [
        lambda c: c.clone(),
        copy.copy,
        copy.deepcopy,
        lambda c: pickle.loads(pickle.dumps(c)),
    ]
    expected = _Run(dw.Committee(N, 2.0, mode=mode), world, 2.0).decisions
    for way in ways:
        for half in (False, True):
            committee, found = dw.Committee(N, 2.0, mode=mode), []
            for t, (proposals, target, awake) in enumerate(zip(*world, strict=True)):
                if t == 30 and not half:
                    committee, other = way(committee), committee
                    other.act(-proposals)
                    other.observe(np.arange(N))
                found.append(committee.act(_some(proposals, awake)))
                if t == 30 and half:
                    committee, other = way(committee), committee
                    other.observe(np.arange(N))
                committee.observe(_distance(target))
            assert np.array_equal(np.array(found), expected)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 0},
        {"n": 2.5},
        {"switching_cost": -1.0},
        {"switching_cost": math.nan},
        {"mode": "vote"},
        {"seed": -1},
        {"prior": [1.0]},
        {"prior": [1.0, 0.0]},
        {"prior": [1.0, 1e-120]},
    ],
    ids=str,
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises((ParameterError, InputError), match=f"Committee: {next(iter(wrong))}"):
        dw.Committee(**{"n": 2, **wrong})
    with pytest.raises(ArgumentError, match="rate"):
        dw.Committee(2, rate=0.1)  # type: ignore[call-arg]


@settings(max_examples=30)
@given(seeds, st.sampled_from([0.0, 1e-90, 1.0, 1e90]), st.sampled_from(MODES))
def test_huge_and_tiny_numbers_stay_numbers(seed: int, price: float, mode: str) -> None:
    rng = np.random.default_rng(seed)
    committee = dw.Committee(4, dw.MoveCost(up=price, down=2 * price, norm="l2"), mode=mode)
    for _ in range(25):
        proposals = rng.normal(size=(4, 2)) * 10.0 ** rng.choice([-90, 0, 90], (4, 1))
        x = np.asarray(committee.act(proposals))
        assert np.all((proposals.min(axis=0) <= x) & (x <= proposals.max(axis=0)))
        committee.observe(rng.normal(size=4) * 10.0 ** rng.choice([-90, 0, 90], 4))
        weights = committee.weights
        assert weights.min() >= 0.0
        assert abs(weights.sum() - 1.0) < 1e-12
    assert math.isfinite(committee.overhead)


def test_one_member_and_a_prior() -> None:
    single = dw.Committee(1, 5.0)
    for t in range(3):
        assert single.act([float(t)]) == t
        single.observe([1.0])
    assert single.overhead == 0.0
    assert dw.Committee(2, prior=[3.0, 1.0]).act([0.0, 4.0]) == 1.0
    assert dw.Committee(2, prior=[3.0, 1.0]).weights == pytest.approx([0.75, 0.25], rel=1e-14)


def test_what_it_shows_of_itself() -> None:
    committee = dw.Committee(2, 1.5, mode="follow")
    assert committee.member is None
    assert repr(committee) == "Committee(n=2, switching_cost=1.5, mode='follow', round=0)"
    committee.weights[:] = 0.0
    assert committee.weights.sum() == 1.0
