"""Second-order steps from gradients alone: a Kalman filter on directions, with an assumed curvature.

A gradient g at the decision w says which way to go, not how far. If the losses bent by 1 / theta along it, the best
point would be on the plane ``<g / |g|, v> = <g / |g|, w> - theta |g|``; that is a linear observation, and a filter for
a walk at random takes it in::

    P_ii += drift d
    k  = P u / (1 + u' P u),                 u = g / |g|
    m += k (<u, w> - theta |g| - <u, m>),    then m is put into the domain
    P -= k (P u)'

theta is `reach` times the diameter over the longest gradient so far. Nobody knows it, so there are several.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise._compile import aside, plugin
from driftwise._lanes import greater, load, splat, store
from driftwise._memory import Array, Part, Pointer, Section, at, part, whole_at
from driftwise._validate import number
from driftwise.domains import Domain
from driftwise.estimators import families as record
from driftwise.estimators.base import Estimator, Seen
from driftwise.estimators.families import Family, Sides
from driftwise.estimators.statement import Aim, floored
from driftwise.movers import Follow, Mover, Prox
from driftwise.pairs import layout as slot
from driftwise.pairs.kinds import Kind
from driftwise.pairs.layout import FAMILY, GRADIENT

WIDE = 10.0
"""Variance of a weight before the first round, in units of the number of coordinates."""

GROUPS, DRIFT, LANE, REACH, SPREADS, GAIN = range(record.OWN, record.OWN + 6)

PARAMETERS = [
    Part("drift", DRIFT, ("groups", 4)),  # one lane for every drift: its filters share a matrix
    Part("lane", LANE, ("count",)),
    Part("reach", REACH, ("count",)),
]
FULL = Section(
    record.OWN + 6,
    [*PARAMETERS, Part("spreads", SPREADS, ("groups", "dim", "dim", 4)), Part("gain", GAIN, ("groups", "dim", 4))],
)
DIAGONAL = Section(
    record.OWN + 6,
    [*PARAMETERS, Part("spreads", SPREADS, ("groups", "dim", 4)), Part("gain", GAIN, ("groups", "dim", 4))],
)


def _drifts(estimators: Sequence[Any]) -> list[float]:
    return sorted({one.drift for one in estimators})


def _fill(header: Array, parts: dict[str, Array], estimators: Sequence[Any], start: Array) -> None:
    drifts, spreads, d = _drifts(estimators), parts["spreads"], start.size
    header[GROUPS] = -(-len(drifts) // 4)
    parts["drift"].ravel()[: len(drifts)] = drifts
    parts["lane"][:], parts["reach"][:] = (
        [drifts.index(one.drift) for one in estimators],
        [one.reach for one in estimators],
    )
    if spreads.ndim == 4:
        spreads[:, range(d), range(d)] = WIDE * d
    else:
        spreads[:] = WIDE * d


@aside
def aim_at(v: Pointer, reach: float, row: int) -> float:
    """Write where the score of the gradient's direction should be, and what curvature that assumes; return the aim."""
    d, far, aim = whole_at(v, slot.DIM), reach * 2.0 * v[slot.HALF_WIDTH], 0.0
    for k in range(d):
        aim += at(v, slot.X)[k] * at(v, slot.DECISION)[k]
    aim -= far * (v[slot.LENGTH] / v[slot.LONGEST])  # theta |g|: theta itself may overflow
    v[slot.AIM], at(v, slot.BENDS)[row] = aim, v[slot.LONGEST] / far
    return float(aim)


@aside
def _turn(v: Pointer, own: Pointer, group: int) -> None:
    """Take the direction into four matrices, and write their gains."""
    d, u, drift = whole_at(v, slot.DIM), at(v, slot.X), load(at(own, DRIFT), 4 * group)
    full, gain, spread = v[slot.FULL] > 0.0, part(at(own, GAIN), 4 * group * d), splat(1.0)
    P = part(at(own, SPREADS), 4 * group * (d * d if full else d))
    for i in range(d):
        place = 4 * (i * d + i if full else i)
        store(P, place, load(P, place) + drift * float(d))
    for i in range(d):
        across = splat(0.0)
        if full:
            for k in range(d):
                across = across + u[k] * load(P, 4 * (i * d + k))
        else:
            across = u[i] * load(P, 4 * i)
        store(gain, 4 * i, across)
        spread = spread + u[i] * across
    one = splat(1.0) / spread
    for i in range(d):
        way = load(gain, 4 * i)
        if full:
            for k in range(d):
                place = 4 * (i * d + k)
                store(P, place, load(P, place) - (way * load(gain, 4 * k)) * one)
        place = 4 * (i * d + i if full else i)
        if not full:
            store(P, place, load(P, place) - way * way * one)
        store(P, place, greater(load(P, place), splat(0.0)))
    for i in range(d):
        store(gain, 4 * i, load(gain, 4 * i) * one)


