"""The Euclidean ball."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise.errors import DriftwiseError, InputError, ParameterError
from tests.strategies import vectors


@given(st.data(), st.integers(1, 6), st.floats(1e-3, 1e3))
def test_projection_is_the_rescaled_offset_from_the_centre(data: st.DataObject, dim: int, radius: float) -> None:
    center, x = data.draw(vectors(dim)), data.draw(vectors(dim, 1e4))
    ball = dw.Ball(dim, radius, center)
    offset = x - center
    expected = center + offset * min(1.0, radius / max(float(np.linalg.norm(offset)), 1e-300))
    rounding = 1e-12 * (1.0 + float(np.linalg.norm(center)))
    np.testing.assert_allclose(ball.project(x), expected, rtol=1e-12, atol=rounding)


def test_points_inside_keep_their_bits() -> None:
    x = np.array([0.1, -0.7, 1e-300])
    assert dw.Ball(3).project(x).tobytes() == x.tobytes()


def test_support_and_farthest_are_attained_where_geometry_says() -> None:
    ball = dw.Ball(2, radius=2.0, center=[1.0, -1.0])
    assert ball.diameter == 4.0
    assert ball.support([3.0, 4.0]) == pytest.approx(3.0 - 4.0 + 2.0 * 5.0, rel=1e-15)
    np.testing.assert_allclose(ball.farthest([[1.0, -1.0], [4.0, 3.0]]), [2.0, 7.0], rtol=1e-15)


def test_centre_is_copied_and_cannot_be_written() -> None:
    center = np.ones(2)
    ball = dw.Ball(2, center=center)
    center[:] = 9.0
    assert ball.contains([1.0, 1.0])
    with pytest.raises(ValueError, match="read-only"):
        ball.center[0] = 9.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"dim": 0}, ParameterError, "Ball: dim must be a whole number of at least 1, got 0."),
        ({"dim": 2.0}, ParameterError, "Ball: dim must be a whole number"),
        ({"dim": 2, "radius": 0.0}, ParameterError, "Ball: radius must be a number that is above 0"),
        ({"dim": 2, "radius": np.nan}, ParameterError, "Ball: radius must be a number that is above 0"),
        ({"dim": 2, "center": [0.0]}, InputError, "Ball: center must be finite real numbers of shape"),
        ({"dim": 2, "center": [0.0, np.inf]}, InputError, "got inf at"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], error: type[DriftwiseError], message: str) -> None:
    with pytest.raises(error, match=message):
        dw.Ball(**arguments)


@pytest.mark.parametrize(
    ("ball", "text"),
    [(dw.Ball(2), "Ball(2, radius=1)"), (dw.Ball(1, 0.5, [3.0]), "Ball(1, radius=0.5, center=...)")],
)
def test_repr(ball: dw.Ball, text: str) -> None:
    assert repr(ball) == text


@pytest.mark.parametrize(("tol", "inside"), [(1e-9, False), (1e-6, True)])
def test_contains_uses_its_tolerance(tol: float, inside: bool) -> None:
    assert dw.Ball(2).contains([1.0 + 1e-7, 0.0], tol=tol) is inside


def test_contains_wants_every_row_inside() -> None:
    assert dw.Ball(2).contains([[0.0, 1.0], [1.0, 0.0]])
    assert not dw.Ball(2).contains([[0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(ParameterError, match="Ball: tol must be"):
        dw.Ball(2).contains([0.0, 0.0], tol=-1.0)
