"""The two verbs, act and observe, and the order in which they may be called."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from driftwise._html import Bar, heaviest
from driftwise._protocol import NONE_MISSING, Actor, Rounds
from driftwise._validate import Array, array, instance, read_only
from driftwise.domains import Domain
from driftwise.drift import Held
from driftwise.errors import InputError, ParameterError
from driftwise.losses import LossStream, RoundLoss
from driftwise.losses.jax_loss import OneLoss
from driftwise.movecost import MoveCost, price_like


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

    Examples
    --------
    Gradient descent, from the two methods:

    >>> import numpy as np
    >>> import driftwise as dw
    >>> class Descent(dw.Learner):
    ...     def __init__(self, domain, step):
    ...         super().__init__(domain)
    ...         self.step, self.point = step, domain.project(np.zeros(domain.dim))
    ...
    ...     def _decide(self):
    ...         return self.point
    ...
    ...     def _learn(self, gradient):
    ...         self.point = self.domain.project(self.point - self.step * gradient)
    >>> learner = Descent(dw.Ball(1), step=0.5)
    >>> for loss in dw.TrackingLoss([[0.8], [0.6]]):
    ...     w = learner.act()
    ...     learner.observe(loss)
    >>> learner.act()
    array([0.5])
    """

    _for_all: ClassVar[tuple[str, ...]] = ("on_bad_input", "late")
    _takes_prices: ClassVar[bool] = False
    """Whether its rounds make use of what a move costs."""
    _built_for: MoveCost | None = None
    """The price of a move that it was built with; for those that take prices."""
    _priced_at: MoveCost | None = None
    """The price in force when the coming decision was made, where that was not `_built_for`."""

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

    def _facts(self) -> list[tuple[str, str]]:
        return [("decides in", f"{self.domain!r}"), *super()._facts()]

    def _in_charge(self) -> tuple[str, list[Bar]]:
        weights, steps = self.weights, self.step_sizes
        if weights.size < 2:
            return "", []
        names = [f"step {step:.4g}" for step in steps] if steps.size == weights.size else map(str, range(weights.size))
        return "base-learners by weight", heaviest(list(names), weights)

    @property
    def weights(self) -> Array:
        """Weights of the base-learners; a single 1 for a learner without a meta layer."""
        return np.ones(1)

    @property
    def step_sizes(self) -> Array:
        """Step sizes that the base-learners will use next; empty for a learner that has none."""
        return np.empty(0)

    def act(self, hint: ArrayLike | None = None, *, switching_cost: float | MoveCost | None = None) -> Array:
        """Return the decision for this round: read-only, and the same until `observe`.

        Parameters
        ----------
        hint : array of shape (dim,), optional
            A guess of the gradient that this round will bring, if there is a forecast: learners with Euclidean steps
            take a step on it in advance (an optimistic step), and back what was wrong about it afterwards. They believe
            it as far as earlier hints came true; a learner with Hedge on top also keeps base-learners that do without.
        switching_cost : float or MoveCost, optional
            What a move costs in this round, the one into this round's decision included, for learners that use it in
            their rounds; of the kind that the learner was built with. The next round has the usual price again.
        """
        decision: Array | None = self._acted
        if decision is not None:
            if hint is not None:
                raise self._acts_again("a hint, which belongs to the first act of a round")
            if switching_cost is not None:
                raise self._acts_again("a switching cost, which belongs to the first act of a round")
            return decision
        if self._round >= self._limit:
            raise self._exhausted()
        if hint is None and switching_cost is None and self._priced_at is None and self._standing is None:
            decision = self._decide()
        else:
            decision = self._decide_given(hint, switching_cost)
        # One that is handed over read-only is trusted; any other is checked, and copied, so that it stays the
        # subclass's own to change.
        if type(decision) is not np.ndarray or decision.flags.writeable:
            name = f"{type(self).__name__}.act"
            decision = read_only(array(name, "what _decide returns", decision, (self.domain.dim,), copy=True))
        self.__dict__["_acted"] = decision
        return decision

    def _decide_given(self, hint: ArrayLike | None, switching_cost: float | MoveCost | None) -> Array:
        """Return the decision of a round for which something was given, or that follows one in which something was."""
        owner = f"{type(self).__name__}.act"
        cost = None if switching_cost is None else self._read_price(owner, switching_cost)
        guess = None
        if hint is not None:
            try:
                guess = array(owner, "hint", hint, (self.domain.dim,), copy=True)
            except InputError as error:
                self._refuse(error)
        undo = self._set_price(cost)
        try:
            if guess is not None:
                self._take_hint(guess)
            stands = guess is None and self._standing is not None
            decision: Array = self._standing if stands else self._decide()
        except BaseException:
            undo()
            raise
        self.__dict__.pop("_standing", None)
        return decision

    def _read_price(self, owner: str, given: float | MoveCost) -> MoveCost:
        """Return the price of a round, checked."""
        if not self._takes_prices or self._built_for is None:
            raise ParameterError(
                f"{owner}: a round of {type(self).__name__} makes no use of what a move costs; leave it out."
            )
        return price_like(owner, given, self._built_for, self.domain.dim)

    def _set_price(self, cost: MoveCost | None) -> Callable[[], None]:
        """Let this round have a price of its own, or the usual one if it is None; return what undoes that."""
        return lambda: None

    def observe(
        self,
        gradient: "ArrayLike | OneLoss | LossStream | None",
        round: int | None = None,
        *,
        held: Held | None = None,
    ) -> None:
        """Take in what the decision cost.

        Parameters
        ----------
        gradient : array of shape (dim,), or a loss, or None
            The gradient of the unary loss at the decision; or an object with a method ``gradient(w)``, such as
            ``losses[t]``; or a whole loss stream, which is then read at this learner's round. None if there is no
            feedback, as with `skip`. A plain number is a gradient of one coordinate, and not a demand or a target:
            give those in a loss, such as ``CapacityLoss([17.0])[0]``.
        round : int, optional
            The round that the feedback is for, if that is not the present one: one of the last `late` rounds, which
            had ended without feedback. A loss is asked for its gradient at the decision that was played then.
        held : array of shape (dim,), or a function, optional
            Where the decision has drifted to by itself, for learners that pay for moves from there, such as
            `SelfTunedLearner`.
        """
        if held is not None:
            raise self._holds_nothing()
        if round is not None and not self._is_now(round, gradient):
            return self._observe_late(gradient, round)
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
        return None

    def _holds_nothing(self) -> ParameterError:
        return ParameterError(
            f"{type(self).__name__}.observe: it has no use for where its decision has drifted to, so leave out held; "
            "SelfTunedLearner takes it, and prices its next move from there."
        )

    def _let_go(self) -> None:
        """Keep the decision: it is the next one too, unless something is learnt or given before."""
        self.__dict__["_standing"] = self._acted

    def _read_late(self, given: Any, k: int, played: Any) -> Any:
        """Return the gradient of round k at what was played then."""
        loss = self._loss(given, k)
        return self._gradient_at(played, given if loss is None else loss)

    def _learn_late(self, what: Any) -> None:
        """Learn a gradient of an earlier round as that of a round would be."""
        self._learn(what)
        self.__dict__.pop("_standing", None)

    def _missing(self) -> dict[str, Any] | None:
        found = super()._missing()
        if found is None and self._priced_at is None:
            return None
        return {**NONE_MISSING, **(found or {}), "priced_at": self._priced_at}

    def _resume_missing(self, saved: dict[str, Any] | None) -> None:
        if saved is None:
            return
        at = saved.pop("priced_at")
        super()._resume_missing(saved)
        if at is not None:
            self._priced_at = self._read_price(type(self).__name__, at)

    def _check_point(self, what: Any) -> Array:
        return read_only(array(type(self).__name__, "a decision", what, (self.domain.dim,), copy=True))

    def _check_owed(self, what: Any) -> Any:
        """Return a decision, checked."""
        return self._check_point(what)

    def _check_standing(self, what: Any) -> Any:
        """Return a decision, checked."""
        return self._check_point(what)

    def _check_open(self, name: str, what: Any) -> Any:
        """Return what belongs to the round that is not over, checked."""
        if name == "waiting":
            return [self._check_late(one) for one in what]
        if name == "price":
            return self._read_price(type(self).__name__, what)
        return super()._check_open(name, what)

    def _check_late(self, what: Any) -> Any:
        """Return feedback that waits, checked."""
        return array(type(self).__name__, "a gradient that waits", what, (self.domain.dim,), copy=True)

    def _loss(self, given: object, t: int | None = None) -> RoundLoss | None:
        """Return the loss of this round, or round t, if a loss was given; None if it is a plain gradient."""
        now = self._round if t is None else t
        if isinstance(given, LossStream):
            owner = f"{type(self).__name__}.observe"
            if given.dim != self.domain.dim:
                raise InputError(f"{owner}: the losses have dim {given.dim}, the learner decides in {self.domain!r}.")
            if now >= len(given):
                raise InputError(
                    f"{owner}: a whole stream is read at the learner's own round, {now}, and this one has "
                    f"{len(given)}; give the loss of one round, such as stream[0]."
                )
            return given[now]
        return given if callable(getattr(given, "gradient", None)) else None  # type: ignore[return-value]

    def _gradient_at(self, w: Array, given: "ArrayLike | OneLoss | LossStream") -> Array:
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
