"""What a mover is: it sees a way, what going costs and what being there is worth, and says what part of it to go."""

from abc import abstractmethod
from dataclasses import dataclass
from driftwise._settings import Fixed
from driftwise._validate import Array


@dataclass(frozen=True)
class Step:
    """What a mover sees of a round.

    Attributes
    ----------
    way : array of shape (d,)
        From where the pair is to what its estimator proposes.
    price : float
        Price of going all the way.
    gain : float
        Curvature of the losses along the way, ``way' S way``; being there rather than here is worth half of it a round
        if the proposal is right.
    staying : float
        What staying has cost beyond what the proposals have cost since the pair last moved, at least 0.
    rounds : int
        Rounds observed so far.
    horizon : float
        Rounds that the estimator expects its proposal to last.
    """

    way: Array
    price: float
    gain: float
    staying: float
    rounds: int
    horizon: float


class Mover(Fixed):
    """Base class of movers; a mover of your own is a subclass with a `name` and a method `share`.

    Attributes
    ----------
    name : str
        Name in `SelfTunedLearner.members`.
    """

    name: str = "mover"
    waits: bool = False
    tau: float | None = None
    """The mover as the kernel reads it (see `driftwise.pairs.moving`); None for one that is written in Python."""

    @abstractmethod
    def share(self, step: Step) -> float:
        """Return what part of the way to go, from 0 to 1."""
