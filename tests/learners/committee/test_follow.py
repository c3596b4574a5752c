"""The coupled draws: right on the margin, and as few changes as can be."""

import numpy as np
import pytest
from hypothesis import given, settings

from driftwise._validate import Array
from driftwise.learners.committee.follow import draw, redraw
from tests.strategies import seeds

GRID = (np.arange(500) + 0.5) / 500


def _two(seed: int) -> tuple[Array, Array]:
    """Return two distributions over five members, each with members that have no weight."""
    rng = np.random.default_rng(seed)
    rows = rng.exponential(size=(2, 5)) * (rng.random((2, 5)) < 0.8)
    rows[:, 2] += 0.1
    return rows[0] / rows[0].sum(), rows[1] / rows[1].sum()


@settings(max_examples=15)
@given(seeds)
def test_a_draw_has_the_distribution_of_the_weights(seed: int) -> None:
    weights = _two(seed)[0]
    counts = np.bincount([draw(weights, u) for u in GRID], minlength=5) / GRID.size
    np.testing.assert_allclose(counts, weights, atol=1.0 / GRID.size)


def test_draws_never_fall_on_a_member_without_weight() -> None:
    weights = np.array([0.0, 0.3, 0.0, 0.7 - 1e-16, 0.0])
    assert draw(weights, 0.0) == 1
    assert draw(weights, np.nextafter(1.0, 0.0)) == 3


@settings(max_examples=15)
@given(seeds)
def test_the_member_after_has_the_weights_after_and_changes_as_seldom_as_can_be(seed: int) -> None:
    before, after = _two(seed)
    margin, changed = np.zeros(5), 0.0
    for member in np.flatnonzero(before):
        found = np.array([redraw(int(member), before, after, u) for u in GRID])
        margin += before[member] * np.bincount(found, minlength=5) / GRID.size
        changed += before[member] * float(np.mean(found != member))
    np.testing.assert_allclose(margin, after, atol=5.0 / GRID.size)
    assert changed == pytest.approx(0.5 * np.abs(after - before).sum(), abs=5.0 / GRID.size)


def test_equal_weights_mean_no_change() -> None:
    weights = np.array([0.1, 0.2, 0.7])
    assert all(redraw(member, weights, weights, u) == member for member in range(3) for u in GRID[::10])
