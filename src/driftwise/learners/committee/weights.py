"""Weights over members that need no learning rate: Hedge whose rate follows from what weighting has cost so far.

This is AdaHedge [1]_ with two changes: the price that the change of weights adds to movement counts in the rate, and
members may sleep [2]_.

.. [1] de Rooij, van Erven, Grünwald, Koolen, "Follow the leader if you can, Hedge if you must", JMLR 2014.
.. [2] Freund, Schapire, Singer, Warmuth, "Using and combining predictors that specialize", STOC 1997.
"""

import math

import numpy as np
from numpy.typing import NDArray

from driftwise._validate import Array

SMALLEST_OVERHEAD = 1e-150
"""Stands in for an overhead of 0, where the rate would be infinite; products with it do not overflow."""

TIE = 1e-13
"""Losses of a round that differ by less than this part of their size are taken to be equal: the rest is rounding."""

Flags = NDArray[np.bool_]


class SelfTunedWeights:
    """Weights ``p_i ~ prior_i exp(-rate L_i)`` with ``rate = ln n / overhead``.

    L_i is what member i has cost, and the overhead is the sum over the rounds so far of two prices of weighting: the
    mixability gap (expected cost under the weights less the mix loss ``-ln(sum_i p_i exp(-rate l_i)) / rate``), and
    what the change of weights added to movement. Both come in the unit of the losses, so the weights do not change
    when losses are given in another unit; nor when all losses of a round are shifted.

    A member that sleeps is charged the mix loss of those who are awake, so that its share of the weights is kept.

    Attributes
    ----------
    totals : array of shape (n,)
        L_i less the smallest of them.
    overhead : float
        The sum of gaps and prices.
    """

    def __init__(self, log_prior: Array) -> None:
        self.log_prior = log_prior
        self.totals = np.zeros(log_prior.size)
        self.overhead = 0.0
        self._scale = math.log(max(log_prior.size, 2))

    @property
    def rate(self) -> float:
        """The learning rate of the next round; it never increases."""
        return self._scale / max(self.overhead, SMALLEST_OVERHEAD)

    def of(self, awake: Flags) -> Array:
        """Return the weights of this round: 0 for who sleeps, with sum 1."""
        with np.errstate(over="ignore", under="ignore"):
            powers = self.log_prior - self.rate * (self.totals - self.totals[awake].min())
            weights = np.where(awake, np.exp(powers - powers[awake].max()), 0.0)
            return np.asarray(weights / weights.sum())

    def learn(self, weights: Array, awake: Flags, losses: Array, price: float) -> None:
        """Take in a round: the weights of it, the losses of those awake (any finite number for the others), and a price.

        The price is what the change of weights added to movement, at least 0.
        """
        active = losses[awake]
        least = float(active.min())
        spread = float(active.max()) - least
        if spread <= TIE * float(np.abs(active).max()):
            spread = 0.0
            above = np.zeros(losses.size)
        else:
            above = np.where(awake, losses - least, 0.0)
        rate = self.rate
        with np.errstate(over="ignore", under="ignore"):
            # expm1 and log1p keep the digits of a mix loss that is close to the mean.
            mix = -math.log1p(max(float(weights @ np.expm1(-rate * above)), -1.0 + 1e-300)) / rate
        gap = min(max(float(weights @ above) - mix, 0.0), spread)
        self.overhead += gap + price
        self.totals += np.where(awake, above, min(mix, spread))
        # Only differences count, and small numbers keep them better.
        self.totals -= self.totals.min()
