"""The paper's family of rounds (Algorithm 1 and its relatives), and what all families share.

One scheme, many configurations: N base-learners with step sizes eta_1 < ... < eta_N take mirror steps on one shared
gradient (or each on its own) and are mixed by Hedge over the switching-cost-regularised loss::

    w_t       = sum_i p_{t,i} w_{t,i}
    l_{t,i}   = <g_t, w_{t,i}> + lambda |w_{t,i} - w_{t-1,i}|
    p_{t+1,i} ~ prior_i exp(-eps sum_{s<=t} l_{s,i})
    w_{t+1,i} = Proj_W(w_{t,i} - eta_i g_t)

Every rate in the paper is a constant divided by the square root of a number of rounds. That number is the *clock*: the
horizon when it is known, the rounds so far in the time-varying schedule, the length of the current block in the
doubling schedule, and 1 when steps are given directly. ``engine.tuned`` has the family whose rates follow from what was
seen, and ``engine.reference`` states both in NumPy.

A round is a plugin: the two verbs, whole runs and controllers call it by address, and so share its machine code.
"""

import math

from driftwise._compile import LARGEST, aside, helper, plugin
from driftwise._lanes import load, splat, store, total, totals_of
from driftwise._memory import Pointer, at, call, find, part, whole_at
from driftwise.engine import layout as slot
from driftwise.engine.hedge import clock_rate, mean_of, weigh

OK, REFUSED, MISFIT = 0, 1, 2
"""Results of a round: it was accepted; its numbers were refused; the gradient has the wrong size."""

FAMILY = "int64(P, P, P)"
"""Signature of a round: constants, state, room; the gradient is in the room."""


