"""Change points: a handful of hypotheses about when the world last changed, weighted by how well each predicts.

Each hypothesis is a Bayesian ridge regression (a normal-inverse-gamma posterior) that began at some round; its score
is predicted with Student's t distribution, and hypotheses are weighted by the likelihood of what was seen. In every
round a new one begins from the prior (the world has changed just now), and a copy of the leader takes another
forgetting factor (the world drifts); they take the places of the least likely. The hazard is (1 + changes) / (t + 2).
The proposal is the mean of all posterior means.

Adams, MacKay, "Bayesian online changepoint detection", 2007. For one hypothesis, with features x, error e = y - m'x::

    q  = 1 + x' P x
    log weight += log Gamma(a + 1/2) - log Gamma(a) - log(2 pi b q) / 2 - (a + 1/2) log(1 + e^2 / (2 b q))
    m += P x e / q;   P -= P x x' P / q;   a += 1/2;   b += e^2 / (2 q)
"""

import math
from collections.abc import Sequence
from typing import Any

from driftwise._compile import aside, helper, plugin
from driftwise._lanes import any_above, greater, load, root, splat, store, where_above
from driftwise._memory import Array, Part, Pointer, Section, at, part, whole_at
from driftwise._validate import number
from driftwise.domains import Domain
from driftwise.estimators import families as record
from driftwise.estimators.base import Estimator, Seen
from driftwise.estimators.families import FAINT, LONGEST, Family, Sides, errors, finite, within
from driftwise.estimators.hypotheses import Hypotheses
from driftwise.estimators.newton import aim_at
from driftwise.movers import Mover, Prox
from driftwise.pairs import layout as slot
from driftwise.pairs.judging import LEAST
from driftwise.pairs.kinds import Kind
from driftwise.pairs.layout import FAMILY, GRADIENT

NEVER = -1e300
"""Log weight of a free place."""

HYPOTHESES, CHANGES, NOISE, BEST, LAST_BORN, TOLD, REACH, USUAL = range(record.OWN, record.OWN + 8)
AGES, SHAPES, RATES, KEEPS, LOGS, MEANS, SPREADS, GAIN, WIDTHS = range(record.OWN + 8, record.OWN + 17)

BAYES = Section(
    record.OWN + 17,
    [
        Part("ages", AGES, ("lanes",)),  # round in which each hypothesis began
        Part("shapes", SHAPES, ("lanes",)),  # a
        Part("rates", RATES, ("lanes",)),  # b
        Part("keeps", KEEPS, ("lanes",)),  # forgetting factor
        Part("logs", LOGS, ("lanes",)),  # log weight
        Part("means", MEANS, ("groups", "height", 4)),
        Part("spreads", SPREADS, ("groups", "height", "height", 4)),
        Part("gain", GAIN, ("height", 4)),
        Part("widths", WIDTHS, ("height",)),  # prior variance of each weight
    ],
)


def _fill(header: Array, parts: dict[str, Array], estimators: Sequence[Any], start: Array) -> None:
    header[HYPOTHESES], header[REACH] = parts["logs"].size, estimators[0].reach or 0.0
    parts["logs"][:], parts["keeps"][:], parts["shapes"][:], parts["rates"][:] = NEVER, 1.0, 1.0, 1.0
    parts["means"][:, : start.size] = start[:, None]


@helper
def _log_ratio(a: float) -> float:
    """Return log Gamma(a + 1/2) - log Gamma(a), by Stirling's series far out and the recurrence on the way there."""
    before = 0.0
    while 0.0 < a < 8.0:  # it is above 0, but for what a crafted file may hold
        before += math.log(a / (a + 0.5))
        a += 1.0
    return before + 0.5 * math.log(a) - 1.0 / (8.0 * a) + 1.0 / (192.0 * a * a * a)


@helper
def _place(own: Pointer) -> int:
    """Return a free place, or that of the least likely hypothesis other than the leader."""
    logs, best, least = at(own, LOGS), whole_at(own, BEST), -1
    for h in range(whole_at(own, HYPOTHESES)):
        if logs[h] == NEVER:
            return h
        if h != best and (least < 0 or logs[h] < logs[least]):
            least = h
    return least


@aside
def _begin(v: Pointer, own: Pointer, p: int, h: int, odds: float) -> None:
    """Begin a hypothesis from the prior: the world has changed just now."""
    rounds, widths, start = v[slot.ROUNDS], at(own, WIDTHS), at(v, slot.START)
    means, P = part(at(own, MEANS), (h - h % 4) * p + h % 4), part(at(own, SPREADS), (h - h % 4) * p * p + h % 4)
    at(own, LOGS)[h] = odds
    at(own, AGES)[h], at(own, SHAPES)[h], at(own, RATES)[h], at(own, KEEPS)[h] = rounds, 1.0, own[NOISE], 1.0
    for i in range(p):
        means[4 * i] = start[i] if i < p - 1 else 0.0
        for k in range(p):
            P[4 * (i * p + k)] = widths[i] / own[NOISE] if i == k else 0.0


