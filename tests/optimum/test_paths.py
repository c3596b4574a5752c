"""The cheapest path of one coordinate, against all paths on a grid."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftwise._validate import Array
from driftwise.optimum.paths import Terms, cheapest_path, path_dual
from tests.strategies import seeds

GRID = 7
"""Whole numbers from 0 to 6: with whole slopes and kinks, and no bends, some path on them is the cheapest."""


def value(curve: Array, z: Any) -> Array:
    """Return the loss whose derivative is given, up to a constant."""
    bend, slope, kink, jump = curve
    return np.asarray(0.5 * bend * z**2 + slope * z + jump * np.maximum(z - kink, 0.0))


def total(curves: Array, up: float, down: float, w: Array) -> float:
    losses = sum(float(value(curve, w[t])) for t, curve in enumerate(curves))
    changes = np.diff(w)
    return losses + float(np.where(changes > 0.0, up * changes, -down * changes).sum())


def least(curves: Array, up: float, down: float, places: Array) -> float:
    """Return the least cost of a path over some places, by dynamic programming."""
    gaps = places[None, :] - places[:, None]  # from a row to a column
    price = np.where(gaps > 0.0, up * gaps, -down * gaps)
    cost = value(curves[0], places)
    for curve in curves[1:]:
        cost = (cost[:, None] + price).min(axis=0) + value(curve, places)
    return float(cost.min())


def found(curves: Array, low: float, high: float, up: float, down: float) -> tuple[Array, Array]:
    rows, terms = np.ascontiguousarray(curves.T, float), Terms(low, high, up, down)
    w = cheapest_path(rows, terms)
    return w, path_dual(rows, terms, w)


@settings(max_examples=30)
@given(seeds, st.integers(1, 12), st.sampled_from([0.0, 1.0, 3.0, 50.0]), st.sampled_from([0.0, 1.0, 2.0, 50.0]))
def test_kinks_on_a_grid_give_the_cheapest_of_all_paths_on_it(seed: int, rounds: int, up: float, down: float) -> None:
    rng = np.random.default_rng(seed)
    slopes, kinks, jumps = rng.integers(-4, 3, rounds), rng.integers(-2, 9, rounds), rng.integers(0, 6, rounds)
    curves = np.column_stack([np.zeros(rounds), slopes, kinks, jumps])
    w, _ = found(curves, 0.0, GRID - 1.0, up, down)
    assert w.min() >= 0.0
    assert w.max() <= GRID - 1.0
    assert total(curves, up, down, w) == pytest.approx(least(curves, up, down, np.arange(float(GRID))), abs=1e-9)


def test_all_paths_of_three_rounds_one_by_one() -> None:
    rng = np.random.default_rng(1)
    for up, down in itertools.product([0.0, 1.0, 4.0], repeat=2):
        curves = np.column_stack(
            [np.zeros(3), rng.integers(-4, 3, 3), rng.integers(0, GRID, 3), rng.integers(0, 6, 3)]
        ).astype(float)
        paths = itertools.product(np.arange(float(GRID)), repeat=3)
        expected = min(total(curves, up, down, np.array(path)) for path in paths)
        assert total(curves, up, down, found(curves, 0.0, GRID - 1.0, up, down)[0]) == pytest.approx(expected)


@settings(max_examples=30)
@given(seeds, st.integers(1, 30), st.sampled_from([0.0, 0.3, 2.0, 1e4]), st.sampled_from([0.0, 0.7, 1e4]))
def test_bends_and_kinks_together_cost_no_more_than_a_fine_grid(seed: int, rounds: int, up: float, down: float) -> None:
    rng = np.random.default_rng(seed)
    curves = np.column_stack(
        [
            rng.uniform(0.0, 2.0, rounds) * (rng.random(rounds) < 0.7),
            rng.normal(0.0, 2.0, rounds),
            rng.uniform(-2.0, 2.0, rounds),
            rng.uniform(0.0, 3.0, rounds) * (rng.random(rounds) < 0.7),
        ]
    )
    w, dual = found(curves, -1.0, 1.5, up, down)
    best = total(curves, up, down, w)
    assert best <= least(curves, up, down, np.linspace(-1.0, 1.5, 101)) + 1e-9
    # The multipliers prove it: what the losses and they leave to the ends of the interval adds up to the cost.
    bends, slopes, kinks, jumps = curves.T
    steps = np.diff(dual, prepend=0.0)
    at = bends * w + slopes
    slope = np.clip(steps, at + jumps * (w > kinks), at + jumps * (w >= kinks))
    rest = steps - slope
    assert np.all((-down - 1e-12 <= dual) & (dual <= up + 1e-12))
    assert dual[-1] == 0.0
    tangents = sum(float(value(curve, w[t])) - slope[t] * w[t] for t, curve in enumerate(curves))
    bound = tangents - np.where(rest > 0.0, 1.5 * rest, -1.0 * rest).sum()
    assert bound == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_when_nothing_is_ever_cut_off_all_kinks_stay_and_the_path_is_their_quantile() -> None:
    rounds = 200_000
    kinks = np.random.default_rng(2).uniform(0.0, 9.0, rounds)
    curves = np.column_stack([np.zeros(rounds), np.full(rounds, -4.0), kinks, np.full(rounds, 5.0)])
    w, dual = found(curves, 0.0, 9.0, 1e9, 1e9)
    assert np.ptp(w) == 0.0
    assert np.mean(curves[:, 2] > w[0]) == pytest.approx(0.2, abs=1e-5)
    assert np.abs(dual).max() < 1e9


@settings(max_examples=30)
@given(seeds, st.sampled_from([5e-324, 1e-100, 1e100]), st.sampled_from([0.0, 5e-324, 1e100]))
def test_curves_and_prices_of_any_size_give_numbers_within_the_interval(seed: int, size: float, price: float) -> None:
    rng = np.random.default_rng(seed)
    curves = np.column_stack([rng.random(9), rng.normal(size=9), rng.uniform(-2.0, 2.0, 9), rng.random(9)])
    w, dual = found(curves * [size, size, 1.0, size], -1.0, 1.5, price, price)
    assert np.all((w >= -1.0) & (w <= 1.5))
    assert np.isfinite(dual).all()
