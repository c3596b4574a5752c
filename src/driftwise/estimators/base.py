"""What an estimator is: it learns from whole rounds, and says where it would like to be if moving were free."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from driftwise._settings import Fixed
from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.movers import Mover
from driftwise.pairs.kinds import Kind
from driftwise.pairs.layout import EACH, SCORE


@dataclass(frozen=True)
class Seen:
    """A round as estimators see it: clipped, so that no glitch gets through.

    Attributes
    ----------
    kind : Kind
        What kind of loss it is.
    rounds : int
        Rounds observed before it.
    decision : array of shape (d,)
        What was played.
    targets : array
        Targets of the coordinates (``EACH``), or the target of the score as an array of one (``SCORE``), or the gradient
        at the decision (``GRADIENT``).
    features : array of shape (d,)
        x of a loss of a score, in units in which the loss bends by 1; on a simplex without what all its points share.
        Ones for a loss of each coordinate, and the direction of the gradient where there is only that.
    scales : array of shape (d,)
        Running mean square of each feature.
    slope : callable
        ``slope(z)``: slope of the loss at a score z = <x, w>, both in the units of `features`.
    intercept : float
        Size of a constant feature in these units; 0 while another feature is constant.
    """

    kind: Kind
    rounds: int
    decision: Array
    targets: Array
    features: Array
    scales: Array
    slope: Callable[[float], float]
    intercept: float


class Estimator(Fixed):
    """Base class of estimators; one of your own is a subclass with `begin`, `learn` and `propose`.

    The estimators of this package run in compiled code; these three methods are the same in NumPy, written to be read.

    Attributes
    ----------
    name : str
        Name in `SelfTunedLearner.members`.
    forms : tuple of int
        Forms of loss that it makes sense for; see `Kind.form`.
    """

    name: str = "estimator"
    forms: ClassVar[tuple[int, ...]] = (SCORE, EACH)

    def family(self, kind: Kind) -> Any:
        """Return the compiled family that it belongs to; None for one that is written in Python."""
        return None

    def suits(self, kind: Kind) -> bool:
        """Tell whether it makes sense for a kind of loss."""
        return kind.form in self.forms

    def ways(self, kind: Kind) -> Sequence[Mover] | None:
        """Return movers of its own for a kind of loss; None for those of the learner."""
        return None


    def begin(self, point: Array, domain: Domain) -> None:
        """Begin at a point of a domain; called once, before the first round."""


    def learn(self, seen: Seen) -> None:
        """Take in a round."""


    def propose(self) -> Array | None:
        """Return where it would like to be next, which is then put into the domain; None for no opinion."""


