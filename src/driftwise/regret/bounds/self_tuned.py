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
from driftwise.engine.program import CLIP
from driftwise.engine.tuned import ABSURD, RAMP
from driftwise.errors import ParameterError
from driftwise.learners.parts import SMALLEST
from driftwise.regret.bounds.constants import of_policy, problem
from driftwise.regret.bounds.growing import FREE_SHIFT, excess, joining

CLOSE = 1e-9
"""Sizes this near to a limit, relative to it, may be on either side of it."""

SMALLEST_STEP, GROWTH, ZONE = 1.0 / 16.0, 256.0, 0.25
"""The pool of `SelfTunedScream`: c_1 / D, how fast it grows, and the radius of its dead zone over D / sqrt(t)."""


class Clipped(NamedTuple):
    """What is left of gradients."""

    kept: Array
    """Their sizes; 0 in place of a first one that was taken back."""
    cut: float
    """Sum of what was taken off them."""
    first: tuple[int, float] | None = None
    """Round and size of a first one that was taken back."""


class Sums(NamedTuple):
    """Bounds on s_1, ..., s_t, how much the surrogate losses of a round differ at most."""

    total: float
    squares: float
    largest: float


class Seen(NamedTuple):
    """What gradients make of the pool."""

    energy: Callable[[int], float]
    """V_t, the sum of |g|^2 + lambda |g|."""
    walked: Callable[[int, int], float]
    """The sum over some rounds of (|g|^2 / 2 + lambda |g|) / sqrt(V), which step sizes are multiplied by."""
    sums: Callable[[int], Sums]
    joined: float
    """Price of the longest moves into rounds for which somebody joins."""
    zone: float
    """What the dead zone adds to the losses."""
    clipping: float
    """What clipping adds to the losses, and a first gradient that was taken back to the moves."""


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

    With ``V = sum_t |g_t|^2 + lambda |g_t|``, c_i = D 2^(i-5), s_t a bound on how much the surrogate losses of round t
    differ, s = max s_t, S = 2 lambda D, and N base-learners at the end, it is the least over i of

    - ``(D^2 + 2 D P) sqrt(V) / (2 c_i) + c_i sum_t (|g_t|^2 / 2 + lambda |g_t|) / sqrt(V_t)`` for base-learner i, where
      the sum is at most 2 sqrt(V),
    - ``(1 + ln(N) / 2) A`` for Hedge, where A is the positive root of ``A^2 = sum_t s_t (s_t / 2 + S) + A B`` with
      ``B = s + S (3 + 2 ln N + 2 / e)``, and so at most ``sqrt(sum_t s_t (s_t / 2 + S)) + B``,
    - ``sum_t |g_t| r_t`` for a dead zone of radius r_t, at most G D sqrt(T) / 2,
    - D times what clipping took off the gradients, at most G D sqrt(T), all other terms being for clipped gradients,
    - the same for the rounds before i was there, with those who were, or what these rounds can cost at most,

    and lambda times a move for every time that the pool grew. s_t is ``D |g_t|`` plus lambda times the longest move of
    a base-learner into round t, at most ``(|g_t| + lambda) D``; these moves add up to O(D T sqrt(G / lambda)). So with
    gradients of at most G the bound is O(sqrt(lambda T (1 + P)) + lambda^(3/4) sqrt(T) log log T), as Scream's is for a
    known horizon (there with P in place of the second T).

    Parameters
    ----------
    horizon : int
        T, the number of rounds that were played.
    path_length : float
        P, of the comparators.
    gradient_bound : float or array of shape (T,)
        G; or the norm of every gradient, for a smaller bound that depends on the largest only by what was clipped.
    diameter, switching_cost : float
        D and lambda.
    policy : bool, default False
        Bound policy regret: add lambda P.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> problem = dict(horizon=50_000, path_length=60.0, gradient_bound=2.0, diameter=2.0, switching_cost=2.0)
    >>> round(bounds.self_tuned_scream(**problem)), round(bounds.scream(**problem))
    (27409, 22657)
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
    if np.ndim(gradient_bound):
        of_losses = max(self_tuned(seen_gradients(each, D, lambda_), T, P, D, lambda_) for each in clipped(sizes))
    else:
        of_losses = self_tuned(bounded_gradients(T, G, D, lambda_), T, P, D, lambda_)
    return of_losses + of_policy(owner, policy, lambda_, P)