@aside
def _branch(v: Pointer, own: Pointer, p: int, h: int, odds: float) -> None:
    """Begin a hypothesis as a copy of the leader with another forgetting factor: the world drifts."""
    best, rounds = whole_at(own, BEST), v[slot.ROUNDS]
    steps = int(math.log2(max(rounds - at(own, AGES)[best], 1.0))) - 3
    step = rounds % (steps + 1.0)
    means, P = part(at(own, MEANS), (h - h % 4) * p + h % 4), part(at(own, SPREADS), (h - h % 4) * p * p + h % 4)
    by = part(at(own, MEANS), (best - best % 4) * p + best % 4)
    by_P = part(at(own, SPREADS), (best - best % 4) * p * p + best % 4)
    at(own, LOGS)[h] = odds + at(own, LOGS)[best]
    at(own, AGES)[h], at(own, SHAPES)[h] = at(own, AGES)[best], at(own, SHAPES)[best]
    at(own, RATES)[h], at(own, KEEPS)[h] = at(own, RATES)[best], 1.0 if step == 0.0 else 1.0 - 2.0 ** (-3.0 - step)
    for i in range(p):
        means[4 * i] = by[4 * i]
    for i in range(p * p):
        P[4 * i] = by_P[4 * i]


@aside
def _forget(own: Pointer, p: int, group: int) -> None:
    """Widen the posteriors of four hypotheses by their forgetting factors, to no more than four times the prior."""
    keep, P = load(at(own, KEEPS), 4 * group), part(at(own, SPREADS), 4 * group * p * p)
    gain, widths = at(own, GAIN), at(own, WIDTHS)
    for i in range(p):
        limit, now = splat(4.0 * widths[i] / own[NOISE]), load(P, 4 * (i * p + i)) / keep
        over = where_above(now, limit, root(limit / greater(now, splat(1e-280))), splat(1.0))
        store(gain, 4 * i, where_above(splat(1.0), keep, over if i < p - 1 else splat(1.0), splat(1.0)))
    for i in range(p):
        for k in range(p):
            place = 4 * (i * p + k)
            store(P, place, load(P, place) / keep * (load(gain, 4 * i) * load(gain, 4 * k)))
    for h in range(4 * group, 4 * group + 4):
        share = at(own, KEEPS)[h]
        if share < 1.0 and at(own, SHAPES)[h] * share >= 1.0:
            at(own, SHAPES)[h] *= share
            at(own, RATES)[h] *= share


@aside
def _learn_group(v: Pointer, own: Pointer, terms: Pointer, p: int, group: int) -> None:
    """Update four hypotheses from the score on the board."""
    d, x, t, gain = p - 1, at(v, slot.X), at(v, slot.TANGENT), at(own, GAIN)
    means, P = part(at(own, MEANS), 4 * group * p), part(at(own, SPREADS), 4 * group * p * p)
    if any_above(splat(1.0), load(at(own, KEEPS), 4 * group)):
        _forget(own, p, group)
    score, spread = splat(0.0), splat(1.0)
    for i in range(p):
        score = score + x[i] * load(means, 4 * i)
        across = splat(0.0)
        for k in range(p):
            across = across + t[k] * load(P, 4 * (i * p + k))
        store(gain, 4 * i, across)
        spread = spread + t[i] * across
    spread = greater(finite(spread, splat(1.0)), splat(1.0))
    one = splat(1.0) / spread
    miss = errors(v, terms, score)
    rise = miss * one
    for i in range(p):
        mean = load(means, 4 * i)
        mean = finite(mean + load(gain, 4 * i) * rise, mean)
        store(means, 4 * i, within(v, mean, i) if i < d else mean)
        for k in range(p):
            place = 4 * (i * p + k)
            store(P, place, load(P, place) - (load(gain, 4 * i) * load(gain, 4 * k)) * one)
        store(P, 4 * (i * p + i), greater(load(P, 4 * (i * p + i)), splat(0.0)))
    store(gain, 0, miss)
    room = part(at(v, slot.SCRATCH), 8)
    store(room, 0, spread)
    for lane in range(4):
        h = 4 * group + lane
        if at(own, LOGS)[h] > NEVER:
            _weigh(own, h, gain[lane], room[lane])


