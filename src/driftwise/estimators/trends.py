"""A local linear trend: a level and a slope of each weight, both learnt by a Kalman filter, one round ahead.

The state is (level, slope), of twice the length; the score sees the level only, and between rounds::

    level <- level + slope,    slope <- slope + noise of variance drift / s

where s is the mean square of the features. Harvey, "Forecasting, structural time series models and the Kalman
filter", 1989.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise._compile import aside, plugin
from driftwise._lanes import greater, load, root, splat, store
from driftwise._memory import Array, Part, Pointer, Section, at, part, whole_at
from driftwise._validate import number
from driftwise.domains import Domain
from driftwise.estimators import families as record
from driftwise.estimators.base import Estimator, Seen
from driftwise.estimators.families import Family, Sides, errors, finite, lanes_of, offer, within
from driftwise.estimators.statement import apart, filter_step, floored, near
from driftwise.pairs import layout as slot
from driftwise.pairs.kinds import Kind
from driftwise.pairs.layout import EACH, FAMILY

DRIFT, MEANS, SPREADS, GAIN = range(record.OWN, record.OWN + 4)

FULL = Section(
    record.OWN + 4,
    [
        Part("drift", DRIFT, ("blocks", 4)),
        Part("means", MEANS, ("blocks", "twice", 4)),  # levels, an intercept, and the slopes of all these
        Part("spreads", SPREADS, ("blocks", "twice", "twice", 4)),
        Part("gain", GAIN, ("twice", 4)),
    ],
)

WIDE = 10.0
"""Variance of a level before the first round, in units of one over the mean square of the features."""


def _fill(header: Array, parts: dict[str, Array], estimators: Sequence[Any], start: Array) -> None:
    parts["drift"].ravel()[:] = lanes_of([one.drift for one in estimators])
    parts["means"][:, : start.size] = start[:, None]


@aside
def _begin(v: Pointer, own: Pointer, b: int, p: int) -> None:
    """Write the variances before the first round."""
    drift, P, twice = load(at(own, DRIFT), 4 * b), part(at(own, SPREADS), 16 * b * p * p), 2 * p
    for k in range(p - 1):
        size = at(v, slot.SIZES)[k]
        store(P, 4 * (k * twice + k), splat(WIDE / size))
        store(P, 4 * ((p + k) * twice + p + k), WIDE * root(drift) / size)
    store(P, 4 * ((p - 1) * twice + p - 1), splat(WIDE / max(v[slot.CURVE], 1e-100)))


@plugin(FAMILY)
def full_trends(v: Pointer, own: Pointer, terms: Pointer, scream: Pointer) -> int:
    """Update levels and slopes from the score on the board, and go on to the next round."""
    d, x, t, gain = whole_at(v, slot.DIM), at(v, slot.X), at(v, slot.TANGENT), at(own, GAIN)
    p, twice = d + 1, 2 * (d + 1)
    if v[slot.ROOT] == 0.0 or v[slot.PRIMED] == 0.0:
        return 0
    for b in range(whole_at(own, record.BLOCKS)):
        means, P = part(at(own, MEANS), 4 * b * twice), part(at(own, SPREADS), 4 * b * twice * twice)
        if v[slot.PRIMED] == 1.0:
            _begin(v, own, b, p)
        score, spread = splat(0.0), splat(1.0)
        for i in range(twice):
            across = splat(0.0)
            for k in range(p):
                across = across + t[k] * load(P, 4 * (i * twice + k))
            store(gain, 4 * i, across)
            if i < p:
                score = score + x[i] * load(means, 4 * i)
                spread = spread + t[i] * across
        one = finite(splat(1.0) / spread, splat(0.0))
        rise = errors(v, terms, score) * one
        for i in range(twice):
            mean = load(means, 4 * i)
            store(means, 4 * i, finite(mean + load(gain, 4 * i) * rise, mean))
            for k in range(twice):
                place = 4 * (i * twice + k)
                store(P, place, load(P, place) - (load(gain, 4 * i) * load(gain, 4 * k)) * one)
        _ahead(v, own, means, P, p, load(at(own, DRIFT), 4 * b))
    offer(v, own, at(own, MEANS), twice)
    return 0


@aside
def _ahead(v: Pointer, own: Pointer, means: Pointer, P: Pointer, p: int, drift: Any) -> None:
    """Add slopes to levels, and what that does to the variances: P <- F P F' + drift on the slopes."""
    twice, d = 2 * p, p - 1
    for i in range(p):
        mean = load(means, 4 * i) + load(means, 4 * (p + i))
        store(means, 4 * i, within(v, mean, i) if i < d else mean)
        for k in range(twice):
            place = 4 * (i * twice + k)
            store(P, place, load(P, place) + load(P, 4 * ((p + i) * twice + k)))
    for i in range(twice):
        for k in range(p):
            place = 4 * (i * twice + k)
            store(P, place, load(P, place) + load(P, place + 4 * p))
    for k in range(d):
        place = 4 * ((p + k) * twice + p + k)
        store(P, place, greater(load(P, place), splat(0.0)) + drift / at(v, slot.SIZES)[k])


