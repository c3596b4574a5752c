"""Compiled projections of points that only a learner's own step can reach, and the shortcut for a single ball."""

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.domains import kernels


def project(domain: dw.Domain, x: Array) -> Array:
    rows = np.array(x, ndmin=2)
    kernels.project_rows(domain.table, domain.numbers, rows)
    return rows.reshape(-1)


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        (dw.Ball(2, 1.0, [0.5, 0.0]), [1.1, -0.8]),
        (dw.Product(dw.Ball(2, 1.0, [0.5, 0.0])), [1.1, -0.8]),
        (dw.Box([0.0, 0.0], [1.0, 2.0]), [1.0, 0.0]),
        (dw.Simplex(2), [1.0, 0.0]),
        (dw.SpectralBalls((1, 1, 2), 1.0), [0.6, -0.8]),
    ],
    ids=repr,
)
def test_squares_that_overflow(domain: dw.Domain, expected: list[float]) -> None:
    np.testing.assert_allclose(project(domain, np.array([3e200, -4e200])), expected, rtol=1e-14)


def test_matrices_whose_squares_overflow() -> None:
    domain = dw.SpectralBalls((1, 2, 2), 1.0)
    projected = project(domain, 1e200 * np.array([1.0, 1.0, 0.0, 1.0]))
    np.testing.assert_allclose(np.linalg.svd(projected.reshape(2, 2), compute_uv=False), [1.0, 1.0], rtol=1e-12)


def test_the_shortcut_for_one_ball_gives_the_same_bits() -> None:
    ball, points = dw.Ball(3, 0.7, [0.1, 0.2, 0.3]), np.random.default_rng(0).standard_normal((50, 3))
    beside = dw.Product(ball, dw.Box([0.0], [1.0]))
    wide = np.hstack([points, np.zeros((50, 1))])
    assert ball.project(points).tobytes() == beside.project(wide)[:, :3].tobytes()
