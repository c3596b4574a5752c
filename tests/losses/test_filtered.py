"""Losses with memory, against their formula and against all corners of a box."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import InputError
from tests.strategies import vectors

BOX = dw.Box([-1.0, 0.0], [0.5, 2.0])
CORNERS = [np.array(corner) for corner in product(*zip(BOX.low, BOX.high, strict=True))]

some_taps = st.integers(1, 3).flatmap(lambda size: vectors(size, 2.0))
features, targets = vectors((2, 2), 3.0), vectors(2, 3.0)


@given(some_taps, features, targets, st.data())
def test_value_and_gradient_follow_the_formula(taps: Array, x: Array, y: Array, data: st.DataObject) -> None:
    losses = dw.FilteredLoss(taps, x, y)
    window = data.draw(vectors((taps.size, 2), 3.0))
    newest_first = window[::-1]
    w = window[0]
    for t in range(2):
        score = sum(tap * (x[t] @ row) for tap, row in zip(taps, newest_first, strict=True))
        assert losses.value(t, window) == pytest.approx(0.5 * (score - y[t]) ** 2, rel=1e-9, abs=1e-12)
        held = taps.sum() * (x[t] @ w)
        assert losses.unary_value(t, w) == pytest.approx(0.5 * (held - y[t]) ** 2, rel=1e-9, abs=1e-12)
        expected = (held - y[t]) * taps.sum() * x[t]
        np.testing.assert_allclose(losses.gradient(t, w), expected, rtol=1e-9, atol=1e-12)


@given(some_taps, features, targets)
def test_constants_are_exact_over_all_corners(taps: Array, x: Array, y: Array) -> None:
    """The slope of each argument is largest at a window of corners, so going through all of them gives the answer."""
    losses = dw.FilteredLoss(taps, x, y)
    slopes = [
        abs(sum(tap * (x[t] @ w) for tap, w in zip(taps, window, strict=True)) - y[t]) * np.linalg.norm(x[t])
        for t in range(2)
        for window in product(CORNERS, repeat=taps.size)
    ]
    np.testing.assert_allclose(losses.lipschitz(BOX), np.abs(taps) * max(slopes), rtol=1e-9, atol=1e-9)
    gradients = [np.linalg.norm(losses.gradient(t, corner)) for t in range(2) for corner in CORNERS]
    assert losses.gradient_bound(BOX) == pytest.approx(max(gradients), rel=1e-9, abs=1e-9)


@given(st.integers(1, 8).flatmap(lambda size: vectors(size, 2.0)), features, targets)
def test_switching_costs(taps: Array, x: Array, y: Array) -> None:
    losses = dw.FilteredLoss(taps, x, y)
    constants, memory = losses.lipschitz(BOX), taps.size - 1
    costs = losses.switching_costs(BOX)
    assert costs.paper == pytest.approx(memory**2 * constants.max(), rel=1e-12)
    assert costs.tight == pytest.approx(sum(k * constants[k] for k in range(taps.size)), rel=1e-12)
    assert costs.tight <= costs.paper
    if memory == 0:
        assert costs == (0.0, 0.0)


@pytest.mark.parametrize("memory", [6, 12, 30])
def test_taps_that_halve_have_a_tight_cost_that_does_not_grow(memory: int) -> None:
    losses = dw.FilteredLoss(0.5 ** np.arange(memory + 1), [[1.0, 0.0]], [0.0])
    costs, first = losses.switching_costs(dw.Ball(2)), losses.lipschitz(dw.Ball(2))[0]
    assert 1.8 * first <= costs.tight <= 2.0 * first
    assert costs.paper == pytest.approx(memory**2 * first)


def test_one_tap_is_a_squared_loss_without_memory() -> None:
    losses = dw.FilteredLoss([2.0], [[1.0]], [1.0])
    assert losses.memory == 0
    assert losses.value(0, [3.0]) == losses.value(0, [[3.0]]) == 12.5


def test_a_window_is_needed() -> None:
    losses = dw.FilteredLoss([1.0, 1.0], [[1.0]], [1.0])
    with pytest.raises(InputError, match=r"FilteredLoss.value: window must be finite real numbers of shape \(2, 1\)"):
        losses.value(0, [1.0])
