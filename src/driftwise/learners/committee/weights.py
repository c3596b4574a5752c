"""Weights over members that need no learning rate: Hedge whose rate follows from what weighting has cost so far.

This is AdaHedge [1]_ with two changes: the price that the change of weights adds to movement counts in the rate, and
members may sleep [2]_.

.. [1] de Rooij, van Erven, Grünwald, Koolen, "Follow the leader if you can, Hedge if you must", JMLR 2014.
.. [2] Freund, Schapire, Singer, Warmuth, "Using and combining predictors that specialize", STOC 1997.
"""

import math

import numpy as np

from driftwise._validate import Array
from driftwise.learners.committee import kernels
from driftwise.learners.committee.kernels import Flags

SMALLEST_OVERHEAD = 1e-150
"""Stands in for an overhead of 0, where the rate would be infinite."""


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
        weights = np.empty(self.totals.size)
        kernels.weigh(self.log_prior, self.totals, self.rate, awake, weights)
        return weights

    def learn(self, weights: Array, awake: Flags, losses: Array, price: float) -> None:
        """Take in a round: its weights, the losses of those awake, and what the change of weights added to movement."""
        gap = kernels.learn(self.log_prior, weights, awake, losses, self.rate, self.totals)
        self.overhead += gap + price
