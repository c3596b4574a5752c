"""Compiled exact projections onto the sets of which every domain is a product, one plugin for each kind.

A domain is passed to compiled code as its *plan*, one vector of doubles (`Domain.plan`):

======================= ================================================================
places                  meaning
======================= ================================================================
0                       number of blocks
1 + 4 b ... 4 + 4 b     block b: address of its plugin, first coordinate, number of
                        coordinates, and where in the plan its numbers begin
after the last block    the numbers (ball: radius, centre; box: low, high;
                        simplex: scale; spectral: radius, number of matrix rows)
======================= ================================================================

A plugin takes the coordinates of its block, how many they are, its numbers and scratch space, and moves the
coordinates to the nearest point of the set. Only the kinds that a domain has are compiled. The plugin for matrices is
in `domains.singular_values`; the same projections in NumPy are in `domains.nearest`.

No square may overflow or vanish: a learner's step can put a point 1e200 times farther out than the domain is wide.
"""

import math

from driftwise._compile import aside, helper, plugin
from driftwise._lanes import load, splat, total
from driftwise._memory import Pointer, call, part

BALL, BOX, SIMPLEX, SPECTRAL = 0, 1, 2, 3
"""Kinds of block."""

ADDRESS, FIRST, SIZE, NUMBERS = 0, 1, 2, 3
"""Columns of a block in a plan."""

PLAN_COLUMNS = 4


@aside
def dot(a: Pointer, b: Pointer, n: int) -> float:
    """Return the inner product of n numbers each, in sixteen independent sums."""
    e, f, g, h = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
    many, whole = n - n % 16, n - n % 4
    for k in range(0, many, 16):
        e = e + load(a, k) * load(b, k)
        f = f + load(a, k + 4) * load(b, k + 4)
        g = g + load(a, k + 8) * load(b, k + 8)
        h = h + load(a, k + 12) * load(b, k + 12)
    for k in range(many, whole, 4):
        e = e + load(a, k) * load(b, k)
    result: float = total((e + f) + (g + h))
    for k in range(whole, n):
        result += a[k] * b[k]
    return result


SMALLEST_SQUARE, LARGEST_SQUARE = 1e-270, 1e290
"""Limits between which a sum of squares has not overflowed, and has lost nothing that matters to underflow."""


@aside
def length(x: Pointer, n: int) -> float:
    """Return the Euclidean norm of n numbers of any size."""
    total = dot(x, x, n)
    if SMALLEST_SQUARE < total < LARGEST_SQUARE:
        return math.sqrt(total)
    largest = 0.0
    for k in range(n):
        largest = max(largest, abs(x[k]))
    if largest == 0.0:
        return 0.0
    total = 0.0
    for k in range(n):
        total += (x[k] / largest) * (x[k] / largest)
    return largest * math.sqrt(total)


@plugin("int64(P, int64, P, P)")
def project_ball(x: Pointer, size: int, numbers: Pointer, room: Pointer) -> int:
    """Pull a point outside back towards the centre, to the radius."""
    radius, center = numbers[0], part(numbers, 1)
    total = 0.0
    for k in range(size):
        total += (x[k] - center[k]) * (x[k] - center[k])
    square = radius * radius
    if SMALLEST_SQUARE < square < LARGEST_SQUARE and total < LARGEST_SQUARE:
        if total > square:
            ratio = radius / math.sqrt(total)
            for k in range(size):
                x[k] = center[k] + ratio * (x[k] - center[k])
        return 0
    largest = 0.0
    for k in range(size):
        largest = max(largest, abs(x[k] - center[k]))
    if largest == 0.0:
        return 0
    total = 0.0
    for k in range(size):
        total += ((x[k] - center[k]) / largest) * ((x[k] - center[k]) / largest)
    # The ratio of radius and distance may itself vanish, so the direction is computed first.
    if largest * math.sqrt(total) > radius:
        for k in range(size):
            x[k] = center[k] + radius * ((x[k] - center[k]) / largest / math.sqrt(total))
    return 0


@plugin("int64(P, int64, P, P)")
def project_box(x: Pointer, size: int, numbers: Pointer, room: Pointer) -> int:
    """Clip every coordinate to its limits."""
    for k in range(size):
        x[k] = min(max(x[k], numbers[k]), numbers[size + k])
    return 0


@plugin("int64(P, int64, P, P)")
def project_simplex(x: Pointer, size: int, numbers: Pointer, room: Pointer) -> int:
    """Subtract the threshold at which what is left above 0 sums to the scale.

    Michelot's method finds it without sorting: take the mean excess of the coordinates above the last threshold, which
    is Newton's step on a convex, piecewise linear function, so that it rises to the exact threshold in at most `size`
    steps (usually a handful). Shifting by the maximum first keeps the sums as small as the scale.
    """
    scale, top = numbers[0], x[0]
    for k in range(size):
        top = max(top, x[k])
    threshold, following = -scale, 0.0
    while True:
        count, total = 0, 0.0
        for k in range(size):
            if x[k] - top > threshold:
                count += 1
                total += x[k] - top
        following = (total - scale) / max(count, 1)
        if not following > threshold or count == 0:
            break
        threshold = following
    for k in range(size):
        x[k] = max((x[k] - top) - threshold, 0.0)
    return 0


@helper
def project(plan: Pointer, x: Pointer, room: Pointer) -> None:
    """Project a decision onto the domain of a plan, in place; `room` is scratch space of `Domain.room` doubles."""
    for b in range(int(plan[0])):
        block = part(plan, 1 + PLAN_COLUMNS * b)
        numbers = part(plan, int(block[NUMBERS]))
        call(int(block[ADDRESS]), part(x, int(block[FIRST])), int(block[SIZE]), numbers, room)
