"""Prox: go as far as a move pays for itself within a number of rounds."""

import math

import numpy as np

from driftwise._validate import number
from driftwise.movers.base import Mover, Step


class Prox(Mover):
    """Go the part ``1 - min(1, price / (horizon gain))`` of the way.

    It is the proximal step: the part s that minimises ``horizon gain (1 - s)^2 / 2 + s price``, what being away from
    the proposal costs in that many rounds, and what going there costs. With a short horizon it stays within a dead
    band around the proposal. The mover to have where moves are dear; which horizon is right depends on how long
    proposals last, so have several. Where every coordinate is a problem of its own (a loss of each coordinate, prices
    that add up), each has its own part, as if it were the only one.

    Parameters
    ----------
    horizon : float, optional
        Rounds within which a move is to pay for itself. Left out, it is what the estimator expects: for most, as long
        again as the run has lasted.
    waits : bool, default False
        Stay while ``gain / 2`` is below the price of the distance by which one more round brings the estimator nearer
        to the truth: what is learnt first need not be moved to twice. Only `ChangePoints` says how much nearer that
        is.

    References
    ----------
    .. [1] Parikh, Boyd, "Proximal algorithms", Foundations and Trends in Optimization 1, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise import movers
    >>> step = movers.Step(np.array([2.0]), price=6.0, gain=4.0, staying=0.0, rounds=5, horizon=7.0)
    >>> movers.Prox(3.0).share(step), movers.Prox(1.0).share(step)
    (0.5, 0.0)
    """

    def __init__(self, horizon: float | None = None, waits: bool = False) -> None:
        self.horizon = None if horizon is None else number("Prox", "horizon", horizon, low=0.0, exclusive=True)
        self.waits = bool(waits)
        self.tau = 0.0 if self.horizon is None else self.horizon
        within = "" if self.horizon is None else f" {self.horizon:g}"
        self.name = f"prox{within}" + (" after waiting" if waits else "")

    def share(self, step: Step) -> float:
        """Return the part of the way that pays."""
        distance = math.hypot(*np.asarray(step.way).tolist())
        if self.waits and step.nearer * step.price / distance > step.gain / 2.0:
            return 0.0
        worth = (step.horizon if self.horizon is None else self.horizon) * step.gain
        return 1.0 - min(1.0, step.price / worth) if worth > 0.0 else float(step.price == 0.0)