@helper
def _weigh(own: Pointer, h: int, miss: float, spread: float) -> None:
    """Take the likelihood of an error into the weight of a hypothesis, and the error into its noise."""
    a, b = at(own, SHAPES)[h], max(at(own, RATES)[h], 1e-290)
    odds = miss / (2.0 * b * spread) * miss
    odds = min(odds, 1e290)
    at(own, LOGS)[h] += _log_ratio(a) - 0.5 * math.log(2.0 * math.pi * b) - 0.5 * math.log(spread)
    at(own, LOGS)[h] -= (a + 0.5) * math.log1p(odds)
    a, b = a + 0.5, b * (1.0 + min(odds, 1e200))
    if a > LONGEST:
        a, b = LONGEST, b * LONGEST / a
    at(own, SHAPES)[h], at(own, RATES)[h] = a, min(b, 1e280)


@helper
def _normalise(v: Pointer, own: Pointer, p: int) -> None:
    """Make the weights sum to 1, find the leader, and if it is old enough learn the noise and count a change."""
    logs, best, mass = at(own, LOGS), 0, 0.0
    count = whole_at(own, HYPOTHESES)
    for h in range(count):
        best = h if logs[h] > logs[best] else best
    for h in range(count):
        mass += math.exp(logs[h] - logs[best]) if logs[h] > NEVER else 0.0
    top = logs[best] + math.log(mass)
    for h in range(count):
        logs[h] = max(logs[h] - top, FAINT) if logs[h] > NEVER else NEVER
    own[BEST] = best
    # A younger leader has fewer rounds than weights, and would take its perfect fit for an absence of noise.
    if v[slot.ROUNDS] - at(own, AGES)[best] >= 2.0 * p:
        if at(own, AGES)[best] > own[LAST_BORN]:
            own[CHANGES] += 1.0
        own[LAST_BORN], own[TOLD] = at(own, AGES)[best], 1.0
        own[NOISE] = max(at(own, RATES)[best] / at(own, SHAPES)[best], 1e-290)


@aside
def _propose(v: Pointer, own: Pointer, p: int) -> None:
    """Write the mean of the posterior means, how long it should last, and what one more round would tell."""
    d, first, logs = p - 1, whole_at(own, record.FIRST), at(own, LOGS)
    u, means = part(at(v, slot.PROPOSALS), first * d), at(own, MEANS)
    for k in range(d):
        u[k] = 0.0
    mass = 0.0
    for h in range(whole_at(own, HYPOTHESES)):
        if logs[h] > -14.0:
            share, m = math.exp(logs[h]), part(means, (h - h % 4) * p + h % 4)
            mass += share
            for k in range(d):
                u[k] += share * m[4 * k]
    for k in range(d):
        u[k] /= mass
    best = whole_at(own, BEST)
    P, size = part(at(own, SPREADS), (best - best % 4) * p * p + best % 4), v[slot.CURVE] * v[slot.TRACE]
    spread, square, noise = 0.0, 0.0, own[NOISE]
    for i in range(d):
        spread += noise * P[4 * (i * p + i)]
        for k in range(d):
            square += (noise * P[4 * (i * p + k)]) * (noise * P[4 * (i * p + k)])
    fall = size * square / (noise + size * spread)
    at(v, slot.GAINS)[first] = math.sqrt(spread) - math.sqrt(max(spread - fall, 0.0))
    at(v, slot.HORIZONS)[first] = (v[slot.ROUNDS] + 2.0) / (1.0 + own[CHANGES])


