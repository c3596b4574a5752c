"""Prices that hold for one round."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import OrderError, ParameterError
from tests.cases import check_refused
from tests.learners.rounds import BALL, KNOWN, MAKE, PRICES, gradients, play_on_time

TAKES = ["Scream", "Scream, prices", "Scream, doubling", "LazyScream", "StronglyAdaptive", "SelfTunedScream"]
TAKES += ["SelfTunedScream, prices", "SelfTunedLearner"]
USUAL: dict[str, Any] = dict.fromkeys(TAKES, 1.0) | {"LazyScream": 9.0, "SelfTunedLearner": 0.5}
USUAL |= {name: PRICES for name in TAKES if "prices" in name}


def times(price: Any, factor: float) -> Any:
    """Return a price, or prices, times a number."""
    if isinstance(price, dw.MoveCost):
        return dw.MoveCost(np.asarray(price.up) * factor, np.asarray(price.down) * factor, norm=price.norm)
    return price * factor


@pytest.mark.parametrize("name", TAKES)
def test_the_usual_price_given_every_round_changes_nothing(name: str) -> None:
    rows = gradients(60)
    found = play_on_time(MAKE[name](), rows, switching_cost=USUAL[name])
    np.testing.assert_array_equal(found, play_on_time(MAKE[name](), rows))


@pytest.mark.parametrize("name", TAKES)
def test_a_price_holds_for_one_round(name: str) -> None:
    learner, twin = MAKE[name](), MAKE[name]()
    for one in (learner, twin):
        play_on_time(one, gradients(10))
    learner.act(switching_cost=times(USUAL[name], 50.0))
    twin.act()
    learner.skip()
    twin.skip()
    if name == "SelfTunedLearner":  # it has moved at that price
        return
    np.testing.assert_array_equal(play_on_time(learner, gradients(9)), play_on_time(twin, gradients(9)))


@pytest.mark.parametrize("name", [name for name in TAKES if name != "LazyScream"])
def test_it_is_learnt_from(name: str) -> None:
    rows = gradients(40)
    dear = play_on_time(MAKE[name](), rows, switching_cost=times(USUAL[name], 100.0))
    assert not np.array_equal(dear, play_on_time(MAKE[name](), rows))


def test_it_is_as_if_built_for_it_where_only_the_price_matters() -> None:
    """Without patience, and from the first round on, the self-tuned schedule has no other constant than the price."""
    from driftwise.learners import Ensemble, Meta, Surrogate
    from driftwise.learners.self_tuned_scream import self_tuned_pool

    def make(price: Any) -> dw.Learner:
        pool, meta = self_tuned_pool(2.0, (0.0, 1.0)), Meta(2.0, prior="equal")
        return Ensemble(
            BALL, pool=pool, meta=meta, surrogate=Surrogate(price), horizon_free="self-tuned", dead_zone=0.25
        )

    for built, wanted in ((1.0, 2.5), (PRICES, dw.MoveCost([3.0, 0.5], [0.2, 1.0]))):
        rows = gradients(50)
        found = play_on_time(make(built), rows, switching_cost=wanted)
        np.testing.assert_allclose(found, play_on_time(make(wanted), rows), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("name", ["SelfTunedScream", "SelfTunedScream, prices", "SelfTunedLearner"])
@given(seed=st.integers(0, 10**6), power=st.integers(-20, 20))
def test_decisions_do_not_change_with_the_unit(name: str, seed: int, power: int) -> None:
    kind = dw.SelfTunedLearner if name == "SelfTunedLearner" else dw.SelfTunedScream

    def decisions(unit: float) -> Array:
        rng, found = np.random.default_rng(seed), []
        learner = kind(BALL, switching_cost=times(USUAL[name], unit))
        for _ in range(25):
            price = times(USUAL[name], unit * math.exp(rng.normal())) if rng.random() < 0.7 else None
            found.append(learner.act(switching_cost=price).copy())
            row = rng.normal(size=2)
            learner.skip() if rng.random() < 0.1 else learner.observe(row * unit)
        return np.array(found)

    np.testing.assert_array_equal(decisions(1.0), decisions(2.0**power))


@pytest.mark.parametrize("name", TAKES)
@given(seed=st.integers(0, 10**6))
def test_a_saved_round_has_its_price(name: str, seed: int) -> None:
    def run(*, reload: bool) -> list[Any]:
        rng, learner, path = np.random.default_rng(seed), MAKE[name](late=2), []
        for t in range(20):
            price = times(USUAL[name], math.exp(rng.normal())) if rng.random() < 0.7 else None
            hint = rng.normal(size=2) if rng.random() < 0.3 and name not in ("LazyScream", "StronglyAdaptive") else None
            path.append(learner.act(hint, switching_cost=price).tolist())
            if reload and t % 2:
                learner = dw.from_bytes(learner.to_bytes()).clone()
            if rng.random() < 0.2:
                learner.skip()
            else:
                learner.observe(rng.normal(size=2))
            if reload and t % 3:
                learner = dw.from_bytes(learner.to_bytes())
        return path

    assert run(reload=False) == run(reload=True)


BAD_PRICES = (-1.0, math.nan, math.inf, 1e101, "dear", [1.0, 2.0], dw.MoveCost([1.0, 1.0, 1.0]))


@pytest.mark.parametrize("name", TAKES)
def test_prices_that_are_none_are_refused(name: str) -> None:
    learner = MAKE[name]()
    play_on_time(learner, gradients(8), switching_cost=times(USUAL[name], 2.0))
    before = learner.to_bytes()
    other: Any = 2.0 if isinstance(USUAL[name], dw.MoveCost) else PRICES
    for bad in (*BAD_PRICES, other):
        check_refused(lambda bad=bad: learner.act(switching_cost=bad), "switching_cost", kind=ParameterError)  # type: ignore[misc]
        assert learner.to_bytes() == before
    learner.act()
    before = learner.to_bytes()
    check_refused(lambda: learner.act(switching_cost=USUAL[name]), "a switching cost", kind=OrderError)
    assert learner.to_bytes() == before


@pytest.mark.parametrize("name", ["OGD", "Ader", "MirrorDescent", "Hedge", "of somebody else", "rounded"])
def test_learners_that_make_no_use_of_a_price_say_so(name: str) -> None:
    learner = MAKE[name]()
    check_refused(lambda: learner.act(switching_cost=1.0), "makes no use of what a move costs", kind=ParameterError)
    learner.act()


def test_one_coordinate_has_one_kind_of_price() -> None:
    learner = dw.SelfTunedScream(dw.Box([0.0], [1.0]), switching_cost=dw.MoveCost(2.0))
    learner.act(switching_cost=1.0)
    learner.observe([1.0])
    learner = dw.SelfTunedScream(dw.Box([0.0], [1.0]), switching_cost=2.0)
    learner.act(switching_cost=dw.MoveCost(1.0))
    learner.skip()
    check_refused(lambda: learner.act(switching_cost=PRICES), "2 coordinates", kind=ParameterError)


def test_a_certificate_counts_the_prices_that_were_paid() -> None:
    losses, rng = dw.streams.drifting_regression(rounds=80, dim=2, seed=4), np.random.default_rng(0)
    prices = rng.exponential(size=80)
    trace = dw.play(dw.SelfTunedLearner(BALL, switching_cost=0.3), losses, prices)
    learner = trace.learner.clone()
    for t in range(80):
        learner.act(switching_cost=prices[t])  # type: ignore[call-arg]
        learner.observe(losses[t])
    assert learner.certificate().cost == pytest.approx(trace.total, rel=1e-6)  # type: ignore[union-attr]
    assert learner.certificate().cost <= learner.certificate().bound  # type: ignore[union-attr]


def test_scream_judges_by_the_means_of_up_and_down() -> None:
    rows, mean = gradients(30), dw.MoveCost([0.75, 1.5])
    learner, twin = (dw.Scream(BALL, switching_cost=PRICES, **KNOWN) for _ in range(2))
    found = play_on_time(learner, rows, switching_cost=times(PRICES, 3.0))
    np.testing.assert_array_equal(found, play_on_time(twin, rows, switching_cost=times(mean, 3.0)))
