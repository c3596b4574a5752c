"""Compiled exact projection of a matrix onto a spectral-norm ball: clip its singular values.

One-sided Jacobi rotations make the lines of the matrix (rows or columns, whichever are fewer) mutually orthogonal;
their lengths are then the singular values. A line is kept as its length and its direction, and a rotation is computed
from the quotient of two lengths and the cosine between two directions. So lines with lengths a factor of 1e200 apart
are made orthogonal like any others, nothing overflows, and small singular values keep their relative accuracy (Demmel
and Veselic, "Jacobi's method is more accurate than QR", 1992).

A learner's step seldom takes a matrix far out. Where the Frobenius norm is at most a few times the radius, the inner
products of the lines, a much smaller matrix, keep all digits that matter: if the sum of their squares, which is that of
the fourth powers of the singular values, is at most the radius to the fourth, the matrix is inside; otherwise their
eigenvectors are the directions in which to clip.
"""

import math

from driftwise._compile import aside, plugin
from driftwise._memory import Pointer, part
from driftwise.domains.kernels import LARGEST_SQUARE, SMALLEST_SQUARE, dot, length

NEARBY = 16.0
"""Squared Frobenius norms up to this times the squared radius leave eigenvalues near the radius all their digits."""

NEGLIGIBLE = 1e-16
"""Inner products of lines, in units of the squared radius, that count as 0."""

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


@aside
def _diagonalise(products: Pointer, axes: Pointer, lines: int) -> None:
    """Rotate a symmetric matrix until it is diagonal; the rows of `axes` become its eigenvectors."""
    for _ in range(SWEEPS):
        turned = False
        for i in range(lines - 1):
            for j in range(i + 1, lines):
                mixed = products[i * lines + j]
                if abs(mixed) <= NEGLIGIBLE:
                    continue
                turned = True
                gap = (products[j * lines + j] - products[i * lines + i]) / (2.0 * mixed)
                tangent = math.copysign(1.0 / (abs(gap) + math.sqrt(1.0 + gap * gap)), gap)
                turn = 1.0 / math.sqrt(1.0 + tangent * tangent)
                _turn(part(products, i * lines), part(products, j * lines), lines, -tangent, -tangent, turn)
                for k in range(lines):
                    one, other = products[k * lines + i], products[k * lines + j]
                    products[k * lines + i] = turn * (one - tangent * other)
                    products[k * lines + j] = turn * (other + tangent * one)
                _turn(part(axes, i * lines), part(axes, j * lines), lines, -tangent, -tangent, turn)
        if not turned:
            break


@aside
def _clip_nearby(x: Pointer, radius: float, lines: int, n: int, across: int, along: int, room: Pointer) -> None:
    """Clip singular values that are at most a few times the radius."""
    products, axes = room, part(room, lines * n)
    for i in range(lines * lines):
        products[i] = 0.0
        axes[i] = 1.0 if i % (lines + 1) == 0 else 0.0
    for k in range(n):
        for i in range(lines):
            entry = x[i * across + k * along] / radius / radius
            for j in range(lines):
                products[i * lines + j] += entry * x[j * across + k * along]
    if dot(products, products, lines * lines) <= 1.0:
        return
    _diagonalise(products, axes, lines)
    for m in range(lines):
        value, axis = products[m * lines + m], part(axes, m * lines)
        if value > 1.0:
            for k in range(n):
                share = 0.0
                for i in range(lines):
                    share += axis[i] * x[i * across + k * along]
                share *= 1.0 - 1.0 / math.sqrt(value)
                for i in range(lines):
                    x[i * across + k * along] -= axis[i] * share


@plugin("int64(P, int64, P, P)")
def project_spectral(x: Pointer, size: int, numbers: Pointer, room: Pointer) -> int:
    """Clip the singular values of a matrix, stored row by row, at the radius.

    The cheap test comes first: a Frobenius norm within the radius means that the matrix is inside, the most common
    case. A matrix that turns out to be inside is left unchanged.
    """
    radius, rows = numbers[0], int(numbers[1])
    total, square = dot(x, x, size), radius * radius
    plain = SMALLEST_SQUARE < square < LARGEST_SQUARE
    if plain and total <= square:
        return 0
    columns = size // rows
    lines, n = min(rows, columns), max(rows, columns)
    across = columns if rows <= columns else 1
    along = 1 if rows <= columns else columns
    if plain and total <= NEARBY * square:
        _clip_nearby(x, radius, lines, n, across, along, room)
        return 0
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
