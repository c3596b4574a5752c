"""Cone problems by Clarabel, against cvxpy and against the conditions of optimality."""

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ParameterError
from driftwise.optimum import cones
from tests.cases import check_refused
from tests.optimum.problems import CONES, DIM, DOMAINS, cp, inside, solve

COUNT = 5


def bowls(seed: int, rank: int = DIM) -> tuple[Array, Array]:
    """Return the quadratics of some segments, of less than full rank if asked."""
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((COUNT, DIM, rank))
    return roots @ roots.transpose(0, 2, 1), 2.0 * rng.standard_normal((COUNT, DIM))


def total(A: Array, b: Array, points: Array, lambda_: float) -> float:
    bent = sum(0.5 * w @ Q @ w - q @ w for Q, q, w in zip(A, b, points, strict=True))
    return float(bent + lambda_ * np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


@pytest.mark.parametrize("name", CONES)
@pytest.mark.parametrize(("lambda_", "rank"), [(0.0, DIM), (0.3, 1), (1.0, DIM), (100.0, 2)])
def test_segments_agree_with_cvxpy(name: str, lambda_: float, rank: int) -> None:
    domain, (A, b) = DOMAINS[name], bowls(1, rank)
    W = cp.Variable((COUNT, DIM))
    bent = sum(0.5 * cp.quad_form(W[j], cp.psd_wrap(A[j])) - b[j] @ W[j] for j in range(COUNT))
    expected = solve(bent + lambda_ * cp.sum(cp.norm(W[1:] - W[:-1], axis=1)), inside(domain, W))
    found = cones.solve_segments(A, b, domain, lambda_)
    assert domain.contains(found.points, tol=1e-7)
    assert total(A, b, found.points, lambda_) == pytest.approx(expected, rel=1e-7, abs=1e-7)
    assert found.words in cones.SOLVED


@pytest.mark.parametrize("name", CONES)
@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_the_dual_of_segments_satisfies_the_conditions_of_optimality(name: str, unit: float) -> None:
    domain, (A, b), lambda_ = DOMAINS[name], bowls(2), 0.7
    points, ends, _ = cones.solve_segments(unit * A, unit * b, domain, unit * lambda_)
    ends = ends / unit
    np.testing.assert_array_equal(ends[-1], 0.0)
    moves = np.diff(points, axis=0)
    np.testing.assert_array_less(np.linalg.norm(ends, axis=1), lambda_ * (1.0 + 1e-6))
    # s points to where the next segment lies
    np.testing.assert_allclose(
        (ends[:-1] * moves).sum(axis=1), lambda_ * np.linalg.norm(moves, axis=1), rtol=0.0, atol=1e-6
    )
    # what gradients and s leave over is a normal of the domain: no other point is further that way
    normals = np.diff(ends, axis=0, prepend=0.0) - (np.einsum("nij,nj->ni", A, points) - b)
    np.testing.assert_allclose((normals * points).sum(axis=1), domain.support(normals), rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("name", CONES)
def test_the_lowest_point_of_planes_and_their_weights_there_have_the_same_height(name: str) -> None:
    domain, rng = DOMAINS[name], np.random.default_rng(3)
    heights, slopes = rng.standard_normal(6), rng.standard_normal((6, DIM))
    w = cp.Variable((1, DIM))
    expected = solve(cp.max(heights + slopes @ w[0]), inside(domain, w))
    point, weights = cones.lowest(heights, slopes, domain, domain.project(np.zeros(DIM)))
    assert domain.contains(point, tol=1e-7)
    assert (heights + slopes @ point).max() == pytest.approx(expected, abs=1e-7)
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert weights @ heights - domain.support(-weights @ slopes) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("name", CONES)
def test_below_a_level_is_the_nearest_point_of_the_domain_there(name: str) -> None:
    domain, rng = DOMAINS[name], np.random.default_rng(4)
    heights, slopes = rng.standard_normal(6), rng.standard_normal((6, DIM))
    w, center = cp.Variable((1, DIM)), domain.project(rng.standard_normal(DIM))
    level = solve(cp.max(heights + slopes @ w[0]), inside(domain, w)) + 0.05
    expected = solve(cp.sum_squares(w[0] - center), [*inside(domain, w), heights + slopes @ w[0] <= level])
    found = cones.below_level(heights, slopes, domain, level, center)
    assert found is not None
    assert domain.contains(found, tol=1e-7)
    assert (heights + slopes @ found).max() <= level + 1e-7
    assert ((found - center) ** 2).sum() == pytest.approx(expected, abs=1e-6)


def test_no_point_is_below_a_level_that_the_planes_do_not_reach() -> None:
    heights, slopes = np.array([0.0, 0.0]), np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert cones.below_level(heights, slopes, dw.Ball(2), -0.5, np.zeros(2)) is None


def test_spectral_balls_are_told_from_what_clarabel_is_given() -> None:
    spectral = dw.SpectralBalls(shape=(1, 2, 2), radii=1.0)
    assert all(cones.has_cones(DOMAINS[name]) for name in CONES)
    assert not cones.has_cones(spectral)
    assert not cones.has_cones(dw.Product(dw.Ball(2), spectral))
    cones.need_cones("me", dw.Ball(2))
    check_refused(lambda: cones.need_cones("me", spectral), "me:", "balls, boxes and simplices", kind=ParameterError)


@pytest.mark.parametrize("shape", [(2, 2, 3), (1, 3, 2), (3, 1, 4), (2, 3, 1), (1, 2, 2)])
def test_points_stay_in_spectral_balls(shape: tuple[int, int, int]) -> None:
    from scipy import sparse

    domain = dw.SpectralBalls(shape, np.linspace(0.5, 1.5, shape[0]))
    slopes = np.random.default_rng(3).standard_normal((COUNT, domain.dim))
    rows = cones.Rows()
    cones.stay_inside(rows, domain, COUNT)
    none = sparse.csc_matrix((slopes.size, slopes.size))
    x, _, words = cones.solve_cones(none, slopes.ravel(), rows, np.zeros(slopes.size), 1.0)
    assert words in cones.SOLVED
    points = x.reshape(slopes.shape)
    np.testing.assert_allclose(-(points * slopes).sum(axis=1), domain.support(-slopes), rtol=1e-7)
    assert domain.contains(points, tol=1e-7)