@plugin(FAMILY)
def full_changes(v: Pointer, own: Pointer, terms: Pointer, scream: Pointer) -> int:
    """Spawn, update and weigh the hypotheses, and propose their mean."""
    d, rounds, widths = whole_at(v, slot.DIM), v[slot.ROUNDS], at(own, WIDTHS)
    p, half, first = d + 1, v[slot.HALF_WIDTH], whole_at(own, record.FIRST)
    if v[slot.ROOT] == 0.0 or v[slot.PRIMED] == 0.0:
        return 0
    if v[slot.FORM] == slot.GRADIENT:
        aim_at(v, own[REACH], first)
        gap = v[slot.AIM]
        for k in range(d):
            gap -= at(v, slot.X)[k] * at(v, slot.START)[k]
        own[USUAL] += (gap * gap - own[USUAL]) / v[slot.PRIMED]
    else:
        own[USUAL] = v[slot.REFERENCE]
    usual = max(own[USUAL], 1e-280)
    if own[TOLD] == 0.0:
        own[NOISE] = usual
    for k in range(d):
        scale = at(v, slot.SCALES)[k]
        widths[k] = min(half * half / (d + 2.0), 4.0 * usual / (d * scale) if scale > LEAST else math.inf)
    widths[d] = usual / max(v[slot.CURVE], 1e-100)
    hazard = min((1.0 + own[CHANGES]) / (rounds + 2.0), 0.5)
    fresh = at(own, LOGS)[whole_at(own, BEST)] == NEVER
    for h in range(whole_at(own, HYPOTHESES)):
        if at(own, LOGS)[h] > NEVER:
            at(own, LOGS)[h] += math.log(1.0 - hazard)
    odds, best = math.log(hazard / 2.0), whole_at(own, BEST)
    _begin(v, own, p, _place(own), 0.0 if fresh else odds)
    if not fresh and rounds - at(own, AGES)[best] >= 16.0:
        _branch(v, own, p, _place(own), odds)
    for group in range(whole_at(own, HYPOTHESES) // 4):
        _learn_group(v, own, terms, p, group)
    _normalise(v, own, p)
    _propose(v, own, p)
    return 0


def _sides(count: int, dim: int) -> Sides:
    return {"lanes": 8, "groups": 2, "height": dim + 1}


_CHANGING = {CHANGES: None, NOISE: None, BEST: (HYPOTHESES, 1), LAST_BORN: None, TOLD: None, USUAL: None}

FULL_CHANGES = Family(full_changes, BAYES, _fill, _sides, changing=_CHANGING)


_FAMILIES: dict[float | None, Family] = {None: FULL_CHANGES}


class ChangePoints(Estimator):
    """Hypotheses about when the world last changed, weighted by how well each predicts.

    For weights that stay, and then jump: after a jump it learns anew at once, as if there had been nothing before, and
    between jumps it is a regression on all that is still true. It also knows how sure it is, so it has movers of its
    own: they go by how long a proposal should last, and wait while one more round would tell much.

    Parameters
    ----------
    reach : float, optional
        For losses of which only gradients are known: how far the longest gradient so far is taken to reach, in
        diameters, as in `Newton`. Without it, it is for losses of a score, or of a single level.

    Notes
    -----
    Each of up to eight hypotheses is a Bayesian ridge regression that began in some round, with a normal-inverse-gamma
    posterior. With features x, error e and q = 1 + x' P x::

        log weight += log Gamma(a + 1/2) - log Gamma(a) - log(2 pi b q) / 2 - (a + 1/2) log(1 + e^2 / (2 b q))
        m += P x e / q,    P -= P x x' P / q,    a += 1/2,    b += e^2 / (2 q)

    In every round one begins anew, from the prior, and a copy of the likeliest gets another forgetting factor; they
    take the places of the least likely. The hazard, by which older ones lose weight, is ``(1 + changes) / (t + 2)``.
    The proposal is the weighted mean of their m. It needs full matrices: up to 64 coordinates.

    References
    ----------
    .. [1] Adams, MacKay, "Bayesian online changepoint detection", arXiv 0710.3742, 2007.

    Examples
    --------
    Three rounds after a jump it has all but forgotten what was before:

    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.estimators import ChangePoints, Seen
    >>> one = ChangePoints()
    >>> one.begin(np.zeros(1), dw.Box([-9.0], [9.0]))
    >>> wobble = np.sin(np.arange(43.0)) / 10.0
    >>> for t in range(43):
    ...     one.learn(Seen.of_levels(t, [wobble[t] + (1.0 if t < 40 else 5.0)]))
    >>> one.propose().round(2)
    array([4.98])
    """

    restless = True

    def __init__(self, reach: float | None = None) -> None:
        self.reach = None if reach is None else number("ChangePoints", "reach", reach, low=0.0, exclusive=True)
        self.name = "change points" if reach is None else f"change points within {self.reach:g}"

    def suits(self, kind: Kind) -> bool:
        """Tell whether there are at most 64 weights, and a score or one target; or gradients, with a `reach`."""
        return kind.full and (kind.form == GRADIENT) == (self.reach is not None)

    def family(self, kind: Kind) -> Family:
        """Return the family of one."""
        return _FAMILIES.setdefault(self.reach, Family(full_changes, BAYES, _fill, _sides, changing=_CHANGING))

    def ways(self, kind: Kind) -> list[Mover]:
        """Return movers of its own: it knows how long a proposal lasts, and what one more round would tell."""
        return [Prox(horizon, waits) for horizon in (None, 64.0, 256.0, 1024.0) for waits in (True, False)]

    def begin(self, point: Array, domain: Domain) -> None:
        """Begin at a point, with no hypotheses."""
        self._hypotheses = Hypotheses(self.reach, point, domain)

    def learn(self, seen: Seen) -> None:
        """Spawn, update and weigh the hypotheses."""
        self._hypotheses.learn(seen)

    def propose(self) -> Array:
        """Return the mean of their means."""
        return self._hypotheses.mean
