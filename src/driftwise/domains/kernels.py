"""Compiled exact projections onto blocks: the sets of which every domain is a product.

A domain is data: ``blocks`` is an int64 table with one row a block, ``numbers`` a float64 vector.

======== ===============================================================
column   meaning
======== ===============================================================
KIND     BALL, BOX, SIMPLEX or SPECTRAL
START    first coordinate of the block
STOP     one past its last coordinate
OFFSET   where its numbers begin (ball: radius, centre; box: low, high;
         simplex: scale; spectral: radius)
ROWS     number of matrix rows (SPECTRAL only)
======== ===============================================================
"""

import math

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import compiled, hot, inlined
from driftwise._validate import Array

BALL, BOX, SIMPLEX, SPECTRAL = 0, 1, 2, 3
KIND, START, STOP, OFFSET, ROWS = 0, 1, 2, 3, 4
COLUMNS = 5

Blocks = NDArray[np.int64]


@compiled
def _norm(x: Array) -> float:
    """Euclidean norm that survives squares which overflow."""
    total = 0.0
    for k in range(x.size):
        total += x[k] * x[k]
    if total < math.inf:
        return math.sqrt(total)
    largest = 0.0
    for k in range(x.size):
        largest = max(largest, abs(x[k]))
    total = 0.0
    for k in range(x.size):
        total += (x[k] / largest) ** 2
    return largest * math.sqrt(total)


@inlined
def _project_ball(rows: Array, i: int, start: int, stop: int, numbers: Array, offset: int) -> None:
    radius = numbers[offset]
    shift = offset + 1 - start
    total = 0.0
    for k in range(start, stop):
        total += (rows[i, k] - numbers[shift + k]) * (rows[i, k] - numbers[shift + k])
    if total > radius * radius:
        largest = 1.0
        if total == math.inf:
            for k in range(start, stop):
                largest = max(largest, abs(rows[i, k] - numbers[shift + k]))
            total = 0.0
            for k in range(start, stop):
                total += ((rows[i, k] - numbers[shift + k]) / largest) ** 2
        ratio = radius / largest / math.sqrt(total)
        for k in range(start, stop):
            rows[i, k] = numbers[shift + k] + ratio * (rows[i, k] - numbers[shift + k])


@compiled
def _project_simplex(x: Array, scale: float) -> None:
    """Sort-and-threshold; shifting by the maximum first keeps sums of huge numbers finite."""
    top = x[0]
    for k in range(x.size):
        top = max(top, x[k])
    for k in range(x.size):
        x[k] -= top
    ordered = np.sort(x)
    threshold = -scale
    total = 0.0
    for j in range(x.size):
        value = ordered[x.size - 1 - j]
        total += value
        candidate = (total - scale) / (j + 1)
        if value <= candidate:
            break
        threshold = candidate
    for k in range(x.size):
        x[k] = max(x[k] - threshold, 0.0)


