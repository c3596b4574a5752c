"""Hints: base-learners step on a guess of the next gradient, and correct for its error once the gradient is known.

When the gradient arrives, the step on the guess is undone (base-learners that heed hints step by gradient minus hint),
so only the error of the guess counts in the end. A guess is trusted as far as past guesses were right: it is multiplied
by the number from 0 to 1 that would have brought the past ones nearest to their gradients, less what could be due to
chance (one standard deviation of the sum of <g, m>). The first guess moves nothing: it only counts for later trust.
"""

import math

from driftwise._compile import helper, plugin
from driftwise._lanes import load, splat, store
from driftwise._memory import Pointer, call, find, whole_at
from driftwise.engine import layout as slot
from driftwise.engine.rounds import FAMILY, OK, blend, clock_of, lanes_in_play, move_kind, put_gradient, set_steps
from driftwise.engine.tuned import follow, step_scale


@helper
def _hypotenuse(a: float, b: float) -> float:
    """Return the root of the sum of two squares, without overflow or underflow."""
    most, least = max(abs(a), abs(b)), min(abs(a), abs(b))
    return most * math.sqrt(1.0 + (least / most) * (least / most)) if most > 0.0 else 0.0


@plugin(FAMILY)
def take_hint(c: Pointer, s: Pointer, room: Pointer) -> int:
    """Let base-learners that heed hints move on the guess in the room's `row`, whose numbers have been checked."""
    d, kinds, tuned = whole_at(c, slot.DIM), whole_at(c, slot.KINDS), c[slot.SCHEDULE] == slot.SELF_TUNED
    row, guide, hint = find(room, c, slot.ROW), find(room, c, slot.GUIDE), find(s, c, slot.HINT)
    thin = c[slot.THIN] > 0.0
    for k in range(d):
        put_gradient(thin, guide, k, row[k])
    if c[slot.TANGENT_CALL] > 0.0:
        call(whole_at(c, slot.TANGENT_CALL), c, guide)
    s[slot.TRUST] = 0.0
    if s[slot.GUESSED] > 0.0:
        s[slot.TRUST] = min(max((s[slot.AGREED] - s[slot.CHANCE]) / s[slot.GUESSED], 0.0), 1.0)
    square, apart = 0.0, 1 if thin else 4
    for k in range(d):
        hint[k] = guide[apart * k]
        believed = s[slot.TRUST] * hint[k]
        square += believed * believed
        put_gradient(thin, guide, k, believed)
    if tuned:
        scale = step_scale(s[slot.SEEN] + square + c[slot.PRICE] * math.sqrt(square))
    else:
        scale = 1.0 / math.sqrt(clock_of(c, s[slot.UPDATES] + 1.0))
    moves, losses, lanes = find(s, c, slot.MOVES), find(room, c, slot.LOSSES), lanes_in_play(c, s)
    set_steps(c, s, room, scale)
    for i in range(0, lanes, 4):
        store(losses, i, load(moves, i))  # the moves before, to which those on the hint are added
    for kind in range(whole_at(c, slot.HEEDLESS), kinds):
        move_kind(c, s, room, guide, kind)
        for i in range(4 * kind, lanes, 4 * kinds):
            store(moves, i, load(moves, i) + load(losses, i))
    s[slot.HINTED] = 1.0
    blend(c, s)
    if tuned:
        follow(c, s, False)
    return OK


@plugin(FAMILY)
def forget_hint(c: Pointer, s: Pointer, room: Pointer) -> int:
    """Record what the hint was worth to each base-learner, and what is left of the gradient without it."""
    d, trust, thin = whole_at(c, slot.DIM), s[slot.TRUST], c[slot.THIN] > 0.0
    g, guide, hint = find(room, c, slot.GRADIENT), find(room, c, slot.GUIDE), find(s, c, slot.HINT)
    points, foreseen = find(s, c, slot.POINTS), find(room, c, slot.FORESEEN)
    for i in range(0, lanes_in_play(c, s), 4):
        worth = splat(0.0)
        for k in range(d):
            worth = worth + (trust * hint[k]) * load(points, i * d + 4 * k)
        store(foreseen, i, worth)
    agreed, apart = 0.0, 1 if thin else 4
    for k in range(d):
        agreed += g[apart * k] * hint[k]
        s[slot.GUESSED] += hint[k] * hint[k]
        put_gradient(thin, guide, k, g[apart * k] - trust * hint[k])
    s[slot.AGREED] += agreed
    s[slot.CHANCE] = _hypotenuse(s[slot.CHANCE], agreed)
    return OK
