"""Hedge with switching cost: prediction with expert advice (Appendix B.3 of the paper)."""

import math
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from driftwise._protocol import Rounds
from driftwise._validate import Array, whole
from driftwise.domains import Simplex
from driftwise.learners.ensemble import Ensemble
from driftwise.learners.parts import Pool, rate_or_bound, read_prior
from driftwise.mirror import NegativeEntropy
from driftwise.movecost import MoveCost, move_cost_for


class Hedge(Ensemble):
    """Hedge: weights over n experts, ``p_{t+1,i} ~ prior_i exp(-eps sum_{s<=t} l_{s,i})``.

    For choosing among n fixed options whose losses are all seen, when shifting weight costs lambda per unit of l1
    distance. It is mirror descent with negative entropy on the simplex.

    Parameters
    ----------
    n : int
        Number of experts, at least 2.
    loss_bound : float, optional
        C, the largest size of a loss; not needed when `rate` is given.
    horizon : int, optional
        Number of rounds T; None for any number, with a rate that shrinks like 1 / sqrt(t).
    switching_cost : float or MoveCost, default 0.0
        lambda, of a `MoveCost` the largest price; the rate is sqrt(max_i ln(1 / prior_i) / (C (lambda + C) T)).
    prior : array of shape (n,), optional
        Initial weights, positive, normalised here; equal when left out.
    rate : float, optional
        A constant learning rate, instead of the one that follows from the bounds.
    share : float, default 0.0
        For a best expert that changes: part of the weight that is dealt out anew, by the prior, after each round (fixed
        share), so that no weight falls below that part of its prior. 1 / T costs next to nothing. The best rate for
        comparators with path length P is the one that ``regret.bounds.hedge(path_length=P, share=share, ...)`` is for
        when it is given none. It goes with a horizon or a constant rate.
    horizon_free, on_bad_input, late
        As in `Ensemble`.

    Notes
    -----
    Appendix B.3, for a constant rate eps: the regret to expert i plus lambda times the l1 movement is at most
    ln(1 / prior_i) / eps + eps (lambda C + C^2) T. Theorem 3: no algorithm avoids sqrt(lambda C T). With a share there
    is a bound against experts, or mixtures of them, that change: see `regret.bounds.hedge`.

    References
    ----------
    .. [1] Freund, Schapire, "A decision-theoretic generalization of on-line learning", JCSS 1997.
    .. [2] Herbster, Warmuth, "Tracking the best expert", Machine Learning 1998.

    Examples
    --------
    >>> import driftwise as dw
    >>> learner = dw.Hedge(3, loss_bound=1.0, horizon=100)
    >>> w = learner.act()
    >>> learner.observe([0.0, 1.0, 1.0])
    >>> learner.weights.round(4)
    array([0.357 , 0.3215, 0.3215])

    An expert that was bad for a long time comes back within a few rounds if weights are shared:

    >>> for share in (0.0, 0.01):
    ...     learner = dw.Hedge(2, rate=0.5, share=share)
    ...     for loss in 100 * [[1.0, 0.0]] + 20 * [[0.0, 1.0]]:
    ...         w = learner.act()
    ...         learner.observe(loss)
    ...     print(learner.weights.round(4))
    [0. 1.]
    [0.9852 0.0148]
    """

    _takes_prices = False

    def __init__(
        self,
        n: int,
        *,
        loss_bound: float | None = None,
        horizon: int | None = None,
        switching_cost: float | MoveCost = 0.0,
        prior: ArrayLike | None = None,
        rate: float | None = None,
        share: float = 0.0,
        horizon_free: str = "time-varying",
        **rounds: Unpack[Rounds],
    ) -> None:
        count = whole("Hedge", "n", n, low=2)
        lambda_ = float(move_cost_for("Hedge", switching_cost, count).prices(count).max())
        start = read_prior("Hedge", np.ones(count) if prior is None else prior, count)
        eps = rate_or_bound(
            "Hedge",
            ("rate", rate),
            ("loss_bound", loss_bound),
            lambda C: math.sqrt(-math.log(start.min()) / (C * (lambda_ + C))),
        )
        self.loss_bound = loss_bound
        super().__init__(
            Simplex(count),
            pool=Pool(eps),
            base=NegativeEntropy(share),
            horizon=horizon,
            horizon_free=horizon_free,
            start=start,
            constant=rate is not None,
            **rounds,
        )

    @property
    def weights(self) -> Array:
        """Weights of the experts: the decision itself."""
        return self._decision.copy()
