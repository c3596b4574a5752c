"""The cheapest path of one coordinate, exactly: what the rounds so far cost, as a function of where they end.

The derivative of that function is piecewise linear and rising. A round adds its own derivative to it. As a move may
follow at a price, the function falls by no more than `down` and rises by no more than `up` for a unit: its derivative
is cut off there, at two points L_t and U_t between which it is best to stay. Walking back from the end,
``w_t = clip(w_{t+1}, L_t, U_t)`` is the cheapest path (Johnson 2013 for squared losses; kinks, as those of a capacity,
need a heap from either side). Time is T log T at most, memory linear in T.

The derivative is kept as its line at either end of the interval and the knots in between, at which the line changes.
Each end has a heap of the knots, the nearest one first. What is done at one end is done at the other with its sign
reversed, so one function does both.
"""

import math
from typing import NamedTuple

import numpy as np

from driftwise._compile import entry, helper
from driftwise._validate import Array, Indices

BEND, SLOPE, KINK, JUMP = 0, 1, 2, 3
"""Rows of curves: the derivative of the loss of round t is ``bend z + slope``, and `jump` more from `kink` on."""

LEFT, RIGHT = 0, 1
"""The two ends of the interval."""

LIMIT, PRICE, LINE_A, LINE_B, REST_A, REST_B = 0, 1, 2, 3, 4, 5
"""Columns of the ends: where it is; the derivative at which it is cut off (``-down`` at the left end, `up` at the right
one); the line ``a z + b`` there; and the line beyond the place at which the last walk from this end stopped."""

PLACE, BENT, SHIFTED, ALIVE = 0, 1, 2, 3
"""Columns of the knots: where it is; what is added to a and b to its right; and 1 until a walk has passed it."""

SIZE, NEAREST = 0, 1
"""Columns of the heaps: how many knots are in one, and the first of them. Below place i are 2 i and 2 i + 1."""


class Terms(NamedTuple):
    """Where a path may be, and what a unit of a move costs."""

    low: float
    high: float
    up: float
    down: float


