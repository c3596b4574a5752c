"""Projections in NumPy: numbers of any size, members that keep their bits, and the nearest point indeed."""

import numpy as np
import pytest
from hypothesis import given

import driftwise as dw
from driftwise._validate import Array
from driftwise.domains.nearest import lengths, nearest_in_ball, nearest_in_simplex, nearest_in_spectral_ball
from tests.domains.cases import outside, rounding


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1.0, 1e200])
def test_lengths_of_numbers_of_any_size(size: float) -> None:
    np.testing.assert_allclose(lengths(size * np.array([[3.0, 4.0], [0.0, 0.0]])), [5.0 * size, 0.0], rtol=1e-12)


@given(outside())
def test_projections_are_members(case: tuple[dw.Domain, Array]) -> None:
    domain, rows = case
    projected = domain.project(rows)
    assert np.isfinite(projected).all()
    assert domain.contains(projected, tol=1e-14)


@given(outside())
def test_no_member_is_nearer(case: tuple[dw.Domain, Array]) -> None:
    """Px is nearest if no member z has <x - Px, z - Px> > 0; the support function knows the largest such product."""
    domain, rows = case
    for x, p in zip(rows, domain.project(rows), strict=True):
        size = float(np.abs(x - p).max())
        if size > 0.0:
            direction = (x - p) / size
            beyond = float(domain.support(direction)) - float(direction @ p)
            # Rounding of p turns the direction, and the more so the smaller the step is.
            error = domain.dim * rounding(domain, p) * (1.0 + domain.diameter / size)
            assert beyond <= 1e-12 * domain.diameter + 10.0 * error


@given(outside())
def test_rows_are_projected_one_by_one(case: tuple[dw.Domain, Array]) -> None:
    domain, rows = case
    assert domain.project(rows).tobytes() == b"".join(domain.project(row).tobytes() for row in rows)


def test_points_inside_keep_their_bits() -> None:
    rows = np.array([[0.1, -0.7, 0.3, 1e-300], [0.9, 0.1, 0.1, 0.9]])
    assert nearest_in_ball(rows, 2.0, np.full(4, 0.1)).tobytes() == rows.tobytes()
    # The second matrix is inside although its Frobenius norm is above the radius.
    assert nearest_in_spectral_ball(rows, 1.0 + 1e-15, (2, 2)).tobytes() == rows.tobytes()


def test_a_simplex_far_from_the_point() -> None:
    rows = np.array([[1e100, 1e100, -1e100], [1e-100, 2e-100, -1e100]])
    np.testing.assert_allclose(nearest_in_simplex(rows, 1e-90), [[5e-91, 5e-91, 0.0], [5e-91, 5e-91, 0.0]], rtol=1e-9)
