"""Ader: dynamic regret without a switching cost (Zhang, Lu, Zhou 2018; the paper's main contender)."""

import math
from typing import Unpack

from driftwise._validate import choice, number
from driftwise.domains import Domain
from driftwise.learners.ensemble import Ensemble
from driftwise.learners.parts import SMALLEST, Meta, Options, Pool, Surrogate, wide_enough


def ader_parts(D: float, G: float) -> tuple[Pool, Meta]:
    """Return Ader's pool and meta for given constants."""
    return Pool((D / G) * math.sqrt(7.0 / 2.0), growth=4.0 / 7.0), Meta(rate=math.sqrt(2.0) / (G * D))


class Ader(Ensemble):
    """Ader: gradient descent with many step sizes, mixed by Hedge, which ignores the cost of moving.

    Best when moving is free or cheap and the world drifts; when moving costs something, use `Scream`.

    Parameters
    ----------
    domain : Domain
        Where decisions live; D is its diameter.
    gradient_bound : float
        G, the largest norm of a gradient.
    horizon : int, optional
        Number of rounds T; None for any number.
    variant : {"improved", "original"}, default "improved"
        "improved": one gradient a round, shared by all. "original": every base-learner has the gradient and the loss at
        its own point, so `observe` needs a loss (such as ``losses[t]``), not a gradient.
    horizon_free, start, on_bad_input, late
        As in `Ensemble`.

    Notes
    -----
    With a horizon, dynamic regret is O(sqrt(T (1 + P))) for every path length P, without knowing P (Theorems 3 and 4
    of [1]_).

    References
    ----------
    .. [1] Zhang, Lu, Zhou, "Adaptive online learning in dynamic environments", NeurIPS 2018.

    Examples
    --------
    The cost of moving is only recorded; `Scream`, which takes it into account, pays 33.8 here.

    >>> import driftwise as dw
    >>> learner = dw.Ader(dw.Ball(3), gradient_bound=2.0, horizon=2000)
    >>> losses = dw.streams.drifting_regression(rounds=2000, dim=3, segment=500, seed=1)
    >>> trace = dw.play(learner, losses, switching_cost=2.0)
    >>> round(trace.total, 4), round(trace.total_switching, 4)
    (45.9101, 36.62)
    """

    _takes_prices = False

    def __init__(
        self,
        domain: Domain,
        *,
        gradient_bound: float,
        variant: str = "improved",
        **options: Unpack[Options],
    ) -> None:
        D = wide_enough("Ader", domain)
        self.variant = choice("Ader", "variant", variant, ("improved", "original"))
        G = number("Ader", "gradient_bound", gradient_bound, low=SMALLEST)
        self.gradient_bound = G
        pool, meta = ader_parts(D, G)
        super().__init__(
            domain,
            pool=pool,
            meta=meta,
            surrogate=Surrogate(gradients="own" if self.variant == "original" else "shared"),
            **options,
        )
