"""Ski rental: stay until staying has cost as much as going would."""

from driftwise._validate import number
from driftwise.movers.base import Mover, Step


class SkiRental(Mover):
    """Go all the way once what staying has cost beyond going reaches `factor` times the price.

    It needs no curvature, only losses, and no model of how long a proposal lasts: for proposals that jump and then
    stay. If a proposal stays where it is and is never worse than staying, following it this way costs at most twice
    what the better of going at once and never going would have cost, and what staying costs in one more round.

    Parameters
    ----------
    factor : float, default 1.0
        Multiple of the price; above 1 it waits longer.

    References
    ----------
    .. [1] Karlin, Manasse, Rudolph, Sleator, "Competitive snoopy caching", Algorithmica 3, 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise import movers
    >>> step = movers.Step(np.array([2.0]), price=6.0, gain=4.0, staying=5.0, rounds=5, horizon=7.0)
    >>> movers.SkiRental().share(step), movers.SkiRental(0.5).share(step)
    (0.0, 1.0)
    """

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = number("SkiRental", "factor", factor, low=0.0, exclusive=True)
        self.tau, self.name = -self.factor, "ski rental" if factor == 1.0 else f"ski rental x {factor:g}"

    def share(self, step: Step) -> float:
        """Return 1 if staying has cost enough, else 0."""
        return 1.0 if step.staying >= self.factor * step.price else 0.0
