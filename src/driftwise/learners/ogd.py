"""Online gradient descent (Theorem 1 of the paper)."""

import math
from typing import Unpack

from driftwise.domains import Domain
from driftwise.learners.ensemble import Ensemble
from driftwise.learners.parts import Options, Pool, rate_or_bound, wide_enough
from driftwise.movecost import MoveCost, move_cost_for


class OGD(Ensemble):
    r"""Online gradient descent: ``w_{t+1} = Proj_W(w_t - eta grad f~_t(w_t))``.

    A constant step size, or one that shrinks with the number of rounds. The baseline to beat: it moves little, and it
    is best when the world hardly drifts or moving is expensive. When the drift is unknown, use `Scream`.

    Parameters
    ----------
    domain : Domain
        Where decisions live; D is its diameter.
    gradient_bound : float, optional
        G, the largest norm of a gradient; not needed when `step` is given.
    horizon : int, optional
        Number of rounds T; None for any number, with steps that shrink like 1 / sqrt(t).
    step : float, optional
        A constant step size, instead of the one that follows from D, G, T and the switching cost.
    switching_cost : float or MoveCost, default 0.0
        lambda, of a `MoveCost` the largest price of a unit of distance; the step becomes
        sqrt(D^2 / ((G^2 + lambda G) T)), which is D / (G sqrt T) at 0.
    horizon_free, start, on_bad_input, late
        As in `Ensemble`.

    Notes
    -----
    Theorem 1, with the constants of its proof: for a constant step eta and any comparators with path length P, the
    regret with switching cost is at most (G^2 / 2 + lambda G) eta T + (D^2 + 2 D P) / (2 eta). `regret.bounds.ogd` has
    it, and the bound for steps that shrink.

    References
    ----------
    .. [1] Zinkevich, "Online convex programming and generalized infinitesimal gradient ascent", ICML 2003.
    .. [2] Anava, Hazan, Mannor, "Online learning for adversaries with memory: price of past mistakes", NeurIPS 2015.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=2000, dim=3, segment=500, seed=1)
    >>> learner = dw.OGD(dw.Ball(3), gradient_bound=2.0, horizon=2000)
    >>> round(dw.play(learner, losses, switching_cost=2.0).total, 4)
    33.3395
    """

    _takes_prices = False

    def __init__(
        self,
        domain: Domain,
        *,
        gradient_bound: float | None = None,
        step: float | None = None,
        switching_cost: float | MoveCost = 0.0,
        **options: Unpack[Options],
    ) -> None:
        D = wide_enough("OGD", domain)
        lambda_ = move_cost_for("OGD", switching_cost, domain.dim).largest(domain.dim)
        eta = rate_or_bound(
            "OGD", ("step", step), ("gradient_bound", gradient_bound), lambda G: D / math.sqrt(G**2 + lambda_ * G)
        )
        self.gradient_bound = gradient_bound
        super().__init__(domain, pool=Pool(eta), constant=step is not None, **options)