@helper
def _add_knot(knots: Array, count: int, heaps: Indices, place: float, bent: float, shifted: float) -> int:
    """Add a knot to the others and to both heaps, and return how many there are then."""
    knots[count, PLACE] = place
    knots[count, BENT] = bent
    knots[count, SHIFTED] = shifted
    knots[count, ALIVE] = 1.0
    for side in range(2):
        sign = 1.0 - 2.0 * side
        i = heaps[side, SIZE] + 1
        heaps[side, SIZE] = i
        while i > 1 and sign * knots[heaps[side, i // 2], PLACE] > sign * place:
            heaps[side, i] = heaps[side, i // 2]
            i //= 2
        heaps[side, i] = count
    return count + 1


@helper
def _drop_dead(side: int, heaps: Indices, knots: Array) -> None:
    """Take knots that a walk has passed off the heap of one end, until the nearest one is alive or none is left."""
    sign = 1.0 - 2.0 * side
    while heaps[side, SIZE] > 0 and knots[heaps[side, NEAREST], ALIVE] == 0.0:
        size = heaps[side, SIZE] - 1
        heaps[side, SIZE] = size
        item, i = heaps[side, size + 1], 1
        place = sign * knots[item, PLACE]
        while 2 * i <= size:
            child = 2 * i
            nearer = sign * knots[heaps[side, child], PLACE]
            if child < size and sign * knots[heaps[side, child + 1], PLACE] < nearer:
                child += 1
                nearer = sign * knots[heaps[side, child], PLACE]
            if place <= nearer:
                break
            heaps[side, i] = heaps[side, child]
            i = child
        heaps[side, i] = item


@helper
def _walk(side: int, ends: Array, heaps: Indices, knots: Array) -> float:
    """Walk from one end to where the derivative reaches its price, and return the place.

    Knots that are passed die; the line beyond the place is left with the end.
    """
    sign, price, z = 1.0 - 2.0 * side, ends[side, PRICE], float(ends[side, LIMIT])
    a, b = ends[side, LINE_A], ends[side, LINE_B]
    while sign * (a * z + b) < sign * price:
        _drop_dead(side, heaps, knots)
        knot, left = heaps[side, NEAREST], heaps[side, SIZE]
        stop = knots[knot, PLACE] if left > 0 else ends[1 - side, LIMIT]
        if sign * (a * stop + b) >= sign * price:  # then the line is not flat
            z = min(max((price - b) / a, min(z, stop)), max(z, stop))
            break
        z = stop
        if left == 0:
            break
        knots[knot, ALIVE] = 0.0
        a += sign * knots[knot, BENT]
        b += sign * knots[knot, SHIFTED]
    ends[side, REST_A] = a
    ends[side, REST_B] = b
    return z


@helper
def _cut(side: int, ends: Array, heaps: Indices, knots: Array, count: int, place: float) -> int:
    """Cut the derivative off at the place where it has the price of one end; return how many knots there are then."""
    sign, price, a, b = 1.0 - 2.0 * side, ends[side, PRICE], ends[side, REST_A], ends[side, REST_B]
    if sign * place >= sign * ends[1 - side, LIMIT] and sign * (a * place + b) < sign * price:
        for each in range(2):  # it is beyond the price everywhere
            ends[each, LINE_A] = 0.0
            ends[each, LINE_B] = price
    elif sign * (ends[side, LINE_A] * ends[side, LIMIT] + ends[side, LINE_B]) < sign * price:
        ends[side, LINE_A] = 0.0
        ends[side, LINE_B] = price
        return _add_knot(knots, count, heaps, place, sign * a, sign * (b - price))
    return count


@entry
def _cheapest_path(curves: Array, ends: Array, heaps: Indices, knots: Array, stays: Array, w: Array) -> None:
    """Write the cheapest path; `stays` is room for the two points of each round between which it is best to stay."""
    last = w.size - 1
    count = heaps[LEFT, SIZE]  # no knots yet
    for t in range(last + 1):
        kink, jump = curves[KINK, t], curves[JUMP, t]
        for side in range(2):
            ends[side, LINE_A] += curves[BEND, t]
            ends[side, LINE_B] += curves[SLOPE, t]
        if kink < ends[RIGHT, LIMIT]:
            ends[RIGHT, LINE_B] += jump
            if kink <= ends[LEFT, LIMIT]:
                ends[LEFT, LINE_B] += jump
            else:
                count = _add_knot(knots, count, heaps, kink, 0.0, jump)
        for side in range(2):
            if t == last:
                ends[side, PRICE] = 0.0  # no move follows: the least cost is where the derivative is 0
            stays[side, t] = _walk(side, ends, heaps, knots)
            count = _cut(side, ends, heaps, knots, count, stays[side, t])
    w[last] = stays[LEFT, last]
    for t in range(last - 1, -1, -1):
        lowest = stays[LEFT, t]
        w[t] = min(max(w[t + 1], lowest), max(stays[RIGHT, t], lowest))


@entry
def _path_dual(curves: Array, ends: Array, w: Array, room: Array, dual: Array) -> None:
    """Write the multipliers; the rows of `room` are the range of s_t, and how much it can grow in round t."""
    least, most, least_growth, most_growth = 0, 1, 2, 3
    last = w.size - 1
    s_low = s_high = 0.0
    for t in range(last + 1):
        slope = curves[BEND, t] * w[t] + curves[SLOPE, t]
        gap = w[t] - curves[KINK, t]
        room[least_growth, t] = slope + (curves[JUMP, t] if gap > 0.0 else 0.0)
        room[most_growth, t] = slope + (curves[JUMP, t] if gap >= 0.0 else 0.0)
        if w[t] <= ends[LEFT, LIMIT]:
            room[least_growth, t] = -math.inf
        if w[t] >= ends[RIGHT, LIMIT]:
            room[most_growth, t] = math.inf
        bottom, top = ends[LEFT, PRICE], ends[RIGHT, PRICE]
        if t == last:
            bottom, top = 0.0, 0.0
        elif w[t + 1] > w[t]:
            bottom = top
        elif w[t + 1] < w[t]:
            top = bottom
        s_low = min(max(s_low + room[least_growth, t], bottom), top)
        s_high = max(min(s_high + room[most_growth, t], top), bottom)
        room[least, t] = s_low
        room[most, t] = s_high
    dual[last] = 0.0
    for t in range(last - 1, -1, -1):
        s_low = max(room[least, t], dual[t + 1] - room[most_growth, t + 1])
        s_high = min(room[most, t], dual[t + 1] - room[least_growth, t + 1])
        near = min(max(0.0, s_low), s_high)  # near 0, where rounding is least
        dual[t] = min(max(near, room[least, t]), room[most, t])


def _ends(terms: Terms) -> Array:
    """Return the two ends, before any round."""
    return np.array([[terms.low, -terms.down, 0.0, 0.0, 0.0, 0.0], [terms.high, terms.up, 0.0, 0.0, 0.0, 0.0]])


def cheapest_path(curves: Array, terms: Terms) -> Array:
    """Return the path with the least loss and price of moves, shape (T,), of curves of shape (4, T)."""
    rounds = curves.shape[1]
    most = 3 * rounds  # knots: a kink and two cuts a round
    path = np.empty(rounds)
    _cheapest_path(
        curves, _ends(terms), np.zeros((2, most + 1), np.int64), np.empty((most, 4)), np.empty((2, rounds)), path
    )
    return path


def path_dual(curves: Array, terms: Terms, path: Array) -> Array:
    """Return multipliers s_t, shape (T,), that prove a path to be the cheapest, if it is.

    Between two rounds s is `up` where the path rises, ``-down`` where it falls, and in between where it stays. From
    one round to the next it grows by a slope of the loss, of which there are many at a kink, and by anything outward at
    an end of the interval. What can be reached is an interval, round by round; then a way through is picked backwards.
    """
    dual = np.empty_like(path)
    _path_dual(curves, _ends(terms), path, np.empty((4, path.size)), dual)
    return dual
