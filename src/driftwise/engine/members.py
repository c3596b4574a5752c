"""How base-learners move, four at a time: plugins that a round calls by address, one for each way of moving.

All take the constants, the state and the room of a learner, a gradient, of shape (d, 4) for every block or one for all,
and the lanes to move. They move the points of these against the gradient by the steps in ``eta``, and note <g, w>
before the move and how far it went. In NumPy, for one base-learner::

    inner = g @ w
    v     = project(w - eta * g)
    move  = norm(v - w)

A domain that is one ball or one box has its own step, with the projection built in, and so have stacks of matrices
(``engine.matrices``); every other domain is projected onto by its plan. A *priced* move is a step and its price. A
*patient* base-learner holds the gradients it is given and does nothing until together they outweigh what a move costs;
then it steps by the excess, and keeps the rest. Standing still while the sum of gradients stays within the price is
what the cheapest sequence of decisions does too: it moves only where its multipliers reach the price.
"""

import math

from driftwise._compile import aside, helper, plugin
from driftwise._lanes import Four, any_above, exp_of, greater, lesser, load, root, size, splat, store, where_above
from driftwise._memory import Pointer, at, call, find, part, whole_at
from driftwise.domains.kernels import PLAN_COLUMNS, project
from driftwise.engine import layout as slot
from driftwise.engine.prices import move_price, pull
from driftwise.mirror import pnorm_step

MEMBER = "int64(P, P, P, P, int64, int64)"
"""Signature of a way of moving: constants, state, room, gradient, first lane, and where to stop. Blocks of one
kind are 4 k lanes apart if there are k kinds."""

FIRST_NUMBERS = 1 + PLAN_COLUMNS
"""Where the numbers of a domain of one block begin in its plan."""

HUGE = 1e300
"""A sum of squares beyond this may have lost terms that overflowed."""


