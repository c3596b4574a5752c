"""Lazy Scream (Algorithm 2 of the paper): fewer moves, for a large switching cost."""

import math
from typing import Unpack

from driftwise._validate import choice, whole
from driftwise.domains import Domain
from driftwise.learners.ensemble import Ensemble
from driftwise.learners.moves import move_constants
from driftwise.learners.parts import Options, Surrogate
from driftwise.learners.scream import RATES, read_constants, scream_parts
from driftwise.movecost import MoveCost


class LazyScream(Ensemble):
    """Lazy Scream: holds each decision for an epoch and runs Scream on the epochs' summed gradients.

    For a large switching cost: the guarantee grows more slowly with lambda than Scream's.

    Parameters
    ----------
    domain : Domain
        Where decisions live; D is its diameter.
    switching_cost : float or MoveCost
        lambda, the price of moving by one unit of Euclidean distance, or prices, as in `Scream`.
    gradient_bound : float
        G, the largest norm of a gradient of one round.
    horizon : int, optional
        Number of rounds T; None for any number.
    rate : {"appendix", "theorem"}, default "appendix"
        Hedge's learning rate, as in `Scream`.
    epoch : int, optional
        Rounds per decision; max(1, ceil(sqrt(lambda))) when left out, as in the paper; of a `MoveCost`, lambda is
        the `per_unit` of `move_constants`. About lambda / G is what the order sqrt(lambda) needs.
    horizon_free, start, on_bad_input, late
        As in `Ensemble`.

    Notes
    -----
    Theorem 4 with a horizon, the docs page *Proofs* without one; `bounds.lazy_scream` has the constants. For any
    comparators of path length P the regret with switching cost is O(sqrt(lambda T (1 + P)) + lambda^(5/8) sqrt(T)) for
    the default epoch. The paper states sqrt(lambda T (1 + P)), which is the best possible (Theorem 5); its proof keeps
    sqrt(lambda) in the size of an epoch's losses, where it is lambda^(3/4). Epochs of lambda / G rounds do have it.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=2000, dim=3, segment=500, seed=1)
    >>> learner = dw.LazyScream(dw.Ball(3), switching_cost=4.0, gradient_bound=2.0, horizon=2000)
    >>> learner.epoch, round(dw.play(learner, losses, switching_cost=4.0).total, 4)
    (2, 39.8567)
    """

    _averages = True

    def __init__(
        self,
        domain: Domain,
        *,
        switching_cost: float | MoveCost,
        epoch: int | None = None,
        gradient_bound: float,
        rate: str = "appendix",
        **options: Unpack[Options],
    ) -> None:
        D, cost, G = read_constants("LazyScream", domain, switching_cost, gradient_bound)
        self.switching_cost, self.gradient_bound = cost.simplest, G
        self.rate, moves = choice("LazyScream", "rate", rate, RATES), move_constants(domain, cost)
        usual = max(1, math.ceil(math.sqrt(moves.per_unit)))
        self.epoch = usual if epoch is None else whole("LazyScream", "epoch", epoch)
        pool, meta, _ = scream_parts(D, self.epoch * G, moves.per_unit, self.rate, moves.diameter)
        super().__init__(domain, pool=pool, meta=meta, surrogate=Surrogate(moves.cost), epoch=self.epoch, **options)
