"""Rounds of a committee that go wrong: without losses, with bad ones or late ones, and with prices of their own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise.errors import InputError, OrderError, ParameterError
from tests.cases import check_refused

N, T = 3, 40
KINDS: dict[str, dict[str, Any]] = {
    "mix": {"mode": "mix"},
    "follow": {"mode": "follow"},
    "mix, movers": {"mode": "mix", "movers": True},
    "follow, movers": {"mode": "follow", "movers": True},
}
World = tuple[Any, Any]


def make(kind: str, price: Any = 2.0, **rules: Any) -> dw.Committee:
    return dw.Committee(N, price, seed=1, **KINDS[kind], **rules)


def world(seed: int = 0, rounds: int = T) -> World:
    """Return proposals (T, N) around a level that jumps, and the level."""
    rng = np.random.default_rng(seed)
    level = np.repeat(rng.normal(size=-(-rounds // 10)), 10)[:rounds]
    return level[:, None] + rng.normal(size=(rounds, N)) * [0.1, 0.5, 1.0], level


def distance(target: float, unit: float = 1.0) -> Callable[[Any], float]:
    return lambda x: unit * float(abs(x - target))


def on_time(committee: dw.Committee, given: World, unit: float = 1.0, **said: Any) -> list[Any]:
    path = []
    for proposals, target in zip(*given, strict=True):
        path.append(committee.act(proposals, **said))
        committee.observe(distance(target, unit))
    return path


def exactly(committee: dw.Committee, given: World, delay: int) -> list[Any]:
    """Play with the losses of every round so many rounds late."""
    proposed, level = given
    path = []
    for t, proposals in enumerate(proposed):
        path.append(committee.act(proposals))
        if t >= delay:
            committee.observe(distance(level[t - delay]), round=t - delay)
        if delay:
            committee.skip()
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_skipped_rounds_leave_no_trace(kind: str) -> None:
    """Rounds with losses go on as if those without had not been; a round without is decided like the next."""
    proposed, level = given = world()
    expected, path = on_time(make(kind), given), []
    committee = make(kind)
    for t, (proposals, target) in enumerate(zip(proposed, level, strict=True)):
        for k in range(t % 3):
            w, weights = committee.act(proposals), committee.weights
            committee.skip() if k else committee.observe(None)
        path.append(committee.act(proposals))
        if t % 3:
            assert w == path[-1]
            np.testing.assert_array_equal(weights, committee.weights)
        committee.observe(distance(target))
    assert path == expected
    assert (committee.round, committee.skipped) == (T + 39, 39)


@pytest.mark.parametrize("kind", KINDS)
def test_losses_on_time_make_the_committee_without_a_window(kind: str) -> None:
    given = world()
    one, other = make(kind), make(kind, late=7)
    assert on_time(one, given) == on_time(other, given)
    np.testing.assert_array_equal(one.pair_weights, other.pair_weights)
    assert one.overhead == other.overhead


@pytest.mark.parametrize("kind", KINDS)
def test_losses_before_the_next_act_come_on_time(kind: str) -> None:
    """Own moves, the decision's move and the draw are those of the round, though it was over."""
    given, one, other = world(), make(kind), make(kind, late=1)
    path = []
    for t, (proposals, target) in enumerate(zip(*given, strict=True)):
        path.append(other.act(proposals))
        other.skip()
        other.observe(distance(target), round=t)
    np.testing.assert_allclose(np.array(path), np.array(on_time(one, given)), rtol=1e-12, atol=1e-12)
    assert other.overhead == pytest.approx(one.overhead, rel=1e-12)
    assert other.skipped == 0


@pytest.mark.parametrize("mode", ["mix", "follow"])
@pytest.mark.parametrize("delay", [1, 5])
def test_where_all_losses_are_late_the_weights_are_those_of_rounds_ago(mode: str, delay: int) -> None:
    """Moves included: nobody is cheap because moves were forgotten."""
    proposed, level = given = world()
    late, timely = make(mode, late=delay), make(mode)
    exactly(late, given, delay)
    on_time(timely, (proposed[:-delay], level[:-delay]))
    np.testing.assert_array_equal(late.weights, timely.weights)
    assert late.overhead == timely.overhead
    assert late.member == timely.member


