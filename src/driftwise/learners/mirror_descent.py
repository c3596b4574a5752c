"""Online mirror descent (Appendix B.3 of the paper)."""

import math
from typing import Unpack

from driftwise._validate import instance
from driftwise.domains import Domain
from driftwise.learners.ensemble import Ensemble
from driftwise.learners.parts import Options, Pool, first_decision, rate_or_bound, wide_enough
from driftwise.mirror import Euclidean, MirrorMap
from driftwise.movecost import MoveCost, move_cost_for


class MirrorDescent(Ensemble):
    """Online mirror descent: ``w_{t+1} = argmin_w eta <grad f~_t(w_t), w> + D_R(w, w_t)``.

    Gradient descent in the geometry of a mirror map R. On a simplex of many coordinates negative entropy depends on the
    dimension only through its logarithm; on a ball the Euclidean map (that is, `OGD`) is the one to use.

    Parameters
    ----------
    domain : Domain
        Where decisions live.
    mirror : MirrorMap, optional
        `mirror.Euclidean()`, `mirror.NegativeEntropy()` (simplex; with a share for comparators that move) or
        `mirror.PNorm(p)` (box, simplex).
    gradient_bound : float, optional
        G, the largest *dual* norm of a gradient: Euclidean, largest entry, or q-norm; not needed with `step`.
    horizon : int, optional
        Number of rounds T; None for any number.
    step : float, optional
        A constant step size, instead of sqrt(R^2 / ((G^2 + lambda G) T)).
    switching_cost : float or MoveCost, default 0.0
        lambda, on movement in the norm of the map; of a `MoveCost` the largest price of a unit of Euclidean distance,
        which is no longer than one in the norm of the map.
    horizon_free, start, on_bad_input, late
        As in `Ensemble`.

    Notes
    -----
    Appendix B.3, for a constant step eta: regret with switching cost is at most (R^2 + gamma P) / eta + eta (lambda G +
    G^2) T, where R^2 bounds the divergence of decisions from the start and gamma, `MirrorMap.lipschitz`, is a Lipschitz
    constant of it. Negative entropy has none, so for comparators that move it needs a share: see `regret.bounds.hedge`.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> learner = dw.MirrorDescent(dw.Simplex(2), mirror=dw.mirror.NegativeEntropy(), gradient_bound=1.0, horizon=100)
    >>> w = learner.act()
    >>> learner.observe(np.array([1.0, -1.0]))
    >>> learner.act().round(4)
    array([0.4585, 0.5415])
    """

    _takes_prices = False

    def __init__(
        self,
        domain: Domain,
        *,
        mirror: MirrorMap | None = None,
        gradient_bound: float | None = None,
        step: float | None = None,
        switching_cost: float | MoveCost = 0.0,
        **options: Unpack[Options],
    ) -> None:
        owner = "MirrorDescent"
        wide_enough(owner, domain)
        geometry = Euclidean() if mirror is None else mirror
        instance(owner, "mirror", geometry, MirrorMap, "mirror.NegativeEntropy()")
        geometry.kind(domain)
        lambda_ = move_cost_for(owner, switching_cost, domain.dim).largest(domain.dim)
        first = first_decision(owner, domain, geometry, options.get("start"))
        radius = math.sqrt(max(geometry.radius_squared(domain, first), 0.0))
        eta = rate_or_bound(
            owner, ("step", step), ("gradient_bound", gradient_bound), lambda G: radius / math.sqrt(G**2 + lambda_ * G)
        )
        self.gradient_bound = gradient_bound
        super().__init__(domain, pool=Pool(eta), base=geometry, constant=step is not None, **options)