@plugin(MEMBER)
def box_step(c: Pointer, s: Pointer, room: Pointer, gradient: Pointer, first: int, last: int) -> int:
    """Step and clip to a box."""
    d, own, limits = whole_at(c, slot.DIM), whole_at(c, slot.OWN), part(at(c, slot.DOMAIN), FIRST_NUMBERS)
    etas, inners, moves = find(room, c, slot.ETA), find(room, c, slot.INNER), find(s, c, slot.MOVES)
    for i in range(first, last, 4 * whole_at(c, slot.KINDS)):
        points, g = part(find(s, c, slot.POINTS), i * d), part(gradient, (i // 4) * own)
        eta, inner, moved = load(etas, i), splat(0.0), splat(0.0)
        for k in range(d):
            p, x = load(points, 4 * k), load(g, 4 * k)
            v = lesser(greater(p - eta * x, splat(limits[k])), splat(limits[d + k]))
            inner = inner + p * x
            moved = moved + (v - p) * (v - p)
            store(points, 4 * k, v)
        store(inners, i, inner)
        store(moves, i, root(moved))
    return 0


@aside
def _shrinking(points: Pointer, g: Pointer, eta: Four, ball: Pointer, d: int) -> Four:
    """Return radius over distance to the centre after the step, where squares overflow; at most 1."""
    big, far = splat(1.0), splat(0.0)
    for k in range(d):
        big = greater(big, size(load(points, 4 * k) - eta * load(g, 4 * k) - splat(ball[k + 1])))
    for k in range(d):
        v = (load(points, 4 * k) - eta * load(g, 4 * k) - splat(ball[k + 1])) / big
        far = far + v * v
    return lesser(splat(ball[0]) / big / root(far), splat(1.0))


@plugin(MEMBER)
def ball_step(c: Pointer, s: Pointer, room: Pointer, gradient: Pointer, first: int, last: int) -> int:
    """Step and pull back to a ball. Even and odd coordinates are summed independently, for speed."""
    d, own = whole_at(c, slot.DIM), whole_at(c, slot.OWN)
    ball, trial = part(at(c, slot.DOMAIN), FIRST_NUMBERS), find(room, c, slot.BEFORE)
    etas, inners, moves, pairs = find(room, c, slot.ETA), find(room, c, slot.INNER), find(s, c, slot.MOVES), d - d % 2
    radius = splat(ball[0])
    limit = radius * radius
    for i in range(first, last, 4 * whole_at(c, slot.KINDS)):
        points, g, eta = part(find(s, c, slot.POINTS), i * d), part(gradient, (i // 4) * own), load(etas, i)
        inner, inner_2, far, far_2 = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        for k in range(0, pairs, 2):
            p, x = load(points, 4 * k), load(g, 4 * k)
            v = p - eta * x
            store(trial, 4 * k, v)
            v = v - splat(ball[k + 1])
            inner = inner + p * x
            far = far + v * v
            p, x = load(points, 4 * k + 4), load(g, 4 * k + 4)
            v = p - eta * x
            store(trial, 4 * k + 4, v)
            v = v - splat(ball[k + 2])
            inner_2 = inner_2 + p * x
            far_2 = far_2 + v * v
        if pairs < d:
            p, x = load(points, 4 * pairs), load(g, 4 * pairs)
            v = p - eta * x
            store(trial, 4 * pairs, v)
            v = v - splat(ball[d])
            inner = inner + p * x
            far = far + v * v
        far = far + far_2
        store(inners, i, inner + inner_2)
        if any_above(far, limit):
            ratio = where_above(far, limit, radius / root(far), splat(1.0))
            if any_above(far, splat(HUGE)):
                ratio = _shrinking(points, g, eta, ball, d)
            for k in range(d):
                v, centre = load(trial, 4 * k), splat(ball[k + 1])
                store(trial, 4 * k, where_above(splat(1.0), ratio, centre + ratio * (v - centre), v))
        moved, moved_2 = splat(0.0), splat(0.0)
        for k in range(0, pairs, 2):
            v, u = load(trial, 4 * k), load(trial, 4 * k + 4)
            change, change_2 = v - load(points, 4 * k), u - load(points, 4 * k + 4)
            store(points, 4 * k, v)
            store(points, 4 * k + 4, u)
            moved = moved + change * change
            moved_2 = moved_2 + change_2 * change_2
        if pairs < d:
            v = load(trial, 4 * pairs)
            change = v - load(points, 4 * pairs)
            store(points, 4 * pairs, v)
            moved = moved + change * change
        store(moves, i, root(moved + moved_2))
    return 0


@helper
def in_play(c: Pointer, s: Pointer, i: int) -> int:
    """Return how many of the four lanes from i on are in play."""
    left: int = whole_at(s, slot.ACTIVE) - 4 * (i // (4 * whole_at(c, slot.KINDS)))
    return min(left, 4)


@helper
def _look(points: Pointer, g: Pointer, d: int, before: Pointer) -> Four:
    """Keep the points of a block, and return <g, w> of each."""
    inner = splat(0.0)
    for k in range(d):
        p = load(points, 4 * k)
        inner = inner + p * load(g, 4 * k)
        store(before, 4 * k, p)
    return inner


@helper
def how_far(points: Pointer, before: Pointer, d: int) -> Four:
    """Return the distance from the points before."""
    moved = splat(0.0)
    for k in range(d):
        change = load(points, 4 * k) - load(before, 4 * k)
        moved = moved + change * change
    return root(moved)


@plugin(MEMBER)
def planned_step(c: Pointer, s: Pointer, room: Pointer, gradient: Pointer, first: int, last: int) -> int:
    """Step and project onto any domain by its plan, one base-learner after the other."""
    d, own = whole_at(c, slot.DIM), whole_at(c, slot.OWN)
    before, trial = find(room, c, slot.BEFORE), find(room, c, slot.TRIAL)
    plan, spare = at(c, slot.DOMAIN), find(room, c, slot.SPARE)
    etas, four = find(room, c, slot.ETA), find(room, c, slot.GOING)
    for i in range(first, last, 4 * whole_at(c, slot.KINDS)):
        points, g, eta = part(find(s, c, slot.POINTS), i * d), part(gradient, (i // 4) * own), load(etas, i)
        lanes, inner = in_play(c, s, i), splat(0.0)
        # One pass over the block for all four lanes: with many coordinates, a pass for each would dominate.
        for k in range(d):
            p, x = load(points, 4 * k), load(g, 4 * k)
            inner = inner + p * x
            store(before, 4 * k, p)
            store(four, 0, p - eta * x)
            for lane in range(4):
                trial[lane * d + k] = four[lane]
        store(find(room, c, slot.INNER), i, inner)
        for lane in range(lanes):
            project(plan, part(trial, lane * d), spare)
        for k in range(d):
            for lane in range(lanes):
                points[4 * k + lane] = trial[lane * d + k]
        store(find(s, c, slot.MOVES), i, how_far(points, before, d))
    return 0


@plugin(MEMBER)
def pnorm_mirror_step(c: Pointer, s: Pointer, room: Pointer, gradient: Pointer, first: int, last: int) -> int:
    """Take the step of the p-norm map, one base-learner after the other."""
    d, own = whole_at(c, slot.DIM), whole_at(c, slot.OWN)
    before, trial = find(room, c, slot.BEFORE), find(room, c, slot.TRIAL)
    numbers, spare, etas = part(at(c, slot.DOMAIN), FIRST_NUMBERS), find(room, c, slot.SPARE), find(room, c, slot.ETA)
    slope, rest = part(spare, 0), part(spare, d)
    for i in range(first, last, 4 * whole_at(c, slot.KINDS)):
        points, g = part(find(s, c, slot.POINTS), i * d), part(gradient, (i // 4) * own)
        store(find(room, c, slot.INNER), i, _look(points, g, d, before))
        for lane in range(in_play(c, s, i)):
            for k in range(d):
                trial[k], slope[k] = points[4 * k + lane], g[4 * k + lane]
            pnorm_step(whole_at(c, slot.BASE), c[slot.MAP_NUMBER], numbers, slope, etas[i + lane], trial, d, rest)
            for k in range(d):
                points[4 * k + lane] = trial[k]
        store(find(s, c, slot.MOVES), i, how_far(points, before, d))
    return 0


@plugin(MEMBER)
def entropy_step(c: Pointer, s: Pointer, room: Pointer, gradient: Pointer, first: int, last: int) -> int:
    """Add the gradient to the sum, and go where shares are proportional to start * exp(-eta * sum / scale)."""
    d, own, before = whole_at(c, slot.DIM), whole_at(c, slot.OWN), find(room, c, slot.BEFORE)
    log_start, scale = find(s, c, slot.LOG_START), c[slot.ENTROPIC]
    for i in range(first, last, 4 * whole_at(c, slot.KINDS)):
        points, sums = part(find(s, c, slot.POINTS), i * d), part(find(s, c, slot.DUALS), i * d)
        g, eta = part(gradient, (i // 4) * own), load(find(room, c, slot.ETA), i) / scale
        store(find(room, c, slot.INNER), i, _look(points, g, d, before))
        # Sums are counted from the least, so a huge step turns the others into -inf, and never into NaN.
        least = splat(math.inf)
        for k in range(d):
            dual = load(sums, 4 * k) + load(g, 4 * k)
            store(sums, 4 * k, dual)
            least = lesser(least, dual)
        top = splat(-math.inf)
        for k in range(d):
            power = splat(log_start[k]) - eta * (load(sums, 4 * k) - least)
            store(points, 4 * k, power)
            top = greater(top, power)
        mass = splat(0.0)
        for k in range(d):
            share = exp_of(load(points, 4 * k) - top)
            store(points, 4 * k, share)
            mass = mass + share
        factor = splat(scale) / mass
        for k in range(d):
            store(points, 4 * k, load(points, 4 * k) * factor)
        store(find(s, c, slot.MOVES), i, how_far(points, before, d))
    return 0


@plugin(MEMBER)
def shared_entropy_step(c: Pointer, s: Pointer, room: Pointer, gradient: Pointer, first: int, last: int) -> int:
    """Multiply the shares by exp(-eta * gradient / scale), and replace a part of them by that part of the start."""
    d, own, before = whole_at(c, slot.DIM), whole_at(c, slot.OWN), find(room, c, slot.BEFORE)
    log_start, scale, part_of_start = find(s, c, slot.LOG_START), c[slot.ENTROPIC], c[slot.MAP_NUMBER]
    for i in range(first, last, 4 * whole_at(c, slot.KINDS)):
        points, g = part(find(s, c, slot.POINTS), i * d), part(gradient, (i // 4) * own)
        eta = load(find(room, c, slot.ETA), i) / scale
        store(find(room, c, slot.INNER), i, _look(points, g, d, before))
        # Counted from the least, a gradient of any size leaves its coordinate as it is, so the sum is above 0.
        least, mass = splat(math.inf), splat(0.0)
        for k in range(d):
            least = lesser(least, load(g, 4 * k))
        for k in range(d):
            share = load(points, 4 * k) * exp_of(eta * (least - load(g, 4 * k)))
            store(points, 4 * k, share)
            mass = mass + share
        factor = splat((1.0 - part_of_start) * scale) / mass
        for k in range(d):
            start = exp_of(splat(log_start[k])) * splat(part_of_start * scale)
            store(points, 4 * k, load(points, 4 * k) * factor + start)
        store(find(s, c, slot.MOVES), i, how_far(points, before, d))
    return 0


@plugin(MEMBER)
def priced_move(c: Pointer, s: Pointer, room: Pointer, gradient: Pointer, first: int, last: int) -> int:
    """Step, and note the price of the move in place of its length."""
    d, old, prices, adds_up = whole_at(c, slot.DIM), find(room, c, slot.OLD), at(c, slot.PRICES), c[slot.ADDS_UP] > 0.0
    for i in range(first, last, 4 * whole_at(c, slot.KINDS)):
        points, moves = part(find(s, c, slot.POINTS), i * d), part(find(s, c, slot.MOVES), i)
        for k in range(d):
            store(old, 4 * k, load(points, 4 * k))
        call(whole_at(c, slot.STEP_CALL), c, s, room, gradient, i, i + 1)
        for lane in range(4):
            moves[lane] = move_price(part(old, lane), part(points, lane), 4, prices, d, adds_up)
    return 0


@helper
def _patience(c: Pointer, i: int) -> float:
    """Return the patience of the base-learners of a block."""
    kinds = whole_at(c, slot.KINDS)
    return float(at(c, slot.PATIENCE)[(i // 4) % kinds])


@helper
def _go(c: Pointer, s: Pointer, room: Pointer, inner: Four, go: Four, i: int) -> None:
    """Move the lanes in which something lies beyond the price; the others stay exactly where they are."""
    d, moves, nothing = whole_at(c, slot.DIM), find(s, c, slot.MOVES), splat(0.0)
    if any_above(go, nothing):
        points, still = part(find(s, c, slot.POINTS), i * d), find(room, c, slot.STILL)
        call(whole_at(c, slot.MOVE_CALL), c, s, room, find(room, c, slot.BEYOND), i, i + 1)
        for k in range(d):
            store(points, 4 * k, where_above(go, nothing, load(points, 4 * k), load(still, 4 * k)))
        store(moves, i, where_above(go, nothing, load(moves, i), nothing))
    else:
        store(moves, i, nothing)
    store(find(room, c, slot.INNER), i, inner)


@plugin(MEMBER)
def patient_move(c: Pointer, s: Pointer, room: Pointer, gradient: Pointer, first: int, last: int) -> int:
    """Hold the gradient; move by the excess of the sum over the price of a unit of distance."""
    d, own, still = whole_at(c, slot.DIM), whole_at(c, slot.OWN), find(room, c, slot.STILL)
    for i in range(first, last, 4 * whole_at(c, slot.KINDS)):
        points, held = part(find(s, c, slot.POINTS), i * d), part(find(s, c, slot.DUALS), i * d)
        g, beyond = part(gradient, (i // 4) * own), part(find(room, c, slot.BEYOND), (i // 4) * own)
        inner, square, go = splat(0.0), splat(0.0), splat(0.0)
        for k in range(d):
            p, x = load(points, 4 * k), load(g, 4 * k)
            h = load(held, 4 * k) + x
            inner = inner + p * x
            square = square + h * h
            store(held, 4 * k, h)
            store(still, 4 * k, p)
        price = splat(_patience(c, i) * c[slot.SWITCHING])
        if any_above(square, price * price):
            go = where_above(square, price * price, splat(1.0) - price / root(square), go)
            for k in range(d):
                h = load(held, 4 * k)
                store(beyond, 4 * k, h * go)
                store(held, 4 * k, h - h * go)
        _go(c, s, room, inner, go, i)
    return 0


@helper
def _beyond_prices(c: Pointer, held: Pointer, beyond: Pointer, patience: float, lane: int) -> float:
    """Split off what a lane's held gradients have beyond its prices, write it, and return 1 if there is any, else 0."""
    d, prices, adds_up = whole_at(c, slot.DIM), at(c, slot.PRICES), c[slot.ADDS_UP] > 0.0
    asked = patience if adds_up else pull(part(held, lane), 4, prices, d)
    share, going = 1.0 - patience / asked if asked > patience else 0.0, 0.0
    for k in range(d):
        h = held[4 * k + lane]
        # A gradient above 0 asks to go down.
        kept = min(max(h, -patience * prices[k]), patience * prices[d + k])
        more = h - kept if adds_up else h * share
        going = 1.0 if more != 0.0 else going
        beyond[4 * k + lane] = more
        held[4 * k + lane] = h - more
    return going


@plugin(MEMBER)
def patient_priced_move(c: Pointer, s: Pointer, room: Pointer, gradient: Pointer, first: int, last: int) -> int:
    """`patient_move` at prices for coordinates: in "l1" each waits for its own, in "l2" they wait together."""
    d, own = whole_at(c, slot.DIM), whole_at(c, slot.OWN)
    still, going = find(room, c, slot.STILL), find(room, c, slot.GOING)
    for i in range(first, last, 4 * whole_at(c, slot.KINDS)):
        points, held = part(find(s, c, slot.POINTS), i * d), part(find(s, c, slot.DUALS), i * d)
        g, beyond = part(gradient, (i // 4) * own), part(find(room, c, slot.BEYOND), (i // 4) * own)
        inner = _look(points, g, d, still)
        for k in range(d):
            store(held, 4 * k, load(held, 4 * k) + load(g, 4 * k))
        for lane in range(4):
            going[lane] = _beyond_prices(c, held, beyond, _patience(c, i), lane)
        _go(c, s, room, inner, load(going, 0), i)
    return 0


@plugin("int64(P, P, int64)")
def place_entropy(c: Pointer, s: Pointer, i: int) -> int:
    """Give a lane the sum of gradients that has led to where it stands, at the step of the next update."""
    d, log_start, scale = whole_at(c, slot.DIM), find(s, c, slot.LOG_START), c[slot.ENTROPIC]
    inside = (i - i % 4) * d + i % 4
    points, sums = part(find(s, c, slot.POINTS), inside), part(find(s, c, slot.DUALS), inside)
    step = at(c, slot.STEPS)[i] / math.sqrt(s[slot.NOW])
    for k in range(d):
        share = math.log(max(points[4 * k] / scale, 1e-300))
        sums[4 * k] = min(max((log_start[k] - share) * scale / step, -HUGE), HUGE)
    return 0
