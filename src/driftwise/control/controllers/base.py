"""The two verbs of a controller, act and observe, and the order in which they may be called."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._html import Bar, counted
from driftwise._protocol import Actor
from driftwise._saving import Anew, expect
from driftwise._validate import Array, array, instance, loose, read_only, whole
from driftwise.control.costs import Cost
from driftwise.control.plants import read_limits, shown_limits
from driftwise.errors import InputError, ParameterError


class Controller(Actor):
    """An online controller: ``u = act(x)``, then ``observe(cost)``, round after round.

    A new controller of any kind is a subclass with two methods, `_decide` and `_learn`; order, validation, the input
    bound, the horizon and cloning are taken care of here. For a controller that learns a disturbance-action policy by a
    learner of your own, see `DisturbanceActionController`.

    Parameters
    ----------
    state_dim, input_dim : int
        Number of states dx and of inputs du.
    horizon : int, optional
        Number of rounds the controller is made for; None for any number.
    input_bound : float or array of shape (du,) or (du, 2), optional
        Largest size of each input, or rows [low, high]; what `act` returns is clipped to it.
    on_bad_input : {"raise", "skip"}, default "raise"
        What to do about input that is refused (NaN, infinity, a wrong shape, numbers beyond 1e100, no cost). "raise":
        an `InputError`, and the controller is what it was. "skip": a state is taken for missing, a cost for not known,
        as with `skip`, and another input that was applied for not given; `refused` counts them.

    Examples
    --------
    A controller that pushes back with the same force, however far the state is off:

    >>> import numpy as np
    >>> import driftwise as dw
    >>> class Switch(dw.control.Controller):
    ...     def _decide(self, x):
    ...         return -np.sign(x)
    ...
    ...     def _learn(self, cost, x, u):
    ...         pass
    >>> plant, controller = dw.control.LinearSystem(1.0, 1.0), Switch(state_dim=1, input_dim=1)
    >>> trace = dw.control.simulate(plant, controller, dw.control.QuadraticCost(1.0, 1.0), [2.5, 0.0, 0.0])
    >>> trace.states.ravel()
    array([0. , 2.5, 1.5])
    """

    _for_all = ("on_bad_input",)
    _act, _observe = "act(x)", "observe(cost), with applied= if another input was applied,"

    def __init__(
        self,
        state_dim: int,
        input_dim: int,
        horizon: int | None = None,
        input_bound: ArrayLike | None = None,
        *,
        on_bad_input: str = "raise",
    ) -> None:
        super().__init__(horizon, on_bad_input=on_bad_input)
        owner = type(self).__name__
        self.state_dim = whole(owner, "state_dim", state_dim)
        self.input_dim = whole(owner, "input_dim", input_dim)
        self._bounds = read_limits(owner, "input_bound", input_bound, self.input_dim)
        self.input_bound = shown_limits(self._bounds)
        self._x: Array = np.zeros(self.state_dim)
        self._last_known: Array | None = None  # the last state that was known, while states are refused

    @abstractmethod
    def _decide(self, x: Array) -> Array:
        """Return the input for a finite state of shape (dx,); called once a round."""

    @abstractmethod
    def _learn(self, x: Array, applied: Array, cost: Cost) -> None:
        """Take in the cost of the round, and the input that was really applied."""

    @property
    def weights(self) -> Array:
        """Weights of the base-learners; a single 1 for a controller without a meta layer."""
        return np.ones(1)

    def act(self, x: ArrayLike) -> Array:
        """Return the input for the state x: read-only, finite, within the input bound.

        The same state gives the same input until `observe`; another one is out of order.

        Parameters
        ----------
        x : array of shape (dx,)
            The state of the plant now.
        """
        refused: InputError | None = None
        try:
            state = self._read_state(x)
        except InputError as error:
            if self.on_bad_input == "raise":
                raise
            state, refused = np.full(self._x.shape, np.nan), error
        if self._acted is not None:
            if not np.array_equal(state, self._x, equal_nan=True):
                raise self._acts_again(f"another state, {np.array2string(state, threshold=6)}")
            return self._acted  # type: ignore[no-any-return]
        if self._round >= self._limit:
            raise self._exhausted()
        seen = self._x if self._last_known is None else self._last_known
        try:
            u = self._decide(state) if refused is None else self._decide_blind(seen)
        except InputError as error:
            if self.on_bad_input == "raise" or refused is not None:
                raise
            u, refused = self._decide_blind(seen), error
        # One that is handed over read-only is trusted; any other is checked and clipped.
        if type(u) is not np.ndarray or u.flags.writeable:
            u = array(f"{type(self).__name__}.act", "what _decide returns", u, (self.input_dim,))
            u = read_only(np.clip(u, *self._bounds))
        self.__dict__.update(_x=state, _acted=u)
        if refused is not None or self._last_known is not None:
            self._remember(seen, refused)
        return u

    def _remember(self, seen: Array, refused: InputError | None) -> None:
        """Keep the last state that was known for as long as states are refused."""
        if refused is not None:
            self._refuse(refused)
        self.__dict__["_last_known"] = None if refused is None else seen

    def observe(self, cost: Cost | None, applied: ArrayLike | None = None) -> None:
        """Take in the cost that the round turned out to have.

        Parameters
        ----------
        cost : Cost or None
            The convex cost c_t(x, u), such as ``QuadraticCost(Q, R)``; None if nobody knows it, as with `skip`.
        applied : array of shape (du,), optional
            The input that the plant really got, if it was not what `act` returned: the actuator saturated, or somebody
            else took over.
        """
        if self._acted is None:
            raise self._too_early()
        if self.on_bad_input == "skip":
            self._observe_or_skip(cost, applied)
        elif cost is None:
            self._skip(self._read_applied("observe", applied))
        else:
            self._learn(self._x, self._observable(cost, applied), cost)
            self._end_round()

    def skip(self, applied: ArrayLike | None = None) -> None:
        """End the round without a cost: nothing is learnt from it, but the input that was applied is known.

        So what explains the next state is a disturbance as ever.

        Parameters
        ----------
        applied : array of shape (du,), optional
            As in `observe`.
        """
        if self._acted is None:
            raise self._too_early("skip")
        if self.on_bad_input == "skip":
            self._observe_or_skip(None, applied)
        else:
            self._skip(self._read_applied("skip", applied))

    def _observe_or_skip(self, cost: Cost | None, applied: ArrayLike | None) -> None:
        """End the round whatever is given: what is refused is counted, and taken for not given."""
        try:
            u = self._read_applied("observe", applied)
        except InputError as error:
            self._refuse(error)
            u = self._acted
        if cost is None or self._last_known is not None:  # where the state is not known, a cost says nothing
            self._skip(u)
            return
        try:
            self._expect_cost(cost)
            self._learn(self._x, u, cost)
        except (InputError, ParameterError) as error:
            self._refuse(error)  # type: ignore[arg-type]
            self._skip(u)
            return
        self._end_round()

    def _skip(self, applied: Array) -> None:
        """End the round without a cost."""
        self._miss(self._x, applied)
        self._end_without()

    def _miss(self, x: Array, applied: Array) -> None:
        """Take in the input that was applied in a round whose cost is not known; for those who learn from it."""

    def _decide_blind(self, seen: Array) -> Array:
        """Return the input in a round whose state was refused: that for the last one that was not."""
        return self._decide(seen)

    def _read_state(self, x: ArrayLike) -> Array:
        """Return a copy of the state, checked."""
        return array(f"{type(self).__name__}.act", "x", x, (self.state_dim,), copy=True)

    @property
    def _may_miss(self) -> bool:
        """Whether a state may be missing: then it is remembered as NaN."""
        return self.on_bad_input == "skip"

    def _set_rules(self, on_bad_input: str, late: int = 0) -> None:
        super()._set_rules(on_bad_input, late)

    def _configuration(self) -> dict[str, Any]:
        """Return the arguments that build it again; learners and controllers among them are new ones."""
        given = super()._configuration()
        return {name: Anew(value) if isinstance(value, Actor) else value for name, value in given.items()}

    def _saved(self) -> dict[str, Any]:
        """Return the state by name: that of every actor, and the last state of the plant."""
        return {**super()._saved(), "x": self._x, "last_known": self._last_known}

    def _resume(self, saved: dict[str, Any]) -> None:
        """Take in a state that was saved, after checking it."""
        owner, x, seen = type(self).__name__, saved.pop("x"), saved.pop("last_known")
        if not (self._may_miss and isinstance(x, np.ndarray) and x.shape == self._x.shape and x.dtype == np.float64):
            x = array(owner, "x", x, self._x.shape)
        super()._resume(saved)
        if self._acted is not None:
            u = array(owner, "acted", self._acted, (self.input_dim,))
            low, high = self._bounds
            expect(owner, "a state", {"inputs": ((low <= u) & (u <= high)).all()})
            self.__dict__["_acted"] = read_only(u)
        self.__dict__.update(_x=x, _last_known=None if seen is None else array(owner, "seen", seen, x.shape))

    def _observable(self, cost: Cost, applied: ArrayLike | None) -> Array:
        """Check what is given to `observe`, and return the input that was applied."""
        self._expect_cost(cost)
        return self._read_applied("observe", applied)

    def _expect_cost(self, cost: Cost) -> None:
        """Raise unless this is a cost for the plant."""
        if not isinstance(cost, Cost):
            hint = "QuadraticCost(1.0, 1.0) or CustomCost(value, gradient)"
            instance(f"{type(self).__name__}.observe", "cost", cost, Cost, hint)
        # A cost that is data, and of these dimensions, has nothing to be tried.
        if not cost.compiled or cost.state_dim != self.state_dim or cost.input_dim != self.input_dim:
            cost.probe(self.state_dim, self.input_dim)

    def _read_applied(self, verb: str, applied: ArrayLike | None) -> Array:
        """Return the input that was applied: the one that `act` returned, unless another is given."""
        if applied is None:
            return self._acted  # type: ignore[no-any-return]
        return array(f"{type(self).__name__}.{verb}", "applied", applied, (self.input_dim,), copy=True)

    def _facts(self) -> list[tuple[str, str]]:
        sizes = f"{counted(self.state_dim, 'state')} and {counted(self.input_dim, 'input')}"
        guarantee = getattr(self, "guarantee", None)
        told = [("guarantee", guarantee)] if isinstance(guarantee, str) else []
        return [("controls", sizes), *super()._facts(), *told]

    def _in_charge(self) -> tuple[str, list[Bar]]:
        learner = getattr(self, "learner", None)
        return learner._in_charge() if isinstance(learner, Actor) else ("", [])

    def __repr__(self) -> str:
        sizes = f"state_dim={self.state_dim}, input_dim={self.input_dim}"
        return f"{type(self).__name__}({sizes}, horizon={self.horizon}, round={self.round})"


def read_reference(owner: Controller, reference: ArrayLike) -> Array | None:
    """Return where states are to be as rows, checked; None if that was refused, and is passed over."""
    name, n = f"{type(owner).__name__}.act", owner.state_dim
    try:
        given = loose(name, "reference", reference)
        return np.atleast_2d(array(name, "reference", given, (n,) if given.ndim < 2 else ("rounds", n)))
    except InputError as error:
        owner._refuse(error)
        return None