def self_tuned(seen: Seen, T: int, P: float, D: float, lambda_: float) -> float:
    """Return the bound for what was seen of the gradients."""
    births, kinds = self_tuned_births(T), 2 if lambda_ > 0.0 else 1

    def mixing(last: int) -> tuple[float, float]:
        count = kinds * int(np.searchsorted(births, last, side="right"))
        return math.log(count), overhead_bound(seen.sums(last), lambda_ * D, count)

    overhead = mixing(T)[1]

    def against(i: int, first: int, last: int) -> float:
        c, path = SMALLEST_STEP * D * 2.0**i, min(P, D * (last - 1))
        log_count, mixed = mixing(last)
        descent = (D**2 + 2.0 * D * path) * math.sqrt(seen.energy(last)) / (2.0 * c) + c * seen.walked(first, last)
        return descent + (1.0 + 0.5 * log_count) * mixed

    def suffered(last: int) -> float:
        return seen.sums(last).total + (0.5 * overhead if last == T else 0.0)

    return excess(T, births, suffered, against) + seen.joined + seen.zone + seen.clipping


def overhead_bound(sums: Sums, price: float, count: int) -> float:
    """Return a bound on `SelfTunedScream.overhead` after rounds whose losses differ by at most s_t.

    Parameters
    ----------
    sums : Sums
        Bounds on the s_t.
    price : float
        lambda D.
    count : int
        N, base-learners at the end.
    """
    S = 2.0 * price
    B = sums.largest + S * (3.0 + 2.0 * math.log(count) + 2.0 * FREE_SHIFT)
    return 0.5 * (B + math.sqrt(B**2 + 4.0 * (0.5 * sums.squares + S * sums.total)))


def self_tuned_births(rounds: int) -> Indices:
    """Return the first round of every step size: when the paper's pool has it, but not before round 2^(i - 1).

    >>> self_tuned_births(40)
    array([ 1,  2,  4,  8, 16, 32])
    """
    by_pool = joining(rounds, GROWTH)
    slowly = np.maximum(by_pool, 2 ** np.arange(by_pool.size))
    return np.asarray(slowly[slowly <= rounds])


def longest_steps(births: Indices, rounds: int, D: float) -> Array:
    """Return the largest c_i in play in every round."""
    return np.asarray(
        SMALLEST_STEP * D * 2.0 ** (np.searchsorted(births, np.arange(1, rounds + 1), side="right") - 1.0)
    )


def clipped(sizes: Array) -> list[Clipped]:
    """Return what clipping leaves of gradients of these sizes.

    There are two answers where a size is as good as on a limit, so that rounding decides what the learner does.

    >>> import numpy as np
    >>> clipped(np.array([1.0, 2.0, 1e6, 1.5]))
    [Clipped(kept=array([1. , 2. , 2. , 1.5]), cut=999998.0, first=None)]
    """
    low, high = (_clipped(sizes, 1.0 + nudge) for nudge in (-CLOSE, CLOSE))
    return [low] if low.first == high.first and np.array_equal(low.kept, high.kept) else [low, high]


def _clipped(sizes: Array, nudge: float) -> Clipped:
    """Clip as `driftwise.engine.tuned.kept_share` does, with limits that decide between two ways multiplied."""
    kept, (early, late), first = sizes.copy(), CLIP, None
    counted, last, largest, cut, squares = 0, 0.0, 0.0, 0.0, 0.0
    for t in np.flatnonzero(sizes).tolist():
        size, limit = float(sizes[t]), math.inf
        if counted:
            usual = max(math.sqrt(squares / counted), last)
            limit = min(max(RAMP * math.sqrt(counted), early), late) * usual
            limit = usual if size > nudge * ABSURD * limit else limit
        if counted == 1 and last > nudge * late * size:
            first = (int(np.flatnonzero(sizes)[0]), last)
            kept[first[0]], cut, squares = 0.0, last, 0.0
        counted, last, largest = counted + 1, size, max(largest, size)
        if size > limit and cut + (size - limit) <= nudge * math.sqrt(t + 1.0) * largest:
            cut += size - limit
            kept[t] = limit
        squares += float(kept[t]) ** 2
    return Clipped(kept, cut, first)


