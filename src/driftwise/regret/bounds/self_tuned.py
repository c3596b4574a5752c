"""Self-tuned Scream: a bound without a horizon, without a bound on gradients, and without a unit. Not from the paper.

The proof is on the page *Proofs* of the documentation: base-learners, patient ones, Hedge with its own rate, the dead
zone, and those who join later.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, Indices, array, checked, number, whole
from driftwise.errors import ParameterError
from driftwise.learners.parts import SMALLEST
from driftwise.regret.bounds.constants import of_policy, problem
from driftwise.regret.bounds.growing import FREE_SHIFT, excess, joining

SMALLEST_STEP, GROWTH, ZONE = 1.0 / 16.0, 256.0, 0.25
"""The pool of `SelfTunedScream`: c_1 / D, how fast it grows, and the radius of its dead zone over D / sqrt(t)."""


class Steps(NamedTuple):
    """What gradients make of the pool, round by round."""

    energy: Array
    """V_t, sum of |g|^2 + lambda |g|."""
    walked: Callable[[int, int], float]
    """Bound on the sum over rounds of (|g|^2 / 2 + lambda |g|) / sqrt(V), which step sizes are multiplied by."""
    reach: Array
    """Bound on |g| / sqrt(V), which a step size is multiplied by in a move."""
    limit: Array
    """Bound on |g| / sqrt(G^2 + lambda G), with G the largest gradient so far, for steps at their limit."""
    slowest: Array
    """sqrt(G^2 + lambda G), with G the largest gradient so far."""
    zone: float
    """Bound on what the dead zone adds to the losses, over D."""


@checked
def self_tuned_scream(
    *,
    horizon: int,
    path_length: float,
    gradient_bound: float | ArrayLike,
    diameter: float,
    switching_cost: float,
    policy: bool = False,
) -> float:
    """Return the bound of `SelfTunedScream`, which knows neither the horizon nor the gradients.

    With V = sum_t |g_t|^2 + lambda |g_t|, c_i = D 2^(i-5), s_t a bound on how much the surrogate losses of round t
    differ, s = max s_t, S = 2 lambda D, and N base-learners at the end, it is the least over i of

    - ``(D^2 + 2 D P) max(sqrt(V) / (2 c_i), sqrt(G^2 + lambda G) / (4 D))`` and
      ``c_i sum_t (|g_t|^2 / 2 + lambda |g_t|) / sqrt(V_t)``, at most 2 c_i sqrt(V), for base-learner i,
    - ``(1 + ln(N) / 2) A`` for Hedge, where A is the positive root of ``A^2 = sum_t s_t (s_t / 2 + S) + A B`` with
      ``B = s + S (3 + 2 ln N + 2 / e)``, and so at most ``sqrt(sum_t s_t (s_t / 2 + S)) + B``,
    - ``sum_t |g_t| r_t`` for a dead zone of radius r_t, at most G D sqrt(T) / 2,
    - the same for the rounds before i was there, with those who were, or what these rounds can cost at most,

    and lambda times a move for every time that the pool grew. s_t is D |g_t| plus lambda times the longest move of a
    base-learner into round t, at most D min(1, 2 sqrt(G / (G + lambda))). So with gradients of at most G the bound is
    O(sqrt(lambda T (1 + P)) + lambda^(3/4) sqrt(T) log log T), as Scream's is for a known horizon (there with P in
    place of the second T).

    Parameters
    ----------
    horizon : int
        T, the number of rounds that were played.
    path_length : float
        P, of the comparators.
    gradient_bound : float or array of shape (T,)
        G; or the norm of every gradient, for a smaller bound that does not depend on the largest of them.
    diameter, switching_cost : float
        D and lambda.
    policy : bool, default False
        Bound policy regret: add lambda P.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> problem = dict(horizon=50_000, path_length=60.0, gradient_bound=2.0, diameter=2.0, switching_cost=2.0)
    >>> round(bounds.self_tuned_scream(**problem)), round(bounds.scream(**problem))
    (26552, 22657)
    """
    owner = "bounds.self_tuned_scream"
    T = whole(owner, "horizon", horizon)
    if np.ndim(gradient_bound) == 0:
        G = number(owner, "gradient_bound", gradient_bound, low=SMALLEST)
        sizes = np.full(T, G)
    else:
        sizes = array(owner, "gradient_bound", gradient_bound, (T,))
        if sizes.min() < 0.0:
            raise ParameterError(f"{owner}: gradient_bound must be norms of at least 0, got {sizes.min():g}.")
        G = max(float(sizes.max()), SMALLEST)
    T, P, G, D, lambda_ = problem(owner, T, path_length, G, diameter, switching_cost)
    steps = known_steps(sizes, lambda_) if np.ndim(gradient_bound) else _bounded_steps(T, G, lambda_)
    return self_tuned(sizes, steps, P, D, lambda_) + of_policy(owner, policy, lambda_, P)


def self_tuned(sizes: Array, steps: Steps, P: float, D: float, lambda_: float) -> float:
    """Return the bound for gradients of these sizes, and what they make of the pool."""
    T, kinds = sizes.size, 2 if lambda_ > 0.0 else 1
    births = self_tuned_births(T)
    t = np.arange(1, T + 1)
    longest = SMALLEST_STEP * D * 2.0 ** (np.searchsorted(births, t, side="right") - 1.0)
    moves = np.zeros(T)
    moves[1:] = np.minimum(D, np.minimum(longest * steps.reach, 2.0 * D * steps.limit)[:-1])
    ranges = D * sizes + lambda_ * moves
    worst = np.cumsum(ranges)

    def mixing(last: int) -> tuple[float, float]:
        count = kinds * int(np.searchsorted(births, last, side="right"))
        return math.log(count), overhead_bound(ranges[:last], lambda_ * D, count)

    overhead = mixing(T)[1]

    def against(i: int, first: int, last: int) -> float:
        c, path = SMALLEST_STEP * D * 2.0**i, min(P, D * (last - 1))
        log_count, mixed = mixing(last)
        slowness = max(math.sqrt(float(steps.energy[last - 1])) / c, float(steps.slowest[last - 1]) / (2.0 * D))
        return (
            0.5 * (D**2 + 2.0 * D * path) * slowness + c * steps.walked(first, last) + (1.0 + 0.5 * log_count) * mixed
        )

    def suffered(last: int) -> float:
        return float(worst[last - 1]) + (0.5 * overhead if last == T else 0.0)

    joined = moves[np.unique(births) - 1]
    total = excess(T, births, suffered, against)
    return total + lambda_ * float(joined.sum()) + D * steps.zone


def overhead_bound(ranges: Array, price: float, count: int) -> float:
    """Return a bound on `SelfTunedScream.overhead` after rounds whose losses differ by at most these ranges.

    Parameters
    ----------
    ranges : array of shape (T,)
        s_t.
    price : float
        lambda D.
    count : int
        N, base-learners at the end.
    """
    S = 2.0 * price
    B = float(ranges.max()) + S * (3.0 + 2.0 * math.log(count) + 2.0 * FREE_SHIFT)
    Q = float(np.sum(ranges * (0.5 * ranges + S)))
    return 0.5 * (B + math.sqrt(B**2 + 4.0 * Q))


def self_tuned_births(rounds: int) -> Indices:
    """Return the first round of every step size: when the paper's pool has it, but not before round 2^(i - 1).

    >>> self_tuned_births(40)
    array([ 1,  2,  4,  8, 16, 32])
    """
    by_pool = joining(rounds, GROWTH)
    slowly = np.maximum(by_pool, 2 ** np.arange(by_pool.size))
    return np.asarray(slowly[slowly <= rounds])


def known_steps(sizes: Array, lambda_: float) -> Steps:
    """Return what gradients of these sizes make of the pool."""
    T, energy, largest = sizes.size, np.cumsum(sizes**2 + lambda_ * sizes), np.maximum.accumulate(sizes)
    slowest = np.sqrt(largest) * np.sqrt(largest + lambda_)
    scale, limit = (np.divide(1.0, each, out=np.zeros(T), where=each > 0.0) for each in (np.sqrt(energy), slowest))
    rounds, radii = np.sqrt(np.arange(1.0, T + 1.0)), np.zeros(T)
    if lambda_ > 0.0:
        radii = ZONE * lambda_ / (lambda_ * rounds + np.sqrt(np.cumsum(sizes**2)))
    walked = np.cumsum((0.5 * sizes**2 + lambda_ * sizes) * scale, dtype=float)

    def between(first: int, last: int) -> float:
        return float(walked[last - 1] - (walked[first - 2] if first > 1 else 0.0))

    zone = float(np.sum(sizes[1:] * radii[:-1]))
    return Steps(energy, between, sizes * scale, sizes * limit, slowest, zone)


def _bounded_steps(T: int, G: float, lambda_: float) -> Steps:
    """Return what any gradients of at most G make of the pool at most.

    Sizes may come in any order, so V_t is bounded by its largest value, the sum of dV_t / sqrt(V_t) over some rounds by
    twice the root of what V gains in them, and |g| / sqrt(V) by its value at the largest gradient.
    """
    rounds, slowest = np.arange(1.0, T + 1.0), math.sqrt(G) * math.sqrt(G + lambda_)
    energy, reach = slowest**2 * rounds, np.full(T, G / slowest)
    zone = ZONE * G * float(np.sum(1.0 / np.sqrt(rounds[:-1]))) if lambda_ > 0.0 else 0.0

    def between(first: int, last: int) -> float:
        return 2.0 * slowest * math.sqrt(last - first + 1)

    return Steps(energy, between, reach, reach, np.full(T, slowest), zone)
