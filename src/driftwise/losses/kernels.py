"""Compiled values and gradients of the built-in loss streams.

A stream is data: a link, features (T, d), targets (T,), taps (m + 1,), one shape parameter and prices. All links but
TRACKING and CAPACITY, whose features are targets for each coordinate, see a decision only through the filtered score
``z_t = sum_k taps[k] <x_t, w_{t-k}>``. All but features and targets, which are the stream's own, comes to compiled code
as one vector of *terms*.

What compiled loops call are helpers; `value_of`, `unary_value_of` and `write_gradient` are the same for Python.
"""

import math
from typing import NamedTuple

import numpy as np

from driftwise._compile import brief, entry, helper
from driftwise._memory import Pointer, part
from driftwise._validate import Array
from driftwise.domains.kernels import dot

SQUARED, LINEAR, ABSOLUTE, HUBER, LOGISTIC, TRACKING, CAPACITY = 0, 1, 2, 3, 4, 5, 6

LINK, WIDTH, TAP, TAPS, FIRST_TAP = 0, 1, 2, 3, 4
"""Places of the terms: the link, the shape parameter, the sum of the taps, how many taps, the first of them. Prices
follow the last tap."""


class LossData(NamedTuple):
    """What the kernels read of a loss stream."""

    link: int
    features: Array
    targets: Array
    taps: Array
    width: float
    prices: Array
    """Of a unit (first row) and of a missing one (second row), per coordinate; CAPACITY only."""
    terms: Array
    """All but features and targets, as compiled code reads it."""


def loss_data(
    link: int, features: Array, targets: Array, taps: Array, width: float = 1.0, prices: Array | None = None
) -> LossData:
    """Return a loss stream as data."""
    rows = np.empty((0, 0)) if prices is None else prices
    terms = np.concatenate([[link, width, held_tap(taps), taps.size], taps, rows.ravel()])
    return LossData(link, features, targets, taps, width, rows, terms)


def held_tap(taps: Array) -> float:
    """Return the sum of the taps, one after the other: what the filter does to a decision that is held."""
    total = 0.0
    for tap in taps.tolist():
        total += tap
    return total


@helper
def link_value(link: int, z: float, y: float, width: float) -> float:
    """Return the loss at score z and target y."""
    if link == SQUARED:
        return 0.5 * (z - y) * (z - y)
    if link == LINEAR:
        return z
    if link == ABSOLUTE:
        return abs(z - y)
    if link == HUBER:
        gap = abs(z - y)
        return 0.5 * gap * gap if gap <= width else width * (gap - 0.5 * width)
    return max(-y * z, 0.0) + math.log1p(math.exp(-abs(z)))


@helper
def link_slope(link: int, z: float, y: float, width: float) -> float:
    """Return the derivative of the loss in the score (0 at the kink of the absolute loss)."""
    if link == SQUARED:
        return z - y
    if link == LINEAR:
        return 1.0
    if link == ABSOLUTE:
        return 1.0 if z > y else (-1.0 if z < y else 0.0)
    if link == HUBER:
        return min(max(z - y, -width), width)
    if y * z >= 0.0:
        return -y * math.exp(-abs(z)) / (1.0 + math.exp(-abs(z)))
    return -y / (1.0 + math.exp(-abs(z)))


@helper
def unary_loss(terms: Pointer, x: Pointer, y: float, w: Pointer, d: int) -> float:
    """Return f~(w) = f(w, ..., w) of a round with these features and this target."""
    link, total = int(terms[LINK]), 0.0
    if link == TRACKING:
        for k in range(d):
            total += (w[k] - x[k]) * (w[k] - x[k])
        return 0.5 * total
    if link == CAPACITY:
        prices = part(terms, FIRST_TAP + int(terms[TAPS]))
        for k in range(d):
            total += prices[k] * w[k] + prices[d + k] * max(x[k] - w[k], 0.0)
        return total
    return link_value(link, terms[TAP] * dot(x, w, d), y, terms[WIDTH])


