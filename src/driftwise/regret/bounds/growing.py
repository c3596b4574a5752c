"""Hedge over a pool that grows, with a rate that falls: what the proofs for unknown horizons have in common.

Base-learner i joins for round b_i, where the mixture is, with the mixture's own total. Until then it may be thought of
as following the mixture: it suffers what the mixture suffers and changes nothing, so Hedge has been running over the
whole pool from the start. The proofs are on the page *Proofs* of the documentation; in short:

- mix losses under a rate that falls add up to at most ``L_i + ln(1 / p_i) / rate`` with the last rate, and what came
  before b_i cancels, so the mixture is compared with i from b_i on;
- up to b_i the mixture is compared with those who were there, in the same way, or trivially;
- new losses that differ by at most s shift weight by at most ``rate s / 4`` (in total variation), and a rate that falls
  from r to r' by at most ``(r - r') R / 4`` if totals differ by at most R, and by at most
  ``(ln(1 / p_min) + 1 / e) ln(r / r')`` whatever the totals are.
"""

import math
from collections.abc import Callable

import numpy as np

from driftwise._validate import Array, Indices

FREE_SHIFT = math.exp(-1.0)
"""Most that a falling rate shifts, per unit of ln rate, beyond the relative entropy of the weights to the prior."""


def joining(rounds: int, growth: float) -> Indices:
    """Return the first round of every base-learner of a pool of ceil(log2(1 + growth t) / 2) + 1 in round t.

    >>> joining(100, 1.0)
    array([ 1,  1,  4, 16, 64])
    """
    found, count = [1], 2
    while True:
        first = max(1, math.floor((4.0 ** (count - 2) - 1.0) / growth) + 1)
        if first > rounds:
            return np.array(found)
        found.append(first)
        count += 1


def excess(
    rounds: int,
    births: Indices,
    suffered: Callable[[int], float],
    against: Callable[[int, int, int], float],
) -> float:
    """Return a bound on what the mixture suffers beyond the comparators in the first rounds.

    Parameters
    ----------
    rounds : int
        T.
    births : array of shape (N,)
        First round of every base-learner, counted from 1, in increasing order.
    suffered : callable
        ``suffered(t)`` bounds the excess of the first t rounds, whatever happens.
    against : callable
        ``against(i, first, t)`` bounds the excess of rounds first to t if base-learner i was there: its own regret, and
        what Hedge adds.
    """
    ends = sorted({int(first) - 1 for first in births if first <= rounds} | {rounds})
    least = {0: 0.0}
    for end in ends:
        if end == 0:
            continue
        ways = [least[first - 1] + against(i, first, end) for i, first in enumerate(births.tolist()) if first <= end]
        least[end] = min(suffered(end), *ways)
    return least[rounds]


def shifts(rates: Array, ranges: Array, log_prior: Array | None = None) -> Array:
    """Return bounds on how much weight is shifted after each round, in total variation.

    Parameters
    ----------
    rates : array of shape (T + 1,)
        Rate that the weights of round t were made with, and of the round after the last; it never increases.
    ranges : array of shape (T,)
        How much the losses of a round differ at most.
    log_prior : array of shape (T,), optional
        ln(1 / p) of the least likely base-learner of each round, if that is known.
    """
    before, after = rates[:-1], rates[1:]
    by_rate = 0.25 * (before - after) * np.cumsum(ranges)
    if log_prior is not None:
        by_rate = np.minimum(by_rate, (log_prior + FREE_SHIFT) * np.log(before / after))
    return np.asarray(np.minimum(np.tanh(0.25 * before * ranges) + by_rate, 1.0))
