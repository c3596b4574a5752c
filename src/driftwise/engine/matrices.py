"""How base-learners move over stacks of matrices within spectral-norm balls (``SpectralBalls``), four at a time.

A matrix whose Frobenius norm is at most the radius is inside, which is by far the most common case. So the step of four
base-learners is one pass over a matrix that also sums squares; only lanes that are farther out are handed, one by one,
to the plugin that clips singular values. What is read or written twice costs more than arithmetic once policies have
thousands of entries. So matrices come one after the other, and for each all base-learners; the gradient is not spread
over the lanes; the length of a step without a projection is eta |g|; and where one was projected, the points before
are recovered from those after the step. In NumPy, for one base-learner, `driftwise.engine.members` says what is done.
"""

from driftwise._compile import helper, plugin
from driftwise._lanes import Four, any_above, load, root, splat, store
from driftwise._memory import Pointer, at, call, find, part, whole_at
from driftwise.domains.kernels import (
    ADDRESS,
    FIRST,
    LARGEST_SQUARE,
    NUMBERS,
    PLAN_COLUMNS,
    SIZE,
    SMALLEST_SQUARE,
    dot,
)
from driftwise.engine import layout as slot
from driftwise.engine.members import MEMBER, how_far, in_play

LONG = 256.0
"""Steps whose squares are above this times the squared radius have swallowed digits of the points before."""


@helper
def _step(points: Pointer, g: Pointer, eta: Four, size: int) -> tuple[Four, Four]:
    """Step; return <g, w> before, and the squared norms after. Even and odd entries are summed apart, for speed."""
    inner, far, inner_2, far_2 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
    for k in range(0, size - size % 2, 2):
        p = load(points, 4 * k)
        v = p - eta * g[k]
        store(points, 4 * k, v)
        inner = inner + p * g[k]
        far = far + v * v
        p = load(points, 4 * k + 4)
        v = p - eta * g[k + 1]
        store(points, 4 * k + 4, v)
        inner_2 = inner_2 + p * g[k + 1]
        far_2 = far_2 + v * v
    for k in range(size - size % 2, size):
        p = load(points, 4 * k)
        v = p - eta * g[k]
        store(points, 4 * k, v)
        inner = inner + p * g[k]
        far = far + v * v
    return inner + inner_2, far + far_2


@helper
def _recall(points: Pointer, g: Pointer, eta: Four, size: int, before: Pointer) -> None:
    """Write where the points were before a step of length eta; where they are, if it is 0."""
    for k in range(size):
        store(before, 4 * k, load(points, 4 * k) + eta * g[k])


@helper
def _clip(c: Pointer, room: Pointer, points: Pointer, block: Pointer, far: Four, most: float, lanes: int) -> None:
    """Project the matrices of the lanes whose squared norms are above a limit."""
    trial, squares, size = find(room, c, slot.TRIAL), find(room, c, slot.GOING), int(block[SIZE])
    numbers, spare = part(at(c, slot.DOMAIN), int(block[NUMBERS])), find(room, c, slot.SPARE)
    store(squares, 0, far)
    for lane in range(lanes):
        if not squares[lane] <= most:
            for k in range(size):
                trial[k] = points[4 * k + lane]
            call(int(block[ADDRESS]), trial, size, numbers, spare)
            for k in range(size):
                points[4 * k + lane] = trial[k]


@plugin(MEMBER)
def matrices_step(c: Pointer, s: Pointer, room: Pointer, gradient: Pointer, first: int, last: int) -> int:
    """Step and project onto spectral-norm balls; the gradient is one for all, of shape (d,)."""
    d, apart, plan, before = (
        whole_at(c, slot.DIM),
        4 * whole_at(c, slot.KINDS),
        at(c, slot.DOMAIN),
        find(room, c, slot.BEFORE),
    )
    etas, inners, moves = find(room, c, slot.ETA), find(room, c, slot.INNER), find(s, c, slot.MOVES)
    for i in range(first, last, apart):
        store(inners, i, splat(0.0))
        store(moves, i, splat(0.0))
        for lane in range(in_play(c, s, i), 4):
            etas[i + lane] = 0.0  # nobody plays there: the point stays where it is
    for b in range(int(plan[0])):
        block = part(plan, 1 + PLAN_COLUMNS * b)
        start, size, radius = int(block[FIRST]), int(block[SIZE]), plan[int(block[NUMBERS])]
        g, square = part(gradient, start), radius * radius
        # Where the square says nothing, every matrix is looked at.
        most, steep = square if SMALLEST_SQUARE < square < LARGEST_SQUARE else -1.0, dot(g, g, size)
        for i in range(first, last, apart):
            points, eta = part(find(s, c, slot.POINTS), i * d + 4 * start), load(etas, i)
            moved = eta * eta * steep
            far_off = any_above(moved, splat(LONG * square))
            if far_off:
                _recall(points, g, splat(0.0), size, before)
            inner, far = _step(points, g, eta, size)
            if any_above(far, splat(most)):
                if not far_off:
                    _recall(points, g, eta, size, before)
                _clip(c, room, points, block, far, most, in_play(c, s, i))
                distance = how_far(points, before, size)
                moved = distance * distance
            store(inners, i, load(inners, i) + inner)
            store(moves, i, load(moves, i) + moved)
    for i in range(first, last, apart):
        store(moves, i, root(load(moves, i)))
    return 0
