"""What an estimator is: it learns from whole rounds, and says where it would like to be if moving were free."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from driftwise._settings import Fixed
from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.estimators.seen import Seen
from driftwise.movers import Mover
from driftwise.pairs.kinds import Kind
from driftwise.pairs.layout import EACH, SCORE

__all__ = ["Estimator", "Seen"]


class Estimator(Fixed):
    """Base class of estimators; one of your own is a subclass with `begin`, `learn` and `propose`.

    The estimators of this package run in compiled code; their three methods state the same in NumPy, to be read, and
    to be used without a learner. A subclass of one of them that changes these methods must have a `family` that
    returns None, or the compiled code runs in its place.

    Attributes
    ----------
    name : str
        Name in `SelfTunedLearner.members`.
    forms : tuple of int
        Forms of loss that it makes sense for; see `Kind`.
    restless : bool
        Whether it takes the best decision to wander, or to jump. Such estimators are not among the usual ones where
        losses are almost all noise, as those of portfolios are (`LogWealthLoss`): there they move on noise.

    Examples
    --------
    The mean of the targets so far, which is all there is to know of a level that stays:

    >>> import driftwise as dw
    >>> from driftwise.estimators import EACH, Estimator
    >>> class Mean(Estimator):
    ...     name, forms, mean = "mean", (EACH,), None
    ...
    ...     def begin(self, point, domain):
    ...         self.mean = point
    ...
    ...     def learn(self, seen):
    ...         self.mean = self.mean + (seen.targets - self.mean) / (seen.rounds + 1)
    ...
    ...     def propose(self):
    ...         return self.mean
    >>> learner = dw.SelfTunedLearner(dw.Box([0.0], [9.0]), switching_cost=0.1, estimators=[Mean()])
    >>> losses = dw.TrackingLoss([[2.0], [4.0], [3.0]])
    >>> _ = [(learner.act(), learner.observe(loss)) for loss in losses]
    >>> learner.members[:3]
    ['stay', 'mean, follow', 'mean, prox']
    """

    name: str = "estimator"
    state_names: ClassVar[tuple[str, ...] | None] = None
    """Attributes that change from round to round, which are saved with a learner; for estimators in Python."""
    forms: ClassVar[tuple[int, ...]] = (SCORE, EACH)
    restless: ClassVar[bool] = False

    def family(self, kind: Kind) -> Any:
        """Return the compiled family that it belongs to; None for one that is written in Python.

        Parameters
        ----------
        kind : Kind
            What is known of the losses.
        """
        return None

    def suits(self, kind: Kind) -> bool:
        """Tell whether it makes sense for a kind of loss.

        Parameters
        ----------
        kind : Kind
            What is known of the losses.
        """
        return kind.form in self.forms

    def ways(self, kind: Kind) -> Sequence[Mover] | None:
        """Return movers of its own for a kind of loss; None for those of the learner.

        Parameters
        ----------
        kind : Kind
            What is known of the losses.
        """
        return None

    @abstractmethod
    def begin(self, point: Array, domain: Domain) -> None:
        """Begin at a point of a domain; called once, before the first round.

        Parameters
        ----------
        point : array of shape (d,)
            First decision; a copy, which may be kept.
        domain : Domain
            Where decisions live.
        """

    @abstractmethod
    def learn(self, seen: Seen) -> None:
        """Take in a round.

        Parameters
        ----------
        seen : Seen
            What there is to see of it.
        """

    @abstractmethod
    def propose(self) -> Array | None:
        """Return where it would like to be next, which is then put into the domain; None for no opinion."""
