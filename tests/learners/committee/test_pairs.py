"""Members followed by movers: the same machinery over pairs, what is proved of it, and what it is given."""

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
from driftwise import movers
from driftwise._validate import Array
from driftwise.errors import InputError, ParameterError
from driftwise.learners.committee import kernels, moving
from driftwise.learners.committee.layout import Flags
from driftwise.movecost import move_cost_for
from driftwise.movers import Mover, Step
from tests.cases import check_refused
from tests.learners.committee.plain import PlainCommittee
from tests.strategies import seeds

N, T = 3, 50
PRICES: dict[str, float | dw.MoveCost] = {"free": 0.0, "plain": 1.5, "up and down": dw.MoveCost(up=2.0, down=0.5)}
MODES = ("mix", "follow")
World = tuple[Array, Array, Flags]


def _world(seed: int, dim: int = 2, asleep: float = 0.0) -> World:
    """Return proposals (T, N, dim) around targets (T, dim) that jump now and then, and who is awake (T, N)."""
    rng = np.random.default_rng(seed)
    jumps = np.where(rng.random((T, 1)) < 0.1, rng.normal(size=(T, dim)), 0.0)
    targets = np.cumsum(jumps, axis=0)
    proposals = targets[:, None] + rng.normal(size=(T, N, dim)) * np.array([0.05, 0.3, 1.0])[:, None]
    awake = rng.random((T, N)) >= asleep
    awake[np.arange(T), rng.integers(N, size=T)] = True
    return proposals, targets, awake


def _distance(target: Array) -> Callable[[Any], float]:
    return lambda x: float(((x - target) ** 2).sum()) / 2.0


def _some(values: Array, awake: Flags) -> list[Any]:
    return [value if here else None for value, here in zip(values, awake, strict=True)]


def _play(committee: dw.Committee, world: World) -> Array:
    decisions = []
    for proposals, target, awake in zip(*world, strict=True):
        decisions.append(committee.act(_some(proposals, awake)))
        committee.observe(_distance(target))
    return np.array(decisions)


