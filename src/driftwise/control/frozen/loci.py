"""The eigenvalues of the loop's answer T as curves over the frequency, and where these curves cross a line.

With the same error G on all inputs, det(1 - T (G - 1)) is the product of 1 - mu (G - 1) over the eigenvalues mu of T;
with an error on input a alone, it is 1 - T_aa (G - 1). So every question is one about a few complex curves mu:

* a gain G = g: a curve is real there, and g = 1 + 1 / mu;
* a phase G = exp(-i phi): the real part is -1/2 there, and phi = pi - 2 atan(2 |Im mu|);
* a delay of d samples G = z^-d: the winding number of the product around 0.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment

from driftwise._validate import Array
from driftwise.control.frozen.response import Complex

Curves = Callable[[Array], Complex]
"""Gives the points of the curves, (frequencies, curves), at frequencies; in any order at each of them."""

Measure = Callable[[Complex], Array]
"""Gives a number for every point."""

PARTS, ZOOMS = 8, 5
"""A crossing is searched in so many parts of an interval, and again in one of these, so many times."""

LOOSE = 1.25
"""Crossings that may be better than the best one by this factor are looked at closely."""

STEEP = 1.0
"""Largest turn between two frequencies, in radians, that is believed."""


def follow(points: Complex) -> Complex:
    """Return points with each curve in a column of its own: an entry goes on in the nearest one of the next row."""
    count = points.shape[1]
    if count == 1:
        return points
    apart = np.abs(points[1:, None, :] - points[:-1, :, None])
    links = apart.argmin(axis=2)
    for k in np.flatnonzero((np.sort(links, axis=1) != np.arange(count)).any(axis=1)):
        links[k] = linear_sum_assignment(apart[k])[1]
    order = [list(range(count))]
    for link in links.tolist():
        order.append([link[i] for i in order[-1]])
    return np.asarray(np.take_along_axis(points, np.array(order), axis=1))


def _zoom(curves: Curves, offset: Measure, start: float, end: float, begin: complex) -> complex | None:
    """Return where the curve that passes `begin` at the first frequency crosses the line, or None if it does not."""
    point = begin
    for _ in range(ZOOMS):
        omega = np.linspace(start, end, PARTS + 1)
        rows = follow(curves(omega))
        path = rows[:, np.abs(rows[0] - begin).argmin()]
        aside = offset(path)
        flips = np.flatnonzero(np.sign(aside[:-1]) * np.sign(aside[1:]) <= 0.0)
        if not flips.size:
            return None
        k = int(flips[0])
        start, end, begin = omega[k], omega[k + 1], path[k]
        width = aside[k] - aside[k + 1]
        point = begin + (path[k + 1] - begin) * (aside[k] / width if width else 0.5)
    return complex(point)


def _near_misses(aside: Array) -> Iterator[tuple[int, int]]:
    """Give the places where a curve turns back so close to the line that it may have crossed it twice unseen."""
    size, steps = np.abs(aside), np.abs(np.diff(aside, axis=0))
    dips = (size[1:-1] <= size[:-2]) & (size[1:-1] <= size[2:]) & (size[1:-1] > 0.0)
    sharp = size[1:-1] <= 2.0 * np.maximum(steps[:-1], steps[1:])
    same = (np.sign(aside[:-2]) == np.sign(aside[1:-1])) & (np.sign(aside[2:]) == np.sign(aside[1:-1]))
    for k, column in np.argwhere(dips & sharp & same):
        yield int(k) + 1, int(column)


def farthest_crossing(omega: Array, points: Complex, curves: Curves, offset: Measure, rank: Measure) -> float:
    """Return the largest rank of a point at which a curve meets the line where `offset` is 0; 0 if there is none.

    Parameters
    ----------
    omega : array
        Frequencies that resolve the curves.
    points : array of shape (frequencies, curves)
        The curves there, each in a column.
    curves : callable
        The curves at other frequencies.
    offset, rank : callable
        How far a point is from the line, with a sign, and how much it counts.
    """
    aside, ranks = offset(points), rank(points)
    best = max(0.0, float(ranks[aside == 0.0].max(initial=0.0)))
    places: list[tuple[float, float, float, complex]] = []
    for k, column in np.argwhere(np.sign(aside[:-1]) * np.sign(aside[1:]) < 0.0):
        before, after = points[k, column], points[k + 1, column]
        level = aside[k, column] / (aside[k, column] - aside[k + 1, column])
        guess = float(rank(np.array([before + level * (after - before)]))[0])
        places.append((guess, omega[k], omega[k + 1], before))
    for k, column in _near_misses(aside):
        places.append((float(ranks[k, column]), omega[k - 1], omega[k + 1], points[k - 1, column]))
    for guess, start, end, begin in sorted(places, key=lambda place: -place[0]):
        if guess * LOOSE <= best:
            break
        found = _zoom(curves, offset, start, end, begin)
        if found is not None:
            best = max(best, float(rank(np.array([found]))[0]))
    return best


def winds(omega: Array, values: Complex, at: Callable[[Array], Complex]) -> bool:
    """Tell whether a function on the upper half of the unit circle, real at both ends, winds around 0 or meets it.

    Parameters
    ----------
    omega : array
        Frequencies from 0 to pi.
    values : array
        The function there.
    at : callable
        The function at other frequencies, which are asked for where it turns too fast.
    """
    return not abs(_turn(omega, values, at, 14)) < 0.5 * math.pi


def _turn(omega: Array, values: Complex, at: Callable[[Array], Complex], depth: int) -> float:
    """Return by how many radians a function turns around 0; NaN where it comes too close to tell."""
    if not values.all():
        return math.nan
    steps = np.angle(values[1:] * np.conj(values[:-1]))
    for k in np.flatnonzero(np.abs(steps) > STEEP):
        if depth == 0:
            return math.nan
        finer = np.linspace(omega[k], omega[k + 1], PARTS + 1)
        steps[k] = _turn(finer, at(finer), at, depth - 1)
    return float(steps.sum())