def test_following_with_late_losses_changes_no_more_often() -> None:
    """Draws stay coupled: the member is as steady as it is on time."""
    rng = np.random.default_rng(3)
    given = np.tile([0.0, 1.0, 2.0], (400, 1)), rng.normal(1.0, 0.1, 400)
    changes = [
        int(np.count_nonzero(np.diff(exactly(dw.Committee(N, 0.5, mode="follow", late=9), given, delay))))
        for delay in (0, 9)
    ]
    assert changes[1] <= changes[0] + 5


def test_members_that_move_pay_for_it_however_late_losses_are() -> None:
    """One member jumps about for a small gain, which is not worth its moves."""
    jumping = 0.3 * (-1.0) ** np.arange(200)
    given = np.stack([jumping, np.zeros(200), np.full(200, 9.0)], axis=1), 0.6 * jumping
    committee = make("mix", late=4)
    exactly(committee, given, 4)
    assert committee.weights[1] > 0.99


@pytest.mark.parametrize("mode", ["mix", "follow"])
def test_pairs_pay_for_moves_too_however_late_losses_are(mode: str) -> None:
    """Pairs that go all the way to their members' proposals are weighed as the members are."""
    proposed, level = given = world()
    late, timely = (dw.Committee(N, 2.0, mode=mode, movers=[dw.movers.Follow()], late=k) for k in (4, 0))
    exactly(late, given, 4)
    on_time(timely, (proposed[:-4], level[:-4]))
    np.testing.assert_array_equal(late.weights, timely.weights)
    np.testing.assert_array_equal(late._parts["kept"].ravel(), proposed[-5])
    assert late.overhead == timely.overhead


def mixed(committee: dw.Committee, given: World, seed: int, *, reload: bool = False) -> list[Any]:
    """Play with losses that are lost, late or on time, at random, and return the decisions."""
    rng, owed, path, late = np.random.default_rng(seed), {}, [], committee.late  # type: ignore[var-annotated]
    for t, (proposals, target) in enumerate(zip(*given, strict=True)):
        path.append(committee.act(proposals))
        for k in [k for k in owed if rng.random() < 0.3 and k >= t - late]:
            committee.observe(distance(owed.pop(k)), round=k)
        if reload and t % 3 == 0:
            committee = dw.from_bytes(committee.to_bytes()).clone()
        assert committee.act(proposals) == path[-1]
        if rng.random() < 0.5:
            committee.observe(distance(target))
        else:
            committee.skip()
            owed[t] = target
        for k in [k for k in reversed(owed) if rng.random() < 0.3 and k >= t + 1 - late]:
            committee.observe(distance(owed.pop(k)), round=k)
        if reload and t % 3 == 1:
            committee = dw.from_bytes(committee.to_bytes())
        assert committee.skipped == len(owed)
        assert committee.weights.sum() == pytest.approx(1.0)
    return [*path, *committee.pair_weights, committee.overhead]


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6), late=st.integers(1, 6))
def test_any_mix_goes_on_bit_for_bit_after_saving(kind: str, seed: int, late: int) -> None:
    given = world(seed, 20)
    assert mixed(make(kind, late=late), given, seed) == mixed(make(kind, late=late), given, seed, reload=True)


@pytest.mark.parametrize("kind", KINDS)
def test_no_move_is_charged_that_nobody_made(kind: str) -> None:
    """Losses of an old round, after a newer one was judged, leave the last proposals and the last price in place."""
    given = world(rounds=3)
    committee = make(kind, late=5)
    for t, proposals in enumerate(given[0]):
        committee.act(proposals)
        committee.observe(distance(given[1][t])) if t != 1 else committee.skip()
    kept = committee._parts["kept"].copy()
    committee.observe(distance(given[1][1]), round=1)
    np.testing.assert_array_equal(committee._parts["kept"], kept)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_losses_and_proposals_may_be_passed_over(kind: str) -> None:
    """The round is a skipped one, and a member with a bad proposal sleeps."""
    proposed, level = given = world()
    committee, twin = make(kind, on_bad_input="skip"), make(kind)
    on_time(committee, given)
    on_time(twin, given)
    committee.act(proposed[0])
    committee.observe(lambda x: float("nan"))
    assert (committee.skipped, committee.refused) == (1, 1)
    bad: list[Any] = [0.5, float("nan"), [1.0, 2.0]]
    assert committee.act(bad) == twin.act([0.5, None, None])
    np.testing.assert_array_equal(committee.weights, twin.weights)
    assert committee.refused == 2
    for one in (committee, twin):
        one.observe(distance(level[0]))
    assert on_time(committee, given) == on_time(twin, given)
    with pytest.raises(OrderError):
        committee.observe(distance(0.0))