class Half(Mover):
    """Goes half of the way, and all of it once staying has cost something."""

    name = "half"

    def share(self, step: Step) -> float:
        assert step.staying >= 0.0
        return 1.0 if step.staying > step.price else 0.5


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("own", [False, True], ids=["usual movers", "one in Python"])
@settings(max_examples=8)
@given(seed=seeds, asleep=st.sampled_from([0.0, 0.3]))
def test_rounds_are_the_formulas_and_the_inequality_holds(own: bool, price: str, seed: int, asleep: float) -> None:
    world, chosen = (
        _world(seed, asleep=asleep),
        [movers.Follow(), Half(), movers.Prox(8.0)] if own else movers.default(),
    )
    cost, prior = move_cost_for("", PRICES[price]), [0.5, 0.3, 0.2]
    committee = dw.Committee(N, PRICES[price], prior=prior, movers=chosen if own else True)
    plain = PlainCommittee(N, cost, chosen, np.array(prior))
    costs, last = np.zeros(T), None
    for t, (proposals, target, awake) in enumerate(zip(*world, strict=True)):
        decision = np.asarray(committee.act(_some(proposals, awake)))
        np.testing.assert_allclose(decision, plain.act(proposals, awake), rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(committee.pair_weights, plain.weights, rtol=1e-6, atol=1e-9)
        costs[t] = _distance(target)(decision) + (0.0 if last is None else float(cost(decision - last)))
        committee.observe(_distance(target))
        plain.observe(_distance(target))
        last = decision
    assert committee.overhead == pytest.approx(plain.overhead, rel=1e-7)
    charged, each = np.array(plain.charged), len(chosen)
    for j in range(N * each):
        here = world[2][:, j // each]
        bound = (1.0 + math.log(each / prior[j // each]) / math.log(N * each)) * committee.overhead
        assert costs[here].sum() <= charged[here, j].sum() + bound + 1e-9


def test_with_nothing_but_follow_weights_are_those_of_members_who_announce_their_moves() -> None:
    world = _world(3)
    plain, moving_ = dw.Committee(N), dw.Committee(N, movers=[movers.Follow()])
    np.testing.assert_allclose(_play(plain, world), _play(moving_, world), rtol=1e-12)  # where moves are free
    assert np.array_equal(plain.weights, moving_.weights)
    assert moving_.members == ["member 0, follow", "member 1, follow", "member 2, follow"]


def test_a_member_that_jumps_about_is_worth_more_with_movers() -> None:
    rng = np.random.default_rng(0)
    targets = np.repeat(rng.normal(size=10), 40)[:, None]
    proposals = np.stack([targets + 0.3 * rng.normal(size=targets.shape), np.zeros_like(targets)], axis=1)
    losses = dw.TrackingLoss(targets)
    totals = [
        dw.play(dw.Committee(2, 1.0, movers=given), losses, 1.0, proposals=proposals).total for given in (False, True)
    ]
    assert totals[1] < 0.8 * totals[0]


@pytest.mark.parametrize("mode", MODES)
def test_a_run_records_the_weights_of_members(mode: str) -> None:
    proposals, targets, _ = _world(4)
    committee = dw.Committee(N, 1.0, mode=mode, movers=True)
    trace = dw.play(committee, dw.TrackingLoss(targets), 1.0, proposals=proposals, record_weights=True)
    assert trace.weights is not None
    assert trace.weights.shape == (T, N)
    np.testing.assert_allclose(trace.weights.sum(axis=1), 1.0, rtol=1e-12)
    again = dw.Committee(N, 1.0, mode=mode, movers=True)
    for t in range(T):
        assert np.array_equal(again.act(proposals[t]), trace.decisions[t])
        again.observe(dw.TrackingLoss(targets)[t])


def test_following_plays_the_point_of_one_pair() -> None:
    committee = dw.Committee(N, 1.0, mode="follow", movers=True, seed=3)
    for proposals, target, awake in zip(*_world(5, asleep=0.3), strict=True):
        x = committee.act(_some(proposals, awake))
        points = committee._parts["kept"]
        assert committee._followed is not None
        assert np.array_equal(x, points[committee._followed])
        assert committee.member == committee._followed // len(movers.default())
        assert awake[committee.member]
        committee.observe(_distance(target))


def test_pairs_of_a_sleeper_stay_where_they_are_and_sleep() -> None:
    committee = dw.Committee(2, 1.0, movers=True)
    committee.act([1.0, 5.0])
    committee.observe(lambda x: abs(x - 1.0))
    assert committee.act([2.0, None]) <= 2.0
    assert not committee.pair_weights[8:].any()
    committee.observe(lambda x: abs(x - 2.0))
    assert committee._parts["kept"][8:].ravel().tolist() == [5.0] * 8
    assert committee.pair_weights.min() > 0.0
    late = dw.Committee(2, 1.0, movers=True)
    late.act([1.0, None])
    late.observe(abs)
    late.act([1.0, 7.0])  # who was never there begins at its proposal, and pays nothing for that
    assert late._parts["own"].tolist() == [0.0] * 16
    assert late._parts["kept"][8:].ravel().tolist() == [7.0] * 8


def test_all_forms_of_losses_say_the_same() -> None:
    proposals, targets, awake = _world(6, asleep=0.2)
    stream = dw.TrackingLoss(targets)

    class Priced:
        def __init__(self, t: int) -> None:
            self.t = t

        def value(self, w: Array) -> float:
            return stream[self.t].value(w)

    forms: list[Callable[[int], Any]] = [lambda t: stream[t], lambda t: stream, lambda t: stream[t].value, Priced]
    found = []
    for form in forms:
        committee = dw.Committee(N, 1.0, movers=True)
        for t in range(T):
            committee.act(_some(proposals[t], awake[t]))
            committee.observe(form(t))
        found.append(committee.pair_weights)
    assert all(np.array_equal(found[0], other) for other in found)


def test_matrices_and_losses_in_python_alone() -> None:
    rng = np.random.default_rng(1)
    committee = dw.Committee(2, 1.0, movers=True)
    losses = dw.CustomLoss(lambda t, w: float(np.abs(w).sum()), lambda t, w: np.sign(w), rounds=9, dim=4)
    for t in range(6):
        x = committee.act(rng.normal(size=(2, 2, 2)))
        assert isinstance(x, np.ndarray)
        assert x.shape == (2, 2)
        committee.observe(losses[t] if t % 2 else lambda x: float(np.abs(x).sum()))
    assert committee.pair_weights.sum() == pytest.approx(1.0)


BAD_LOSSES: dict[str, Any] = {
    "a list": [1.0, 2.0, 3.0],
    "an array": np.ones(3),
    "one for each pair": np.ones(24),
    "NaN": lambda x: math.nan,
    "NaN beside the proposals": lambda x: 1.0 if x in (1.0, 2.0, 4.0, 3.0) else math.nan,
    "a vector": lambda x: [x, x],
    "a loss of two coordinates": dw.TrackingLoss([[1.0, 2.0]])[0],
    "a stream that is over": dw.TrackingLoss([[1.0]]),
}


@pytest.mark.parametrize("mode", MODES)
def test_what_is_refused_leaves_the_bytes_as_they_were(mode: str) -> None:
    committee = dw.Committee(3, 1.0, mode=mode, movers=True)

    def check(verb: Callable[[Any], object], bad: Any, name: str) -> None:
        before = pickle.dumps(committee)
        with pytest.raises(InputError):
            verb(bad)
        assert pickle.dumps(committee) == before, name

    for t in range(3):
        for bad in ([1.0, math.nan, 2.0], [None] * 3, [1.0, 2.0]):
            check(committee.act, bad, "proposals")
        committee.act([[1.0, 2.0, 4.0], [3.0, 2.0, 1.0], [2.0, 4.0, 3.0]][t])
        for name, loss in BAD_LOSSES.items():
            if t == 2 or name not in ("a stream that is over", "NaN beside the proposals"):
                check(committee.observe, loss, name)
        committee.observe(lambda x: (x - 2.0) ** 2)


def test_errors_say_what_to_do() -> None:
    committee = dw.Committee(2, 1.0, movers=True)
    committee.act([1.0, 2.0])
    check_refused(lambda: committee.observe([1.0, 2.0]), "asked anywhere", "a function of a decision", kind=InputError)


@pytest.mark.parametrize("wrong", [[], "all", 3, None, ["stay"]], ids=str)
def test_movers_that_are_none_are_refused(wrong: Any) -> None:
    check_refused(
        lambda: dw.Committee(2, movers=wrong), "Committee: movers must be", "SkiRental()", kind=ParameterError
    )


@pytest.mark.parametrize("said", [1.5, -0.1, math.nan, "half"], ids=str)
def test_a_mover_that_says_nonsense_is_refused_and_changes_nothing(said: Any) -> None:
    class Wild(Mover):
        name = "wild"

        def share(self, step: Step) -> float:
            return said  # type: ignore[no-any-return]

    committee = dw.Committee(2, 1.0, movers=[movers.SkiRental(), Wild()])
    committee.act([1.0, 2.0])
    committee.observe(abs)
    before = committee._vector.copy()
    check_refused(lambda: committee.act([3.0, 2.0]), "Wild.share")
    assert np.array_equal(before, committee._vector)
    committee.act([1.0, 2.0])  # nobody has to move, so nobody is asked


@pytest.mark.parametrize("mode", MODES)
def test_copies_go_on_alike_and_alone(mode: str) -> None:
    world = _world(8, asleep=0.2)
    ways: list[Callable[[dw.Committee], dw.Committee]] = [
        lambda c: c.clone(),
        copy.copy,
        lambda c: pickle.loads(pickle.dumps(c)),
    ]
    expected = _play(dw.Committee(N, 2.0, mode=mode, movers=True), world)
    for way in ways:
        committee, found = dw.Committee(N, 2.0, mode=mode, movers=True), []
        for t, (proposals, target, awake) in enumerate(zip(*world, strict=True)):
            if t == 20:
                committee, other = way(committee), committee
                other.act(-proposals)
                other.observe(_distance(-target))
            found.append(committee.act(_some(proposals, awake)))
            if t == 30:
                committee, other = way(committee), committee
                other.observe(_distance(-target))
            committee.observe(_distance(target))
        assert np.array_equal(np.array(found), expected)


@settings(max_examples=15)
@given(seeds, st.sampled_from([1e-6, 0.37, 1e6]), st.sampled_from(MODES), st.booleans())
def test_other_units_change_nothing(seed: int, unit: float, mode: str, of_cost: bool) -> None:
    """In other units of cost decisions stay; in other units of the decision they are scaled."""
    proposals, targets, _ = _world(seed)
    found: tuple[list[Any], list[Any]] = ([], [])
    for scale, decisions in zip((1.0, unit), found, strict=True):
        cost, size = (scale, 1.0) if of_cost else (1.0, scale)
        committee = dw.Committee(N, dw.MoveCost(up=3.0 * cost / size, down=cost / size), mode=mode, movers=True)
        for rows, target in zip(proposals, targets, strict=True):
            decisions.append(np.asarray(committee.act(rows * size)) / size)
            committee.observe(lambda x, target=target, cost=cost, size=size: cost * _distance(target)(x / size))  # type: ignore[misc]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6, atol=1e-6)


@settings(max_examples=25)
@given(seeds, st.sampled_from([0.0, 1e-90, 1.0, 1e90]), st.sampled_from(MODES))
def test_huge_and_tiny_numbers_stay_numbers(seed: int, price: float, mode: str) -> None:
    rng = np.random.default_rng(seed)
    committee = dw.Committee(3, dw.MoveCost(up=price, down=2 * price, norm="l2"), mode=mode, movers=True)
    for _ in range(25):
        proposals = rng.normal(size=(3, 2)) * 10.0 ** rng.choice([-170, -90, 0, 90], (3, 1))
        assert np.isfinite(committee.act(proposals)).all()
        slope = float(rng.normal() * 10.0 ** rng.choice([-90, 0, 90]))
        committee.observe(lambda x, slope=slope: float(np.clip(slope * x[0], -1e100, 1e100)))  # type: ignore[misc]
        weights = committee.pair_weights
        assert weights.min() >= 0.0
        assert abs(weights.sum() - 1.0) < 1e-12
    assert math.isfinite(committee.overhead)


def test_what_it_shows_of_itself() -> None:
    committee = dw.Committee(2, 1.5, prior=[3.0, 1.0], movers=[movers.Follow(), movers.SkiRental()])
    assert repr(committee) == "Committee(n=2, switching_cost=1.5, mode='mix', movers=2, round=0)"
    assert committee.members[1] == "member 0, ski rental"
    assert committee.weights == pytest.approx([0.75, 0.25])
    assert committee.pair_weights == pytest.approx([0.375, 0.375, 0.125, 0.125])
    assert [mover.name for mover in committee.movers] == ["follow", "ski rental"]
    plain = dw.Committee(2)
    assert plain.members == ["member 0", "member 1"]
    assert plain.movers == ()
    assert np.array_equal(plain.pair_weights, plain.weights)


def test_making_a_committee_runs_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("a kernel was called, and so compiled")

    for module, names in ((kernels, ("announce", "observe", "act_by_mixing")), (moving, ("move_pairs", "learn_pairs"))):
        for name in names:
            monkeypatch.setattr(module, name, refuse)
    assert dw.Committee(3, 2.0, movers=True).clone().round == 0
