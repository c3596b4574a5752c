"""The default schedule, for any number of rounds: rates that shrink with the rounds so far, and a pool that grows.

This is not in the paper, whose theorems are for a known horizon. In round t, of any number T, base-learner i has the
step c_i / sqrt(t), Hedge's weights are made with the rate eps / sqrt(t - 1), and those who are there for the first time
begin where the mixture is (see `driftwise.regret.bounds.growing`).
"""

import math

import numpy as np

from driftwise.regret.bounds.growing import excess, joining, shifts


def shrinking_rates(
    T: int,
    P: float,
    G: float,
    D: float,
    lambda_: float,
    *,
    step: float,
    rate: float,
    growth: float,
    farthest: float = 0.0,
) -> float:
    """Return the bound of Hedge over gradient descents whose rates shrink like 1 / sqrt(t).

    Regret with switching cost is at most what the mixture suffers beyond the comparators, plus what it moves beyond
    what its base-learners are charged for their own moves: the price of the longest move times the shifts of weight,
    and the moves of which those who have just joined are not charged their part.

    Parameters
    ----------
    T, P, G, D, lambda_
        Updates, path length, gradient bound of an update, diameter, and switching cost; 0 counts no moves.
    step, rate, growth
        c_1, the smallest step, and eps, both per root round, and the growth of the pool.
    farthest
        Most that a move within the domain costs; lambda D, or less where moves have prices.
    """
    t = np.arange(1.0, T + 1.0)
    births = joining(T, growth)
    there = np.searchsorted(births, t, side="right")
    moves = np.zeros(T)  # priced
    moves[1:] = np.minimum(farthest, lambda_ * G * step * 2.0 ** (there[:-1] - 1.0) / np.sqrt(t[:-1]))
    ranges = G * D + moves
    rates = rate / np.sqrt(np.maximum(np.arange(0.0, T + 1.0), 1.0))
    roots, gaps = np.cumsum(1.0 / np.sqrt(t)), np.cumsum(rates[:-1] * ranges**2) / 8.0
    worst = np.cumsum(ranges)

    def against(i: int, first: int, last: int) -> float:
        c, path = step * 2.0**i, min(P, D * (last - 1))
        length = float(roots[last - 1] - (roots[first - 2] if first > 1 else 0.0))
        descent = (0.5 * G**2 + lambda_ * G) * c * length + (D**2 + 2.0 * D * path) * math.sqrt(last) / (2.0 * c)
        return descent + math.log((i + 1.0) * (i + 2.0)) / float(rates[last - 1]) + float(gaps[last - 1])

    total = excess(T, births, lambda last: float(worst[last - 1]), against)
    shifted = shifts(rates, ranges, 2.0 * np.log(np.maximum(there, 2.0)))[:-1]
    joined = moves[np.unique(births) - 1]
    return total + farthest * float(shifted.sum()) + float(joined.sum())


def shrinking_hedge(T: int, C: float, lambda_: float, *, rate: float, log_prior: float) -> float:
    """Return the bound of Hedge with a rate of eps / sqrt(t), to a fixed expert, with moves priced in l1.

    Parameters
    ----------
    T, C, lambda_
        Rounds, the largest size of a loss, and the switching cost.
    rate, log_prior
        eps, and ln(1 / p_i) of the expert.
    """
    rates, ranges = rate / np.sqrt(np.maximum(np.arange(0.0, T + 1.0), 1.0)), np.full(T, 2.0 * C)
    shifted = shifts(rates, ranges)[:-1]
    mixed = float((rates[:-1] * ranges**2).sum()) / 8.0
    return log_prior / float(rates[T - 1]) + mixed + 2.0 * lambda_ * float(shifted.sum())