@compiled
def _project_spectral(x: Array, rows: int, radius: float) -> None:
    """Clip the singular values of a matrix, stored row by row in `x`, at `radius`.

    The cheap answers come first: a Frobenius norm within the radius means inside, and one row or one
    column is rescaled. Otherwise one-sided Jacobi rotations make the lines of the shorter side mutually
    orthogonal; their norms are then the singular values, without squaring the condition number. Two lines
    need a single rotation, which is the closed form.
    """
    frobenius = _norm(x)
    if frobenius <= radius:
        return
    columns = x.size // rows
    lines = min(rows, columns)
    if lines == 1:
        for k in range(x.size):
            x[k] *= radius / frobenius
        return
    length = max(rows, columns)
    work = np.empty((lines, length))
    for i in range(lines):
        for k in range(length):
            work[i, k] = (x[i * columns + k] if rows <= columns else x[k * columns + i]) / frobenius
    rotation = np.eye(lines)
    for _sweep in range(60):
        turned = False
        for i in range(lines - 1):
            for j in range(i + 1, lines):
                a = b = c = 0.0
                for k in range(length):
                    a += work[i, k] * work[i, k]
                    b += work[j, k] * work[j, k]
                    c += work[i, k] * work[j, k]
                if abs(c) <= 1e-15 * math.sqrt(a * b) or abs(c) < 1e-300:
                    continue
                turned = True
                zeta = (b - a) / (2.0 * c)
                tangent = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
                sine = cosine * tangent
                for k in range(length):
                    first, second = work[i, k], work[j, k]
                    work[i, k] = cosine * first - sine * second
                    work[j, k] = sine * first + cosine * second
                for k in range(lines):
                    first, second = rotation[k, i], rotation[k, j]
                    rotation[k, i] = cosine * first - sine * second
                    rotation[k, j] = sine * first + cosine * second
        if not turned:
            break
    for i in range(lines):
        value = _norm(work[i]) * frobenius
        factor = frobenius if value <= radius else frobenius * (radius / value)
        for k in range(length):
            work[i, k] *= factor
    for i in range(lines):
        for k in range(length):
            total = 0.0
            for j in range(lines):
                total += rotation[i, j] * work[j, k]
            x[i * columns + k if rows <= columns else k * columns + i] = total


@compiled
def _project_block(blocks: Blocks, b: int, numbers: Array, rows: Array, i: int) -> None:
    kind, start, stop, offset = blocks[b, KIND], blocks[b, START], blocks[b, STOP], blocks[b, OFFSET]
    if kind == BALL:
        _project_ball(rows, i, start, stop, numbers, offset)
    elif kind == BOX:
        for k in range(start, stop):
            low, high = numbers[offset + k - start], numbers[offset + stop - 2 * start + k]
            rows[i, k] = min(max(rows[i, k], low), high)
    elif kind == SIMPLEX:
        _project_simplex(rows[i, start:stop], numbers[offset])
    else:
        _project_spectral(rows[i, start:stop], blocks[b, ROWS], numbers[offset])


@inlined
def dot(a: Array, b: Array) -> float:
    """Inner product, in four sums that do not wait for one another."""
    s0 = s1 = s2 = s3 = 0.0
    whole = a.size - a.size % 4
    for k in range(0, whole, 4):
        s0 += a[k] * b[k]
        s1 += a[k + 1] * b[k + 1]
        s2 += a[k + 2] * b[k + 2]
        s3 += a[k + 3] * b[k + 3]
    for k in range(whole, a.size):
        s0 += a[k] * b[k]
    return (s0 + s1) + (s2 + s3)


@hot
def _inside(rows: Array, i: int, blocks: Blocks, b: int, numbers: Array) -> bool:
    """Tell whether a spectral block is inside by its Frobenius norm, which is most often all there is to do."""
    part, radius = rows[i, blocks[b, START] : blocks[b, STOP]], numbers[blocks[b, OFFSET]]
    return bool(dot(part, part) <= radius * radius)


@inlined
def project(blocks: Blocks, numbers: Array, rows: Array, i: int) -> None:
    """Project row i of a matrix onto a domain, in place.

    A row and its index are passed instead of a slice, and a domain that is one ball is dealt with on the spot:
    a slice or a call costs more than projecting onto a small ball.
    """
    if blocks.shape[0] == 1 and blocks[0, KIND] == BALL:
        _project_ball(rows, i, 0, rows.shape[1], numbers, 0)
    else:
        for b in range(blocks.shape[0]):
            if blocks[b, KIND] != SPECTRAL or not _inside(rows, i, blocks, b, numbers):
                _project_block(blocks, b, numbers, rows, i)


@hot
def project_rows(blocks: Blocks, numbers: Array, rows: Array) -> None:
    """Project every row of a matrix onto a domain, in place."""
    for i in range(rows.shape[0]):
        project(blocks, numbers, rows, i)
