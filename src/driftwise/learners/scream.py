"""Scream (Algorithm 1 of the paper): dynamic regret when moving costs something.

This file has its constants. The update is in `driftwise.engine.rounds`, compiled, and in `driftwise.engine.reference`,
the same in NumPy, written to be read.
"""

import math
from typing import Unpack

from driftwise._validate import choice, number
from driftwise.domains import Domain
from driftwise.learners.ensemble import Ensemble
from driftwise.learners.moves import move_constants
from driftwise.learners.parts import SMALLEST, Meta, Options, Pool, Surrogate, wide_enough
from driftwise.movecost import MoveCost, move_cost_for

RATES = ("appendix", "theorem")


def scream_parts(
    D: float, G: float, lambda_: float, rate: str, move_diameter: float | None = None
) -> tuple[Pool, Meta, Surrogate]:
    """Return Scream's pool, meta and surrogate for given constants (Section 4.3 and Theorem 2 of the paper).

    The most that a move within the domain can cost is lambda D, unless prices make it less (see `learners.moves`).
    """
    far = lambda_ * D if move_diameter is None else move_diameter
    if rate == "theorem":
        each = lambda_ if far == lambda_ * D else far / D
        eps = math.sqrt(2.0 / ((2.0 * each + G) * (each + G))) / D
    else:
        G_meta = loss_range(D, G, lambda_)
        eps = math.sqrt(2.0) / (math.sqrt(G_meta) * math.sqrt(far + G_meta))
    return Pool(D / math.sqrt(lambda_ * G + G**2), growth=1.0), Meta(eps), Surrogate(lambda_)


def loss_range(D: float, G: float, lambda_: float) -> float:
    """Return Gm, the size of the losses that Scream's Hedge sees (Appendix B.4 of the paper)."""
    return G * D * (1.0 + 2.0 * lambda_ / math.sqrt(lambda_ * G + G**2))


def read_constants(
    owner: str, domain: Domain, switching_cost: float | MoveCost, gradient_bound: float
) -> tuple[float, MoveCost, float]:
    """Return D, the price of a move and G, checked."""
    D, cost = wide_enough(owner, domain), move_cost_for(owner, switching_cost, domain.dim)
    return D, cost, number(owner, "gradient_bound", gradient_bound, low=SMALLEST)


class Scream(Ensemble):
    """Scream: gradient descent with many step sizes, mixed by Hedge over losses that include each one's own movement.

    The learner to reach for when the world drifts at an unknown pace and changing a decision costs `switching_cost` per
    unit of distance. When the cost of moving is large, `LazyScream` has the better guarantee.

    Parameters
    ----------
    domain : Domain
        Where decisions live; D is its diameter.
    switching_cost : float or MoveCost
        lambda, the price of moving by one unit of Euclidean distance; for losses with memory,
        ``losses.switching_costs(domain).tight``. With a `MoveCost`, pool and rates are made for what a unit of distance
        and a move within the domain can cost at its prices (`move_constants`), and moves are judged by them; where they
        add up ("l1"), by the means of up and down, as what goes up comes down again.
    gradient_bound : float
        G, the largest norm of a gradient; `losses.gradient_bound(domain)` gives it for built-in losses.
    horizon : int, optional
        Number of rounds T; None for any number.
    rate : {"appendix", "theorem"}, default "appendix"
        Hedge's learning rate: the appendix form is the one that the guarantee's lambda^(3/4) needs; the main text's
        form is the one that reproduces the paper's Figure 1.
    horizon_free, start, on_bad_input, late
        As in `Ensemble`.

    Notes
    -----
    Theorem 2 with a horizon, the docs page *Proofs* without one: for any comparators of path length P, the
    regret with switching cost is O(sqrt(lambda T (1 + P)) + lambda^(3/4) sqrt(T) (1 + log log P)), without knowing P.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory and non-stochastic control", JMLR 24,
       2023.

    See Also
    --------
    LazyScream : acts once per epoch; better for a large switching cost.
    Ader : the same idea when moving is free.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=2000, dim=3, segment=500, seed=1)
    >>> learner = dw.Scream(dw.Ball(3), switching_cost=2.0, gradient_bound=2.0, horizon=2000)
    >>> round(dw.play(learner, losses, switching_cost=2.0).total, 4)
    33.816
    """

    _averages = True

    def __init__(
        self,
        domain: Domain,
        *,
        switching_cost: float | MoveCost,
        gradient_bound: float,
        rate: str = "appendix",
        **options: Unpack[Options],
    ) -> None:
        D, cost, G = read_constants("Scream", domain, switching_cost, gradient_bound)
        self.switching_cost, self.gradient_bound, self.rate = cost.simplest, G, choice("Scream", "rate", rate, RATES)
        moves = move_constants(domain, cost)
        pool, meta, _ = scream_parts(D, G, moves.per_unit, self.rate, moves.diameter)
        super().__init__(domain, pool=pool, meta=meta, surrogate=Surrogate(moves.cost), **options)
