"""The arithmetic of a round, compiled: weights from totals, the mixture, prices of moves, totals from losses.

With ``above_i = l_i - min l`` over those awake, a round in NumPy is::

    p = prior * exp(-rate * totals) * awake;  p /= p.sum()
    mix = -log(sum(p * exp(-rate * above))) / rate
    gap = p @ above - mix
    totals += where(awake, above, mix);  totals -= totals.min()
"""

import math

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import hot
from driftwise._validate import Array

TIE = 1e-13
"""Losses of a round that differ by less than this part of their size are taken to be equal: the rest is rounding."""

Flags = NDArray[np.bool_]


@hot
def weigh(log_prior: Array, totals: Array, rate: float, awake: Flags, weights: Array) -> None:
    """Write the weights of those awake, with sum 1; 0 for the others."""
    least = math.inf
    for i in range(totals.size):
        if awake[i]:
            least = min(least, totals[i])
    top = -math.inf
    for i in range(totals.size):
        weights[i] = log_prior[i] - rate * (totals[i] - least) if awake[i] else -math.inf
        top = max(top, weights[i])
    total = 0.0
    for i in range(totals.size):
        weights[i] = math.exp(weights[i] - top)
        total += weights[i]
    for i in range(totals.size):
        weights[i] /= total


@hot
def mixture(weights: Array, awake: Flags, rows: Array, out: Array) -> None:
    """Write the weighted mean of the rows of those awake; rounding does not carry it out of their range."""
    for k in range(out.size):
        total, low, high = 0.0, math.inf, -math.inf
        for i in range(weights.size):
            if awake[i]:
                total += weights[i] * rows[i, k]
                low, high = min(low, rows[i, k]), max(high, rows[i, k])
        out[k] = min(max(total, low), high)


@hot
def price(before: Array, after: Array, prices: Array, adds_up: bool) -> float:
    """Return what a move costs at prices up (first row) and down (second row), as `MoveCost` does."""
    total, largest = 0.0, 0.0
    for k in range(before.size):
        change = after[k] - before[k]
        each = prices[0, k] * change if change > 0.0 else -prices[1, k] * change
        if adds_up:
            total += each
        elif each > largest:
            # Squares are of the part of the largest, because squares of huge or tiny prices cannot be computed.
            total = 1.0 + total * (largest / each) ** 2
            largest = each
        elif each > 0.0:
            total += (each / largest) ** 2
    return total if adds_up else largest * math.sqrt(total)


@hot
def own_prices(known: Flags, before: Array, after: Array, prices: Array, adds_up: bool, out: Array) -> None:
    """Write what each row's move costs where there was a row before, 0 elsewhere."""
    for i in range(known.size):
        out[i] = price(before[i], after[i], prices, adds_up) if known[i] else 0.0


@hot
def price_of_changing(
    weights: Array, new_weights: Array, before: Array, after: Array, own: Array, prices: Array, adds_up: bool
) -> float:
    """Return what the changes of member in `follow.redraw` are expected to cost above the new member's own move."""
    moved = 0.0
    for j in range(weights.size):
        moved += max(new_weights[j] - weights[j], 0.0)
    total = 0.0
    for j in range(weights.size):
        gain = new_weights[j] - weights[j]
        if gain > 0.0:
            for i in range(weights.size):
                lost = weights[i] - new_weights[i]
                if lost > 0.0:
                    total += lost * (gain / moved) * (price(before[i], after[j], prices, adds_up) - own[j])
    return total


@hot
def learn(log_prior: Array, weights: Array, awake: Flags, losses: Array, rate: float, totals: Array) -> float:
    """Add a round to the totals and return its mixability gap."""
    least, most, size, lead = math.inf, -math.inf, 0.0, math.inf
    for i in range(losses.size):
        if awake[i]:
            least, most = min(least, losses[i]), max(most, losses[i])
            size = max(size, abs(losses[i]))
            lead = min(lead, totals[i])
    spread = most - least
    if spread <= TIE * size:
        return 0.0
    mean, small = 0.0, 0.0
    before, after = -math.inf, -math.inf
    for i in range(losses.size):
        if awake[i]:
            above = losses[i] - least
            mean += weights[i] * above
            small += weights[i] * math.expm1(-rate * above)
            power = log_prior[i] - rate * (totals[i] - lead)
            before, after = max(before, power), max(after, power - rate * above)
    if rate * spread < 1.0:
        # A mix loss that is close to the mean keeps its digits this way.
        mix = -math.log1p(small) / rate
    else:
        # A member whose weight is 0 in floating point still counts here if it was by far the best of this round.
        total, later = 0.0, 0.0
        for i in range(losses.size):
            if awake[i]:
                power = log_prior[i] - rate * (totals[i] - lead)
                total += math.exp(power - before)
                later += math.exp(power - rate * (losses[i] - least) - after)
        mix = (before - after + math.log(total) - math.log(later)) / rate
    mix = max(0.0, min(mix, mean)) if mix == mix else mean
    base = math.inf
    for i in range(losses.size):
        totals[i] += losses[i] - least if awake[i] else mix
        base = min(base, totals[i])
    # Only differences count, and small numbers keep them better.
    for i in range(losses.size):
        totals[i] -= base
    return mean - mix
