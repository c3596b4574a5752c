"""Hedge over gradient descents: Ader, Theorem 2 (Scream) and Theorem 4 (Lazy Scream), with and without a horizon."""

import math

import numpy as np

from driftwise._validate import checked, choice, instance, number, whole
from driftwise.engine.program import pool_size
from driftwise.learners.ader import ader_parts
from driftwise.learners.parts import Pool
from driftwise.learners.scream import RATES, loss_range, scream_parts
from driftwise.regret.bounds.anytime import shrinking_rates
from driftwise.regret.bounds.constants import least_over_pool, of_policy, problem, tuned_horizon


@checked
def ader(
    *,
    horizon: int,
    path_length: float,
    gradient_bound: float,
    diameter: float,
    tuned_for: int | None = None,
    anytime: bool = False,
) -> float:
    """Return the bound of `Ader` on dynamic regret, moves not counted: the least over its base-learners.

    ``min_i [ eps G^2 D^2 T / 2 + ln(1 / p_i) / eps + G^2 eta_i T / 2 + (D^2 + 2 D P) / (2 eta_i) ]``

    The first two terms are Hedge's on losses in [-GD, GD], the others those of gradient descent; Theorems 3 and 4 of
    Zhang, Lu and Zhou (2018) follow by the choice of i. It holds for both variants, for
    the original one if gradients at the base-learners' own points are within G as well. For i = 1, ..., N

    - N = ceil(log2(1 + 4 T / 7) / 2) + 1 and p_i = (N + 1) / (N i (i + 1)),
    - eta_i = 2^(i - 1) (D / G) sqrt(7 / (2 T)) and eps = sqrt(2 / T) / (G D).

    Parameters
    ----------
    horizon, path_length, gradient_bound, diameter
        T, P, G and D.
    tuned_for : int, optional
        The horizon that step sizes and rate were computed for, if it was more than T.
    anytime : bool, default False
        The bound for a learner without a horizon, whose rates shrink with the rounds so far, as in `scream`.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> problem = dict(horizon=10_000, path_length=10.0, gradient_bound=1.0, diameter=2.0)
    >>> round(bounds.ader(**problem), 2), round(bounds.ader(**problem, anytime=True), 2)
    (997.85, 1127.98)
    """
    T, P, G, D, _ = problem("bounds.ader", horizon, path_length, gradient_bound, diameter, 0.0)
    H = tuned_horizon("bounds.ader", tuned_for, T)
    if instance("bounds.ader", "anytime", anytime, bool, "True"):
        pool, meta = ader_parts(D, G)
        return shrinking_rates(T, P, G, D, 0.0, step=_smallest(pool), rate=meta.rate, growth=pool.growth)
    steps = np.asarray((D / G) * math.sqrt(7.0 / (2.0 * H)) * 2.0 ** np.arange(pool_size(H, 4.0 / 7.0)), dtype=float)
    eps = math.sqrt(2.0 / H) / (G * D)
    return least_over_pool(eps, 0.5 * eps * G**2 * D**2 * T, steps, 0.5 * G**2 * steps * T, D, P)


