"""Products of spectral-norm balls, against NumPy's singular value decomposition."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import DriftwiseError, InputError, ParameterError
from tests.strategies import seeds, vectors

SIDES = st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 6))


def clip_singular_values(stack: Array, radii: Array) -> Array:
    u, s, v = np.linalg.svd(stack, full_matrices=False)
    return np.asarray((u * np.minimum(s, radii[:, None])[:, None, :]) @ v)


def with_singular_values(rng: np.random.Generator, rows: int, columns: int, values: Array) -> Array:
    u = np.linalg.qr(rng.standard_normal((rows, values.size)))[0]
    v = np.linalg.qr(rng.standard_normal((columns, values.size)))[0]
    return np.asarray((u * values) @ v.T)


@given(st.data(), SIDES, st.floats(-3.0, 3.0))
def test_projection_clips_singular_values(data: st.DataObject, shape: tuple[int, int, int], exponent: float) -> None:
    stack = data.draw(vectors(shape))
    radii = 10.0**exponent * np.linspace(0.5, 1.0, shape[0])
    projected = dw.SpectralBalls(shape, radii).project(stack)
    assert projected.shape == shape
    expected = clip_singular_values(stack, radii)
    np.testing.assert_allclose(projected, expected, rtol=0.0, atol=1e-12 * float(np.linalg.norm(stack)) + 1e-150)
    assert np.all(np.linalg.norm(projected, 2, axis=(1, 2)) <= radii * (1.0 + 1e-12))


@given(seeds, st.integers(2, 6), st.integers(2, 6))
def test_badly_conditioned_matrices(seed: int, rows: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.geomspace(1e6, 1e-6, min(rows, columns))
    matrix = with_singular_values(rng, rows, columns, values)[None]
    projected = dw.SpectralBalls((1, rows, columns), 1.0).project(matrix)
    np.testing.assert_allclose(projected, clip_singular_values(matrix, np.ones(1)), rtol=0.0, atol=1e-12 * values[0])
    np.testing.assert_allclose(np.linalg.norm(projected, 2, axis=(1, 2)), 1.0, rtol=1e-12)


@given(seeds, st.integers(2, 5))
def test_orthogonal_rows_are_clipped_one_by_one(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = np.geomspace(1e3, 1e-3, rows)
    matrix = sizes[:, None] * np.linalg.qr(rng.standard_normal((7, rows)))[0].T
    expected = matrix * np.minimum(1.0, 1.0 / sizes)[:, None]
    for stack, reference in ((matrix, expected), (matrix.T, expected.T)):
        projected = dw.SpectralBalls((1, *stack.shape), 1.0).project(stack[None])[0]
        np.testing.assert_allclose(projected, reference, rtol=0.0, atol=1e-12 * sizes[0])


@pytest.mark.parametrize(
    "matrix",
    [
        np.zeros((2, 2)),
        np.diag([0.6, 0.6]),
        np.full((3, 3), 1.0 / 3.0),
        np.eye(2, 3),
    ],
)
def test_members_keep_their_place(matrix: Array) -> None:
    domain = dw.SpectralBalls((1, *matrix.shape), 1.0)
    np.testing.assert_allclose(domain.project(matrix[None])[0], matrix, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("shape", [(1, 1, 4), (1, 4, 1)])
def test_one_row_or_column_is_a_euclidean_ball(shape: tuple[int, int, int]) -> None:
    x = np.array([1.0, -2.0, 2.0, 4.0])
    np.testing.assert_allclose(dw.SpectralBalls(shape, 0.5).project(x), dw.Ball(4, 0.5).project(x), rtol=1e-15)


@given(vectors((2, 3, 2)))
def test_support_is_the_nuclear_norm(stack: Array) -> None:
    radii = np.array([0.5, 2.0])
    domain = dw.SpectralBalls((2, 3, 2), radii)
    nuclear = np.linalg.norm(stack, "nuc", axis=(1, 2))
    assert domain.support(stack) == pytest.approx(nuclear @ radii, rel=1e-9, abs=1e-9)


def test_diameter_is_the_distance_of_opposite_isometries() -> None:
    domain = dw.SpectralBalls((2, 3, 4), [1.0, 2.0])
    isometries = np.stack([np.eye(3, 4), 2.0 * np.eye(3, 4)])
    assert domain.contains(isometries)
    assert domain.diameter == pytest.approx(np.linalg.norm(2.0 * isometries), rel=1e-15)


def test_repr_and_shape() -> None:
    domain = dw.SpectralBalls([2, 1, 3], 1.5)  # type: ignore[arg-type]
    assert repr(domain) == "SpectralBalls(shape=(2, 1, 3), radii=[1.5 1.5])"
    assert (domain.shape, domain.dim) == ((2, 1, 3), 6)


@pytest.mark.parametrize(
    ("shape", "radii", "error", "message"),
    [
        ((2, 2), 1.0, ParameterError, "shape must be three whole numbers"),
        (4, 1.0, ParameterError, "shape must be three whole numbers"),
        ((1, 0, 2), 1.0, ParameterError, r"shape\[1\] must be a whole number"),
        ((2, 1, 1), [1.0, 0.0], ParameterError, "radii must be above 0, got a smallest one of 0"),
        ((2, 1, 1), [1.0], InputError, r"radii must be finite real numbers of shape \(2,\)"),
        ((2, 1, 1), [[1.0], [1.0, 2.0]], InputError, "radii must be real numbers in rows of one length"),
        ((1, 1, 1), "1", InputError, "radii must be finite real numbers"),
    ],
)
def test_bad_arguments(shape: Any, radii: Any, error: type[DriftwiseError], message: str) -> None:
    with pytest.raises(error, match=message):
        dw.SpectralBalls(shape, radii)