@helper
def unary_slopes(terms: Pointer, x: Pointer, y: float, w: Pointer, d: int, out: Pointer) -> None:
    """Write the gradient of f~ at w."""
    link = int(terms[LINK])
    if link == TRACKING:
        for k in range(d):
            out[k] = w[k] - x[k]
    elif link == CAPACITY:
        prices = part(terms, FIRST_TAP + int(terms[TAPS]))
        for k in range(d):
            out[k] = prices[k] - (prices[d + k] if w[k] < x[k] else 0.0)
    else:
        slope = terms[TAP] * link_slope(link, terms[TAP] * dot(x, w, d), y, terms[WIDTH])
        for k in range(d):
            out[k] = slope * x[k]


@helper
def window_loss(terms: Pointer, x: Pointer, y: float, decisions: Pointer, last: int, d: int) -> float:
    """Return f of the decisions that end at row `last`; before the first row, the first decision stands."""
    if terms[TAPS] == 1.0:
        return unary_loss(terms, x, y, part(decisions, last * d), d)
    z = 0.0
    for j in range(int(terms[TAPS])):
        w, tap = part(decisions, max(last - j, 0) * d), terms[FIRST_TAP + j]
        for k in range(d):
            z += tap * x[k] * w[k]
    return link_value(int(terms[LINK]), z, y, terms[WIDTH])


@helper
def unary_value(data: LossData, t: int, points: Array, i: int) -> float:
    """Return f~_t(w) at row i of `points`."""
    d = points.shape[1]
    return unary_loss(part(data.terms, 0), part(data.features, t * d), data.targets[t], part(points, i * d), d)


@helper
def unary_gradient(data: LossData, t: int, points: Array, i: int, out: Array, j: int) -> None:
    """Write the gradient of f~_t at row i of `points` into row j of `out`."""
    d = points.shape[1]
    x, w, row = part(data.features, t * d), part(points, i * d), part(out, j * d)
    unary_slopes(part(data.terms, 0), x, data.targets[t], w, d, row)


@helper
def policy_value(data: LossData, t: int, decisions: Array, last: int) -> float:
    """Return f_t of the decisions that end at row `last`; before the first row, the first decision stands."""
    d = decisions.shape[1]
    return window_loss(part(data.terms, 0), part(data.features, t * d), data.targets[t], part(decisions, 0), last, d)


@brief
def value_of(terms: Array, features: Array, targets: Array, t: int, window: Array) -> float:
    """Return f_t of a window of decisions, the oldest first, for Python."""
    last, d = window.shape[0] - 1, window.shape[1]
    return window_loss(part(terms, 0), part(features, t * d), targets[t], part(window, 0), last, d)


@brief
def unary_value_of(terms: Array, features: Array, targets: Array, t: int, w: Array) -> float:
    """Return f~_t(w), for Python."""
    return unary_loss(part(terms, 0), part(features, t * w.size), targets[t], part(w, 0), w.size)


@brief
def write_gradient(terms: Array, features: Array, targets: Array, t: int, w: Array, out: Array) -> None:
    """Write the gradient of f~_t at w, for Python."""
    unary_slopes(part(terms, 0), part(features, t * w.size), targets[t], part(w, 0), w.size, part(out, 0))


@entry
def steepest(data: LossData, low: Array, high: Array) -> float:
    """Return the largest |slope| * |x_t| when the score of round t ranges from low[t] to high[t]."""
    worst = 0.0
    for t in range(low.size):
        norm = 0.0
        for k in range(data.features.shape[1]):
            norm += data.features[t, k] ** 2
        left = abs(link_slope(data.link, low[t], data.targets[t], data.width))
        right = abs(link_slope(data.link, high[t], data.targets[t], data.width))
        worst = max(worst, max(left, right) * math.sqrt(norm))
    return worst
