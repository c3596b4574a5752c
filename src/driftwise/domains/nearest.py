"""The nearest point of a ball, a box, a simplex or a spectral-norm ball, in NumPy.

These functions state what `domains.kernels` and `domains.singular_values` compute, and Python itself uses them: they
compile nothing. Every function takes points as rows and the numbers of a set, and returns the nearest points; points
inside keep their bits. Points and numbers may be of any size up to 1e100.
"""

import numpy as np

from driftwise._validate import Array
from driftwise.domains.kernels import LARGEST_SQUARE, SMALLEST_SQUARE


def lengths(rows: Array) -> Array:
    """Return the Euclidean norm of every row, of numbers of any size: squares neither overflow nor vanish."""
    squares = np.einsum("nd,nd->n", rows, rows)
    exact = (squares > SMALLEST_SQUARE) & (squares < LARGEST_SQUARE)
    if exact.all():
        return np.asarray(np.sqrt(squares))
    largest = np.abs(rows).max(axis=1)
    unit = rows / np.where(largest > 0.0, largest, 1.0)[:, None]
    return np.asarray(np.where(exact, np.sqrt(squares), largest * np.linalg.norm(unit, axis=1)))


def nearest_in_ball(rows: Array, radius: float, center: Array) -> Array:
    """Pull points outside back towards the centre, to the radius."""
    offsets = rows - center
    distances = lengths(offsets)
    outside = distances > radius
    if not outside.any():
        return rows.copy()
    safe = np.where(outside, distances, 1.0)[:, None]
    return np.where(outside[:, None], center + radius * (offsets / safe), rows)


def nearest_in_box(rows: Array, low: Array, high: Array) -> Array:
    """Clip every coordinate to its limits."""
    return np.clip(rows, low, high)


def nearest_in_simplex(rows: Array, scale: float) -> Array:
    """Subtract the threshold, found by sorting, at which what is left above 0 sums to the scale.

    Shifting by the maximum first keeps sums of huge numbers exact where they matter.
    """
    shifted = rows - rows.max(axis=1, keepdims=True)
    ordered = -np.sort(-shifted, axis=1)
    candidates = (np.cumsum(ordered, axis=1) - scale) / np.arange(1, rows.shape[1] + 1)
    kept = np.count_nonzero(ordered > candidates, axis=1)
    threshold = candidates[np.arange(len(rows)), np.maximum(kept, 1) - 1]
    return np.asarray(np.maximum(shifted - threshold[:, None], 0.0))


def nearest_in_spectral_ball(rows: Array, radius: float, sides: tuple[int, int]) -> Array:
    """Clip the singular values of matrices, each stored row by row, at the radius."""
    moved = rows.copy()
    outside = lengths(rows) > radius
    if not outside.any():
        return moved
    u, values, v = np.linalg.svd(rows[outside].reshape(-1, *sides), full_matrices=False)
    clipped = ((u * np.minimum(values, radius)[:, None, :]) @ v).reshape(-1, rows.shape[1])
    moved[outside] = np.where(values[:, :1] > radius, clipped, rows[outside])
    return moved
