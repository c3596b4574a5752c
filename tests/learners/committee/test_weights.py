"""The self-tuned weights against their statement in NumPy, and where numbers are huge, tiny or equal."""

import math

import numpy as np
import pytest
from hypothesis import given

from driftwise._validate import Array
from driftwise.learners.committee.kernels import Flags
from driftwise.learners.committee.weights import SelfTunedWeights
from tests.strategies import seeds

N = 4


def _uniform(n: int = N) -> SelfTunedWeights:
    return SelfTunedWeights(np.full(n, -math.log(n)))


def _plain(prior: Array, losses: Array, awake: Flags, prices: Array) -> tuple[Array, float]:
    """Return the weights of every round and the overhead, from the formulas as they stand."""
    totals, overhead, rows = np.zeros(prior.size), 0.0, []
    for charge, here, price in zip(losses, awake, prices, strict=True):
        rate = math.log(prior.size) / overhead if overhead else math.inf
        # While the overhead is 0 all totals are equal.
        p = prior * (np.exp(-rate * (totals - totals.min())) if overhead else 1.0) * here
        p /= p.sum()
        least = charge[here].min()
        mix = -math.log(p[here] @ np.exp(-rate * (charge[here] - least))) / rate + least if overhead else least
        overhead += p[here] @ charge[here] - mix + price
        totals += np.where(here, charge, mix)
        rows.append(p)
    return np.array(rows), overhead


@given(seeds)
def test_rounds_are_the_formulas(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prior = rng.uniform(0.1, 1.0, N)
    prior /= prior.sum()
    losses, prices = rng.uniform(-1.0, 1.0, (30, N)), rng.uniform(0.0, 0.2, 30)
    awake = rng.random((30, N)) < 0.8
    awake[np.arange(30), rng.integers(N, size=30)] = True
    expected, overhead = _plain(prior, losses, awake, prices)
    meta = SelfTunedWeights(np.log(prior))
    for p, charge, here, price in zip(expected, losses, awake, prices, strict=True):
        weights = meta.of(here)
        np.testing.assert_allclose(weights, p, rtol=1e-9, atol=1e-12)
        meta.learn(weights, here, charge, price)
    assert meta.overhead == pytest.approx(overhead, rel=1e-9)


def test_a_sleeper_keeps_its_share() -> None:
    meta, everybody = _uniform(), np.ones(N, bool)
    meta.learn(meta.of(everybody), everybody, np.array([0.0, 1.0, 2.0, 3.0]), 0.0)
    before, rate = meta.of(everybody), meta.rate
    awake = np.array([True, True, False, True])
    meta.learn(meta.of(awake), awake, np.array([5.0, 1.0, 0.0, 0.0]), 0.0)
    # At the rate of the round itself the share is kept exactly; then the rate falls.
    powers = -rate * meta.totals
    shares = np.exp(powers - powers.max())
    assert shares[2] / shares.sum() == pytest.approx(before[2], rel=1e-12)


def test_equal_losses_leave_the_prior_and_cost_nothing() -> None:
    meta, everybody = SelfTunedWeights(np.log([0.5, 0.25, 0.25])), np.ones(3, bool)
    for size in (0.0, 1e90, -3.0, 1e-90):
        meta.learn(meta.of(everybody), everybody, np.full(3, size), 0.0)
        assert meta.overhead == 0.0
        np.testing.assert_allclose(meta.of(everybody), [0.5, 0.25, 0.25], rtol=1e-15)


def test_rounding_is_no_difference() -> None:
    meta, everybody = _uniform(2), np.ones(2, bool)
    meta.learn(meta.of(everybody), everybody, np.array([0.1 + 0.2, 0.3]), 0.0)
    assert meta.of(everybody).tolist() == [0.5, 0.5]


def test_a_member_without_weight_counts_when_it_was_by_far_the_best() -> None:
    meta, everybody = _uniform(2), np.ones(2, bool)
    for _ in range(3000):
        meta.learn(meta.of(everybody), everybody, np.array([0.0, 1e-90]), 0.0)
    assert meta.of(everybody)[1] == 0.0
    meta.learn(meta.of(everybody), everybody, np.array([1e90, 0.0]), 0.0)
    assert meta.overhead == pytest.approx(1e90, rel=1e-12)
    assert 0.3 < meta.of(everybody)[0] < 0.5


@given(seeds)
def test_huge_and_tiny_losses_leave_a_distribution(seed: int) -> None:
    rng = np.random.default_rng(seed)
    meta, rate = _uniform(), math.inf
    for _ in range(40):
        awake = rng.random(N) < 0.7
        awake[rng.integers(N)] = True
        weights = meta.of(awake)
        assert weights.min() >= 0.0
        assert abs(weights.sum() - 1.0) < 1e-12
        assert not weights[~awake].any()
        assert meta.rate <= rate
        rate = meta.rate
        meta.learn(weights, awake, rng.choice([-1.0, 0.0, 1.0], N) * 10.0 ** rng.choice([-90, 0, 90], N), 0.0)
    assert math.isfinite(meta.overhead)
    assert np.isfinite(meta.totals).all()
