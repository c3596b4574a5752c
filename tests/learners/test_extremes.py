"""Nothing that is accepted makes a NaN: gradients, prices and widths of every size, all learners, domains, prices."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import DriftwiseError, InputError
from driftwise.learners import Ensemble, Meta, Pool, Surrogate
from driftwise.testing.promises import saved
from tests.cases import every_pair

Maker = Callable[[dw.Domain, "float | dw.MoveCost", float], dw.Ensemble]

WIDE: dict[str, Callable[[float], dw.Domain]] = {
    "ball": lambda width: dw.Ball(3, radius=width / 2.0),
    "shifted ball": lambda width: dw.Ball(2, radius=width / 2.0, center=[0.3 * width, -min(width * 1e3, 1e100)]),
    "box": lambda width: dw.Box([-width / 2.0, 0.0], [width / 2.0, width / 8.0]),
    "simplex": lambda width: dw.Simplex(3, scale=width),
    "spectral": lambda width: dw.SpectralBalls((2, 2, 2), [width / 2.0, width / 9.0]),
    "product": lambda width: dw.Product(dw.Ball(1, radius=width / 2.0), dw.Simplex(2, scale=width)),
}

PRICES: dict[str, Callable[[float, float], "float | dw.MoveCost"]] = {
    "number": lambda up, down: up,
    "l1": lambda up, down: dw.MoveCost(up, down),
    "l2": lambda up, down: dw.MoveCost(up, down, norm="l2"),
}

LEARNERS: dict[str, Maker] = {
    "SelfTunedScream": lambda domain, price, _: dw.SelfTunedScream(domain, switching_cost=price),
    "Scream": lambda domain, price, G: dw.Scream(domain, switching_cost=price, gradient_bound=G),
    "LazyScream": lambda domain, price, G: dw.LazyScream(domain, switching_cost=price, gradient_bound=G, epoch=2),
    "doubling Scream": lambda domain, price, G: dw.Scream(
        domain, switching_cost=price, gradient_bound=G, horizon_free="doubling"
    ),
    "Ader": lambda domain, price, G: dw.Ader(domain, gradient_bound=G),
    "OGD": lambda domain, price, G: dw.OGD(domain, gradient_bound=G),
    "OGD, given step": lambda domain, price, step: dw.OGD(domain, step=step),
    "patient": lambda domain, price, step: Ensemble(
        domain,
        pool=Pool([step, step], patience=(0.0, 1.0)),
        meta=Meta(1.0),
        surrogate=Surrogate(price),
        constant=True,
    ),
    "MirrorDescent": lambda domain, price, G: dw.MirrorDescent(domain, gradient_bound=G, switching_cost=price),
    "p-norm": lambda domain, price, G: dw.MirrorDescent(domain, mirror=dw.mirror.PNorm(1.1), step=G),
    "entropy": lambda domain, price, G: dw.MirrorDescent(domain, mirror=dw.mirror.NegativeEntropy(), step=G),
}


def sizes(low: float, high: float) -> st.SearchStrategy[float]:
    """Return numbers whose logarithm is spread evenly."""
    return st.floats(math.log10(low), math.log10(high)).map(lambda power: min(10.0**power, high))


SIZES = st.one_of(sizes(1e-300, 1e100), st.sampled_from([5e-324, 1e-310, 1e-160, 1.0, 1e100]))


def gradients(seed: int, sizes: list[float], dim: int) -> Iterator[Array]:
    """Return gradients of these sizes, some of whose entries are 0 or smaller by far."""
    rng = np.random.default_rng(seed)
    for size in sizes:
        signs = rng.choice([-1.0, 0.0, 1.0, 1e-7], dim)
        yield np.clip(size * signs * rng.choice([1.0, rng.uniform()], dim), -1e100, 1e100)


def check_sound(learner: dw.Ensemble) -> None:
    decision = learner.act()
    assert np.all(np.isfinite(decision))
    assert learner.domain.contains(decision)
    assert np.all(np.isfinite(learner.base_decisions))
    weights = learner.weights
    assert weights.min() >= 0.0
    total = weights.sum() / (learner.domain.numbers[0] if isinstance(learner, dw.Hedge) else 1.0)
    assert abs(total - 1.0) <= 1e-12
    assert not np.any(np.isnan(learner._state))


@every_pair(name=LEARNERS, price=PRICES, hints=[False, True])
@given(
    seed=st.integers(0, 2**32),
    where=st.sampled_from(sorted(WIDE)),
    width=sizes(1e-98, 1e98),
    up=st.one_of(st.just(0.0), SIZES),
    down=st.one_of(st.just(0.0), SIZES),
    bound=sizes(1e-100, 1e100),
    rounds=st.lists(SIZES, min_size=3, max_size=14),
)
def test_whatever_is_accepted_leaves_a_decision_and_a_distribution(
    name: str, price: str, hints: bool, seed: int, where: str, width: float, up: float, down: float, bound: float,
    rounds: list[float],
) -> None:  # fmt: skip
    domain = WIDE[where](width)
    try:
        learner = LEARNERS[name](domain, PRICES[price](up, down), bound)
    except DriftwiseError:
        return
    hinted = hints and name not in ("LazyScream", "p-norm", "entropy")
    for t, gradient in enumerate(gradients(seed, rounds, domain.dim)):
        if hinted and t % 2:
            learner.act(hint=gradient[::-1].copy())
        check_sound(learner)
        learner.observe(gradient)
    check_sound(learner)


def test_a_tiny_overhead_is_none() -> None:
    """The gap of a round with a gradient of 1e-310 is a number whose inverse is not."""
    learner = dw.SelfTunedScream(dw.Ball(1), switching_cost=0.0)
    for gradient in (1.0, 1.0, 1e-310, 1.0, -1.0, 1.0):
        check_sound(learner)
        learner.observe([gradient])
    check_sound(learner)


@pytest.mark.parametrize("size", [1e78, 1e100])
def test_l2_prices_of_moves_whose_squares_overflow(size: float) -> None:
    cost = dw.MoveCost(up=size, down=size / 3.0, norm="l2")
    learner = dw.SelfTunedScream(dw.Box([0.0, 0.0], [size, size]), switching_cost=cost)
    for sign in (1.0, -1.0, -1.0, 1.0):
        check_sound(learner)
        learner.observe(np.array([sign * size, -size]))
    check_sound(learner)


def test_a_spectral_ball_far_away_is_projected_onto() -> None:
    domain = dw.SpectralBalls((1, 2, 2), 1.0)
    learner = dw.OGD(domain, step=1e60)
    for gradient in ([0.0, 0.0, -1e-60, 0.0], [-1e100, 0.0, 0.0, 0.0]):
        learner.act()
        learner.observe(np.array(gradient))
        check_sound(learner)
    np.testing.assert_allclose(np.linalg.norm(learner.act().reshape(2, 2), 2), 1.0, rtol=1e-12)


EXTREMES = (0.0, 1e-310, 1e-160, 1e-90, 1e-30, 1.0, 1e30, 1e90)
"""Sizes of features, targets and gradients."""

SPREAD: dict[str, Callable[[Array, Array], "dw.LossStream | Array"]] = {
    "squared": lambda x, y: dw.SquaredLoss(x, y),
    "absolute": lambda x, y: dw.AbsoluteLoss(x, y),
    "huber": lambda x, y: dw.HuberLoss(x, y, delta=1e-20),
    "quantile": lambda x, y: dw.QuantileLoss(x, y, quantile=0.9),
    "logistic": lambda x, y: dw.LogisticLoss(x, np.where(y < 0.0, -1.0, 1.0)),
    "tracking": lambda x, y: dw.TrackingLoss(x),
    "capacity": lambda x, y: dw.CapacityLoss(x, shortage=1e40, price=1e-40),
    "linear": lambda x, y: dw.LinearLoss(x),
    "filtered": lambda x, y: dw.FilteredLoss([1.0, 0.5], x, y),
    "gradients": lambda x, y: x,
}
"""Losses of features and targets."""


def check_pool_sound(learner: dw.SelfTunedLearner) -> None:
    decision, weights = learner.act(), learner.weights
    assert np.all(np.isfinite(decision))
    assert learner.domain.contains(decision)
    assert weights.min() >= 0.0
    assert abs(weights.sum() - 1.0) <= 1e-12
    assert math.isfinite(learner.overhead)
    if learner._plan is not None:
        parts = learner._plan.views(learner._vector)
        for name in ("points", "proposals", "moments", "squares", "curves"):
            assert np.all(np.isfinite(parts[name])), name
        assert np.all(np.isfinite(parts["totals"][learner.lanes]))


def mixed(rng: np.random.Generator, sizes: list[float], shape: tuple[int, ...]) -> Array:
    """Return numbers of these sizes, some of which are 0 or smaller by far."""
    signs = rng.choice([-1.0, 0.0, 1.0, 1e-7], shape, p=[0.4, 0.1, 0.4, 0.1])
    return np.asarray(rng.choice(sizes, shape) * signs * rng.choice([1.0, rng.uniform()], shape))


@every_pair(kind=SPREAD, where=WIDE, price=PRICES)
@given(
    seed=st.integers(0, 2**32),
    width=st.one_of(st.just(1.0), sizes(1e-78, 1e78)),
    up=st.sampled_from([0.0, 1e-78, 1.0, 1e78]),
    down=st.sampled_from([0.0, 1e-78, 1.0, 1e78]),
    spread=st.lists(st.sampled_from(EXTREMES), min_size=1, max_size=3),
    rounds=st.integers(2, 16),
)
@settings(max_examples=6)
def test_whatever_a_pool_accepts_leaves_a_decision_and_a_distribution(
    kind: str, where: str, price: str, seed: int, width: float, up: float, down: float, spread: list[float],
    rounds: int,
) -> None:  # fmt: skip
    rng, domain = np.random.default_rng(seed), WIDE[where](width)
    learner = dw.SelfTunedLearner(domain, switching_cost=PRICES[price](up, down))
    losses = SPREAD[kind](mixed(rng, spread, (rounds, domain.dim)), mixed(rng, spread, (rounds,)))
    for t in range(rounds):
        if t % 3 == 2:
            learner.act(
                proposal=width * mixed(rng, [1.0, 1e-90], (domain.dim,)), hint=mixed(rng, spread, (domain.dim,))
            )
        check_pool_sound(learner)
        before = saved(learner)
        try:
            learner.observe(losses[t])
        except InputError:
            assert saved(learner) == before
            learner.observe(np.zeros(domain.dim))
    check_pool_sound(learner)


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("gradients", [[1e-310, 0.0], [1.0, 1e-310], [0.0, 0.0], [1e90, 1.0]]),
        ("linear", [[1e-310, 1e-310], [1e-310, 0.0], [1e-310, 1.0]]),
        ("squared", [[1e-90, 1e-160], [1e-90, 0.0], [1e90, 1.0], [1.0, 1e90], [1.0, 1.0]]),
        ("quantile", [[1e-90, 1e-30], [1e-90, 1e-90], [1e90, 1e90], [1e90, 1.0], [1.0, 1.0]]),
        ("tracking", [[1e-160, 0.0], [1e90, 1e-310], [1.0, -1e90], [0.0, 0.0]]),
    ],
)
def test_sizes_that_once_went_wrong(kind: str, rows: list[list[float]]) -> None:
    """Gradients whose inverse overflows; features whose leverage does."""
    learner = dw.SelfTunedLearner(dw.Ball(2), switching_cost=1.0)
    losses = SPREAD[kind](np.array(rows), np.ones(len(rows)))
    for t in range(len(rows)):
        check_pool_sound(learner)
        learner.observe(losses[t])
    check_pool_sound(learner)


@pytest.mark.parametrize("played", [0, 3])
@pytest.mark.parametrize("kind", SPREAD)
def test_what_a_pool_refuses_leaves_the_bytes_as_they_were(kind: str, played: int) -> None:
    """A loss of its own kind, where there is one that can be refused, one of another kind, and gradients."""
    rng, ones = np.random.default_rng(0), np.ones((1, 2))
    usual = SPREAD[kind](rng.normal(size=(6, 2)), rng.normal(size=6))
    learner, twin = (dw.SelfTunedLearner(dw.Ball(2), switching_cost=1.0) for _ in range(2))
    for t in range(played):
        for one in (learner, twin):
            one.act()
            one.observe(usual[t])
    learner.act()
    twin.act()
    before = saved(learner)
    huge = dw.FilteredLoss([1e60], 1e60 * ones, [1e60])
    for bad in (huge[0], huge, np.array([np.nan, 0.0]), np.zeros(3), dw.TrackingLoss(np.ones((9, 3)))[8]):
        with pytest.raises(InputError):
            learner.observe(bad)  # type: ignore[arg-type]
        assert saved(learner) == before
    for t in range(played, 6):
        assert np.array_equal(learner.act(), twin.act())
        learner.observe(usual[t])
        twin.observe(usual[t])
