"""The scaled simplex."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ParameterError
from tests.strategies import vectors


def by_bisection(x: Array, scale: float) -> Array:
    """Project without sorting: find the threshold at which the positive parts sum to the scale."""
    low, high = float(x.min()) - scale, float(x.max())
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if np.maximum(x - middle, 0.0).sum() > scale else (low, middle)
    return np.asarray(np.maximum(x - high, 0.0))


@given(st.integers(1, 8).flatmap(vectors), st.floats(1e-2, 1e2))
@example(np.zeros(4), 1.0)
@example(np.full(5, -3.0), 2.0)
@example(np.array([5.0, 5.0, -5.0]), 1.0)
def test_projection_against_bisection(x: Array, scale: float) -> None:
    projected = dw.Simplex(x.size, scale).project(x)
    np.testing.assert_allclose(projected, by_bisection(x, scale), rtol=0.0, atol=1e-12 * (scale + np.abs(x).max()))
    assert projected.min() >= 0.0
    assert projected.sum() == pytest.approx(scale, rel=1e-13)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([1e90, 0.0, -1e90], [2.0, 0.0, 0.0]),
        ([1e90, 1e90, -1e90], [1.0, 1.0, 0.0]),
        ([1e-90, 0.0, -1e-90], [2 / 3, 2 / 3, 2 / 3]),
    ],
)
def test_huge_and_tiny_points(x: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(dw.Simplex(3, scale=2.0).project(x), expected, rtol=1e-15)


@given(st.integers(1, 6).flatmap(vectors), st.floats(1e-2, 1e2))
def test_support_and_farthest_are_attained_at_corners(x: Array, scale: float) -> None:
    simplex = dw.Simplex(x.size, scale)
    corners = scale * np.eye(x.size)
    assert simplex.support(x) == pytest.approx((corners @ x).max(), rel=1e-12, abs=1e-12)
    assert simplex.farthest(x) == pytest.approx(np.linalg.norm(corners - x, axis=1).max(), rel=1e-9)


@pytest.mark.parametrize(("dim", "diameter"), [(1, 0.0), (2, 3.0 * 2**0.5), (9, 3.0 * 2**0.5)])
def test_diameter(dim: int, diameter: float) -> None:
    assert dw.Simplex(dim, scale=3.0).diameter == pytest.approx(diameter, rel=1e-15)


def test_repr() -> None:
    assert repr(dw.Simplex(3, scale=0.5)) == "Simplex(3, scale=0.5)"


@pytest.mark.parametrize(
    ("dim", "scale", "name"), [(0, 1.0, "dim"), (2, 0.0, "scale"), (2, "1", "scale"), (True, 1.0, "dim")]
)
def test_bad_arguments(dim: Any, scale: Any, name: str) -> None:
    with pytest.raises(ParameterError, match=f"Simplex: {name} must be"):
        dw.Simplex(dim, scale)