@checked
def scream(
    *,
    horizon: int,
    path_length: float,
    gradient_bound: float,
    diameter: float,
    switching_cost: float,
    rate: str = "appendix",
    policy: bool = False,
    tuned_for: int | None = None,
    move_diameter: float | None = None,
    anytime: bool = False,
) -> float:
    """Return the bound of `Scream`: Theorem 2 with its constants, as the least over the base-learners.

    ``min_i [ eps (lambda D + Gm) Gm T + ln(1 / p_i) / eps + (G^2 + lambda G) eta_i T + (D^2 + 2 D P) / (2 eta_i) ]``
    with Gm = G D (1 + 2 lambda / sqrt(lambda G + G^2)), the size of the losses that Hedge sees, and for i = 1, ..., N

    - N = ceil(log2(1 + T) / 2) + 1 and p_i = (N + 1) / (N i (i + 1)),
    - eta_i = 2^(i - 1) D / sqrt((lambda G + G^2) T),
    - eps = sqrt(2 / (Gm (lambda D + Gm) T)), or with the theorem rate sqrt(2 / ((2 lambda + G) (lambda + G) D^2 T)).

    Where moves have prices, `driftwise.learners.move_constants` gives lambda (`per_unit`), what takes the place of
    lambda D in Hedge's part (`diameter`), and what is to be added to the bound (`once`).

    Parameters
    ----------
    horizon, path_length, gradient_bound, diameter, switching_cost
        T, P, G, D and lambda.
    rate : {"appendix", "theorem"}, default "appendix"
        Hedge's learning rate eps, as in `Scream`.
    policy : bool, default False
        Bound policy regret: add lambda P.
    tuned_for : int, optional
        The horizon that step sizes and rate were computed for, if it was more than T.
    move_diameter : float, optional
        The most that a move within the domain can cost, if prices make it less than lambda D.
    anytime : bool, default False
        The bound for a learner without a horizon: steps and rate shrink with the rounds so far, and the pool grows. It
        is of the same order, and not in the paper; the page *Proofs* of the documentation has its proof.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> problem = dict(horizon=50_000, path_length=60.0, gradient_bound=2.0, diameter=2.0, switching_cost=2.0)
    >>> round(bounds.scream(**problem)), round(bounds.scream(**problem, anytime=True))
    (22657, 22615)
    """
    owner = "bounds.scream"
    T, P, G, D, lambda_ = problem(owner, horizon, path_length, gradient_bound, diameter, switching_cost)
    choice(owner, "rate", rate, RATES)
    H = tuned_horizon(owner, tuned_for, T)
    far = lambda_ * D
    if move_diameter is not None:
        far = min(number(owner, "move_diameter", move_diameter, low=0.0), far)
    pool, meta, _ = scream_parts(D, G, lambda_, rate, far)
    if instance(owner, "anytime", anytime, bool, "True"):
        rates = {"step": _smallest(pool), "rate": meta.rate, "growth": pool.growth, "farthest": far}
        return shrinking_rates(T, P, G, D, lambda_, **rates) + of_policy(owner, policy, lambda_, P)
    steps, eps = pool.for_rounds(H) / math.sqrt(H), meta.rate / math.sqrt(H)
    G_meta = loss_range(D, G, lambda_)
    moved, walked = eps * (far + G_meta) * G_meta * T, (G**2 + lambda_ * G) * steps * T
    return least_over_pool(eps, moved, steps, walked, D, P) + of_policy(owner, policy, lambda_, P)


@checked
def lazy_scream(
    *,
    horizon: int,
    path_length: float,
    gradient_bound: float,
    diameter: float,
    switching_cost: float,
    rate: str = "appendix",
    epoch: int | None = None,
    policy: bool = False,
    tuned_for: int | None = None,
    move_diameter: float | None = None,
    anytime: bool = False,
) -> float:
    """Return the bound of `LazyScream`: Theorem 4 with the constants of its proof.

    Scream's bound on K = ceil(T / Delta) epochs with gradients of up to Delta G, plus ``G (Delta - 1) P`` for
    comparators that move within an epoch.

    Parameters
    ----------
    horizon, path_length, gradient_bound, diameter, switching_cost
        T, P, G, D and lambda.
    epoch : int, optional
        Delta; max(1, ceil(sqrt(lambda))) when left out.
    rate, policy, tuned_for, move_diameter, anytime
        As in `scream`.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> problem = dict(horizon=50_000, path_length=60.0, gradient_bound=2.0, diameter=2.0)
    >>> [round(bound(**problem, switching_cost=900.0)) for bound in (bounds.lazy_scream, bounds.scream)]
    [444366, 626034]
    """
    owner = "bounds.lazy_scream"
    T, P, G, D, lambda_ = problem(owner, horizon, path_length, gradient_bound, diameter, switching_cost)
    choice(owner, "rate", rate, RATES)
    length = max(1, math.ceil(math.sqrt(lambda_))) if epoch is None else whole(owner, "epoch", epoch)
    H, K = tuned_horizon(owner, tuned_for, T), -(-T // length)
    held = scream(
        horizon=K,
        path_length=min(P, D * (K - 1)),
        gradient_bound=length * G,
        diameter=D,
        switching_cost=lambda_,
        rate=rate,
        tuned_for=-(-H // length),
        move_diameter=move_diameter,
        anytime=anytime,
    )
    return held + G * (length - 1) * P + of_policy(owner, policy, lambda_, P)


def _smallest(pool: Pool) -> float:
    """Return the smallest step of a pool, per root round."""
    return float(pool.for_rounds(1.0)[0])
