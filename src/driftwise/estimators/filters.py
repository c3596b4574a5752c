"""Least-squares filters, compiled four at a time: recursive least squares with forgetting, and Kalman's random walk.

With features x in units of the loss's curvature, s_i the mean square of feature i, and r the slope of the loss at the
filter's own score m'x (score less target, for squared losses), both are::

    P  <- P / forgetting,   P_ii <- min(P_ii, 1 / (prior s_i)),   P_ii <- P_ii + drift / s_i
    k   = P x / (1 + x' P x)
    m  <- m - k r
    P  <- P - k (P x)'

The filters differ in forgetting, drift, prior, and in the s_i they go by: each feature's own, the mean of all (its
own, if it is far from the median), or the larger of its own and the median. A filter may have an intercept that is not
played, for targets with a level that no feature explains. Above 64 coordinates, and for losses of each coordinate, P
is a diagonal.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import aside, helper, plugin
from driftwise._lanes import Four, any_above, greater, load, root, splat, store, where_above
from driftwise._memory import Array, Part, Pointer, Section, at, part, whole_at
from driftwise.domains import Domain
from driftwise.estimators import families as record
from driftwise.estimators.base import Estimator, Seen
from driftwise.estimators.families import HUGE, Family, Sides, errors, finite, lanes_of, offer, within
from driftwise.estimators.statement import apart, filter_step, floored, near
from driftwise.pairs import layout as slot
from driftwise.pairs.judging import LEAST
from driftwise.pairs.kinds import Kind
from driftwise.pairs.layout import EACH, FAMILY

OWN_SCALE, MEAN_SCALE, MEDIAN_SCALE = 0.0, 1.0, 2.0
"""What the size of a feature is taken to be: its own, the mean of all, or the larger of its own and the median."""

KEEP, DRIFT, PRIOR, SCALE, INTERCEPT, SEEN, MEANS, SPREADS, GAIN, SHRINK = range(record.OWN, record.OWN + 10)

PARAMETERS = [
    Part("keep", KEEP, ("blocks", 4)),  # one over the forgetting factor
    Part("drift", DRIFT, ("blocks", 4)),
    Part("prior", PRIOR, ("blocks", 4)),
    Part("scale", SCALE, ("blocks", 4)),
    Part("intercept", INTERCEPT, ("blocks", 4)),
    Part("seen", SEEN, ("dim",)),  # 1 for a feature that has been other than 0
    Part("means", MEANS, ("blocks", "height", 4)),  # m
]
SCRATCH = [Part("gain", GAIN, ("height", 4)), Part("shrink", SHRINK, ("height", 4))]
FULL = Section(record.OWN + 10, [*PARAMETERS, Part("spreads", SPREADS, ("blocks", "height", "height", 4)), *SCRATCH])
DIAGONAL = Section(record.OWN + 10, [*PARAMETERS, Part("spreads", SPREADS, ("blocks", "height", 4)), *SCRATCH])


def _fill(header: Array, parts: dict[str, Array], estimators: Sequence[Any], start: Array) -> None:
    parts["keep"].ravel()[:] = lanes_of([1.0 / one.forgetting for one in estimators], 1.0)
    for name in ("drift", "prior", "scale", "intercept"):
        parts[name].ravel()[:] = lanes_of([getattr(one, f"_{name}") for one in estimators])
    parts["means"][:, : start.size] = start[:, None]


@helper
def size_of(v: Pointer, kinds: Four, k: int) -> Four:
    """Return the size of feature k as four filters take it."""
    own, mean = at(v, slot.SCALES)[k], at(v, slot.SIZES)[k]
    larger = max(own, v[slot.CURVE] * v[slot.MEDIAN])
    return where_above(kinds, splat(0.5), where_above(kinds, splat(1.5), splat(larger), splat(mean)), splat(own))


@aside
def _sight(v: Pointer, own: Pointer, step: int, stride: int) -> None:
    """Give features that are seen for the first time a prior; diagonals of P are `step` blocks of four apart."""
    d, seen, x = whole_at(v, slot.DIM), at(own, SEEN), at(v, slot.TANGENT)
    for k in range(d):
        square = x[k] * x[k]
        fresh = seen[k] == 0.0 and square > LEAST
        first = v[slot.PRIMED] == 1.0
        if fresh or first:
            for b in range(whole_at(own, record.BLOCKS)):
                kinds, prior = load(at(own, SCALE), 4 * b), load(at(own, PRIOR), 4 * b)
                entry = 4 * (b * stride + k * step)
                old, spreads = load(at(own, SPREADS), entry), at(own, SPREADS)
                size = where_above(kinds, splat(0.5), size_of(v, kinds, k), splat(square))
                new = where_above(prior * size, splat(LEAST), splat(1.0) / (prior * size), old)
                # By its own size when it is first seen; by that of all when any of them is.
                new = where_above(kinds, splat(0.5), new if first else old, new if fresh else old)
                store(spreads, entry, new)
        if fresh:
            seen[k] = 1.0
    if v[slot.PRIMED] == 1.0:
        for b in range(whole_at(own, record.BLOCKS)):
            prior = load(at(own, PRIOR), 4 * b)
            new = where_above(prior, splat(0.0), load(at(own, INTERCEPT), 4 * b) / prior, splat(0.0))
            store(at(own, SPREADS), 4 * (b * stride + d * step), new / splat(max(v[slot.CURVE], 1e-100)))


@aside
def _cap(v: Pointer, own: Pointer, b: int, height: int, step: int) -> bool:
    """Write what rows of P have to be multiplied by to stay below the prior, and tell whether any has to."""
    spreads, shrink, over = part(at(own, SPREADS), 4 * b * height * (height if step > 1 else 1)), at(own, SHRINK), False
    keep, prior = load(at(own, KEEP), 4 * b), load(at(own, PRIOR), 4 * b)
    for k in range(height):
        size = splat(v[slot.CURVE])
        if k < height - 1:
            size = splat(at(v, slot.SCALES)[k])
        limit = where_above(prior * size, splat(LEAST), splat(1.0) / (prior * size * keep), splat(HUGE))
        now = load(spreads, 4 * k * step)
        allowed = where_above(now, limit, root(limit / greater(now, splat(1e-280))), splat(1.0))
        allowed = where_above(keep, splat(1.0), allowed, splat(1.0))
        store(shrink, 4 * k, allowed)
        over = over or any_above(splat(1.0), allowed)
    return over


@plugin(FAMILY)
def full_filters(v: Pointer, own: Pointer, terms: Pointer, scream: Pointer) -> int:
    """Update filters with full matrices from the score on the board."""
    d = whole_at(v, slot.DIM)
    p, x, t, gain, shrink = d + 1, at(v, slot.X), at(v, slot.TANGENT), at(own, GAIN), at(own, SHRINK)
    if v[slot.ROOT] == 0.0 or v[slot.PRIMED] == 0.0:
        return 0
    _sight(v, own, p + 1, p * p)
    for b in range(whole_at(own, record.BLOCKS)):
        means, P = part(at(own, MEANS), 4 * b * p), part(at(own, SPREADS), 4 * b * p * p)
        keep, drift, kinds = load(at(own, KEEP), 4 * b), load(at(own, DRIFT), 4 * b), load(at(own, SCALE), 4 * b)
        if _cap(v, own, b, p, p + 1):
            for i in range(p):
                for k in range(p):
                    at_ik = 4 * (i * p + k)
                    store(P, at_ik, load(P, at_ik) * (load(shrink, 4 * i) * load(shrink, 4 * k)))
        score, spread = splat(0.0), splat(1.0)
        for i in range(p):
            score = score + x[i] * load(means, 4 * i)
            across = splat(0.0)
            for k in range(p):
                across = across + load(P, 4 * (i * p + k)) * t[k]
            across = across * keep
            if i < d and at(own, SEEN)[i] > 0.0:
                across = across + _step(v, drift, kinds, i) * t[i]
            store(gain, 4 * i, across)
            spread = spread + t[i] * across
        one = finite(splat(1.0) / spread, splat(0.0))
        rise = errors(v, terms, score) * one
        for i in range(p):
            way = load(gain, 4 * i)
            mean = load(means, 4 * i)
            mean = finite(mean + way * rise, mean)
            store(means, 4 * i, within(v, mean, i) if i < d else mean)
            for k in range(p):
                at_ik = 4 * (i * p + k)
                store(P, at_ik, load(P, at_ik) * keep - (way * load(gain, 4 * k)) * one)
            at_ii = 4 * (i * p + i)
            if i < d and at(own, SEEN)[i] > 0.0:
                store(P, at_ii, load(P, at_ii) + _step(v, drift, kinds, i))
            store(P, at_ii, greater(load(P, at_ii), splat(0.0)))
    offer(v, own, at(own, MEANS), p)
    return 0


@helper
def _step(v: Pointer, drift: Four, kinds: Four, k: int) -> Four:
    """Return how much wider four filters get in coordinate k in a round."""
    size = size_of(v, kinds, k)
    return where_above(size, splat(LEAST), drift / size, splat(0.0))


@plugin(FAMILY)
def diagonal_filters(v: Pointer, own: Pointer, terms: Pointer, scream: Pointer) -> int:
    """Update filters whose matrices are diagonals, from a score or from the targets of the coordinates."""
    d, each = whole_at(v, slot.DIM), v[slot.FORM] == slot.EACH
    p, x, t, gain, targets = d + 1, at(v, slot.X), at(v, slot.TANGENT), at(own, GAIN), at(v, slot.TARGETS)
    if v[slot.ROOT] == 0.0 or v[slot.PRIMED] == 0.0:
        return 0
    _sight(v, own, 1, p)
    height = d if each else p
    for b in range(whole_at(own, record.BLOCKS)):
        means, P = part(at(own, MEANS), 4 * b * p), part(at(own, SPREADS), 4 * b * p)
        keep, drift, kinds = load(at(own, KEEP), 4 * b), load(at(own, DRIFT), 4 * b), load(at(own, SCALE), 4 * b)
        if _cap(v, own, b, p, 1):
            for i in range(p):
                store(P, 4 * i, load(P, 4 * i) * (load(at(own, SHRINK), 4 * i) * load(at(own, SHRINK), 4 * i)))
        score, spread = splat(0.0), splat(1.0)
        for i in range(height):
            now = load(P, 4 * i) * keep
            if i < d and at(own, SEEN)[i] > 0.0:
                now = now + _step(v, drift, kinds, i)
            store(P, 4 * i, now)
            store(gain, 4 * i, now * t[i])
            score = score + x[i] * load(means, 4 * i)
            spread = spread + t[i] * (now * t[i])
        rise = splat(0.0) if each else errors(v, terms, score)
        for i in range(height):
            way, mean = load(gain, 4 * i), load(means, 4 * i)
            one = splat(1.0) / (splat(1.0) + way) if each else finite(splat(1.0) / spread, splat(0.0))
            miss = splat(targets[i]) - mean if each else rise
            mean = finite(mean + way * (miss * one), mean)
            store(means, 4 * i, within(v, mean, i) if i < d and not each else mean)
            store(P, 4 * i, greater(load(P, 4 * i) - way * way * one, splat(0.0)))
    offer(v, own, at(own, MEANS), p)
    return 0


def _sides(count: int, dim: int) -> Sides:
    return {"height": dim + 1}


DIAGONAL_FILTERS = Family(diagonal_filters, DIAGONAL, _fill, _sides)
FULL_FILTERS = Family(full_filters, FULL, _fill, _sides)


class Filter(Estimator):
    """What recursive least squares and Kalman's filter share."""

    forgetting: float
    _drift: float
    _prior: float
    _scale: float
    _intercept: float

    _start: Array
    _half: float
    _mean: Array
    _P: Array
    _met: NDArray[np.bool_]
    _primed: bool

    def family(self, kind: Kind) -> Family:
        """Return the family with full or with diagonal matrices."""
        return FULL_FILTERS if kind.full else DIAGONAL_FILTERS

    def begin(self, point: Array, domain: Domain) -> None:
        """Begin with the weights at a point, and no prior until features have been seen."""
        self._start, self._half, self._mean = point, domain.diameter / 2.0, np.append(point, 0.0)
        self._P = np.zeros((point.size + 1, point.size + 1))
        self._met, self._primed = np.zeros(point.size, bool), False

    def learn(self, seen: Seen) -> None:
        """Widen P, then take in the error: the recursion of this file."""
        if not seen.scales.any():
            return
        d, P = seen.features.size, self._P
        larger = np.maximum(seen.scales, seen.median)
        by = {OWN_SCALE: seen.scales, MEAN_SCALE: seen.sizes, MEDIAN_SCALE: larger}[self._scale]
        self._meet(seen, by)
        if self.forgetting < 1.0:
            P = P / self.forgetting
            most = _over(1.0, self._prior * np.append(seen.scales, seen.curve), math.inf)
            shrink = np.sqrt(np.minimum(1.0, most / np.maximum(np.diag(P), 1e-280)))
            P = P * np.outer(shrink, shrink)
        P = P + np.diag(np.append(np.where(self._met, _over(self._drift, by, 0.0), 0.0), 0.0))
        mean, P = filter_step(self._mean, P, seen)
        self._P = floored(P if seen.kind.full else apart(P, d))
        self._mean = mean if seen.kind.form == EACH else near(mean, self._start, self._half, seen.kind)

    def _meet(self, seen: Seen, by: Array) -> None:
        """Give features that are seen for the first time a prior: by their own size, or all at once by that of all."""
        squares = seen.tangent**2
        new = (squares > LEAST) & ~self._met
        who, size = (new, squares) if self._scale == OWN_SCALE else (np.full(new.size, not self._primed), by)
        for k in np.flatnonzero(who & (self._prior * size > LEAST)):
            self._P[k, k] = 1.0 / (self._prior * size[k])
        if not self._primed:
            self._P[-1, -1] = self._intercept / (self._prior * max(seen.curve, 1e-100))
        self._met, self._primed = self._met | new, True

    def propose(self) -> Array:
        """Return the weights, without the intercept."""
        return np.asarray(self._mean[:-1])


def _over(value: float, sizes: Array, otherwise: float) -> Array:
    """Return a value over each size, and something else where a size is 0."""
    return np.asarray(np.divide(value, sizes, out=np.full(sizes.size, otherwise), where=sizes > LEAST))
