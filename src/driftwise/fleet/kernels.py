"""Rounds of many members, compiled: constants in a table, states side by side, and one room for each thread."""

import math

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import entry, helper
from driftwise._memory import Array, Pointer, find, part, pointer_at, whole_at
from driftwise.engine import layout as slot
from driftwise.engine.prices import move_price
from driftwise.engine.rounds import OK, learn_in
from driftwise.losses.kernels import TAPS, unary_slopes, window_loss

Table = NDArray[np.int64]
Flags = NDArray[np.bool_]


@entry
def learn_members(
    constants: Array, states: Array, where: Table, skips: Flags, gradients: Array, decisions: Array, room: Array
) -> int:
    """Take in one gradient for each of some members, write their decisions, and return how many were refused.

    A row of `where` is a member: its row of states, of constants, of gradients, and of decisions.
    """
    d, wide, long, wrong, spare = decisions.shape[1], constants.shape[1], states.shape[1], 0, part(room, 0)
    for k in range(where.shape[0]):
        s, c = part(states, where[k, 0] * long), part(constants, where[k, 1] * wide)
        if not skips[k]:
            wrong += learn_in(c, s, spare, part(gradients, where[k, 2] * d)) != OK
        decision, out = find(s, c, slot.DECISION), part(decisions, where[k, 3] * d)
        for j in range(d):
            out[j] = decision[j]
    return wrong


@helper
def _distance(now: Pointer, before: Pointer, d: int) -> float:
    square = 0.0
    for k in range(d):
        square += (now[k] - before[k]) * (now[k] - before[k])
    return math.sqrt(square)


@entry
def play_members(
    constants: Array, states: Array, where: Table, streams: Table, cost: Array, room: Array, path: Array, sums: Array
) -> int:
    """Play each member's stream, one member after the other; return how many have played all of theirs.

    A row of `where` is a member: its row of states, of constants and of sums. A row of `streams` is its stream: the
    addresses of terms, features, targets and of its record of decisions, or 0, and the number of rounds. `cost` is the
    price of a unit of distance, or below 0 whether prices add up and the prices up and down. `sums` are the losses and
    the prices of moves. Without a record `path` has the decisions that losses ask for.
    """
    wide, long, spare = constants.shape[1], states.shape[1], part(room, 0)
    for m in range(where.shape[0]):
        s, c, out = part(states, where[m, 0] * long), part(constants, where[m, 1] * wide), part(sums, where[m, 2] * 3)
        loss, xs, ys = pointer_at(streams[m, 0]), pointer_at(streams[m, 1]), pointer_at(streams[m, 2])
        d, slope, decision = whole_at(c, slot.DIM), find(spare, c, slot.ROW), find(s, c, slot.DECISION)
        recorded, windowed = streams[m, 3] != 0, loss[TAPS] > 1.0
        for t in range(streams[m, 4]):
            # Two rows are enough where nobody asks for more.
            row = t if recorded or windowed else t % 2
            last = max(t - 1, 0) if recorded or windowed else (t + 1) % 2
            road = pointer_at(streams[m, 3]) if recorded else part(path, 0)
            now, before, x, y = part(road, row * d), part(road, last * d), part(xs, t * d), part(ys, t)
            for k in range(d):
                now[k] = decision[k]
            if t > 0:
                if cost[0] >= 0.0:
                    out[1] += _distance(now, before, d)
                else:
                    out[1] += move_price(before, now, 1, part(cost, 2), d, cost[1] > 0.0)
            window_loss(loss, x, y, road, row, d, part(out, 2))
            if not math.isfinite(out[2]):
                return m
            out[0] += out[2]
            unary_slopes(loss, x, y, now, d, slope)
            if learn_in(c, s, spare, slope) != OK:
                return m
    return len(where)
