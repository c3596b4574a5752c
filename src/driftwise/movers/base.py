"""What a mover is: it sees a way, what going costs and what being there is worth, and says what part of it to go."""

from abc import abstractmethod
from dataclasses import dataclass

from driftwise._settings import Fixed
from driftwise._validate import Array


@dataclass(frozen=True)
class Step:
    """What a mover sees of a round, before the decision.

    Prices and losses are in the unit of the losses, and so are `gain` and `staying`: multiplying losses and prices by a
    number changes no comparison between them.

    Attributes
    ----------
    way : array of shape (d,)
        From where the pair is to what its estimator proposes.
    price : float
        Price of going all the way.
    gain : float
        Curvature of the losses along the way, ``way' S way``, S being the running mean of the second derivatives; being
        there rather than here is worth half of it a round if the proposal is right.
    staying : float
        What staying has cost beyond what the proposals have cost since the pair last moved, at least 0.
    rounds : int
        Rounds observed so far.
    horizon : float
        Rounds that the estimator expects its proposal to last; as long again as the run has lasted, if it does not say.
    nearer : float, default 0.0
        Distance by which one more round brings the estimator nearer to the truth, as it sees it; 0 if it does not say.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise import movers
    >>> step = movers.Step(np.ones(1), price=9.0, gain=1.0, staying=12.0, rounds=5, horizon=7.0)
    >>> movers.Follow().share(step), movers.Prox().share(step), movers.SkiRental().share(step)
    (1.0, 0.0, 1.0)
    """

    way: Array
    price: float
    gain: float
    staying: float
    rounds: int
    horizon: float
    nearer: float = 0.0


class Mover(Fixed):
    """Base class of movers; a mover of your own is a subclass with a `name` and a method `share`.

    The movers of this package run in compiled code; `share` states the same in plain Python. One of your own is asked
    once a round for every estimator. It keeps no state: it sees in `Step` all that it may go by, and one object serves
    all pairs.

    Attributes
    ----------
    name : str
        Name in `SelfTunedLearner.members`.

    Examples
    --------
    Halfway whenever that pays for itself in ten rounds:

    >>> import driftwise as dw
    >>> from driftwise import movers
    >>> class Halfway(movers.Mover):
    ...     name = "halfway"
    ...
    ...     def share(self, step):
    ...         return 0.5 if 10.0 * step.gain / 2.0 > step.price else 0.0
    >>> learner = dw.SelfTunedLearner(dw.Ball(3), switching_cost=0.1, movers=[movers.Follow(), Halfway()])
    >>> losses = dw.streams.drifting_regression(rounds=20, dim=3, seed=0)
    >>> trace = dw.play(learner, losses, switching_cost=0.1)
    >>> [name for name in learner.members if name.startswith("trend")][:2]
    ['trend 0.01, follow', 'trend 1e-07, follow']
    """

    name: str = "mover"
    waits: bool = False
    tau: float | None = None
    """The mover as the kernel reads it (see `driftwise.pairs.moving`); None for one that is written in Python."""

    @abstractmethod
    def share(self, step: Step) -> float:
        """Return what part of the way to go, from 0 to 1.

        Parameters
        ----------
        step : Step
            The way, and what it would cost and bring.
        """
