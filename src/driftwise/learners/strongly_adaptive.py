"""A strongly adaptive learner: small regret, moves included, on every interval of a run at once.

This file has its constants. The update is in `driftwise.engine.adaptive`, compiled, and in
`driftwise.engine.adaptive_reference`, the same in NumPy, written to be read. The proof is on the page "Strongly
adaptive" of the documentation, and its numbers in `driftwise.regret.bounds.strongly_adaptive`.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from driftwise._protocol import Rounds
from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.engine import Program
from driftwise.engine.adaptive import LIMIT
from driftwise.engine.program import pool_size
from driftwise.errors import ParameterError
from driftwise.learners.base import Learner
from driftwise.learners.ensemble import MOST_ROUNDS, Ensemble
from driftwise.learners.parts import first_decision
from driftwise.learners.scream import read_constants
from driftwise.mirror import Euclidean
from driftwise.movecost import MoveCost

SHIFT = 1.0 / 6.0
"""The most that a rate times lambda D may be: what moves of the weights cost stays small beside what they gain."""

USUAL = 2.0**20
"""Number of rounds that rates are made for where the horizon is unknown; it enters them by a logarithm."""

DEAREST = 1e150
"""The most that lambda / G may be: its square must be a number."""

EARLY = 4.0
"""Without a horizon, a base-learner joins once about 1 / (4 EARLY) of its length has been played."""


def second_order(z: float) -> float:
    """Return the least b with ``log(1 - x) >= -x - b x^2`` for 0 <= x <= z; 1/2 for z = 0."""
    return 0.5 + z / 3.0 if z < 1e-4 else (-math.log1p(-z) - z) / z**2


@dataclass(frozen=True)
class Lanes:
    """The base-learners of `StronglyAdaptive`, without units: lengths are rounds, losses are counted in G D.

    Attributes
    ----------
    price : float
        lambda / G.
    lengths : array of shape (N,)
        n_k, the intervals that each is made for, shortest first.
    steps : array of shape (N,)
        Step sizes, in units of D / G.
    rates : array of shape (N,)
        eta_k, in units of 1 / (G D).
    growth : float
        c in the number ceil(log2(1 + c t) / 2) + 1 in play in round t; 0 when all are.
    """

    price: float
    lengths: Array
    steps: Array
    rates: Array
    growth: float

    @property
    def spread(self) -> float:
        """S: no two surrogate losses of a round differ by more."""
        return _spread(self.price, float(self.lengths[0]))

    @property
    def charge(self) -> float:
        """What a unit of weight that shifts is charged: c lambda D, with c = 1 / (1 - eta_0 lambda D)."""
        return self.price / (1.0 - float(self.rates[0]) * self.price)

    @property
    def paid(self) -> float:
        """The most that the mean surcharge of a round, and so a shift of the weights, can cost."""
        return self.charge * float(self.rates[0]) * self.spread

    @property
    def regret(self) -> float:
        """R: the most that a regret with surcharges can be in one round, up or down."""
        return self.spread + self.paid


def _spread(price: float, shortest: float) -> float:
    return 1.0 + price / math.sqrt((1.0 + 2.0 * price) * shortest)


def _largest_rate(price: float, spread: float) -> float:
    """Return eta_0: at most SHIFT / (lambda D), and at most LIMIT / R, where R = S / (1 - eta_0 lambda D)."""
    return min(LIMIT / (spread + LIMIT * price), SHIFT / price if price > 0.0 else math.inf)


def _curvature(rate: float, price: float, spread: float, largest: float) -> float:
    """Return what a rate costs per round and rate: b R^2 + c lambda D S."""
    c = 1.0 / (1.0 - largest * price)
    return second_order(rate * c * spread) * (c * spread) ** 2 + c * price * spread


def _logarithm(rate: float, spread: float, rounds: float, shortest: float) -> float:
    """Return about what the credit of a base-learner can come to in so many rounds."""
    return math.log(2.0 + pool_size(rounds, 1.0 / shortest) * spread * rounds * rate)


@lru_cache(maxsize=256)
def adaptive_lanes(price: float, horizon: int | None) -> Lanes:
    """Return the base-learners for a price lambda / G, and a number of rounds or any number of them.

    The shortest is made for the interval at which the best rate is the largest allowed. Each is four times as long as
    the one before, and so has half its step.
    """
    rounds, shortest = float(horizon or USUAL), 16.0
    for _ in range(12):
        spread = _spread(price, shortest)
        largest = _largest_rate(price, spread)
        log = _logarithm(largest, spread, rounds, shortest)
        shortest = log / largest / (largest * _curvature(largest, price, spread, largest))
    spread = _spread(price, shortest)
    largest = _largest_rate(price, spread)
    sizes = np.arange(pool_size(horizon or EARLY * MOST_ROUNDS, 1.0 / shortest))
    lengths = np.asarray(shortest * 4.0**sizes, np.float64)
    rates = np.full(lengths.size, largest)
    for k, length in enumerate(lengths[1:], 1):
        for _ in range(6):
            log = _logarithm(rates[k], spread, rounds if horizon else max(rounds, length), shortest)
            rates[k] = min(math.sqrt(log / (length * _curvature(rates[k], price, spread, largest))), largest)
    steps = 1.0 / np.sqrt((1.0 + 2.0 * price) * lengths)
    return Lanes(price, lengths, steps, rates, 0.0 if horizon else EARLY / shortest)


class StronglyAdaptive(Ensemble):
    """Small regret on every interval: gradient descents for all lengths, mixed by credits that never fall below zero.

    The learner to reach for when the world changes abruptly at unknown times and the guarantee has to hold after every
    change, for the time since then, and not only for the run as a whole. `Scream` bounds regret over the whole run.

    Parameters
    ----------
    domain : Domain
        Where decisions live; D is its diameter.
    switching_cost : float or MoveCost
        lambda, the price of moving by one unit of Euclidean distance. With a `MoveCost`, moves are judged by its
        prices, and rates are made for the largest price of a unit of distance.
    gradient_bound : float
        G, the largest norm of a gradient; `losses.gradient_bound(domain)` gives it for built-in losses.
    horizon : int, optional
        Number of rounds T; None for any number.
    start : array of shape (dim,), optional
        First decision; the feasible point nearest to the origin when left out.
    on_bad_input, late
        As in `Learner`.

    Notes
    -----
    For every interval I of a run, and every fixed decision, the regret on I with the cost of its moves, the one into
    its first round included, is ``O(D sqrt((G^2 + lambda G) |I| log T))``: `driftwise.regret.bounds.strongly_adaptive`
    has the constants, `driftwise.regret.interval_certificate` compares a run with them. Comparators that move by P in I
    add a factor sqrt(1 + P / D).

    Base-learner k is gradient descent with step D / sqrt((G^2 + 2 lambda G) n_k), n_k = 4^k n_0, whose credit grows by
    log(1 + eta_k r) where r is what it lost less than the mixture, and never falls below zero; weights are proportional
    to the exponential of the credits. So no covering intervals and no restarts are needed: on any interval, a
    base-learner begins with at least the credit of a new one.

    References
    ----------
    .. [1] Daniely, Gonen, Shalev-Shwartz, "Strongly adaptive online learning", ICML 2015.
    .. [2] Gaillard, Stoltz, van Erven, "A second-order bound with excess losses", COLT 2014: a rate for every expert.
    .. [3] Page, "Continuous inspection schemes", Biometrika 41, 1954: cumulative sums that never fall below zero.

    See Also
    --------
    Scream : a bound on dynamic regret over the whole run, with one rate for all base-learners.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=2000, dim=3, segment=500, seed=1)
    >>> learner = dw.StronglyAdaptive(dw.Ball(3), switching_cost=2.0, gradient_bound=2.0, horizon=2000)
    >>> round(dw.play(learner, losses, switching_cost=2.0).total, 4)
    30.5582
    """

    def __init__(
        self,
        domain: Domain,
        *,
        switching_cost: float | MoveCost,
        gradient_bound: float,
        horizon: int | None = None,
        start: ArrayLike | None = None,
        **rounds: Unpack[Rounds],
    ) -> None:
        Learner.__init__(self, domain, horizon, **rounds)
        D, cost, G = read_constants("StronglyAdaptive", domain, switching_cost, gradient_bound)
        self.switching_cost, self.gradient_bound = cost.simplest, G
        if not cost.largest(domain.dim) / G <= DEAREST:
            raise ParameterError(
                f"StronglyAdaptive: switching_cost must be at most {DEAREST:g} times gradient_bound={G:g}, got "
                f"{cost.simplest}; nothing is worth a move at such a price."
            )
        lanes, base = adaptive_lanes(cost.largest(domain.dim) / G, self.horizon), Euclidean()
        self.program = Program(
            domain,
            base,
            lanes.steps * (D / G),
            np.zeros(lanes.steps.size),
            rate=1.0,
            switching_cost=cost,
            schedule="adaptive",
            growth=lanes.growth,
            rates=tuple((lanes.rates / G / D).tolist()),
            charge=lanes.charge * G * D,
        )
        self._own = False
        self._take(self.program.new_cell(first_decision("StronglyAdaptive", domain, base, start)))

    def _take_hint(self, hint: Array) -> None:
        Learner._take_hint(self, hint)
