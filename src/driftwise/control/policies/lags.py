"""The sums over lags that take most of the time of a control step, in registers.

What a policy answers to all recent disturbances, and the gradient in the policy, are products of a small matrix with a
table in which every row is the one before, shifted by one. Two sums that share their rows are made at once, twelve
columns at a time, and nothing is written before it is complete: so the processor waits neither for memory nor for
the last addition. Where the number of columns is not a multiple of twelve, tiles overlap; what is computed twice is
the same to the last bit, as every column is added up in the same order.
"""

from driftwise._compile import aside, helper
from driftwise._lanes import load, splat, store, transposed
from driftwise._memory import Pointer, part

TILE = 12
"""Columns of a tile: three registers."""


@helper
def _tile(k: int, width: int) -> int:
    """Return where the tile for column k begins: the last one ends with the last column."""
    if k + TILE <= width:
        return k
    return width - TILE if width > TILE else 0


@aside
def two_sums(
    out: Pointer,
    out_2: Pointer,
    weights: Pointer,
    weights_2: Pointer,
    shifts: int,
    step: int,
    rows: Pointer,
    stride: int,
    count: int,
    width: int,
) -> None:
    """Write two sums of the same rows of `width` numbers, taken once for every shift, with their own weights.

    ``out[c] = sum_{s, m} weights[s * step + m] * rows[m * stride + s + c]``
    """
    if width < 4:
        for k in range(width):
            total, total_2 = 0.0, 0.0
            for s in range(shifts):
                for m in range(count):
                    entry = rows[m * stride + s + k]
                    total += weights[s * step + m] * entry
                    total_2 += weights_2[s * step + m] * entry
            out[k], out_2[k] = total, total_2
        return
    second = 4 if width > 8 else width - 4
    third = 8 if width > TILE else width - 4
    for k in range(0, width, TILE):
        tile = _tile(k, width)
        a, b, c = splat(0.0), splat(0.0), splat(0.0)
        d, e, f = splat(0.0), splat(0.0), splat(0.0)
        for s in range(shifts):
            row, here, here_2 = part(rows, s + tile), part(weights, s * step), part(weights_2, s * step)
            for m in range(count):
                x, y = here[m], here_2[m]
                p, q, r = load(row, 0), load(row, second), load(row, third)
                a, b, c = a + x * p, b + x * q, c + x * r
                d, e, f = d + y * p, e + y * q, f + y * r
                row = part(row, stride)
        store(out, tile, a)
        store(out, tile + second, b)
        store(out, tile + third, c)
        store(out_2, tile, d)
        store(out_2, tile + second, e)
        store(out_2, tile + third, f)


@aside
def weighted_sum(
    out: Pointer, start: Pointer, weights: Pointer, rows: Pointer, stride: int, count: int, width: int
) -> None:
    """Add rows of `width` numbers, each times its weight, to those of a start; even and odd ones are added up apart."""
    if width < 4:
        for k in range(width):
            total = start[k]
            for m in range(count):
                total += weights[m] * rows[m * stride + k]
            out[k] = total
        return
    second = 4 if width > 8 else width - 4
    third = 8 if width > TILE else width - 4
    pairs = count - count % 2
    for k in range(0, width, TILE):
        tile = _tile(k, width)
        a, b, c = load(start, tile), load(start, tile + second), load(start, tile + third)
        d, e, f = splat(0.0), splat(0.0), splat(0.0)
        row = part(rows, tile)
        for m in range(0, pairs, 2):
            x, y, odd = weights[m], weights[m + 1], part(row, stride)
            a, b, c = a + x * load(row, 0), b + x * load(row, second), c + x * load(row, third)
            d, e, f = d + y * load(odd, 0), e + y * load(odd, second), f + y * load(odd, third)
            row = part(odd, stride)
        if pairs < count:
            x = weights[pairs]
            a, b, c = a + x * load(row, 0), b + x * load(row, second), c + x * load(row, third)
        store(out, tile, a + d)
        store(out, tile + second, b + e)
        store(out, tile + third, c + f)


@aside
def transpose(out: Pointer, matrix: Pointer, rows: int, columns: int) -> None:
    """Write the transpose of a matrix, both row by row."""
    if rows < 4 or columns < 4:
        for r in range(rows):
            for c in range(columns):
                out[c * rows + r] = matrix[r * columns + c]
        return
    for r in range(0, rows, 4):
        top = r if r + 4 <= rows else rows - 4
        for c in range(0, columns, 4):
            left = c if c + 4 <= columns else columns - 4
            corner, place = part(matrix, top * columns + left), part(out, left * rows + top)
            d, e, f, g = transposed(
                load(corner, 0), load(corner, columns), load(corner, 2 * columns), load(corner, 3 * columns)
            )
            store(place, 0, d)
            store(place, rows, e)
            store(place, 2 * rows, f)
            store(place, 3 * rows, g)


@helper
def answers(policy: Pointer, newest: Pointer, columns: int, dx: int, du: int, H: int, out: Pointer) -> None:
    """Write s_{t-j}(M) = sum_k M[k] w_{t-j-k} for j = 0, ..., H + 1, one row for every input."""
    for a in range(0, du, 2):
        b = a + 1 if a + 1 < du else a
        first, second = part(policy, a * dx), part(policy, b * dx)
        two_sums(part(out, a * (H + 2)), part(out, b * (H + 2)), first, second, H, du * dx, newest, columns, dx, H + 2)


@helper
def slopes(
    pulls: Pointer, newest: Pointer, columns: int, dx: int, du: int, H: int, spread: Pointer, out: Pointer
) -> None:
    """Write sum_j q_j w_{t-j-k}' for k = 1, ..., H, the gradient in M; the lag is last in `spread`, first in `out`."""
    once = 1 if H > 0 else H  # written as a number, numba would compile the helper again
    for a in range(0, du, 2):
        b = a + 1 if a + 1 < du else a
        first, second = part(pulls, a * (H + 2)), part(pulls, b * (H + 2))
        for i in range(dx):
            row, row_2 = part(spread, (a * dx + i) * H), part(spread, (b * dx + i) * H)
            two_sums(row, row_2, first, second, once, H, part(newest, i * columns), once, H + 2, H)
    transpose(out, spread, du * dx, H)
