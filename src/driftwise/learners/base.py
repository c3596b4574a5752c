"""The two verbs, act and observe, and the order in which they may be called."""

from abc import abstractmethod
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from driftwise._protocol import Actor, Rounds
from driftwise._validate import Array, array, instance, read_only
from driftwise.domains import Domain
from driftwise.errors import InputError, ParameterError
from driftwise.losses import LossStream, RoundLoss


class Learner(Actor):
    """An online learner: ``w = act()``, then ``observe(...)``, round after round.

    A new learner of any kind is a subclass with two methods, `_decide` and `_learn`; order, validation, the horizon
    and cloning are taken care of here. Two-layer algorithms are easier still: see `Ensemble`.

    Parameters
    ----------
    domain : Domain
        Where decisions live.
    horizon : int, optional
        Number of rounds the learner is made for; None when it is made for any number.
    on_bad_input : {"raise", "skip"}, default "raise"
        What to do about feedback that is refused (NaN, infinity, a wrong shape, numbers beyond 1e100). "raise": an
        `InputError`, and the learner is what it was. "skip": the round ends without feedback, as with `skip`. A hint
        or a proposal that is refused then counts as not given. `refused` counts all of them.
    late : int, default 0
        How many rounds late feedback may come, by ``observe(gradient, round=k)``.
    """

    _for_all = ("on_bad_input", "late")

    def __init__(self, domain: Domain, horizon: int | None = None, **rounds: Unpack[Rounds]) -> None:
        self.domain = instance(type(self).__name__, "domain", domain, Domain, "Ball(2)")
        super().__init__(horizon, **rounds)

    @abstractmethod
    def _decide(self) -> Array:
        """Return the decision of this round, of shape (dim,); called once a round."""

    @abstractmethod
    def _learn(self, gradient: Array) -> None:
        """Take in a finite gradient of shape (dim,) at the decision of this round."""

    def _take_hint(self, hint: Array) -> None:
        """Take in a finite guess of the gradient, of shape (dim,), before deciding; for learners that use hints."""
        raise ParameterError(f"{type(self).__name__} makes no use of hints; call act() without one.")

    @property
    def weights(self) -> Array:
        """Weights of the base-learners; a single 1 for a learner without a meta layer."""
        return np.ones(1)

    @property
    def step_sizes(self) -> Array:
        """Step sizes that the base-learners will use next; empty for a learner that has none."""
        return np.empty(0)

    def act(self, hint: ArrayLike | None = None) -> Array:
        """Return the decision for this round: read-only, and the same until `observe`.

        Parameters
        ----------
        hint : array of shape (dim,), optional
            A guess of the gradient that this round will bring, if there is a forecast: learners with Euclidean steps
            take a step on it in advance (an optimistic step), and back what was wrong about it afterwards. They believe
            it as far as earlier hints came true; a learner with Hedge on top also keeps base-learners that do without.
        """
        decision: Array | None = self._acted
        if decision is not None:
            if hint is not None:
                raise self._acts_again("a hint, which belongs to the first act of a round")
            return decision
        if self._round >= self._limit:
            raise self._exhausted()
        if hint is not None:
            self._take_hint(array(f"{type(self).__name__}.act", "hint", hint, (self.domain.dim,), copy=True))
        decision = self._decide()
        # One that is handed over read-only is trusted; any other is checked, and copied, so that it stays the
        # subclass's own to change.
        if type(decision) is not np.ndarray or decision.flags.writeable:
            name = f"{type(self).__name__}.act"
            decision = read_only(array(name, "what _decide returns", decision, (self.domain.dim,), copy=True))
        self.__dict__["_acted"] = decision
        return decision

    def observe(self, gradient: "ArrayLike | RoundLoss | LossStream | None") -> None:
        """Take in what the decision cost.

        Parameters
        ----------
        gradient : array of shape (dim,), or a loss, or None
            The gradient of the unary loss at the decision; or an object with a method ``gradient(w)``, such as
            ``losses[t]``; or a whole loss stream, which is then read at this learner's round. None if there is no
            feedback, as with `skip`.
        """
        if self._acted is None:
            raise self._too_early()
        if gradient is None:
            return self._end_without()
        try:
            self._learn(self._gradient_at(self._acted, gradient))
        except InputError as error:
            self._refuse(error)
            return self._end_without()
        self._end_round()

    def _loss(self, given: object) -> RoundLoss | None:
        """Return the loss of this round if a loss was given, None if it is a plain gradient."""
        if isinstance(given, LossStream):
            owner = f"{type(self).__name__}.observe"
            if given.dim != self.domain.dim:
                raise InputError(f"{owner}: the losses have dim {given.dim}, the learner decides in {self.domain!r}.")
            if self.round >= len(given):
                raise InputError(
                    f"{owner}: a whole stream is read at the learner's own round, {self.round}, and this one has "
                    f"{len(given)}; give the loss of one round, such as stream[0]."
                )
            return given[self.round]
        return given if callable(getattr(given, "gradient", None)) else None  # type: ignore[return-value]

    def _gradient_at(self, w: Array, given: "ArrayLike | RoundLoss | LossStream") -> Array:
        loss = self._loss(given)
        values = given if loss is None else loss.gradient(w)
        return array(f"{type(self).__name__}.observe", "gradient", values, (self.domain.dim,), copy=True)  # type: ignore[arg-type]

    def _refused(self, what: str) -> InputError:
        return InputError(
            f"{type(self).__name__}.observe: {what} must be finite and at most 1e+100 in size; the learner is "
            f"unchanged and still waits for round {self.round}."
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain!r}, horizon={self.horizon}, round={self.round})"
