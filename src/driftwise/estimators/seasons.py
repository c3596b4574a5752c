"""Seasons: what was seen one period ago, and the mean of many periods, with the level of today.

With y the targets of a coordinate, p the period and D_t = y_t - y_{t-p}, forecasts of y_{t+1} are::

    naive        y_{t+1-p}
    adjusted     y_{t+1-p} + phi D_t                            phi: regression of D_{t+1} on D_t, with forgetting 0.99
    profile      m_{t+1} + phi (y_t - m_t),  m_t += share (y_t - m_t) for the phase of t, and phi likewise

A period that is not given is found: the first lag, behind those near 0, at which targets repeat themselves about as
well as at any: where the mean of (y_t - y_{t-lag})^2, over all lags of which two periods have been seen, has a valley
that is far below its mean, and not above its value at lag 1. Until there is one, all of them propose the last value.
Winters, "Forecasting sales by exponentially weighted moving averages", Management Science 6, 1960.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise._compile import aside, helper, plugin
from driftwise._memory import Array, Part, Pointer, Section, at, part, whole_at
from driftwise._validate import choice, whole
from driftwise._validate import share as share_of
from driftwise.domains import Domain
from driftwise.estimators import families as record
from driftwise.estimators.base import Estimator, Seen
from driftwise.estimators.families import Family
from driftwise.pairs import layout as slot
from driftwise.pairs.kinds import WIDEST, Kind
from driftwise.pairs.layout import EACH, FAMILY

LAGS = 400
"""The longest period that is looked for."""

FORGET, CLEAR, BETTER, CLOSE = 0.99, 0.7, 1.05, 0.1
"""Forgetting of phi; the depth of a valley that is a season, as a part of the mean; by how much a longer period must be
better than the present one; and how far above the deepest valley another may be, as a part of the way to the mean."""

NAIVE, ADJUSTED, PROFILE = 0.0, 1.0, 2.0

PERIOD, GIVEN, LONGEST, KINDS, SHARES, RING, WITH, POWERS = range(record.OWN, record.OWN + 8)
PROFILES, LASTS, TOPS, SQUARES = range(record.OWN + 8, record.OWN + 12)

SEASONS = Section(
    record.OWN + 12,
    [
        Part("kinds", KINDS, ("count",)),
        Part("shares", SHARES, ("count",)),
        Part("ring", RING, ("dim", "twice")),  # the last targets, twice, so that any window of them is in one piece
        Part("with", WITH, ("lags",)),  # sum of squared differences at each lag
        Part("powers", POWERS, ("dim",)),  # sum of the squares of each coordinate's changes
        Part("profiles", PROFILES, ("count", "dim", "lags")),  # mean of each phase
        Part("lasts", LASTS, ("count", "dim")),  # the last deviation from it
        Part("tops", TOPS, ("count", "dim")),  # phi is a ratio of running sums: of products,
        Part("squares", SQUARES, ("count", "dim")),  # and of squares
    ],
)


def _fill(header: Array, parts: dict[str, Array], estimators: Sequence[Any], start: Array) -> None:
    header[LONGEST] = parts["with"].size
    header[PERIOD] = header[GIVEN] = estimators[0].period or 0
    parts["kinds"][:] = [one.kind for one in estimators]
    parts["shares"][:] = [one.share for one in estimators]
    parts["ring"][:] = start[:, None]


@helper
def _window(own: Pointer, k: int, rounds: int) -> Pointer:
    """Return a pointer to the target of this round; entry -j of it is that of j rounds ago."""
    longest = whole_at(own, LONGEST) + 2
    return part(at(own, RING), k * 2 * longest + longest + rounds % longest)


@aside
def _note(v: Pointer, own: Pointer, rounds: int) -> None:
    """Put the targets into the ring, and compare those of one coordinate with all before, in turn."""
    d, longest, targets = whole_at(v, slot.DIM), whole_at(own, LONGEST) + 2, at(v, slot.TARGETS)
    for k in range(d):
        ring, place = part(at(own, RING), k * 2 * longest), rounds % longest
        ring[place] = ring[place + longest] = targets[k]
    if own[GIVEN] > 0.0:
        return
    k = (rounds + rounds // d) % d  # so that every coordinate is looked at in all phases
    y, sums = _window(own, k, rounds), at(own, WITH)
    if rounds > 0:
        at(own, POWERS)[k] += (y[0] - y[-1]) * (y[0] - y[-1])
    unit = at(own, POWERS)[k] * d / (rounds + 1.0) if d > 1 else 1.0  # coordinates count alike
    if not unit > 0.0:
        return
    for lag in range(1, min(longest - 2, rounds + 1)):
        sums[lag] += (y[0] - y[-lag]) / unit * (y[0] - y[-lag])


@helper
def _miss(own: Pointer, lag: int, rounds: int) -> float:
    """Return the mean squared difference of targets at a lag; those of a long lag are fewer."""
    return float(at(own, WITH)[lag] / (rounds + 1.0 - lag))


@helper
def _lowest(own: Pointer, first: int, last: int, rounds: int) -> int:
    """Return the lag between two at which the difference is least."""
    best = first
    for lag in range(first, last):
        best = lag if _miss(own, lag, rounds) < _miss(own, best, rounds) else best
    return best


@aside
def _find(v: Pointer, own: Pointer, rounds: int) -> None:
    """Choose the period: the first valley of the mean squared differences that is about as deep as any."""
    longest, mean, first = min(whole_at(own, LONGEST), rounds // 2), 0.0, 1
    if longest < 4:
        return
    for lag in range(1, longest):
        mean += _miss(own, lag, rounds) / (longest - 1.0)
    deep = _miss(own, _lowest(own, 1, longest, rounds), rounds)
    while first < longest and _miss(own, first, rounds) <= deep + CLOSE * max(mean - deep, 0.0):
        first += 1  # neighbours are alike wherever targets change slowly: that is no season
    first = max(first, 2)
    if first >= longest:
        return
    deep = _miss(own, _lowest(own, first, longest, rounds), rounds)
    while _miss(own, first, rounds) > deep + CLOSE * max(mean - deep, 0.0):
        first += 1
    last = first
    while last < longest and _miss(own, last, rounds) <= deep + CLOSE * max(mean - deep, 0.0):
        last += 1
    best, now = _lowest(own, first, last, rounds), whole_at(own, PERIOD)
    low = _miss(own, best, rounds)
    if best == now or low > CLEAR * mean or low > BETTER * _miss(own, 1, rounds):
        return
    if 0 < now < best and BETTER * low > _miss(own, now, rounds):
        return
    own[PERIOD] = best
    for e in range(whole_at(own, record.COUNT)):
        for k in range(whole_at(v, slot.DIM)):
            place = e * whole_at(v, slot.DIM) + k
            y, profile = _window(own, k, rounds), part(at(own, PROFILES), place * whole_at(own, LONGEST))
            for j in range(best):
                profile[(rounds - j) % best] = y[-j]
            at(own, LASTS)[place] = at(own, TOPS)[place] = at(own, SQUARES)[place] = 0.0


@helper
def _believed(own: Pointer, place: int, gap: float) -> float:
    """Return phi times a deviation, after taking it into the running sums."""
    tops, squares, lasts = at(own, TOPS), at(own, SQUARES), at(own, LASTS)
    tops[place] = FORGET * tops[place] + gap * lasts[place]
    squares[place] = FORGET * squares[place] + lasts[place] * lasts[place]
    lasts[place] = gap
    return min(max(tops[place] / squares[place], 0.0), 1.0) * gap if squares[place] > 0.0 else 0.0


@plugin(FAMILY)
def forecast_seasons(v: Pointer, own: Pointer, terms: Pointer, scream: Pointer) -> int:
    """Take in the targets, look for a period, and forecast the next ones."""
    d, rounds = whole_at(v, slot.DIM), whole_at(v, slot.ROUNDS)
    _note(v, own, rounds)
    if own[GIVEN] == 0.0 and rounds % 8 == 7:
        _find(v, own, rounds)
    p, first = whole_at(own, PERIOD), whole_at(own, record.FIRST)
    known = p > 0 and rounds >= p
    for e in range(whole_at(own, record.COUNT)):
        kind, share = at(own, KINDS)[e], at(own, SHARES)[e]
        for k in range(d):
            place, y = e * d + k, _window(own, k, rounds)
            u = part(at(v, slot.PROPOSALS), (first + e) * d + k)
            u[0] = y[0]
            profile = part(at(own, PROFILES), place * whole_at(own, LONGEST))
            if not known:
                if p > 0:
                    profile[rounds % p] = y[0]
            elif kind == NAIVE:
                u[0] = y[1 - p]
            elif kind == ADJUSTED:
                u[0] = y[1 - p] + _believed(own, place, y[0] - y[-p])
            else:
                gap = y[0] - profile[rounds % p]
                u[0] = profile[(rounds + 1) % p] + _believed(own, place, gap)
                profile[rounds % p] += share * gap
    return 0


def family(longest: int) -> Family:
    """Return the family that looks at lags of up to `longest` rounds."""
    sides = {"lags": longest, "twice": 2 * (longest + 2)}
    return Family(
        forecast_seasons, SEASONS, _fill, lambda count, dim: {**sides, "count": count}, changing={PERIOD: (LONGEST, 0)}
    )


_FAMILIES: dict[int | None, Family] = {}


class Season(Estimator):
    """What was seen one period ago, or the mean of many periods, with the level of today.

    For losses of each coordinate whose targets come again: hours of a day, days of a week. While no period is known it
    proposes the last value.

    Parameters
    ----------
    how : {"naive", "adjusted", "profile"}, default "naive"
        Which forecast: the value of one period ago; the same with a part of what has changed since; or a mean of each
        phase with a part of the present deviation from it.
    share : float, default 0.3
        Of "profile": how fast the mean of a phase follows, above 0 and at most 1.
    period : int, optional
        Rounds from one season to the next, at least 2; found online, up to 400, when left out.

    Notes
    -----
    With targets y, the period p and D_t = y_t - y_{t-p}, the forecasts of y_{t+1} are::

        naive        y_{t+1-p}
        adjusted     y_{t+1-p} + phi D_t
        profile      m_{t+1} + phi (y_t - m_t),    m_t += share (y_t - m_t)    for the phase of t

    phi, from 0 to 1, is the regression of the next deviation on the present one, with forgetting 0.99. A period is
    the first lag, behind those near 0, at which targets repeat themselves about as well as at any, and far better than
    at most: where the mean of (y_t - y_{t-lag})^2 has a deep valley.

    References
    ----------
    .. [1] Winters, "Forecasting sales by exponentially weighted moving averages", Management Science 6, 1960.

    Examples
    --------
    A peak every seven rounds, of which nobody has told it:

    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.estimators import Season, Seen
    >>> one = Season("naive")
    >>> one.begin(np.zeros(1), dw.Box([0.0], [9.0]))
    >>> forecasts = []
    >>> for t in range(70):
    ...     forecasts.append(float(one.propose()[0]))
    ...     one.learn(Seen.of_levels(t, [5.0 if t % 7 == 3 else 1.0]))
    >>> forecasts[-7:]
    [1.0, 1.0, 1.0, 5.0, 1.0, 1.0, 1.0]
    """

    forms = (EACH,)

    _past: Array

    def __init__(self, how: str = "naive", share: float = 0.3, period: int | None = None) -> None:
        self.how = choice("Season", "how", how, ("naive", "adjusted", "profile"))
        self.share = share_of("Season", "share", share)
        self.period = None if period is None else whole("Season", "period", period, low=2)
        self.kind = float(("naive", "adjusted", "profile").index(how))
        self.name = f"season {how}" + (f" {share:g}" if how == "profile" else "")

    def suits(self, kind: Kind) -> bool:
        """Tell whether coordinates have targets; if a period has to be found, at most 64 of them."""
        return super().suits(kind) and (self.period is not None or kind.dim <= WIDEST)

    def family(self, kind: Kind) -> Family:
        """Return the family that remembers as many rounds as it needs to."""
        return _FAMILIES.setdefault(self.period, family(self.period or LAGS))

    def begin(self, point: Array, domain: Domain) -> None:
        """Begin with no past."""
        self._past, self._next, self._found = np.empty((0, point.size)), point, self.period or 0
        self._sums, self._powers = np.zeros(LAGS), np.zeros(point.size)
        self._start_season(np.zeros((self._found, point.size)))

    def learn(self, seen: Seen) -> None:
        """Take in the targets, look for a period if none was given, and forecast."""
        y, t = seen.targets, seen.rounds
        self._past = np.vstack([self._past[-(self.period or LAGS) - 1 :], y])
        if self.period is None:
            k = (t + t // y.size) % y.size
            self._compare(t, k, self._past[:, k])
            if t % 8 == 7:
                self._find(t)
        p, phase = self._found, self._phases
        self._next = y
        if p > t:
            phase[t % p] = y
        elif p > 0 and self.how == "naive":
            self._next = self._past[-p]
        elif p > 0 and self.how == "adjusted":
            self._next = self._past[-p] + self._believed(y - self._past[-p - 1])
        elif p > 0:
            gap = y - phase[t % p]
            self._next = phase[(t + 1) % p] + self._believed(gap)
            phase[t % p] += self.share * gap

    def propose(self) -> Array:
        """Return the forecast of the next targets; the last ones while no period is known."""
        return self._next

    def _compare(self, t: int, k: int, past: Array) -> None:
        """Square the differences of the last target of one coordinate from all before it."""
        d, unit = self._powers.size, 1.0
        if t >= 1:
            self._powers[k] += (past[-1] - past[-2]) ** 2
        if d > 1:
            unit = float(self._powers[k] * d / (t + 1.0))
        if unit > 0.0:
            before = past[-2::-1][: LAGS - 1]
            self._sums[1 : before.size + 1] += (past[-1] - before) ** 2 / unit

    def _find(self, t: int) -> None:
        """Choose the first valley of the mean squared differences that is about as deep as any, and deep enough."""
        longest = min(LAGS, t // 2)
        if longest < 4:
            return
        misses = self._sums[:longest] / (t + 1.0 - np.arange(longest))
        misses[0] = math.inf
        mean = misses[1:].mean()

        def near(deep: float) -> Array:
            return np.append(misses <= deep + CLOSE * max(mean - deep, 0.0), False)

        first = max(1 + int(np.argmin(near(misses.min())[1:])), 2)  # behind the lags near 0, which are always alike
        if first >= longest:
            return
        low = near(misses[first:].min())
        first += int(np.argmax(low[first:]))
        best, now = first + int(misses[first : first + int(np.argmin(low[first:]))].argmin()), self._found
        if best == now or misses[best] > min(CLEAR * mean, BETTER * misses[1]):
            return
        if 0 < now < best and BETTER * misses[best] > misses[now]:
            return
        self._found = best
        self._start_season(np.roll(self._past[-best:], t + 1, axis=0))

    def _start_season(self, phases: Array) -> None:
        """Begin with the mean of each phase, and nothing known of phi."""
        self._phases = phases
        self._last, self._top, self._square = np.zeros((3, phases.shape[1]))

    def _believed(self, gap: Array) -> Array:
        """Return phi times a deviation, after taking it into the running sums."""
        self._top = FORGET * self._top + gap * self._last
        self._square = FORGET * self._square + self._last**2
        self._last = gap
        phi = np.divide(self._top, self._square, out=np.zeros(gap.size), where=self._square > 0.0)
        return np.asarray(np.clip(phi, 0.0, 1.0) * gap)
