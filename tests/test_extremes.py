"""Nothing that is accepted ends in a NaN: committees, Hedge, what is rounded, and learners for every interval.

`tests.learners.test_extremes` does the same for Scream and its relatives, and for the self-tuned ones.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import DriftwiseError
from tests.cases import every_pair
from tests.learners.test_extremes import PRICES, SIZES, WIDE, check_sound, sizes

ROUNDS = 30

LEARNERS: dict[str, Callable[[dw.Domain, Any, float], Any]] = {
    "StronglyAdaptive": lambda domain, price, G: dw.StronglyAdaptive(domain, switching_cost=price, gradient_bound=G),
    "Hedge": lambda domain, price, G: dw.Hedge(domain.dim + 1, loss_bound=G, switching_cost=price),
    "Hedge, sharing": lambda domain, price, G: dw.Hedge(
        domain.dim + 1, loss_bound=G, switching_cost=price, horizon=ROUNDS, share=0.1
    ),
    "rounded": lambda domain, price, G: dw.rounded(dw.SelfTunedScream(domain, switching_cost=price), seed=3),
    "rounded pool": lambda domain, price, G: dw.rounded(dw.SelfTunedLearner(domain, switching_cost=price), seed=3),
}


def drawn(seed: int, spread: list[float], shape: tuple[int, ...]) -> Array:
    """Return numbers of these sizes with signs, one size for each row, some entries being 0 or smaller by far."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0, 0.0, 1e-7], shape, p=[0.4, 0.4, 0.1, 0.1])
    far = rng.choice(spread, (shape[0], 1)) * rng.choice([1.0, 0.37], shape)
    return np.asarray(np.clip(far * signs, -1e100, 1e100))


def check_weights(weights: Array) -> None:
    assert weights.min() >= 0.0
    assert abs(weights.sum() - 1.0) <= 1e-12


@every_pair(name=LEARNERS, where=WIDE, price=PRICES)
@given(
    seed=st.integers(0, 2**32),
    width=sizes(1e-98, 1e98),
    up=st.one_of(st.just(0.0), SIZES),
    down=st.one_of(st.just(0.0), SIZES),
    bound=sizes(1e-100, 1e100),
    spread=st.lists(st.one_of(st.just(0.0), SIZES), min_size=1, max_size=4),
)
@settings(max_examples=max(settings().max_examples // 4, 5))
def test_whatever_is_accepted_leaves_a_decision_and_a_distribution(
    name: str, where: str, price: str, seed: int, width: float, up: float, down: float, bound: float,
    spread: list[float],
) -> None:  # fmt: skip
    try:
        learner = LEARNERS[name](WIDE[where](width), PRICES[price](up, down), bound)
    except DriftwiseError:
        return
    for gradient in drawn(seed, spread, (ROUNDS, learner.domain.dim)):
        decision = learner.act()
        assert np.all(np.isfinite(decision))
        assert learner.domain.contains(decision)
        check_weights(learner.weights)
        if isinstance(learner, dw.Ensemble):
            check_sound(learner)
        learner.observe(gradient)


MODES: dict[str, dict[str, Any]] = {
    "mix": {},
    "follow": {"mode": "follow", "seed": 4},
    "movers": {"movers": True},
}


@every_pair(mode=MODES, price=PRICES, dim=[1, 3])
@given(
    seed=st.integers(0, 2**32),
    up=st.one_of(st.just(0.0), SIZES),
    down=st.one_of(st.just(0.0), SIZES),
    places=st.lists(st.one_of(st.just(0.0), SIZES), min_size=1, max_size=3),
    spread=st.lists(st.one_of(st.just(0.0), SIZES), min_size=1, max_size=4),
    asleep=st.booleans(),
)
@settings(max_examples=max(settings().max_examples // 4, 5))
@example(seed=0, up=0.0, down=0.0, places=[1.0], spread=[1.0, 1.0, 1e-310, 1.0], asleep=False)
def test_a_committee_stays_between_its_members(
    mode: str, price: str, dim: int, seed: int, up: float, down: float, places: list[float], spread: list[float],
    asleep: bool,
) -> None:  # fmt: skip
    committee = dw.Committee(3, PRICES[price](up, down), **MODES[mode])
    points = drawn(seed, places, (3 * ROUNDS, dim)).reshape(ROUNDS, 3, dim)
    slopes = drawn(seed + 1, spread, (ROUNDS, dim))
    low, high = np.full(dim, math.inf), np.full(dim, -math.inf)
    for t in range(ROUNDS):
        awake = [i for i in range(3) if not (asleep and i == t % 4)]
        w = committee.act([points[t, i] if i in awake else None for i in range(3)])
        if mode == "movers":  # pairs may be where a proposal was
            low, high = np.minimum(low, points[t, awake].min(axis=0)), np.maximum(high, points[t, awake].max(axis=0))
        else:
            low, high = points[t, awake].min(axis=0), points[t, awake].max(axis=0)
        allowed = 1e-9 * np.maximum(np.abs(low), np.abs(high))
        assert np.all(np.isfinite(w))
        assert np.all((low - allowed <= w) & (w <= high + allowed))
        check_weights(committee.weights)
        assert math.isfinite(committee.overhead)
        committee.observe(lambda x, slope=slopes[t]: float(np.clip(slope @ x, -1e100, 1e100)))  # type: ignore[misc]
    check_weights(committee.weights)


@pytest.mark.parametrize("kind", ["SelfTunedScream", "SelfTunedLearner", "StronglyAdaptive", "Hedge"])
def test_a_loss_whose_inverse_is_no_number(kind: str) -> None:
    """1e-310 is a number, and 1 / 1e-310 is not: a rate made of it once was infinite."""
    learners: dict[str, Callable[[], Any]] = {
        "SelfTunedScream": lambda: dw.SelfTunedScream(dw.Ball(2), switching_cost=0.0),
        "SelfTunedLearner": lambda: dw.SelfTunedLearner(dw.Ball(2), switching_cost=0.0),
        "StronglyAdaptive": lambda: dw.StronglyAdaptive(dw.Ball(2), switching_cost=0.0, gradient_bound=1.0),
        "Hedge": lambda: dw.Hedge(2, loss_bound=1.0),
    }
    learner = learners[kind]()
    for gradient in (1.0, 1.0, 1e-310, 1.0, -1.0, 1.0):
        assert np.all(np.isfinite(learner.act()))
        check_weights(learner.weights)
        learner.observe([gradient, 0.0])
    assert np.all(np.isfinite(learner.act()))


@pytest.mark.parametrize("width", [1e-20, 1e-90, 1e60])
@pytest.mark.parametrize("where", WIDE)
def test_how_far_outside_counts_is_relative_to_the_domain(where: str, width: float) -> None:
    """Each coordinate is moved out along a direction in which the domain ends there."""
    if where == "shifted ball":
        return  # so far from the origin that its width is rounding
    domain = WIDE[where](width)
    direction = np.ones(domain.dim)
    inside = domain.project(direction * 1e3 * width)
    assert domain.contains(inside)
    assert not domain.contains(inside + 1e-6 * width * direction)
    assert domain.contains(inside + 1e-12 * width * direction)
