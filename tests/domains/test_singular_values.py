"""The compiled projection onto spectral-norm balls: small directions, rows far apart, and matrices at the edge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._compile import entry
from driftwise._memory import part
from driftwise._validate import Array
from driftwise.domains.singular_values import NEARBY, _excess, spectral_room
from tests.domains.cases import compiled, points, powers
from tests.domains.test_spectral import with_singular_values
from tests.strategies import seeds

SIDES = st.tuples(st.integers(1, 5), st.integers(1, 5))


@entry
def excess_of(directions: Array, shares: Array) -> float:
    return _excess(part(directions, 0), part(shares, 0), directions.shape[0], directions.shape[1])


def project(matrix: Array, radius: float = 1.0) -> Array:
    """Project one matrix onto the ball of a radius."""
    return compiled(dw.SpectralBalls((1, *matrix.shape), radius), matrix.reshape(-1)).reshape(matrix.shape)


@given(seeds, st.integers(2, 5))
def test_small_directions_keep_their_relative_accuracy(seed: int, rows: int) -> None:
    """Orthogonal rows of sizes 1e6 to 1e-6 are projected one by one; an ordinary SVD would lose the small ones."""
    rng = np.random.default_rng(seed)
    sizes = np.geomspace(1e6, 1e-6, rows)
    matrix = sizes[:, None] * np.linalg.qr(rng.standard_normal((7, rows)))[0].T
    expected = matrix * np.minimum(1.0, 1.0 / sizes)[:, None]
    for projected in (project(matrix), project(matrix.T).T):
        assert np.all(np.linalg.norm(projected - expected, axis=1) <= 1e-12 * np.minimum(sizes, 1.0))


@given(seeds, st.integers(2, 5))
def test_rows_that_are_300_orders_of_magnitude_apart(seed: int, rows: int) -> None:
    """Gram and Schmidt know the answer: each row loses its components along all larger ones, and is clipped."""
    rng = np.random.default_rng(seed)
    triangle = np.tril(rng.uniform(-1.0, 1.0, (rows, rows)), -1) + np.diag(rng.uniform(0.5, 1.0, rows))
    axes = np.linalg.qr(rng.standard_normal((7, rows)))[0].T
    sizes = np.geomspace(1e300, 1e10, rows)
    matrix = sizes[:, None] * (triangle @ axes)
    np.testing.assert_allclose(project(matrix), axes, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(project(matrix[::-1].T), axes[::-1].T, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ([[1e160, 0.0], [1.0, 0.0]], [[1.0, 0.0], [1e-160, 0.0]]),
        ([[1.0, 0.0], [1e160, 1.0]], [[0.0, 0.0], [1.0, 0.0]]),
        ([[1e160, 1e160], [1.0, -1.0]], [[0.5**0.5, 0.5**0.5], [0.5**0.5, -(0.5**0.5)]]),
        ([[1e160, 1.0], [3e160, -3.0]], [[0.1**0.5, 0.9**0.5], [0.9**0.5, -(0.1**0.5)]]),
        ([[1e300, 0.0], [0.0, 1e-300]], [[1.0, 0.0], [0.0, 1e-300]]),
        ([[5e-324, 2.0], [2.0, 5e-324]], [[0.0, 1.0], [1.0, 0.0]]),
    ],
)
def test_entries_far_apart(matrix: list[list[float]], expected: list[list[float]]) -> None:
    np.testing.assert_allclose(project(np.array(matrix)), expected, rtol=1e-13, atol=1e-159)


@given(seeds, SIDES, powers(-100.0, 100.0), powers(-100.0, 200.0))
def test_matrices_of_any_size_and_radius(seed: int, sides: tuple[int, int], radius: float, size: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.1, 10.0, min(sides))
    u, s, v = np.linalg.svd(with_singular_values(rng, *sides, values), full_matrices=False)
    projected = project(size * (u * s) @ v, radius) / radius
    np.testing.assert_allclose(projected, (u * np.minimum(s * (size / radius), 1.0)) @ v, rtol=0.0, atol=1e-12)


@given(SIDES.flatmap(lambda sides: points(sides[0] * sides[1], -320.0, 300.0).map(lambda x: x.reshape(sides))))
def test_nothing_stands_outside_and_nothing_is_nearer(matrix: Array) -> None:
    projected = project(matrix)
    assert np.linalg.norm(projected, 2) <= 1.0 + 1e-14
    size = float(np.abs(matrix - projected).max())
    if size > 0.0:
        gap = matrix / size - projected / size
        assert np.linalg.norm(gap, "nuc") - (gap * projected).sum() <= 1e-12


@pytest.mark.parametrize("matrix", [[[0.9, 0.1], [0.1, 0.9]], [[0.6, 0.0], [0.0, 0.999]], [[0.7, 0.7], [0.0, 0.0]]])
def test_a_matrix_inside_keeps_its_bits_whatever_its_frobenius_norm(matrix: list[list[float]]) -> None:
    for radius in (1.0 + 1e-15, 1e-100, 1e-160):
        given = radius * np.array(matrix) * (1.0 - 1e-12)
        assert project(given, radius).tobytes() == given.tobytes()


@pytest.mark.parametrize("sides", [(3, 40), (40, 3), (12, 12)])
def test_larger_matrices(sides: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        matrix = rng.standard_normal(sides)
        u, s, v = np.linalg.svd(matrix, full_matrices=False)
        np.testing.assert_allclose(project(matrix, 2.0), (u * np.minimum(s, 2.0)) @ v, rtol=0.0, atol=1e-13)


def test_room_for_the_shorter_side() -> None:
    assert spectral_room(2, 5) == spectral_room(5, 2) == 2 * (5 + 2 + 1)


@given(seeds, SIDES)
def test_the_last_check_bounds_the_norm_of_lines_that_are_not_orthogonal(seed: int, sides: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    directions, shares = rng.standard_normal(sides), rng.uniform(0.1, 1.0, sides[0])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    assert excess_of(directions, shares) >= np.linalg.norm(shares[:, None] * directions, 2) * (1.0 - 1e-14)
    assert excess_of(np.eye(*sides[::-1])[: min(sides)], np.ones(min(sides))) == 1.0


@pytest.mark.parametrize("values", [[1.2, 1.2, 1.2], [3.9, 0.1, 0.0], [1.0 + 1e-9, 1.0 - 1e-9, 0.5], [2.0, 1.0, 1.0]])
@pytest.mark.parametrize("sides", [(3, 8), (8, 3), (3, 3)])
def test_matrices_that_are_not_far_outside(values: list[float], sides: tuple[int, int]) -> None:
    """These are clipped by inner products of their lines: equal values, one that stands out, some at the radius."""
    rng = np.random.default_rng(1)
    for radius in (1.0, 1e-90, 1e90):
        u, s, v = np.linalg.svd(with_singular_values(rng, *sides, np.array(values)), full_matrices=False)
        projected = project(radius * (u * s) @ v, radius) / radius
        np.testing.assert_allclose(projected, (u * np.minimum(s, 1.0)) @ v, rtol=0.0, atol=1e-14)


def test_both_ways_of_clipping_agree_where_one_takes_over() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        matrix = rng.standard_normal((3, 6))
        matrix *= np.sqrt(NEARBY) / np.linalg.norm(matrix)
        here, there = project(matrix * (1.0 - 1e-14)), project(matrix * (1.0 + 1e-14))
        np.testing.assert_allclose(here, there, rtol=0.0, atol=2e-14)
