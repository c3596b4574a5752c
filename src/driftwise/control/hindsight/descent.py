"""Minimisation by values and gradients: quasi-Newton steps without limits, accelerated projected steps on a domain."""

import math
from collections.abc import Callable

import numpy as np

from driftwise._validate import Array

Function = Callable[[Array], tuple[float, Array]]
"""Value and gradient; a value of infinity, with any gradient, says that a point is out of bounds."""

KEPT = 20
"""Pairs of steps and changes of the gradient from which curvature is estimated."""


def quasi_newton(
    function: Function,
    start: Array,
    *,
    newton: Callable[[Array], Array] | None = None,
    most: int = 500,
    tolerance: float = 1e-13,
) -> Array:
    """Return the best point found from `start` on, by the limited-memory method of Broyden, Fletcher, Goldfarb, Shanno.

    The line search halves and doubles until the point is lower and less steep (the weak conditions of Wolfe), which
    needs no more than values that can be infinite and gradients that can jump (Lewis and Overton 2013).

    Parameters
    ----------
    newton : callable, optional
        The step from a gradient by a first estimate of the curvature; minus a multiple of the gradient when left out.
    most : int
        Largest number of steps.
    tolerance : float
        Stops when ten steps together lower the value by less than this, relative to the value.
    """
    x = start
    value, slope = function(x)
    pairs: list[tuple[Array, Array, float]] = []
    recent = [value]
    for _ in range(most):
        step = _direction(slope, pairs, newton)
        descent = float(slope @ step)
        found = None
        if descent < 0.0:
            length = 1.0 if pairs or newton else 1.0 / float(np.linalg.norm(slope))
            found = _search(function, x, value, step, descent, length)
        if found is None:
            if not pairs:
                break
            pairs = []  # rounding has made the estimate useless
            continue
        new, lower, after = found
        change, bend = new - x, after - slope
        along = float(change @ bend)
        if along > 1e-14 * float(np.linalg.norm(change) * np.linalg.norm(bend)):
            pairs = [*pairs[1 - KEPT :], (change, bend, along)]
        x, value, slope = new, lower, after
        recent = [*recent[-10:], value]
        if len(recent) > 10 and recent[0] - value <= tolerance * abs(value):
            break
    return x


def _direction(slope: Array, pairs: list[tuple[Array, Array, float]], newton: Callable[[Array], Array] | None) -> Array:
    """Return minus the inverse curvature, as the pairs show it, times the slope."""
    left, weights = slope.copy(), []
    for change, bend, along in reversed(pairs):
        weight = float(change @ left) / along
        left -= weight * bend
        weights.append(weight)
    if newton is not None:
        step = newton(left)
    elif pairs:
        change, bend, along = pairs[-1]
        step = -(along / float(bend @ bend)) * left
    else:
        step = -left
    for (change, bend, along), weight in zip(pairs, reversed(weights), strict=True):
        step -= (weight + float(bend @ step) / along) * change
    return step


def _search(
    function: Function, x: Array, value: float, step: Array, descent: float, length: float
) -> tuple[Array, float, Array] | None:
    """Return a point along the step that is lower and less steep, with value and gradient, or None."""
    short, long = 0.0, math.inf
    best = None
    for _ in range(60):
        new = x + length * step
        height, slope = function(new)
        if not height <= value + 1e-4 * length * descent:
            long = length
        elif slope @ step < 0.9 * descent:
            short, best = length, (new, height, slope)
        else:
            return new, height, slope
        length = 2.0 * short if math.isinf(long) else 0.5 * (short + long)
    return best


def projected(
    function: Function,
    project: Callable[[Array], Array],
    gap: Callable[[Array, Array], float],
    start: Array,
    *,
    bend: float,
    enough: float,
    most: int,
) -> Array:
    """Return the best point found on a domain, by accelerated projected steps that begin anew when they go uphill.

    Parameters
    ----------
    project : callable
        Nearest point of the domain.
    gap : callable
        How far a point of the domain, with its gradient, can be from the minimum.
    bend : float
        A guess of the largest curvature; it is raised where it proves too small.
    enough : float
        Gap, relative to the value, at which to stop.
    most : int
        Largest number of steps.
    """
    x = ahead = project(start)
    _, slope = function(x)
    best, least = x, gap(x, slope)
    momentum = 1.0
    for count in range(most):
        height, slope = function(ahead)
        while True:
            new = project(ahead - slope / bend)
            step = new - ahead
            lower, after = function(new)
            rounding = 1e-14 * abs(height)
            if lower <= height + float(slope @ step) + 0.5 * bend * float(step @ step) + rounding or bend > 1e300:
                break
            bend *= 2.0
        if count % 10 == 9 or count < 5:
            now = gap(new, after)
            if now < least:
                best, least = new, now
            if least <= enough * abs(lower):
                break
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum))
        if float((ahead - new) @ (new - x)) > 0.0:
            momentum, following = 1.0, 1.0
        ahead = new + (momentum - 1.0) / following * (new - x)
        x, momentum = new, following
        bend *= 0.99
    return best
