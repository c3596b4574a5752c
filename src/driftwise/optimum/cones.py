"""Small cone problems, handed to Clarabel: segments of constant decisions, priced by how far apart they are.

Clarabel and scipy.sparse are imported where they are used, so that importing driftwise stays fast.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from driftwise._validate import Array, Indices
from driftwise.domains import Domain
from driftwise.domains.kernels import BALL, BOX, SPECTRAL
from driftwise.errors import ParameterError

TOLERANCE, FINE = 1e-9, 1e-12
"""Clarabel's tolerances, for problems with many segments and for those with one point."""

SOLVED = ("Solved", "AlmostSolved")

NONNEGATIVE, NORM, ZERO, SEMIDEFINITE = "NonnegativeConeT", "SecondOrderConeT", "ZeroConeT", "PSDTriangleConeT"
"""Clarabel's cones: numbers that are at least 0; a number that is at least the norm of those after it; zeros; the upper
triangle, column by column, of a matrix without negative eigenvalues, all but its diagonal times the root of 2."""


class Solution(NamedTuple):
    """What came out of Clarabel."""

    points: Array
    """(K, d): a decision for every segment, feasible to Clarabel's tolerance."""
    dual: Array
    """(K, d): s at the end of every segment; 0 at the last."""
    words: str
    """Clarabel's own word for how it ended."""


def has_cones(domain: Domain) -> bool:
    """Tell whether a domain is made of balls, boxes and simplices, which Clarabel takes with ease."""
    return not any(block.kind == SPECTRAL for block in domain.blocks)


class Rows:
    """Rows of ``A x + s = b``, collected cone by cone."""

    def __init__(self) -> None:
        self.rows: list[Indices] = []
        self.columns: list[Indices] = []
        self.values: list[Array] = []
        self.right: list[Array] = []
        self.cones: list[Any] = []
        self.count = 0

    def entry(self, rows: Indices, columns: Indices, value: float | Array) -> None:
        """Put `value`, one for all or one for each, at rows, counted from the next free one, and columns."""
        self.rows.append(self.count + rows)
        self.columns.append(columns)
        self.values.append(np.full(len(rows), value))

    def close(self, right: Array, cone: str = NONNEGATIVE, count: int = 1) -> None:
        """Finish a group of rows: their right-hand side, and the cone, or `count` cones of one size, they are in."""
        import clarabel

        size = right.size // max(count, 1)
        side = (math.isqrt(8 * size + 1) - 1) // 2 if cone == SEMIDEFINITE else size
        self.right.append(right)
        self.cones += [getattr(clarabel, cone)(side)] * count
        self.count += right.size


