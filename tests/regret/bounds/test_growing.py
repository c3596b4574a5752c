"""Hedge over a pool that grows, with a rate that falls: every inequality of its proof, on runs that try to break it."""

import math

import numpy as np
import pytest

from driftwise.engine.program import pool_size
from driftwise.regret.bounds.growing import excess, joining, shifts


@pytest.mark.parametrize("growth", [1.0, 4.0 / 7.0, 256.0])
def test_base_learners_join_when_the_pool_has_them(growth: float) -> None:
    births = joining(3000, growth)
    for t in (*range(1, 300), *range(300, 3001, 13)):
        assert np.searchsorted(births, t, side="right") == pool_size(float(t), growth)


def _weights(log_prior: np.ndarray, rate: float, totals: np.ndarray) -> np.ndarray:
    powers = log_prior - rate * totals
    weights = np.exp(powers - powers.max())
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("seed", range(20))
def test_weights_shift_by_no_more_than_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    N, T = int(rng.integers(2, 9)), 300
    i = np.arange(1.0, N + 1.0)
    log_prior = [-np.log(i * (i + 1.0)), np.zeros(N)][seed % 2]
    rates = rng.uniform(0.01, 20.0) / np.sqrt(np.maximum(np.arange(T + 1.0), 1.0))
    if seed % 3 == 0:  # a rate that falls in jumps
        rates = np.minimum.accumulate(rates * np.exp(-1.0 * np.cumsum(rng.random(T + 1) < 0.05)))
    # Losses that keep two base-learners apart, then bring them together: the worst for weights.
    losses = rng.standard_normal((T, N)) * rng.pareto(1.5, (T, 1))
    losses[: T // 2, 0] -= rng.uniform(0.0, 2.0)
    ranges = np.ptp(losses, axis=1)
    least = np.full(T, math.log(N) if seed % 2 else math.log(N * N))
    allowed, with_totals = shifts(rates, ranges, least), shifts(rates, ranges)
    totals = np.vstack([np.zeros(N), np.cumsum(losses, axis=0)])
    found = np.array(
        [
            0.5
            * np.abs(_weights(log_prior, rates[t + 1], totals[t + 1]) - _weights(log_prior, rates[t], totals[t])).sum()
            for t in range(T)
        ]
    )
    assert np.all(found <= allowed + 1e-12)
    assert np.all(allowed <= with_totals + 1e-12)
    assert found.max() > 0.01  # something was shifted


def test_two_experts_far_apart_shift_as_far_as_the_bound_says() -> None:
    s, rate = 1.3, 0.7
    # Log-odds from -rate s / 2 to rate s / 2: the most that a range of s can do.
    before = _weights(np.array([0.0, -0.5 * rate * s]), rate, np.zeros(2))
    after = _weights(np.array([0.0, -0.5 * rate * s]), rate, np.array([s, 0.0]))
    found = 0.5 * np.abs(after - before).sum()
    assert shifts(np.array([rate, rate]), np.array([s]))[0] == pytest.approx(found, rel=1e-12)


def test_excess_goes_by_the_cheapest_way() -> None:
    births = np.array([1, 1, 5])
    own = {(0, 1, 4): 3.0, (1, 1, 4): 9.0, (0, 1, 10): 30.0, (1, 1, 10): 20.0, (2, 5, 10): 4.0}
    assert excess(10, births, lambda t: 100.0 * t, lambda *key: own[key]) == 3.0 + 4.0
    assert excess(10, births, lambda t: 1.0, lambda *key: own[key]) == 1.0
    assert excess(10, births, lambda t: 0.5 * t, lambda *key: own[key]) == 5.0
    assert excess(4, births, lambda t: 100.0, lambda *key: own[key]) == 3.0