def seen_gradients(gradients: Clipped, D: float, lambda_: float, *, steady: bool = True) -> Seen:
    """Return what gradients make of the pool.

    Parameters
    ----------
    gradients : Clipped
        What was left of them.
    D, lambda_ : float
        Diameter and switching cost.
    steady : bool, default True
        Whether no base-learner moves farther than its step times the gradient of the round.
    """
    sizes, first_move = gradients.kept, 0.0
    T, energy, births = sizes.size, np.cumsum(sizes**2 + lambda_ * sizes), self_tuned_births(sizes.size)
    scale = np.divide(1.0, np.sqrt(energy), out=np.zeros(T), where=energy > 0.0)
    walked = np.cumsum((0.5 * sizes**2 + lambda_ * sizes) * scale)
    moves, radii = np.zeros(T), np.zeros(T)
    longest = longest_steps(births, T, D)
    moves[1:] = np.minimum(D, longest * sizes * scale)[:-1] if steady else D
    if gradients.first is not None:
        t, size = gradients.first
        first_move = min(D, float(longest[t]) * size / math.sqrt(size**2 + lambda_ * size)) if steady else D
        moves[t + 1] = max(moves[t + 1], first_move)
    if lambda_ > 0.0:
        rounds = np.sqrt(np.arange(1.0, T + 1.0))
        radii = ZONE * lambda_ * D / (lambda_ * rounds + np.sqrt(np.cumsum(sizes**2)))
    ranges = D * sizes + lambda_ * moves
    total, squares, largest = np.cumsum(ranges), np.cumsum(ranges**2), np.maximum.accumulate(ranges)
    return Seen(
        lambda last: float(energy[last - 1]),
        lambda first, last: float(walked[last - 1] - (walked[first - 2] if first > 1 else 0.0)),
        lambda last: Sums(float(total[last - 1]), float(squares[last - 1]), float(largest[last - 1])),
        lambda_ * float(moves[np.unique(births) - 1].sum()),
        float(np.sum(sizes[1:] * radii[:-1])),
        D * gradients.cut + lambda_ * first_move,
    )


def bounded_gradients(T: int, G: float, D: float, lambda_: float) -> Seen:
    """Return what any gradients of at most G make of the pool at most.

    Sizes may come in any order, so V_t is bounded by its largest value, the sum of dV_t / sqrt(V_t) over some rounds by
    twice the root of what V gains in them, and |g| / sqrt(V) by its value at the largest gradient. While the largest
    step is c, the sum of the moves c |g_t| / sqrt(V_t) over n rounds is at most 2 c sqrt(n G / lambda), as V_t is at
    least lambda times the sum of these gradients. Clipping takes off at most G sqrt(T) in all, and the move after a
    gradient that is taken back is at most D.
    """
    births, steep = self_tuned_births(T), G**2 + lambda_ * G
    longest = longest_steps(births, T, D)
    moves = np.zeros(T)
    moves[1:] = np.minimum(D, longest * (G / math.sqrt(steep)))[:-1]
    ranges = D * G + lambda_ * moves
    plain, squares, largest = np.cumsum(ranges), np.cumsum(ranges**2), np.maximum.accumulate(ranges)
    starts, sizes = np.unique(births), longest[np.unique(births) - 1]

    def sums(last: int) -> Sums:
        lengths = np.clip(np.append(starts[1:], T + 1), None, last) - np.minimum(starts, last)  # of rounds before
        moved = lambda_ * float(np.sum(2.0 * sizes * np.sqrt(lengths * G / lambda_))) if lambda_ > 0.0 else 0.0
        total, most = min(float(plain[last - 1]), D * G * last + moved + lambda_ * D), float(largest[last - 1])
        return Sums(total, min(float(squares[last - 1]), most * total), most)

    zone = ZONE * G * D * float(np.sum(1.0 / np.sqrt(np.arange(1.0, T)))) if lambda_ > 0.0 else 0.0
    return Seen(
        lambda last: steep * last,
        lambda first, last: 2.0 * math.sqrt(steep * (last - first + 1)),
        sums,
        lambda_ * float(moves[starts - 1].sum()),
        zone,
        D * G * math.sqrt(T) + lambda_ * D,
    )