def stay_inside(rows: Rows, domain: Domain, count: int) -> None:
    """Add the rows that keep every one of `count` points in the domain."""
    first = np.arange(count) * domain.dim
    for (kind, size, numbers, height), part in zip(domain.blocks, domain.slices, strict=True):
        coordinates = (first[:, None] + np.arange(part.start, part.stop)).ravel()
        places = np.arange(count * size)
        if kind == SPECTRAL and height not in (1, size):
            _stay_short(rows, coordinates.reshape(count, size), height, numbers[0])
        elif kind in (BALL, SPECTRAL):
            # (radius, w - centre) in a second-order cone; the spectral norm of a single row or column is its length
            center = numbers[1:] if kind == BALL else np.zeros(size)
            rows.entry((np.arange(count)[:, None] * (size + 1) + 1 + np.arange(size)).ravel(), coordinates, -1.0)
            rows.close(np.tile(np.concatenate([numbers[:1], -center]), count), NORM, count)
        elif kind == BOX:
            rows.entry(places, coordinates, -1.0)
            rows.close(np.tile(-numbers[:size], count))
            rows.entry(places, coordinates, 1.0)
            rows.close(np.tile(numbers[size:], count))
        else:
            rows.entry(places, coordinates, -1.0)
            rows.close(np.zeros(count * size))
            rows.entry(places // size, coordinates, 1.0)
            rows.close(np.full(count, numbers[0]), ZERO)


def _stay_short(rows: Rows, coordinates: Indices, height: int, radius: float) -> None:
    """Keep the spectral norm of matrices W within a radius: [[radius I, W], [W', radius I]] is semidefinite."""
    count, size = coordinates.shape
    side = height + size // height
    i, k = np.divmod(np.arange(size), size // height)
    column = height + k
    places = column * (column + 1) // 2 + i  # in the upper triangle, column by column
    length = side * (side + 1) // 2
    rows.entry((np.arange(count)[:, None] * length + places).ravel(), coordinates.ravel(), -math.sqrt(2.0))
    diagonal = np.zeros(length)
    diagonal[np.arange(side) * (np.arange(side) + 3) // 2] = radius
    rows.close(np.tile(diagonal, count), SEMIDEFINITE, count)


def solve_segments(
    A: Array, b: Array, domain: Domain, lambda_: float, around: Array | None = None, width: float | None = None
) -> Solution:
    """Minimise ``sum_j (w_j'A_j w_j / 2 - b_j'w_j) + lambda sum_j |w_j - w_{j-1}|`` over points of a domain.

    Clarabel is precise to about 1e-9 of `width`, the diameter when left out. A second call `around` a first solution,
    (K, d), with a smaller width gains digits.
    """
    count, dim = b.shape
    links = np.arange(count - 1)
    rows = Rows()
    # (tau_j, w_{j+1} - w_j) in a second-order cone, with tau_j priced at lambda
    rows.entry(links * (dim + 1), count * dim + links, -1.0)
    for k in range(dim):
        rows.entry(links * (dim + 1) + 1 + k, links * dim + k, 1.0)
        rows.entry(links * (dim + 1) + 1 + k, (links + 1) * dim + k, -1.0)
    rows.close(np.zeros((count - 1) * (dim + 1)), NORM, count - 1)
    stay_inside(rows, domain, count)

    P = block_diagonal(A, count * dim + count - 1)
    q = np.concatenate([-b.ravel(), np.full(count - 1, lambda_)])
    center = np.tile(middle(domain), (count, 1)) if around is None else around
    shift = np.concatenate([center.ravel(), np.linalg.norm(np.diff(center, axis=0), axis=1)])
    x, z, words = solve_cones(P, q, rows, shift, domain.diameter if width is None else width, TOLERANCE)
    ends = np.zeros((count, dim))
    ends[:-1] = -z[: (count - 1) * (dim + 1)].reshape(count - 1, dim + 1)[:, 1:]
    return Solution(x[: count * dim].reshape(count, dim), ends, words)


def block_diagonal(A: Array, size: int) -> Any:
    """Return the upper triangles of matrices one after the other, as a sparse matrix with so many rows and columns."""
    from scipy import sparse

    upper, corner = np.triu_indices(A.shape[1]), (np.arange(len(A)) * A.shape[1])[:, None]
    places = (corner + upper[0]).ravel(), (corner + upper[1]).ravel()
    return sparse.csc_matrix((A[:, upper[0], upper[1]].ravel(), places), (size, size))


def lowest(heights: Array, slopes: Array, domain: Domain, center: Array) -> tuple[Array, Array]:
    """Return the lowest point of the highest of the planes ``heights_i + <slopes_i, w>``, and their weights there."""
    from scipy import sparse

    cuts, dim = slopes.shape
    rows = _planes(heights, slopes, domain, np.zeros(cuts), True)
    P, q = sparse.csc_matrix((dim + 1, dim + 1)), np.append(np.zeros(dim), 1.0)
    x, z, words = solve_cones(P, q, rows, np.append(center, 0.0), domain.diameter, FINE)
    weights = np.maximum(z[:cuts], 0.0)
    if words not in SOLVED or not weights.sum() > 0.0:  # any point and any weights are a valid answer, if a poor one
        weights, x = (np.arange(cuts) == np.argmax(heights + slopes @ center)).astype(float), center
    return x[:dim], np.asarray(weights / weights.sum())


def below_level(heights: Array, slopes: Array, domain: Domain, level: float, center: Array) -> Array | None:
    """Return the point of a domain nearest to `center` at which all the planes are below a level, if Clarabel can."""
    from scipy import sparse

    rows = _planes(heights, slopes, domain, np.full(len(heights), level), False)
    x, _, words = solve_cones(sparse.eye(domain.dim, format="csc"), -center, rows, center, domain.diameter, FINE)
    return x if words in SOLVED else None


def _planes(heights: Array, slopes: Array, domain: Domain, levels: Array, free: bool) -> Rows:
    """Keep a point in the domain and the planes below their levels, or below one more variable if that is `free`."""
    cuts, dim = slopes.shape
    rows, places = Rows(), np.arange(cuts * dim)
    rows.entry(places // dim, places % dim, slopes.ravel())
    if free:
        rows.entry(np.arange(cuts), np.full(cuts, dim), -1.0)
    rows.close(levels - heights)
    stay_inside(rows, domain, 1)
    return rows


def middle(domain: Domain) -> Array:
    """Return a point in the middle of the domain."""
    parts = []
    for block in domain.blocks:
        if block.kind == BALL:
            parts.append(block.numbers[1:])
        elif block.kind == SPECTRAL:
            parts.append(np.zeros(block.size))
        elif block.kind == BOX:
            parts.append(0.5 * (block.numbers[: block.size] + block.numbers[block.size :]))
        else:
            parts.append(np.full(block.size, block.numbers[0] / block.size))
    return np.concatenate(parts)


def solve_cones(
    P: Any, q: Array, rows: Rows, shift: Array, width: float, tolerance: float = TOLERANCE
) -> tuple[Array, Array, str]:
    """Solve for ``(x - shift) / width`` with a cost of about 1, whatever the units of the problem, and undo it."""
    import clarabel
    from scipy import sparse

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.tol_infeas_abs = settings.tol_infeas_rel = 1e-30  # nothing here is unbounded, and it is seen too easily
    entries = np.concatenate(rows.values), (np.concatenate(rows.rows), np.concatenate(rows.columns))
    A = sparse.csc_matrix(entries, (rows.count, q.size))
    whole = P + sparse.triu(P, 1).T
    slope = width * (q + whole @ shift)
    unit = max(float(np.abs(slope).max()), width**2 * float(abs(P).max()), 1e-300)
    right = (np.concatenate(rows.right) - A @ shift) / width
    solution = clarabel.DefaultSolver(width**2 / unit * P, slope / unit, A, right, rows.cones, settings).solve()
    with np.errstate(over="ignore", invalid="ignore"):  # what comes of a failure is for the caller to see
        return shift + width * np.array(solution.x), unit / width * np.array(solution.z), str(solution.status)


def need_cones(owner: str, domain: Domain) -> None:
    """Refuse a domain that Clarabel is not given here."""
    if not has_cones(domain):
        raise ParameterError(f"{owner}: the domain must be made of balls, boxes and simplices, got {domain!r}.")
