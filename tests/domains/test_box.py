"""The box."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import DriftwiseError, InputError, ParameterError
from tests.strategies import vectors


@given(st.data(), st.integers(1, 6))
def test_projection_clips_every_coordinate(data: st.DataObject, dim: int) -> None:
    limits = np.sort(data.draw(vectors((2, dim))), axis=0)
    x = data.draw(vectors(dim, 1e4))
    np.testing.assert_array_equal(dw.Box(*limits).project(x), np.clip(x, *limits))


@given(vectors((2, 3)), vectors(3))
def test_diameter_support_and_farthest_are_attained_at_corners(limits: Array, x: Array) -> None:
    limits.sort(axis=0)
    box = dw.Box(*limits)
    corners = np.array(list(product(*limits.T)))
    assert box.diameter == pytest.approx(np.linalg.norm(corners[:, None] - corners, axis=2).max(), rel=1e-12, abs=1e-9)
    assert box.support(x) == pytest.approx((corners @ x).max(), rel=1e-12, abs=1e-9)
    assert box.farthest(x) == pytest.approx(np.linalg.norm(corners - x, axis=1).max(), rel=1e-12, abs=1e-9)


def test_equal_limits_pin_a_coordinate() -> None:
    box = dw.Box([0.0, 2.0], [1.0, 2.0])
    np.testing.assert_array_equal(box.project([[-1.0, 9.0], [0.5, -9.0]]), [[0.0, 2.0], [0.5, 2.0]])
    assert box.diameter == 1.0


def test_single_numbers_make_one_coordinate() -> None:
    assert dw.Box(-1.0, 3.0).dim == 1
    assert repr(dw.Box(-1.0, 3.0)) == "Box(low=[-1.], high=[3.])"


@pytest.mark.parametrize(
    ("low", "high", "error", "message"),
    [
        ([0.0, 2.0], [1.0, 1.0], ParameterError, "got low 2 above high 1 at coordinate 1"),
        ([0.0, 0.0], [1.0], InputError, r"Box: high must be finite real numbers of shape \(2,\)"),
        ([np.nan], [1.0], InputError, "Box: low .* got nan at"),
        ([[0.0]], [[1.0]], InputError, "Box: low must be finite real numbers of shape"),
        ([[0.0], [0.0, 1.0]], [1.0], InputError, "Box: low must be real numbers in rows of one length"),
        (0.0, [[0.0], [0.0, 1.0]], InputError, "Box: high must be real numbers in rows of one length"),
        ("low", [1.0], InputError, "Box: low must be finite real numbers"),
    ],
)
def test_bad_arguments(low: Any, high: Any, error: type[DriftwiseError], message: str) -> None:
    with pytest.raises(error, match=message):
        dw.Box(low, high)
