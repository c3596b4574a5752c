"""The bound of the strongly adaptive learner: regret with switching cost on any interval of a run."""

import math

import numpy as np

from driftwise._validate import Indices, checked, whole
from driftwise.errors import ParameterError
from driftwise.learners.strongly_adaptive import adaptive_lanes, second_order
from driftwise.regret.bounds.constants import problem
from driftwise.regret.bounds.growing import excess, joining


@checked
def strongly_adaptive(
    *,
    start: int,
    stop: int,
    gradient_bound: float,
    diameter: float,
    switching_cost: float,
    path_length: float = 0.0,
    horizon: int | None = None,
) -> float:
    """Return the bound of `StronglyAdaptive` on the rounds from `start` to before `stop`, counted from 0.

    It bounds ``sum f~_t(w_t) - sum f~_t(v_t) + lambda sum |w_t - w_{t-1}|`` over the rounds of the interval, the move
    into its first round included, for any comparators v_t with path length P in it. With n rounds, it is the least over
    the base-learners k, which have lengths n_k = 4^k n_0, steps nu_k = D / sqrt((G^2 + 2 lambda G) n_k) and rates
    eta_k, of

    ``ln(eta_k Phi) / eta_k + eta_k n (b_k R^2 + c lambda D S)
    + (D^2 + 2 D P) / (2 nu_k) + nu_k n (G^2 / 2 + lambda G)``

    plus c lambda D eta_0 S for the move into the first round. The first two terms are what the mixture loses to
    base-learner k with the surcharges that pay for shifts of the weights, the others its regret and its moves:

    - S = G D + lambda nu_0 G is how much surrogate losses differ, c = 1 / (1 - eta_0 lambda D), and R = c S is the
      largest regret of a round with surcharges;
    - b_k = (-ln(1 - z) - z) / z^2 with z = eta_k R, which is at least 1/2 and at most 0.78;
    - Phi = sum_j 1 / eta_j + R N t bounds the sum of exp(credit_j) / eta_j over the N base-learners after t = `stop`
      rounds.

    Without a horizon base-learners join one by one; then an interval may be split where one of them does, and every
    time that happens lambda nu_0 G is added. Short intervals have the trivial bound, n times the most that a round can
    cost. All in all it is O(D sqrt((G^2 + lambda G) n (1 + P / D) ln T)); without a horizon,
    T is `stop`, or 2^20 if that is more.

    Parameters
    ----------
    start, stop : int
        First round of the interval, counted from 0, and the round after its last.
    gradient_bound, diameter, switching_cost
        G, D and lambda; for a `MoveCost`, lambda is the largest price of a unit of distance.
    path_length : float, default 0.0
        P, of the comparators within the interval.
    horizon : int, optional
        The horizon that the learner was built with, if it was.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> constants = dict(gradient_bound=1.0, diameter=2.0, switching_cost=1.0, horizon=50_000)
    >>> round(bounds.strongly_adaptive(start=20_000, stop=30_000, **constants))
    2006
    >>> round(bounds.strongly_adaptive(start=29_000, stop=30_000, **constants))
    694
    """
    owner = "bounds.strongly_adaptive"
    first, last = whole(owner, "start", start, low=0), whole(owner, "stop", stop)
    T = None if horizon is None else whole(owner, "horizon", horizon)
    if not first < last <= (last if T is None else T):
        raise ParameterError(
            f"{owner}: the interval must have 0 <= start < stop{'' if T is None else f' <= horizon = {T}'}, "
            f"got start={first} and stop={last}."
        )
    _, P, G, D, lambda_ = problem(owner, last - first, path_length, gradient_bound, diameter, switching_cost)
    return G * D * Intervals(lambda_ / G, T).bound(first + 1, last, P / D)


class Intervals:
    """The bound without units: losses are counted in G D, path lengths in D, and rounds from 1."""

    def __init__(self, price: float, horizon: int | None) -> None:
        self.lanes = adaptive_lanes(price, horizon)
        self.worst = 1.0 + price * float(self.lanes.steps[0]) + self.lanes.paid
        """The most that a round and the move into it can cost."""

    def bound(self, start: int, stop: int, path: float) -> float:
        """Return the bound on rounds `start` to `stop`, both included, for comparators that move by `path`."""
        lanes, rounds = self.lanes, stop - start + 1
        births = np.ones(lanes.lengths.size, np.int64) if lanes.growth == 0.0 else joining(stop, lanes.growth)
        joins = np.unique(births[births >= max(start, 2)]).size
        extra = lanes.price * float(lanes.steps[0]) * joins + (lanes.paid if start > 1 else 0.0)
        present = np.maximum(births - start + 1, 1)

        def against(k: int, first: int, last: int) -> float:
            return self._against(births, k, start - 1 + first, start - 1 + last)

        # Those up to k, which all have a step of at least nu_k: that is where a path is divided by it.
        ways = [
            excess(rounds, present[: k + 1], lambda t: t * self.worst, against) + path / float(lanes.steps[k])
            for k in range(births.size)
        ]
        return min(rounds * self.worst, min(ways) + extra)

    def _against(self, births: Indices, k: int, start: int, stop: int) -> float:
        """Return the regret to base-learner k, and its own to a fixed decision, on rounds in which it is there."""
        lanes, rounds = self.lanes, stop - start + 1
        rate, step, there = float(lanes.rates[k]), float(lanes.steps[k]), births[births <= stop]
        potential = float(np.sum(1.0 / lanes.rates[: there.size] + lanes.regret * (stop - there + 1)))
        b = second_order(rate * lanes.regret)
        mixed = math.log(rate * potential) / rate
        mixed += rate * rounds * (b * lanes.regret**2 + lanes.charge * lanes.spread)
        return mixed + 0.5 / step + step * rounds * (0.5 + lanes.price)
