"""Sums over lags: all widths, odd and even numbers of rows, against NumPy; overlapping tiles agree to the last bit."""

import numpy as np
import pytest

from driftwise._compile import entry
from driftwise._memory import part
from driftwise._validate import Array
from driftwise.control.policies.lags import answers, slopes, transpose, two_sums, weighted_sum

WIDTHS = [1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 16, 20, 22, 24, 25, 37]


@entry
def _two_sums(out: Array, weights: Array, shifts: int, step: int, rows: Array, stride: int, count: int) -> None:
    first, second, width = part(out, 0), part(out, out.shape[1]), out.shape[1]
    two_sums(
        first, second, part(weights, 0), part(weights, shifts * step), shifts, step, part(rows, 0), stride, count, width
    )


@entry
def _weighted_sum(out: Array, start: Array, weights: Array, rows: Array, stride: int) -> None:
    weighted_sum(part(out, 0), part(start, 0), part(weights, 0), part(rows, 0), stride, weights.size, out.size)


@entry
def _transpose(out: Array, matrix: Array) -> None:
    transpose(part(out, 0), part(matrix, 0), matrix.shape[0], matrix.shape[1])


@entry
def _answers(policy: Array, past: Array, head: int, out: Array) -> None:
    H, du, dx = policy.shape
    answers(part(policy, 0), part(past, head), past.shape[1], dx, du, H, part(out, 0))


@entry
def _slopes(pulls: Array, past: Array, head: int, spread: Array, out: Array) -> None:
    H, du, dx = out.shape
    slopes(part(pulls, 0), part(past, head), past.shape[1], dx, du, H, part(spread, 0), part(out, 0))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("shifts", "count"), [(1, 1), (1, 6), (4, 3)])
def test_two_sums_of_shifted_rows(width: int, shifts: int, count: int) -> None:
    rng = np.random.default_rng(width)
    weights = rng.standard_normal((2, shifts, count + 2))  # two weights that nobody reads after every shift
    rows = rng.standard_normal((count, width + shifts - 1))
    out = np.full((2, width), np.nan)
    _two_sums(out, weights, shifts, count + 2, rows, width + shifts - 1, count)
    windows = np.stack([rows[:, s : s + width] for s in range(shifts)])
    expected = np.einsum("nsm,smc->nc", weights[:, :, :count], windows)
    np.testing.assert_allclose(out, expected, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [1, 2, 7, 12])
def test_a_weighted_sum_of_rows(width: int, count: int) -> None:
    rng = np.random.default_rng(width)
    weights, rows, out = rng.standard_normal(count), rng.standard_normal((count, width + 3)), np.full(width, np.nan)
    start = rng.standard_normal(width)
    _weighted_sum(out, start, weights, rows, width + 3)
    np.testing.assert_allclose(out, start + weights @ rows[:, :width], rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("width", [width for width in WIDTHS if width >= 4])
def test_a_column_does_not_depend_on_the_tile_that_it_is_in(width: int) -> None:
    """All columns alike: wherever tiles begin and overlap, every sum has the same bits."""
    rng = np.random.default_rng(3)
    column, weights = rng.standard_normal(9), rng.standard_normal((2, 9))
    rows, out = np.repeat(column[:, None], width, axis=1), np.empty((2, width))
    _two_sums(out, weights, 1, 9, rows, width, 9)
    assert (out == out[:, :1]).all()
    _weighted_sum(out[0], np.ones(width), weights[0], rows, width)
    assert (out[0] == out[0, 0]).all()


@pytest.mark.parametrize("rows", [1, 3, 4, 6, 8, 11])
@pytest.mark.parametrize("columns", [1, 3, 4, 5, 8, 10])
def test_transpose(rows: int, columns: int) -> None:
    matrix, out = np.random.default_rng(0).standard_normal((rows, columns)), np.full((columns, rows), np.nan)
    _transpose(out, matrix)
    np.testing.assert_array_equal(out, matrix.T)


@pytest.mark.parametrize(("dx", "du", "H"), [(1, 1, 1), (2, 1, 5), (3, 4, 2), (5, 2, 10), (4, 3, 13)])
def test_what_policies_answer_and_their_gradient_are_adjoint(dx: int, du: int, H: int) -> None:
    """<q, s(M)> = <gradient(q), M> for all q and M; the history ends where its last entry is read."""
    rng = np.random.default_rng(H)
    past, head = rng.standard_normal((dx, 2 * H + 1 + 3)), 3
    policy, pulls = rng.standard_normal((H, du, dx)), rng.standard_normal((du, H + 2))
    sums, gradient = np.full((du, H + 2), np.nan), np.full((H, du, dx), np.nan)
    _answers(policy, past, head, sums)
    _slopes(pulls, past, head, np.empty((du, dx, H)), gradient)
    w = past[:, head:]
    expected = np.stack([sum(policy[k] @ w[:, j + k] for k in range(H)) for j in range(H + 2)], axis=1)
    np.testing.assert_allclose(sums, expected, rtol=0.0, atol=1e-12)
    assert float(np.sum(pulls * sums)) == pytest.approx(float(np.sum(gradient * policy)), abs=1e-11)
    for k in range(H):
        np.testing.assert_allclose(gradient[k], pulls @ w[:, k : k + H + 2].T, rtol=0.0, atol=1e-12)
