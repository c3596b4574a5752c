"""Smoothing: go a fixed part of the way to what the last round would have wanted.

Of a level y, exponential smoothing; with features, the normalised LMS filter of Widrow and Hoff::

    m <- m + share (y - m)                          a loss of each coordinate
    m <- m - share r D x / (x' D x)                 a loss of a score, r its slope at m'x in units of its curvature

D is the identity (but features that are far larger or smaller than the median count in units of their own size), or the
inverse of each feature's own mean square (``scaled=True``). With a share of 1 it is the last value.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise._compile import helper, plugin
from driftwise._lanes import Four, greater, load, splat, store, where_above
from driftwise._memory import Array, Part, Pointer, Section, at, part, whole_at
from driftwise._validate import share as share_of
from driftwise.domains import Domain
from driftwise.estimators import families as record
from driftwise.estimators.base import Estimator, Seen
from driftwise.estimators.families import Family, errors, finite, lanes_of, offer, within
from driftwise.estimators.statement import near
from driftwise.pairs import layout as slot
from driftwise.pairs.judging import LEAST
from driftwise.pairs.kinds import Kind
from driftwise.pairs.layout import EACH, FAMILY

SHARE, SCALED, MEANS = range(record.OWN, record.OWN + 3)

SMOOTHERS = Section(
    record.OWN + 3,
    [
        Part("share", SHARE, ("blocks", 4)),
        Part("scaled", SCALED, ("blocks", 4)),
        Part("means", MEANS, ("blocks", "dim", 4)),
    ],
)


def _fill(header: Array, parts: dict[str, Array], estimators: Sequence[Any], start: Array) -> None:
    parts["share"].ravel()[:] = lanes_of([one.share for one in estimators])
    parts["scaled"].ravel()[:] = lanes_of([float(one.scaled) for one in estimators])
    parts["means"][:] = start[:, None]


@helper
def _unit(v: Pointer, own: Pointer, b: int, k: int) -> Four:
    """Return what four filters multiply feature k by: one over its size, as each of them takes it."""
    scale, alike = at(v, slot.SCALES)[k], v[slot.CURVE] * v[slot.TRACE] / at(v, slot.SIZES)[k]
    alone = 1.0 / scale if scale > LEAST else 0.0
    return where_above(load(at(own, SCALED), 4 * b), splat(0.0), splat(alone), splat(alike))


@plugin(FAMILY)
def smooth_scores(v: Pointer, own: Pointer, terms: Pointer, scream: Pointer) -> int:
    """Step along the features, from where the proposals are."""
    if v[slot.ROOT] == 0.0 or v[slot.PRIMED] == 0.0:
        return 0
    d, x, t, first = whole_at(v, slot.DIM), at(v, slot.X), at(v, slot.TANGENT), whole_at(own, record.FIRST)
    for b in range(whole_at(own, record.BLOCKS)):
        means, share = part(at(own, MEANS), 4 * b * d), load(at(own, SHARE), 4 * b)
        for lane in range(min(4, whole_at(own, record.COUNT) - 4 * b)):
            u = part(at(v, slot.PROPOSALS), (first + 4 * b + lane) * d)
            for k in range(d):
                means[4 * k + lane] = u[k]
        score, length = splat(0.0), splat(0.0)
        for k in range(d):
            score = score + x[k] * load(means, 4 * k)
            length = length + _unit(v, own, b, k) * (t[k] * t[k])
        step = where_above(length, splat(LEAST), share * errors(v, terms, score) / length, splat(0.0))
        for k in range(d):
            mean = load(means, 4 * k)
            store(means, 4 * k, within(v, finite(mean + step * _unit(v, own, b, k) * t[k], mean), k))
    offer(v, own, at(own, MEANS), d)
    return 0


@plugin(FAMILY)
def smooth_levels(v: Pointer, own: Pointer, terms: Pointer, scream: Pointer) -> int:
    """Go a part of the way to the targets; in the first rounds, as far as a running mean would."""
    d, targets = whole_at(v, slot.DIM), at(v, slot.TARGETS)
    for b in range(whole_at(own, record.BLOCKS)):
        means = part(at(own, MEANS), 4 * b * d)
        share = greater(load(at(own, SHARE), 4 * b), splat(1.0 / (v[slot.ROUNDS] + 1.0)))
        for k in range(d):
            mean = load(means, 4 * k)
            store(means, 4 * k, mean + share * (splat(targets[k]) - mean))
    offer(v, own, at(own, MEANS), d)
    return 0


SCORE_SMOOTHERS = Family(smooth_scores, SMOOTHERS, _fill, lambda count, dim: {})
LEVEL_SMOOTHERS = Family(smooth_levels, SMOOTHERS, _fill, lambda count, dim: {})


class Smoothing(Estimator):
    """Exponential smoothing of a level; with features, the normalised LMS filter.

    The simplest estimator that follows whatever happens, and hard to beat on a level. With a share of 1 it is the last
    value. With features it goes the nearest way to weights that would have been right in the last round; it takes time
    linear in their number, and knows nothing of how features go together.

    Parameters
    ----------
    share : float, default 0.3
        Part of the way to go, above 0 and at most 1.
    scaled : bool, default False
        Whether to count every feature in units of its own size, rather than only those that are far larger than most.

    Notes
    -----
    With r the slope of the loss at the score m'x, in units of its curvature::

        m <- m + max(share, 1 / (t + 1)) (y - m)        a loss of each coordinate, in round t = 0, 1, ...
        m <- m - share r D x / (x' D x)                 a loss of a score; then m is put into the domain

    D is the inverse of the sizes of the features: diagonal.

    References
    ----------
    .. [1] Brown, "Statistical forecasting for inventory control", 1959.
    .. [2] Widrow, Hoff, "Adaptive switching circuits", IRE WESCON, 1960.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.estimators import Seen, Smoothing
    >>> one = Smoothing(0.3)
    >>> one.begin(np.zeros(1), dw.Box([0.0], [99.0]))
    >>> for t, level in enumerate([10.0, 20.0, 30.0, 40.0]):
    ...     one.learn(Seen.of_levels(t, [level]))
    >>> one.propose()
    array([26.])
    """

    restless = True

    def __init__(self, share: float = 0.3, scaled: bool = False) -> None:
        self.share = share_of("Smoothing", "share", share)
        self.scaled = bool(scaled)
        self.name = f"smoothing {self.share:g}" + (" by own" if scaled else "")

    def family(self, kind: Kind) -> Family:
        """Return the family for levels, or for features."""
        return LEVEL_SMOOTHERS if kind.form == EACH else SCORE_SMOOTHERS

    def begin(self, point: Array, domain: Domain) -> None:
        """Begin at a point."""
        self._mean, self._start, self._domain = point, point, domain

    def learn(self, seen: Seen) -> None:
        """Go a part of the way to the targets, or to the nearest weights for which the error is 0."""
        if seen.kind.form == EACH:
            share = max(self.share, 1.0 / (seen.rounds + 1))
            self._mean = self._mean + share * (seen.targets - self._mean)
            return
        sizes, t = seen.scales if self.scaled else seen.sizes, seen.tangent
        way = np.divide(t, sizes, out=np.zeros(t.size), where=sizes > LEAST)
        if t @ way > LEAST:
            error = seen.error(float(seen.features @ self._mean))
            mean = self._mean + self.share * error / (t @ way) * way
            self._mean = self._domain.project(near(mean, self._start, self._domain.diameter / 2.0, seen.kind))

    def propose(self) -> Array:
        """Return the level or the weights."""
        return self._mean
