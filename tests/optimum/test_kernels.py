"""Compiled loops over rounds, against plain NumPy."""

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.optimum import kernels
from tests.optimum.problems import DIM, DOMAINS, QUADRATIC, built_in, held, sequences

ROUNDS = 17
STARTS = np.array([0, 1, 6, 16])


def decisions(seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((ROUNDS, DIM))


@pytest.mark.parametrize("kind", [*QUADRATIC, "filtered"])
def test_segment_sums_add_up_to_the_losses_of_each_segment(kind: str) -> None:
    losses = built_in(kind, ROUNDS)
    A, b, c = np.zeros((4, DIM, DIM)), np.zeros((4, DIM)), np.zeros(4)
    kernels.segment_sums(*losses._parts[:2], losses.parabolas, STARTS, A, b, c)
    for j, (start, stop) in enumerate(zip(STARTS, [*STARTS[1:], ROUNDS], strict=True)):
        for w in decisions(1)[:5]:
            expected = held(losses, w)[start:stop].sum()
            assert 0.5 * w @ A[j] @ w - b[j] @ w + c[j] == pytest.approx(expected, rel=1e-12, abs=1e-13)
        np.testing.assert_allclose(A[j], A[j].T, rtol=1e-14)


def test_segment_sums_of_squared_losses_are_the_normal_equations() -> None:
    losses = built_in("squared", ROUNDS)
    X, y = losses.data.features, losses.data.targets
    A, b, c = np.zeros((1, DIM, DIM)), np.zeros((1, DIM)), np.zeros(1)
    kernels.segment_sums(*losses._parts[:2], losses.parabolas, STARTS[:1], A, b, c)
    np.testing.assert_allclose(A[0], X.T @ X, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(b[0], X.T @ y, rtol=1e-12, atol=1e-14)
    assert c[0] == pytest.approx(0.5 * y @ y, rel=1e-12)


def gradients(kind: str, points: Array) -> Array:
    return built_in(kind, ROUNDS).unary_gradients(np.repeat(points, np.diff(STARTS, append=ROUNDS), axis=0))


def dual_of(kind: str, points: Array, ends: Array, lambda_: float) -> Array:
    dual = gradients(kind, points)
    kernels.running_dual(STARTS, ends, lambda_, np.empty((2, DIM)), dual)
    return dual


@pytest.mark.parametrize("kind", QUADRATIC)
@pytest.mark.parametrize("lambda_", [0.0, 0.3, 2.0])
def test_the_running_dual_arrives_where_it_must_by_gradients_and_one_normal_a_segment(
    kind: str, lambda_: float
) -> None:
    rng = np.random.default_rng(2)
    points, ends = rng.standard_normal((4, DIM)), rng.standard_normal((4, DIM))
    dual, g = dual_of(kind, points, ends, lambda_), gradients(kind, points)
    spent = np.diff(dual, axis=0, prepend=0.0) - g  # what a round adds besides its gradient
    for j, (start, stop) in enumerate(zip(STARTS, [*STARTS[1:], ROUNDS], strict=True)):
        np.testing.assert_allclose(dual[stop - 1], ends[j], rtol=0.0, atol=1e-12)
        normal = spent[start:stop].sum(axis=0)
        share = spent[start:stop] @ normal / (normal @ normal)
        np.testing.assert_allclose(spent[start:stop], np.outer(share, normal), rtol=0.0, atol=1e-12)
        assert share.min() >= -1e-12


@pytest.mark.parametrize("kind", QUADRATIC)
def test_without_a_normal_the_running_dual_is_the_sum_of_gradients(kind: str) -> None:
    points = decisions(3)[:4]
    sums = np.cumsum(gradients(kind, points), axis=0)
    ends = sums[np.append(STARTS[1:], ROUNDS) - 1]
    np.testing.assert_allclose(dual_of(kind, points, ends, 0.1), sums, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("lambda_", "expected"),
    [(9.0, [-1.0, -2.0, -3.0, 0.0]), (1.5, [-1.0, -1.5, -1.5, 0.0]), (0.25, [-0.25, -0.25, -0.25, 0.0])],
)
def test_the_normal_is_spent_as_late_as_lambda_allows(lambda_: float, expected: list[float]) -> None:
    dual = np.full((4, 1), -1.0)
    kernels.running_dual(STARTS[:1], np.zeros((1, 1)), lambda_, np.empty((2, 1)), dual)
    np.testing.assert_allclose(dual.ravel(), expected, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("name", DOMAINS)
def test_descending_a_round_bowl_ends_at_the_projection(name: str) -> None:
    domain = DOMAINS[name]
    b = 3.0 * decisions(4)
    points = next(sequences(domain, ROUNDS, seed=5))
    A = np.tile(2.0 * np.eye(DIM), (ROUNDS, 1, 1))
    kernels.descend(A, b, domain.plan(), points, np.empty(2 * domain.dim + domain.room), 1e-26, 3000)
    np.testing.assert_allclose(points, domain.project(b / 2.0), rtol=0.0, atol=1e-9)


def test_descending_nothing_moves_nothing() -> None:
    ball, points = dw.Ball(DIM), dw.Ball(DIM).project(decisions(6))
    before = points.copy()
    A, b = np.zeros((ROUNDS, DIM, DIM)), np.zeros((ROUNDS, DIM))
    kernels.descend(A, b, ball.plan(), points, np.empty(2 * ball.dim + ball.room), 1e-26, 10)
    np.testing.assert_array_equal(points, before)


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e100, 1e200])
def test_the_running_dual_arrives_whatever_the_size_of_gradients(size: float) -> None:
    dual = np.where(np.arange(ROUNDS)[:, None] % 3 == 0, -size, size) * np.ones((1, DIM))
    kernels.running_dual(STARTS, np.zeros((4, DIM)), size, np.empty((2, DIM)), dual)
    assert np.isfinite(dual).all()
    np.testing.assert_allclose(dual[np.append(STARTS[1:], ROUNDS) - 1] / size, 0.0, atol=1e-12)


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("size", [5e-324, 1e-160, 1e100])
def test_descending_bowls_of_any_size_stays_in_the_domain(name: str, size: float) -> None:
    domain, points = DOMAINS[name], next(sequences(DOMAINS[name], ROUNDS, seed=7))
    A, b = np.tile(size * np.eye(DIM), (ROUNDS, 1, 1)), size * np.sign(decisions(8))
    kernels.descend(A, b, domain.plan(), points, np.empty(2 * domain.dim + domain.room), 1e-26, 100)
    assert domain.contains(points)
