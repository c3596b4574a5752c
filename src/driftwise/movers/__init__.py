"""Movers: how far it is worth going to where an estimator would like to be."""

from driftwise.movers.base import Mover, Step
from driftwise.movers.follow import Follow
from driftwise.movers.prox import Prox
from driftwise.movers.ski_rental import SkiRental

__all__ = ["Follow", "Mover", "Prox", "SkiRental", "Step", "default"]


def default() -> list[Mover]:
    """Return the movers that every estimator has unless told otherwise.

    Examples
    --------
    >>> from driftwise import movers
    >>> [mover.name for mover in movers.default()]
    ['follow', 'prox', 'prox 1024', 'prox 256', 'prox 64', 'prox 16', 'prox 4', 'ski rental']
    """
    return [Follow(), Prox(), *(Prox(horizon) for horizon in (1024.0, 256.0, 64.0, 16.0, 4.0)), SkiRental()]
