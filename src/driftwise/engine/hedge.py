"""The one implementation of Hedge: weights from totals, the mixability gap, rates, and how much weight is shifted.

The ensemble learners, `Committee` and the self-tuned controller all mix with these helpers. Experts are lanes: vectors
have a multiple of four entries, and **an expert not in play has a log prior of -inf**: one asleep, one that has not
joined yet, or padding. With ``above_i = l_i - min l`` over those in play, a round is::

    p_i = exp(prior_i - rate L_i) / sum_j exp(prior_j - rate L_j)
    mix = -log(sum_i p_i exp(-rate above_i)) / rate
    gap = sum_i p_i above_i - mix

Weights are recomputed from the totals in every round, so an expert whose weight has underflowed recovers as soon as
its total does.

Where the rate is tuned by what mixing has cost so far (AdaHedge [1]_), ``rate = factor / overhead``, and the gap must
be measured **with the rate that the weights were made with**: only then do mix losses add up to at most
``L_i + log(1 / prior_i) / rate`` for every expert. A rate of 0 stands for "no evidence yet": weights are the prior, and
the mix loss is the least loss, as it is for an infinite rate when all totals are equal.

.. [1] de Rooij, van Erven, Gruenwald, Koolen, "Follow the leader if you can, hedge if you must", JMLR 15, 2014.
"""

import math

from driftwise._compile import aside, helper
from driftwise._lanes import (
    exp_less_1_of,
    exp_of,
    greater,
    least_of,
    lesser,
    load,
    most_of,
    size,
    splat,
    store,
    total,
    where_above,
)
from driftwise._memory import Pointer

TIE = 1e-13
"""Difference of losses, relative to the size of their terms, up to which they count as equal: it is rounding noise."""

FAR = 1e4
"""Exponents beyond this are counted from the largest before they are rounded."""

TINY = 1e-300
"""An overhead below this counts as none, as its inverse may overflow."""


@helper
def tuned_rate(factor: float, overhead: float) -> float:
    """Return ``factor / overhead``; 0 while there is no evidence for any expert."""
    return factor / overhead if overhead > TINY else 0.0


@helper
def clock_rate(unit: float, clock: float) -> float:
    """Return the paper's rate: a unit rate over the root of a number of rounds."""
    return unit / math.sqrt(clock)


@helper
def least_total(lanes: int, prior: Pointer, totals: Pointer) -> float:
    """Return the least total of those in play."""
    nobody, least = splat(-math.inf), splat(math.inf)
    for i in range(0, lanes, 4):
        least = lesser(least, where_above(load(prior, i), nobody, load(totals, i), splat(math.inf)))
    return float(least_of(least))


@aside
def _far_powers(lanes: int, rate: float, prior: Pointer, totals: Pointer, powers: Pointer) -> float:
    """Write prior_i - rate (L_i - min L), and return the largest.

    Totals are counted from the least, so a huge rate turns the others into -inf, and never into NaN.
    """
    nobody, lead = splat(-math.inf), least_total(lanes, prior, totals)
    top = nobody
    for i in range(0, lanes, 4):
        start = load(prior, i)
        power = where_above(start, nobody, start - rate * (load(totals, i) - lead), nobody)
        store(powers, i, power)
        top = greater(top, power)
    return float(most_of(top))


@helper
def weigh(lanes: int, rate: float, prior: Pointer, totals: Pointer, weights: Pointer) -> None:
    """Write the weights: positive for those in play (unless they underflow), 0 for others, with sum 1."""
    top = splat(-math.inf)
    for i in range(0, lanes, 4):
        power = load(prior, i) - rate * load(totals, i)
        store(weights, i, power)
        top = greater(power, top)
    high = float(most_of(top))
    if not abs(high) < FAR:
        high = _far_powers(lanes, rate, prior, totals, weights)
    mass = splat(0.0)
    for i in range(0, lanes, 4):
        share = exp_of(load(weights, i) - high)
        store(weights, i, share)
        mass = mass + share
    one = 1.0 / total(mass)
    for i in range(0, lanes, 4):
        store(weights, i, load(weights, i) * one)


@aside
def _far_mix(lanes: int, rate: float, prior: Pointer, totals: Pointer, losses: Pointer, least: float) -> float:
    """Return the mix loss above the least loss, computed from totals, as weights may have underflowed.

    An expert whose weight is 0 in floating point still counts if it was by far the best of this round: otherwise Hedge
    would not notice that it had followed the wrong one. Everything is in the unit of losses, where a huge rate does not
    overflow.
    """
    lead, first, second = least_total(lanes, prior, totals), splat(math.inf), splat(math.inf)
    for i in range(0, lanes, 4):
        before = greater(load(totals, i) - lead, splat(0.0)) - load(prior, i) / rate
        first = lesser(first, before)
        second = lesser(second, before + (load(losses, i) - least))
    old, new, mass, rest = least_of(first), least_of(second), splat(0.0), splat(0.0)
    for i in range(0, lanes, 4):
        before = greater(load(totals, i) - lead, splat(0.0)) - load(prior, i) / rate
        mass = mass + exp_of(rate * (old - before))
        rest = rest + exp_of(rate * (new - (before + (load(losses, i) - least))))
    return float(new - old + (math.log(total(mass)) - math.log(total(rest))) / rate)


@helper
def judge(
    lanes: int, rate: float, prior: Pointer, totals: Pointer, losses: Pointer, weights: Pointer, scale: float
) -> tuple[float, float, float]:
    """Return the least loss, the mean loss above it and the mix loss above it, before the losses join the totals.

    `rate` is the one that the weights were made with. Losses that differ by no more than rounding of numbers of size
    `scale` are equal: mean and mix are 0.
    """
    nobody = splat(-math.inf)
    low, high = splat(math.inf), nobody
    for i in range(0, lanes, 4):
        start, loss = load(prior, i), load(losses, i)
        low = lesser(low, where_above(start, nobody, loss, splat(math.inf)))
        high = greater(high, where_above(start, nobody, loss, nobody))
    least = least_of(low)
    if not most_of(high) - least > TIE * scale:
        return least, 0.0, 0.0
    mean, small = splat(0.0), splat(0.0)
    for i in range(0, lanes, 4):
        weight, above = load(weights, i), greater(load(losses, i) - least, splat(0.0))
        mean = mean + weight * above
        small = small + weight * exp_less_1_of(splat(0.0) - rate * above)
    average, fall = total(mean), total(small)
    if rate == 0.0:
        return least, average, 0.0
    # Where the losses are close in units of 1 / rate, this keeps the digits of a gap that is small beside them.
    mix = -math.log1p(fall) / rate if fall > -0.5 else _far_mix(lanes, rate, prior, totals, losses, least)
    mix = average if mix > average else mix
    return least, average, mix if mix > 0.0 else 0.0


@helper
def shifted(lanes: int, before: Pointer, after: Pointer) -> float:
    """Return the l1 distance between two vectors of weights."""
    change = splat(0.0)
    for i in range(0, lanes, 4):
        change = change + size(load(after, i) - load(before, i))
    return float(total(change))


@helper
def mean_of(lanes: int, weights: Pointer, values: Pointer) -> float:
    """Return the weighted mean of one number for each expert."""
    mean = splat(0.0)
    for i in range(0, lanes, 4):
        mean = mean + load(weights, i) * load(values, i)
    return float(total(mean))