@helper
def lanes_in_play(c: Pointer, s: Pointer) -> int:
    """Return the number of lanes up to the last base-learner in play."""
    lanes: int = 4 * whole_at(c, slot.KINDS) * ((whole_at(s, slot.ACTIVE) + 3) // 4)
    return lanes


@helper
def clock_of(c: Pointer, updates: float) -> float:
    """Return the number of rounds that the rates of an update are made for."""
    if c[slot.SCHEDULE] == slot.FIXED:
        return float(c[slot.CLOCK])
    if c[slot.SCHEDULE] != slot.DOUBLING:
        return max(updates, 1.0)
    block = 1.0
    while 2.0 * block <= updates:
        block *= 2.0
    return block


@helper
def move_kind(c: Pointer, s: Pointer, room: Pointer, g: Pointer, kind: int) -> None:
    """Move the base-learners of a kind against a gradient, by the steps in `eta`."""
    way = c[slot.WAIT_CALL] if at(c, slot.PATIENCE)[kind] > 0.0 else c[slot.MOVE_CALL]
    call(int(way), c, s, room, g, 4 * kind, lanes_in_play(c, s))


@helper
def set_steps(c: Pointer, s: Pointer, room: Pointer, scale: float) -> None:
    """Write the steps of an update."""
    steps, eta = at(c, slot.STEPS), find(room, c, slot.ETA)
    for i in range(0, lanes_in_play(c, s), 4):
        store(eta, i, load(steps, i) * scale)


@helper
def move_all(c: Pointer, s: Pointer, room: Pointer, scale: float, shift: float) -> None:
    """Write every base-learner's surrogate loss, less `shift`, and move it.

    Where the round has a hint, those who heed it have moved on it already: they move by what is left of the gradient.
    """
    lanes, kinds = lanes_in_play(c, s), whole_at(c, slot.KINDS)
    losses, moves = find(room, c, slot.LOSSES), find(s, c, slot.MOVES)
    heedless = whole_at(c, slot.HEEDLESS) if s[slot.HINTED] > 0.0 else kinds
    for i in range(0, lanes, 4):
        store(losses, i, c[slot.SWITCHING] * load(moves, i) - shift)
    set_steps(c, s, room, scale)
    for kind in range(kinds):
        move_kind(c, s, room, find(room, c, slot.GUIDE if kind >= heedless else slot.GRADIENT), kind)
    values = find(room, c, slot.VALUES if c[slot.OWN] > 0.0 else slot.INNER)
    for i in range(0, lanes, 4):
        store(losses, i, load(values, i) + load(losses, i))
    for kind in range(heedless, kinds):
        for i in range(4 * kind, lanes, 4 * kinds):
            store(losses, i, load(losses, i) + load(find(room, c, slot.FORESEEN), i))


@helper
def add_losses(c: Pointer, s: Pointer, room: Pointer) -> None:
    """Add the losses of the round to the totals, and their mean to the mixture's total."""
    lanes, totals, losses = lanes_in_play(c, s), find(s, c, slot.TOTALS), find(room, c, slot.LOSSES)
    s[slot.MIXTURE] += mean_of(lanes, find(s, c, slot.WEIGHTS), losses)
    for i in range(0, lanes, 4):
        store(totals, i, load(totals, i) + load(losses, i))


@helper
def mixture_place(c: Pointer, s: Pointer) -> Pointer:
    """Return where the mixture is kept: the decision itself, unless a dead zone lies around it."""
    return part(s, int(c[slot.CENTRE] if c[slot.DEAD_ZONE] > 0.0 else c[slot.DECISION]))


@helper
def blend(c: Pointer, s: Pointer) -> None:
    """Write the mixture of the base-learners' points."""
    d, lanes, out = whole_at(c, slot.DIM), lanes_in_play(c, s), mixture_place(c, s)
    weights, points, whole = find(s, c, slot.WEIGHTS), find(s, c, slot.POINTS), d - d % 4
    # From the end, where the step has just been: what is still in the cache is read first.
    for k in range(whole - 4, -1, -4):
        e, f, g, h = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        for i in range(0, lanes, 4):
            w, at = load(weights, i), i * d + 4 * k
            e = e + w * load(points, at)
            f = f + w * load(points, at + 4)
            g = g + w * load(points, at + 8)
            h = h + w * load(points, at + 12)
        store(out, k, totals_of(e, f, g, h))
    for k in range(whole, d):
        e = splat(0.0)
        for i in range(0, lanes, 4):
            e = e + load(weights, i) * load(points, i * d + 4 * k)
        out[k] = total(e)


@aside
def mix(c: Pointer, s: Pointer) -> None:
    """Compute the weights from the totals at the current rate, and the mixture from the weights."""
    prior, totals, weights = find(s, c, slot.PRIOR), find(s, c, slot.TOTALS), find(s, c, slot.WEIGHTS)
    weigh(lanes_in_play(c, s), s[slot.EPS], prior, totals, weights)
    blend(c, s)


@aside
def put(c: Pointer, s: Pointer, size: int, kind: int) -> None:
    """Let the base-learner of a size and a kind begin where the mixture is, with the mixture's own total."""
    d, kinds, where = whole_at(c, slot.DIM), whole_at(c, slot.KINDS), mixture_place(c, s)
    block, lane = ((size // 4) * kinds + kind) * 4, size % 4
    points = part(find(s, c, slot.POINTS), block * d + lane)
    for k in range(d):
        points[4 * k] = where[k]
    if c[slot.FOLDED] > 0.0:
        duals = part(find(s, c, slot.DUALS), block * d + lane)
        for k in range(d):
            duals[4 * k] = 0.0
    i = block + lane
    find(s, c, slot.MOVES)[i], find(s, c, slot.TOTALS)[i] = 0.0, s[slot.MIXTURE]
    find(s, c, slot.PRIOR)[i] = at(c, slot.LOG_PRIOR)[i]
    if c[slot.PLACE_CALL] > 0.0:
        call(whole_at(c, slot.PLACE_CALL), c, s, i)


@aside
def grow(c: Pointer, s: Pointer, clock: float, slowly: bool) -> None:
    """Let newcomers join where the mixture is, until there are as many as the paper has for this clock.

    Slowly: the longest step at most doubles when the rounds do, as the scale of losses is unknown at first.
    """
    before, s[slot.NOW] = s[slot.ACTIVE], clock
    enough = 1.0 + c[slot.GROWTH] * clock
    while 0.25 * s[slot.POWER] * s[slot.POWER] < enough and not (slowly and s[slot.POWER] > clock):
        for kind in range(whole_at(c, slot.KINDS)):
            put(c, s, whole_at(s, slot.ACTIVE), kind)
        s[slot.ACTIVE] += 1.0
        s[slot.POWER] *= 2.0
    if s[slot.ACTIVE] > before:
        mix(c, s)


@aside
def _restart(c: Pointer, s: Pointer, clock: float) -> None:
    """Begin a new block of the doubling trick from where the decision is."""
    d, decision = whole_at(c, slot.DIM), find(s, c, slot.DECISION)
    if c[slot.ENTROPIC] > 0.0:
        log_start, scale = find(s, c, slot.LOG_START), c[slot.ENTROPIC]
        for k in range(d):
            log_start[k] = math.log(max(decision[k] / scale, 1e-300))
    for i in range(lanes_in_play(c, s)):
        find(s, c, slot.PRIOR)[i], find(s, c, slot.TOTALS)[i] = -math.inf, 0.0
    s[slot.MIXTURE], s[slot.EPS] = 0.0, clock_rate(c[slot.RATE], clock)
    s[slot.ACTIVE], s[slot.POWER], s[slot.NOW] = 0.0, 1.0, clock
    if c[slot.GROWTH] > 0.0:
        grow(c, s, clock, False)
        return
    while s[slot.ACTIVE] < c[slot.SIZES]:
        for kind in range(whole_at(c, slot.KINDS)):
            put(c, s, whole_at(s, slot.ACTIVE), kind)
        s[slot.ACTIVE] += 1.0
    mix(c, s)


@plugin(FAMILY)
def paper_round(c: Pointer, s: Pointer, room: Pointer) -> int:
    """Judge and move every base-learner, mix them again, and without a horizon let the pool grow or start again."""
    s[slot.UPDATES] += 1.0
    clock = clock_of(c, s[slot.UPDATES])
    if s[slot.HINTED] > 0.0:
        call(whole_at(c, slot.FORGET_CALL), c, s, room)
    move_all(c, s, room, 1.0 / math.sqrt(clock), 0.0)
    add_losses(c, s, room)
    s[slot.EPS] = clock_rate(c[slot.RATE], clock)
    mix(c, s)
    s[slot.HINTED] = 0.0
    if c[slot.SCHEDULE] == slot.DOUBLING:
        upcoming = clock_of(c, s[slot.UPDATES] + 1.0)
        if upcoming > clock:
            _restart(c, s, upcoming)
    elif c[slot.SCHEDULE] == slot.TIME_VARYING and c[slot.GROWTH] > 0.0:
        grow(c, s, s[slot.UPDATES] + 1.0, False)
    return OK


@helper
def _acceptable(numbers: Pointer, count: int) -> bool:
    """Tell whether every number is finite and small enough that sums of squares stay finite."""
    wrong = 0
    for k in range(count):
        wrong += not abs(numbers[k]) <= LARGEST
    return wrong == 0


@helper
def put_gradient(thin: bool, out: Pointer, k: int, value: float) -> None:
    """Write an entry of a gradient for all base-learners, spread over four lanes unless it is to be thin."""
    if thin:
        out[k] = value
    else:
        store(out, 4 * k, splat(value))


@helper
def learn_in(c: Pointer, s: Pointer, room: Pointer, gradient: Pointer) -> int:
    """Observe the gradient at the decision; a refused one changes nothing. Constants, state and room may lie apart."""
    d = whole_at(c, slot.DIM)
    if not _acceptable(gradient, d):
        return REFUSED
    shared, given = find(room, c, slot.GRADIENT), gradient
    s[slot.ROUND] += 1.0
    if c[slot.EPOCH] > 1.0:
        given = find(s, c, slot.HELD)
        for k in range(d):
            given[k] += gradient[k]
        s[slot.WAITING] += 1.0
        if s[slot.WAITING] < c[slot.EPOCH]:
            return OK
    thin = c[slot.THIN] > 0.0
    for k in range(d):
        put_gradient(thin, shared, k, given[k])
    if c[slot.EPOCH] > 1.0:
        s[slot.WAITING] = 0.0
        for k in range(d):
            given[k] = 0.0
    return int(call(whole_at(c, slot.ROUND_CALL), c, s, room))


@helper
def learn(cell: Pointer, gradient: Pointer) -> int:
    """Observe the gradient at the decision, in a cell."""
    return learn_in(cell, at(cell, slot.STATE_AT), at(cell, slot.ROOM_AT), gradient)


@helper
def learn_own(cell: Pointer) -> int:
    """Observe a gradient and a loss for every base-learner, which are in the room; refuse what is not finite."""
    s, room, lanes = at(cell, slot.STATE_AT), at(cell, slot.ROOM_AT), lanes_in_play(cell, at(cell, slot.STATE_AT))
    gradients, values = find(room, cell, slot.GRADIENT), find(room, cell, slot.VALUES)
    if not (_acceptable(gradients, lanes * whole_at(cell, slot.DIM)) and _acceptable(values, lanes)):
        return REFUSED
    s[slot.ROUND] += 1.0
    return int(call(whole_at(cell, slot.ROUND_CALL), cell, s, room))


@helper
def lane_of(cell: Pointer, member: int) -> int:
    """Return the lane of a base-learner, counted size by size and kind by kind."""
    kinds = whole_at(cell, slot.KINDS)
    size, kind = member // kinds, member % kinds
    lane: int = ((size // 4) * kinds + kind) * 4 + size % 4
    return lane


@helper
def write_weights(cell: Pointer, row: Pointer) -> None:
    """Write the weights of the base-learners in play, size by size and kind by kind."""
    s = at(cell, slot.STATE_AT)
    for member in range(whole_at(s, slot.ACTIVE) * whole_at(cell, slot.KINDS)):
        row[member] = find(s, cell, slot.WEIGHTS)[lane_of(cell, member)]
