"""Compiled exact projection of a matrix onto a spectral-norm ball: clip its singular values.

One-sided Jacobi rotations make the lines of the matrix (rows or columns, whichever are fewer) mutually orthogonal;
their lengths are then the singular values. A line is kept as its length and its direction, and a rotation is computed
from the quotient of two lengths and the cosine between two directions. So lines with lengths a factor of 1e200 apart
are made orthogonal like any others, nothing overflows, and small singular values keep their relative accuracy (Demmel
and Veselic, "Jacobi's method is more accurate than QR", 1992).
"""

import math

from driftwise._compile import aside, plugin
from driftwise._memory import Pointer, part
from driftwise.domains.kernels import LARGEST_SQUARE, SMALLEST_SQUARE, dot, length

SWEEPS = 60
"""Jacobi needs about 6 sweeps; only lines that are nearly parallel and of very different size need more."""


def spectral_room(rows: int, columns: int) -> int:
    """Return how many doubles of scratch space the projection of a matrix needs: directions, rotation, lengths."""
    lines = min(rows, columns)
    return lines * (max(rows, columns) + lines + 1)


@aside
def _normalise(direction: Pointer, n: int) -> float:
    """Divide a vector by its length, and return the length."""
    size = length(direction, n)
    if size > 0.0:
        for k in range(n):
            direction[k] /= size
    return size


@aside
def _turn(first: Pointer, second: Pointer, n: int, along: float, against: float, cosine: float) -> None:
    """Write ``cosine (first + along second)`` and ``cosine (second - against first)`` to first and second."""
    for k in range(n):
        one, other = first[k], second[k]
        first[k] = cosine * (one + along * other)
        second[k] = cosine * (other - against * one)


@aside
def _orthogonalise(directions: Pointer, lengths: Pointer, rotation: Pointer, lines: int, n: int) -> None:
    """Rotate lines until they are orthogonal; the matrix stays ``rotation' diag(lengths) directions``."""
    parallel = 1e-15 + 1e-17 * n  # cosines below this are rounding noise
    for _ in range(SWEEPS):
        turned = False
        for i in range(lines - 1):
            for j in range(i + 1, lines):
                large = i if lengths[i] >= lengths[j] else j
                small = i + j - large
                if lengths[small] == 0.0:
                    continue
                first, second = part(directions, large * n), part(directions, small * n)
                cosine = dot(first, second, n)
                if abs(cosine) <= parallel:
                    continue
                turned = True
                # The tangent of the angle may be tiny; over the quotient of the lengths it is at most 1.
                quotient = lengths[small] / lengths[large]
                gap = (1.0 - quotient * quotient) / (2.0 * abs(cosine))
                against = math.copysign(1.0 / (gap + math.sqrt(quotient * quotient + gap * gap)), cosine)
                tangent = quotient * against
                turn = 1.0 / math.sqrt(1.0 + tangent * tangent)
                _turn(first, second, n, tangent * quotient, against, turn)
                lengths[large] *= _normalise(first, n)
                lengths[small] *= _normalise(second, n)
                _turn(part(rotation, large * lines), part(rotation, small * lines), lines, tangent, tangent, turn)
        if not turned:
            break


@aside
def _excess(directions: Pointer, shares: Pointer, lines: int, n: int) -> float:
    """Return a bound on the spectral norm of ``diag(shares) directions``: 1 if the directions are orthogonal."""
    most = 0.0
    for i in range(lines):
        row = shares[i] * shares[i]
        for j in range(lines):
            if j != i:
                row += shares[i] * shares[j] * abs(dot(part(directions, i * n), part(directions, j * n), n))
        most = max(most, row)
    return math.sqrt(most)


@plugin("int64(P, int64, P, P)")
def project_spectral(x: Pointer, size: int, numbers: Pointer, room: Pointer) -> int:
    """Clip the singular values of a matrix, stored row by row, at the radius.

    The cheap test comes first: a Frobenius norm within the radius means that the matrix is inside, the most common
    case; one row or one column is rescaled. A matrix that turns out to be inside is left unchanged.
    """
    radius, rows = numbers[0], int(numbers[1])
    total, square = dot(x, x, size), radius * radius
    if total <= square and SMALLEST_SQUARE < square < LARGEST_SQUARE:
        return 0
    columns = size // rows
    lines, n = min(rows, columns), max(rows, columns)
    across = columns if rows <= columns else 1
    along = 1 if rows <= columns else columns
    directions, rotation, lengths = room, part(room, lines * n), part(room, lines * (n + lines))
    most = 0.0
    for i in range(lines):
        for k in range(n):
            directions[i * n + k] = x[i * across + k * along]
        for j in range(lines):
            rotation[i * lines + j] = 1.0 if i == j else 0.0
        lengths[i] = _normalise(part(directions, i * n), n)
    _orthogonalise(directions, lengths, rotation, lines, n)
    for i in range(lines):
        most = max(most, lengths[i])
        lengths[i] = min(lengths[i] / radius, 1.0)
    if most <= radius:
        return 0
    # 1 up to rounding, unless the sweeps were too few.
    radius /= max(_excess(directions, lengths, lines, n), 1.0)
    for i in range(lines):
        for k in range(n):
            total = 0.0
            for j in range(lines):
                total += rotation[j * lines + i] * (lengths[j] * directions[j * n + k])
            x[i * across + k * along] = radius * total
    return 0
