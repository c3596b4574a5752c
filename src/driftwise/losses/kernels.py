"""Compiled values and gradients of the built-in loss streams.

A stream is data: a link, features (T, d), targets (T,), taps (m + 1,), one shape parameter and prices. All links but
TRACKING and CAPACITY, whose features are targets for each coordinate, see a decision only through the filtered score
``z_t = sum_k taps[k] <x_t, w_{t-k}>``. Decisions are passed as a matrix and a row, because making a slice costs more
than a small inner product.
"""

import math
from typing import NamedTuple

from driftwise._compile import hot, inlined
from driftwise._validate import Array

SQUARED, LINEAR, ABSOLUTE, HUBER, LOGISTIC, TRACKING, CAPACITY = 0, 1, 2, 3, 4, 5, 6


class LossData(NamedTuple):
    """What the kernels read of a loss stream."""

    link: int
    features: Array
    targets: Array
    taps: Array
    width: float
    prices: Array
    """Of a unit (first row) and of a missing one (second row), per coordinate; CAPACITY only."""


@hot
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


@hot
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


@hot
def total_tap(taps: Array) -> float:
    """Return the sum of the taps: what the filter does to a decision that is held."""
    total = 0.0
    for k in range(taps.size):
        total += taps[k]
    return total


@inlined
def unary_value(data: LossData, t: int, points: Array, i: int) -> float:
    """Return f~_t(w) = f_t(w, ..., w) at row i of `points`."""
    features = data.features
    total = 0.0
    if data.link == TRACKING:
        for k in range(points.shape[1]):
            total += (points[i, k] - features[t, k]) ** 2
        return 0.5 * total
    if data.link == CAPACITY:
        for k in range(points.shape[1]):
            total += data.prices[0, k] * points[i, k] + data.prices[1, k] * max(features[t, k] - points[i, k], 0.0)
        return total
    for k in range(points.shape[1]):
        total += features[t, k] * points[i, k]
    return link_value(data.link, total_tap(data.taps) * total, data.targets[t], data.width)


@inlined
def unary_gradient(data: LossData, t: int, points: Array, i: int, out: Array, j: int) -> None:
    """Write the gradient of f~_t at row i of `points` into row j of `out`."""
    features = data.features
    if data.link == TRACKING:
        for k in range(points.shape[1]):
            out[j, k] = points[i, k] - features[t, k]
    elif data.link == CAPACITY:
        for k in range(points.shape[1]):
            out[j, k] = data.prices[0, k] - (data.prices[1, k] if points[i, k] < features[t, k] else 0.0)
    else:
        score = 0.0
        for k in range(points.shape[1]):
            score += features[t, k] * points[i, k]
        tap = total_tap(data.taps)
        slope = tap * link_slope(data.link, tap * score, data.targets[t], data.width)
        for k in range(points.shape[1]):
            out[j, k] = slope * features[t, k]


@inlined
def policy_value(data: LossData, t: int, decisions: Array, last: int) -> float:
    """Return f_t of the decisions that end at row `last`; before the first row, the first decision stands."""
    if data.taps.size == 1:
        return unary_value(data, t, decisions, last)
    features, taps = data.features, data.taps
    score = 0.0
    for j in range(taps.size):
        row = max(last - j, 0)
        for k in range(decisions.shape[1]):
            score += taps[j] * features[t, k] * decisions[row, k]
    return link_value(data.link, score, data.targets[t], data.width)


@hot
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