@pytest.mark.parametrize("kind", KINDS)
def test_the_usual_price_may_be_said(kind: str) -> None:
    given = world()
    assert on_time(make(kind), given, switching_cost=2.0) == on_time(make(kind), given)


@pytest.mark.parametrize("kind", KINDS)
def test_a_price_of_one_round_counts_in_that_round_alone(kind: str) -> None:
    proposed, level = given = world()
    one, other = make(kind), make(kind)
    on_time(one, given)
    on_time(other, given)
    for committee, price in ((one, None), (other, 50.0)):
        committee.act(proposed[0] + 1.0, switching_cost=price)
        committee.observe(distance(level[0]))
    assert one.overhead != other.overhead or not np.array_equal(one.pair_weights, other.pair_weights)
    np.testing.assert_array_equal(one._parts["prices"], other._parts["prices"])


@pytest.mark.parametrize("kind", KINDS)
def test_decisions_do_not_depend_on_the_unit_of_losses_and_prices(kind: str) -> None:
    given = world()
    prices = np.random.default_rng(5).uniform(0.5, 4.0, T)
    paths = []
    for unit in (1.0, 4.0):
        committee, path = make(kind, 2.0 * unit, late=3), []
        for t, (proposals, target) in enumerate(zip(*given, strict=True)):
            path.append(committee.act(proposals, switching_cost=prices[t] * unit))
            committee.skip() if t % 4 == 1 else committee.observe(distance(target, unit))
            if t % 4 == 3:
                committee.observe(distance(given[1][t - 2], unit), round=t - 2)
        paths.append(path)
    assert paths[0] == paths[1]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_refused_changes_nothing(kind: str) -> None:
    proposed, level = world()
    committee = make(kind, late=2)
    for t in range(5):
        committee.act(proposed[t])
        committee.observe(distance(level[t])) if t == 3 else committee.skip()
    loss = distance(0.0)

    def refused(call: Callable[[], Any], *words: str, error: Any) -> None:
        before = committee.to_bytes()
        check_refused(call, *words, kind=error)
        assert committee.to_bytes() == before

    refused(lambda: committee.observe(loss, round=2), "comes 3 rounds late", "late=2", error=OrderError)
    refused(lambda: committee.observe(loss, round=3), "round 3 has had its feedback", error=OrderError)
    refused(lambda: committee.observe(loss, round=6), "for round 6, and this is round 5", error=OrderError)
    refused(lambda: committee.observe(loss, round=5), "before act in round 5", error=OrderError)
    refused(lambda: committee.skip(), "skip was called before act", error=OrderError)
    refused(lambda: committee.observe(loss, round=1.5), "round must be", error=ParameterError)  # type: ignore[arg-type]
    refused(lambda: committee.observe(None, round=4), "no feedback for round 4", error=InputError)
    refused(lambda: committee.observe(lambda x: float("inf"), round=4), error=InputError)
    prices: list[Any] = [-1.0, float("nan"), "2", dw.MoveCost(1.0, 2.0)]
    for price in prices:
        refused(lambda: committee.act(proposed[5], switching_cost=price), error=(ParameterError, InputError))  # noqa: B023
    refused(lambda: committee.act([0.0, float("nan"), 1.0]), error=InputError)
    committee.act(proposed[5])
    refused(lambda: committee.act(proposed[5], switching_cost=2.0), "first act of a round", error=OrderError)
    refused(lambda: committee.observe(lambda x: float("nan")), error=InputError)
    committee.observe(loss, round=4)
    refused(lambda: committee.observe(loss, round=4), "round 4 has had its feedback", error=OrderError)
