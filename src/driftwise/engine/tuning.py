"""The self-tuned schedule, compiled: rates from what was seen, and a dead zone around the mixture.

It needs no horizon and no bound on gradients. Nothing is compared but losses with losses and distances with distances,
so decisions stay the same when losses and the price of moving are multiplied by a number, or losses shifted::

    eta_{t,i} = D 2^(i-5) / sqrt(sum_{s<=t} |g_s|^2 + lambda |g_s|)
    eps_t     = 2 / sum_{s<=t} (gap_s + lambda D |p_{s+1} - p_s|_1)

where gap_s is AdaHedge's mixability gap: what the mixture lost beyond Hedge's own potential. The decision is the
nearest point to the last one within D / (4 sqrt(t)) * lambda / (lambda + |g|) of the mixture, |g| being the root mean
square of the gradients.
"""

import math

from driftwise._compile import inlined
from driftwise._validate import Array
from driftwise.domains.kernels import KIND, SIMPLEX, START, STOP
from driftwise.engine.layout import (
    ACTIVE,
    DEAD_ZONE,
    DIAMETER,
    PRICE,
    RATE,
    SIZES,
    SPENT,
    SQUARES,
    UPDATES,
    Config,
    Integers,
    Views,
)

TIE = 1e-13
"""Losses of a round that differ by less than this part of what makes them up are taken to be equal."""


@inlined
def mixture_point(c: Config, v: Views) -> Array:
    """Return the place of the mixture: the decision itself, unless a dead zone lies around it."""
    return v.centre if c.settings[DEAD_ZONE] > 0.0 else v.decision


@inlined
def tuned_rate(c: Config, v: Views) -> float:
    """Return eps_t; 0 while no base-learner has done better than another."""
    return c.settings[RATE] / v.tuned[SPENT] if v.tuned[SPENT] > 0.0 else 0.0


@inlined
def within_simplices(c: Config, v: Views, gradients: Array) -> float:
    """Copy the gradient to `held` without what it has across a simplex, which no decision can answer; return <g, w_t>.

    A loss that all coordinates of a simplex share is a shift of the losses.
    """
    for k in range(v.held.shape[1]):
        v.held[0, k] = gradients[0, k]
    for b in range(c.blocks.shape[0]):
        if c.blocks[b, KIND] == SIMPLEX:
            start, stop = c.blocks[b, START], c.blocks[b, STOP]
            mean = 0.0
            for k in range(start, stop):
                mean += v.held[0, k] / (stop - start)
            for k in range(start, stop):
                v.held[0, k] -= mean
    inner = 0.0
    for k in range(v.held.shape[1]):
        inner += v.held[0, k] * v.decision[0, k]
    return inner


@inlined
def add_size(c: Config, v: Views, gradients: Array) -> float:
    """Count a gradient, and return the scale of the steps."""
    square = 0.0
    for k in range(gradients.shape[1]):
        square += gradients[0, k] * gradients[0, k]
    v.tuned[SQUARES] += square
    v.tuned[SIZES] += square + c.settings[PRICE] * math.sqrt(square)
    return 1.0 / math.sqrt(v.tuned[SIZES]) if v.tuned[SIZES] > 0.0 else 0.0


@inlined
def add_gap(c: Config, counters: Integers, v: Views) -> None:
    """Add the mixability gap of a round whose losses stand in `fresh`, and leave the weights there instead.

    A base-learner whose weight is 0 in floating point counts too if it was the best of the round, or Hedge would not
    notice that it had followed the wrong one. Losses that differ by no more than rounding are equal.
    """
    active, rate = counters[ACTIVE], tuned_rate(c, v)
    size = 0.0
    for k in range(v.held.shape[1]):
        size += abs(v.held[0, k] * v.decision[0, k])
    least, most = math.inf, -math.inf
    for i in range(active):
        least, most = min(least, v.fresh[i]), max(most, v.fresh[i])
    gap = 0.0
    if most - least > TIE * size:
        total = 0.0
        for i in range(active):
            gap += v.weights[i] * (v.fresh[i] - least)
            total += v.weights[i] * math.exp(-rate * (v.fresh[i] - least))
        if rate > 0.0 and total > 0.0:
            gap += math.log(total) / rate
    v.tuned[SPENT] += max(gap, 0.0)
    for i in range(active):
        v.fresh[i] = v.weights[i]


@inlined
def shift_price(c: Config, counters: Integers, v: Views) -> float:
    """Return the most that going from the weights in `fresh` to the new ones can cost in movement."""
    shift = 0.0
    for i in range(counters[ACTIVE]):
        shift += abs(v.weights[i] - v.fresh[i])
    return float(c.settings[PRICE] * c.settings[DIAMETER] * shift)


@inlined
def follow(c: Config, counters: Integers, v: Views, played: bool) -> None:
    """Move the decision into the dead zone around the mixture, and no farther; `played` if a round has just ended."""
    if c.settings[DEAD_ZONE] == 0.0:
        return
    dim = v.decision.shape[1]
    if played:
        for k in range(dim):
            v.played[0, k] = v.decision[0, k]
    distance = 0.0
    for k in range(dim):
        distance += (v.centre[0, k] - v.played[0, k]) ** 2
    distance = math.sqrt(distance)
    rounds, price = max(counters[UPDATES], 1), c.settings[PRICE]
    usual = math.sqrt(v.tuned[SQUARES] / rounds)
    radius = c.settings[DEAD_ZONE] * c.settings[DIAMETER] / math.sqrt(rounds)
    radius *= price / (price + usual) if price > 0.0 else 0.0
    part = (distance - radius) / distance if distance > radius else 0.0
    for k in range(dim):
        v.decision[0, k] = v.played[0, k] + part * (v.centre[0, k] - v.played[0, k])
