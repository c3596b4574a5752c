"""The cheapest path of one coordinate, exactly: what the rounds so far cost, as a function of where they end.

The derivative of that function is piecewise linear and rising. A round adds its own derivative to it. A move may follow
at a price, so nothing further on ever falls by more than `down`, nor rises by more than `up`, for a unit: the function
is cut off there, at two points L_t and U_t between which it is best to stay. Walking back from the end,
``w_t = clip(w_{t+1}, L_t, U_t)`` is the cheapest path (Johnson 2013 for squared losses; kinks, as those of a capacity,
need a heap from either side). Time is T log T at most, memory linear in T.
"""

import math

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import compiled, hot
from driftwise._validate import Array
from driftwise.regret.kernels import Indices


@hot
def _push(heap: Indices, size: int, places: Array, sign: float, item: int) -> int:
    """Put an item into a heap, the one with the least ``sign * place`` first, and return its new size."""
    i = size
    while i > 0:
        parent = (i - 1) // 2
        if sign * places[heap[parent]] <= sign * places[item]:
            break
        heap[i] = heap[parent]
        i = parent
    heap[i] = item
    return size + 1


@hot
def _pop(heap: Indices, size: int, places: Array, sign: float) -> int:
    """Take the first item off a heap and return its new size."""
    size -= 1
    item = heap[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and sign * places[heap[child + 1]] < sign * places[heap[child]]:
            child += 1
        if sign * places[item] <= sign * places[heap[child]]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = item
    return size


@hot
def _cross(
    target: float,
    a: float,
    b: float,
    start: float,
    end: float,
    sign: float,
    heap: Indices,
    size: int,
    places: Array,
    bends: Array,
    shifts: Array,
    alive: NDArray[np.bool_],
) -> tuple[float, float, float, int]:
    """Walk over the knots from one end to where the derivative reaches `target`, and take those that were passed away.

    With `sign` 1 the walk is from the left end `start`, where the derivative is ``a z + b``, to `end`; with -1 it is
    from the right one. Return the place, the line beyond it, and the size of the heap.
    """
    z = start
    while True:
        if sign * (a * z + b) >= sign * target:
            return z, a, b, size
        while size > 0 and not alive[heap[0]]:
            size = _pop(heap, size, places, sign)
        stop = places[heap[0]] if size > 0 else end
        if sign * (a * stop + b) >= sign * target:  # then the line is not flat
            place = (target - b) / a
            return min(max(place, min(z, stop)), max(z, stop)), a, b, size
        z = stop
        if size == 0:
            return z, a, b, size
        knot = heap[0]
        alive[knot] = False
        a += sign * bends[knot]
        b += sign * shifts[knot]


@compiled
def cheapest_path(
    bends: Array, slopes: Array, kinks: Array, jumps: Array, low: float, high: float, up: float, down: float, w: Array
) -> None:
    """Write the path in [low, high] with the least loss and price of moves, up and down.

    The derivative of the loss of round t is ``bends[t] z + slopes[t]``, and ``jumps[t]`` more from ``kinks[t]`` on.
    """
    rounds = w.size
    places, alive = np.empty(3 * rounds), np.zeros(3 * rounds, np.bool_)
    bent, shifted = np.zeros(3 * rounds), np.zeros(3 * rounds)  # how the line changes at a knot
    left, right = np.empty(3 * rounds, np.int64), np.empty(3 * rounds, np.int64)  # heaps of knots, from either end
    lowest, highest = np.empty(rounds), np.empty(rounds)
    lefts = rights = knots = 0
    a_left = b_left = a_right = b_right = 0.0
    for t in range(rounds):
        a_left += bends[t]
        a_right += bends[t]
        b_left += slopes[t]
        b_right += slopes[t]
        if kinks[t] <= low:
            b_left += jumps[t]
            b_right += jumps[t]
        elif kinks[t] < high:
            b_right += jumps[t]
            places[knots], bent[knots], shifted[knots], alive[knots] = kinks[t], 0.0, jumps[t], True
            lefts = _push(left, lefts, places, 1.0, knots)
            rights = _push(right, rights, places, -1.0, knots)
            knots += 1
        if t == rounds - 1:
            w[t], _, _, lefts = _cross(0.0, a_left, b_left, low, high, 1.0, left, lefts, places, bent, shifted, alive)
            break
        place, a, b, lefts = _cross(-down, a_left, b_left, low, high, 1.0, left, lefts, places, bent, shifted, alive)
        lowest[t] = place
        if place >= high and a * place + b < -down:
            a_left, b_left, a_right, b_right = 0.0, -down, 0.0, -down
        elif a_left * low + b_left < -down:
            a_left, b_left = 0.0, -down
            places[knots], bent[knots], shifted[knots], alive[knots] = place, a, b + down, True
            lefts = _push(left, lefts, places, 1.0, knots)
            rights = _push(right, rights, places, -1.0, knots)
            knots += 1
        place, a, b, rights = _cross(up, a_right, b_right, high, low, -1.0, right, rights, places, bent, shifted, alive)
        highest[t] = max(place, lowest[t])
        if place <= low and a * place + b > up:
            a_left, b_left, a_right, b_right = 0.0, up, 0.0, up
        elif a_right * high + b_right > up:
            a_right, b_right = 0.0, up
            places[knots], bent[knots], shifted[knots], alive[knots] = place, -a, up - b, True
            lefts = _push(left, lefts, places, 1.0, knots)
            rights = _push(right, rights, places, -1.0, knots)
            knots += 1
    for t in range(rounds - 2, -1, -1):
        w[t] = min(max(w[t + 1], lowest[t]), highest[t])


@compiled
def path_dual(
    bends: Array,
    slopes: Array,
    kinks: Array,
    jumps: Array,
    low: float,
    high: float,
    up: float,
    down: float,
    w: Array,
    dual: Array,
) -> None:
    """Write multipliers s_t that prove a path to be the cheapest, if it is; arguments as in `cheapest_path`.

    Between two rounds s is `up` where the path rises, ``-down`` where it falls, and in between where it stays. From
    one round to the next it grows by a slope of the loss, of which there are many at a kink, and by anything outward at
    an end of the interval. What can be reached is an interval, round by round; then a way through is picked backwards.
    """
    rounds = w.size
    least, most = np.empty(rounds), np.empty(rounds)  # what s_t can be
    first, last = np.empty(rounds), np.empty(rounds)  # how much it can grow in round t
    s_low = s_high = 0.0
    for t in range(rounds):
        slope = bends[t] * w[t] + slopes[t]
        first[t] = slope + (jumps[t] if w[t] > kinks[t] else 0.0) if w[t] > low else -math.inf
        last[t] = slope + (jumps[t] if w[t] >= kinks[t] else 0.0) if w[t] < high else math.inf
        bottom, top = -down, up
        if t == rounds - 1:
            bottom, top = 0.0, 0.0
        elif w[t + 1] > w[t]:
            bottom = up
        elif w[t + 1] < w[t]:
            top = -down
        s_low, s_high = min(max(s_low + first[t], bottom), top), max(min(s_high + last[t], top), bottom)
        least[t], most[t] = s_low, s_high
    dual[rounds - 1] = 0.0
    for t in range(rounds - 2, -1, -1):
        s_low = max(least[t], dual[t + 1] - last[t + 1])
        s_high = min(most[t], dual[t + 1] - first[t + 1])
        dual[t] = min(max(min(max(0.0, s_low), s_high), least[t]), most[t])  # near 0, where rounding is least