@plugin(FAMILY)
def diagonal_trends(v: Pointer, own: Pointer, terms: Pointer, scream: Pointer) -> int:
    """Do the same with a matrix of two by two for each coordinate: variances of level and slope, and covariance."""
    d, each, t, x = whole_at(v, slot.DIM), v[slot.FORM] == slot.EACH, at(v, slot.TANGENT), at(v, slot.X)
    targets, sizes = at(v, slot.TARGETS), at(v, slot.SIZES)
    if v[slot.ROOT] == 0.0 or v[slot.PRIMED] == 0.0:
        return 0
    for b in range(whole_at(own, record.BLOCKS)):
        means, P = part(at(own, MEANS), 8 * b * d), part(at(own, SPREADS), 12 * b * d)
        drift, score, spread = load(at(own, DRIFT), 4 * b), splat(0.0), splat(1.0)
        for k in range(d):
            if v[slot.PRIMED] == 1.0:
                store(P, 12 * k, splat(WIDE / sizes[k]))
                store(P, 12 * k + 8, WIDE * root(drift) / sizes[k])
            score = score + x[k] * load(means, 4 * k)
            spread = spread + (t[k] * t[k]) * load(P, 12 * k)
        rise = splat(0.0) if each else errors(v, terms, score)
        for k in range(d):
            level, both, slope = load(P, 12 * k), load(P, 12 * k + 4), load(P, 12 * k + 8)
            one = splat(1.0) / (splat(1.0) + level) if each else finite(splat(1.0) / spread, splat(0.0))
            mean, climb = load(means, 4 * k), load(means, 4 * (d + k))
            miss = (splat(targets[k]) - mean if each else rise) * one
            climb = finite(climb + both * t[k] * miss, climb)
            mean = finite(mean + level * t[k] * miss + climb, mean)
            store(means, 4 * k, mean if each else within(v, mean, k))
            store(means, 4 * (d + k), climb)
            one = one * (t[k] * t[k])
            slope, both, level = slope - both * both * one, both - level * both * one, level - level * level * one
            store(P, 12 * k, greater(level + both + both + slope, splat(0.0)))
            store(P, 12 * k + 4, both + slope)
            store(P, 12 * k + 8, greater(slope, splat(0.0)) + drift / sizes[k])
    offer(v, own, at(own, MEANS), 2 * d)
    return 0


def _sides(count: int, dim: int) -> Sides:
    return {"twice": 2 * (dim + 1)}


DIAGONAL = Section(
    record.OWN + 4,
    [
        Part("drift", DRIFT, ("blocks", 4)),
        Part("means", MEANS, ("blocks", "pairs", 4)),  # levels, then slopes
        Part("spreads", SPREADS, ("blocks", "dim", 3, 4)),
    ],
)

DIAGONAL_TRENDS = Family(diagonal_trends, DIAGONAL, _fill, lambda count, dim: {"pairs": 2 * dim})
FULL_TRENDS = Family(full_trends, FULL, _fill, _sides)


class Trend(Estimator):
    """A level and a slope of each weight, and the level that they lead to in the next round.

    For weights or levels that go on in a direction: growth, warming up, a slow turn. It reaches beyond the last value,
    so where there is no trend it is worse than a Kalman filter, the more so the larger the drift.

    Parameters
    ----------
    drift : float, default 1e-2
        Variance of a change of the slope in a round, in units of the noise over the mean square of a feature.

    Notes
    -----
    A Kalman filter of levels m and slopes v, of which the score sees the levels, and between rounds::

        m <- m + v,    v <- v + noise of variance drift / s_i,    s_i the size of feature i

    Variances begin with 10 / s_i for levels, and with the root of the drift times that for slopes. A loss of a score
    also has an intercept with a slope, which is not played. Above 64 coordinates, and for losses of each coordinate,
    there is a matrix of two by two for each coordinate, and no intercept.

    References
    ----------
    .. [1] Harvey, "Forecasting, structural time series models and the Kalman filter", 1989, section 2.3.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.estimators import Seen, Trend
    >>> one = Trend()
    >>> one.begin(np.zeros(1), dw.Box([0.0], [99.0]))
    >>> for t in range(30):
    ...     one.learn(Seen.of_levels(t, [2.0 * t]))
    >>> one.propose().round(2)
    array([60.])
    """

    restless = True

    def __init__(self, drift: float = 1e-2) -> None:
        self.drift = number("Trend", "drift", drift, low=0.0)
        self.name = f"trend {self.drift:g}"

    def family(self, kind: Kind) -> Family:
        """Return the family with full matrices, or with one of two by two for each coordinate."""
        return FULL_TRENDS if kind.full else DIAGONAL_TRENDS

    def begin(self, point: Array, domain: Domain) -> None:
        """Begin with the levels at a point, no slopes, and no prior until features have been seen."""
        p = point.size + 1
        self._start, self._half = point, domain.diameter / 2.0
        self._mean, self._P, self._primed = np.zeros(2 * p), np.zeros((2 * p, 2 * p)), False
        self._mean[: point.size] = point
        self._ahead = np.kron([[1.0, 1.0], [0.0, 1.0]], np.eye(p))

    def learn(self, seen: Seen) -> None:
        """Take in the error, then go on by a round: F (level, slope) = (level + slope, slope)."""
        if not seen.scales.any():
            return
        d, F, whole = seen.features.size, self._ahead, seen.kind.full
        if not self._primed:
            wide = np.append(WIDE / seen.sizes, WIDE / max(seen.curve, 1e-100))
            self._P = np.diag(np.concatenate([wide, math.sqrt(self.drift) * wide[:d], [0.0]]))
            self._primed = True
        mean, P = filter_step(self._mean, self._P, seen, intercept=whole)
        mean, P = F @ mean, F @ (P if whole else apart(P, d)) @ F.T
        P[range(d + 1, 2 * d + 1), range(d + 1, 2 * d + 1)] += self.drift / seen.sizes
        self._P = floored(P)
        self._mean = mean if seen.kind.form == EACH else near(mean, self._start, self._half, seen.kind)

    def propose(self) -> Array:
        """Return the levels of the next round, without the intercept."""
        return np.asarray(self._mean[: self._start.size])