@plugin(FAMILY)
def newton_steps(v: Pointer, own: Pointer, terms: Pointer, scream: Pointer) -> int:
    """Let every filter step from its proposal, which is in the domain."""
    d, u, first = whole_at(v, slot.DIM), at(v, slot.X), whole_at(own, record.FIRST)
    if v[slot.ROOT] == 0.0:
        return 0
    for group in range(whole_at(own, GROUPS)):
        _turn(v, own, group)
    for j in range(whole_at(own, record.COUNT)):
        lane, m = int(at(own, LANE)[j]), part(at(v, slot.PROPOSALS), (first + j) * d)
        gain, miss = part(at(own, GAIN), (lane - lane % 4) * d + lane % 4), aim_at(v, at(own, REACH)[j], first + j)
        for k in range(d):
            miss -= u[k] * m[k]
        for k in range(d):
            m[k] += gain[4 * k] * miss
    return 0


def _sides(count: int, dim: int) -> Sides:
    return {"count": count, "groups": -(-count // 4)}  # as many lanes as there may be drifts


FULL_NEWTON = Family(newton_steps, FULL, _fill, _sides, fixed=("lane",))
DIAGONAL_NEWTON = Family(newton_steps, DIAGONAL, _fill, _sides, fixed=("lane",))


class Newton(Estimator):
    """Second-order steps where only gradients are known.

    A gradient says which way to go, not how far. If the losses bend, how far can be guessed; this guesses once for
    all, by `reach`, and learns like a Kalman filter from there. Have several, as nobody knows which guess is right.

    Parameters
    ----------
    drift : float, default 1e-2
        Variance of a step of the walk that weights are taken to make, in units of the number of coordinates.
    reach : float, default 0.5
        How far the longest gradient so far is taken to reach, in diameters of the domain.

    Notes
    -----
    With the direction u of the gradient g, the decision w, and theta = reach D / (the longest gradient so far)::

        P_ii += drift d
        k  = P u / (1 + u' P u),    m += k (<u, w> - theta |g| - <u, m>),    then m is put into the domain
        P -= k (P u)'

    References
    ----------
    .. [1] Hazan, Agarwal, Kale, "Logarithmic regret algorithms for online convex optimization", Machine Learning
       69, 2007.

    Examples
    --------
    >>> import driftwise as dw
    >>> from driftwise.estimators import Newton
    >>> learner = dw.SelfTunedLearner(dw.Ball(2), switching_cost=0.1, estimators=[Newton()])
    >>> for _ in range(20):
    ...     w = learner.act()
    ...     learner.observe(w - [0.3, 0.4])
    >>> learner.act().round(2)
    array([0.28, 0.38])
    """

    forms = (GRADIENT,)

    def __init__(self, drift: float = 1e-2, reach: float = 0.5) -> None:
        self.drift = number("Newton", "drift", drift, low=0.0)
        self.reach = number("Newton", "reach", reach, low=0.0, exclusive=True)
        self.name = f"Newton {self.drift:g} within {self.reach:g}"

    def family(self, kind: Kind) -> Family:
        """Return the family with full or with diagonal matrices."""
        return FULL_NEWTON if kind.full else DIAGONAL_NEWTON

    def ways(self, kind: Kind) -> list[Mover]:
        """Return fewer movers than usual: the curvature is only assumed."""
        return [Follow(), Prox(256.0), Prox(32.0)]

    def begin(self, point: Array, domain: Domain) -> None:
        """Begin at a point, with a wide prior."""
        self._mean, self._domain, self._aim = point, domain, Aim(self.reach * domain.diameter)
        self._P = WIDE * point.size * np.eye(point.size)

    def learn(self, seen: Seen) -> None:
        """Widen P, take in the direction of the gradient as an observation, and go back into the domain."""
        if not seen.targets.any():
            return
        u, d = seen.features, seen.features.size
        error = self._aim.target(seen) - float(u @ self._mean)
        P = self._P + self.drift * d * np.eye(d)
        gain = P @ u
        P = P - np.outer(gain, gain) / (1.0 + u @ gain)
        self._P = floored(P if seen.kind.full else np.diag(np.diag(P)))
        self._mean = self._domain.project(self._mean + gain / (1.0 + u @ gain) * error)

    def propose(self) -> Array:
        """Return the mean, which is in the domain."""
        return self._mean
