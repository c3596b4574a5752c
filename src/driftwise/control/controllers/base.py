"""The two verbs of a controller, act and observe, and the order in which they may be called."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._protocol import Actor
from driftwise._saving import Anew, expect
from driftwise._validate import Array, array, instance, read_only, whole
from driftwise.control.costs import Cost
from driftwise.control.plants import read_limits, shown_limits


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
    """

    _act, _observe = "act(x)", "observe(cost), with applied= if another input was applied,"

    def __init__(
        self, state_dim: int, input_dim: int, horizon: int | None = None, input_bound: ArrayLike | None = None
    ) -> None:
        super().__init__(horizon)
        owner = type(self).__name__
        self.state_dim = whole(owner, "state_dim", state_dim)
        self.input_dim = whole(owner, "input_dim", input_dim)
        self._bounds = read_limits(owner, "input_bound", input_bound, self.input_dim)
        self.input_bound = shown_limits(self._bounds)
        self._x: Array = np.zeros(self.state_dim)

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
        state = self._read_state(x)
        if self._acted is not None:
            if not np.array_equal(state, self._x, equal_nan=True):
                raise self._acts_again(f"another state, {np.array2string(state, threshold=6)}")
            return self._acted  # type: ignore[no-any-return]
        if self._round >= self._limit:
            raise self._exhausted()
        u = self._decide(state)
        # One that is handed over read-only is trusted; any other is checked and clipped.
        if type(u) is not np.ndarray or u.flags.writeable:
            u = array(f"{type(self).__name__}.act", "what _decide returns", u, (self.input_dim,))
            u = read_only(np.clip(u, *self._bounds))
        self.__dict__.update(_x=state, _acted=u)
        return u

    def observe(self, cost: Cost, applied: ArrayLike | None = None) -> None:
        """Take in the cost that the round turned out to have.

        Parameters
        ----------
        cost : Cost
            The convex cost c_t(x, u), such as ``QuadraticCost(Q, R)``.
        applied : array of shape (du,), optional
            The input that the plant really got, if it was not what `act` returned: the actuator saturated, or somebody
            else took over.
        """
        u = self._observable(cost, applied)
        self._learn(self._x, u, cost)
        self._end_round()

    def _read_state(self, x: ArrayLike) -> Array:
        """Return a copy of the state, checked."""
        return array(f"{type(self).__name__}.act", "x", x, (self.state_dim,), copy=True)

    _may_miss = False
    """Whether a state may be missing: then it is remembered as NaN."""

    def _configuration(self) -> dict[str, Any]:
        """Return the arguments that build it again; learners and controllers among them are new ones."""
        given = super()._configuration()
        return {name: Anew(value) if isinstance(value, Actor) else value for name, value in given.items()}

    def _saved(self) -> dict[str, Any]:
        """Return the state by name: that of every actor, and the last state of the plant."""
        return {**super()._saved(), "x": self._x}

    def _resume(self, saved: dict[str, Any]) -> None:
        """Take in a state that was saved, after checking it."""
        owner, x = type(self).__name__, saved.pop("x")
        if not (self._may_miss and isinstance(x, np.ndarray) and x.shape == self._x.shape and x.dtype == np.float64):
            x = array(owner, "x", x, self._x.shape)
        super()._resume(saved)
        if self._acted is not None:
            u = array(owner, "acted", self._acted, (self.input_dim,))
            low, high = self._bounds
            expect(owner, "a state", {"inputs": ((low <= u) & (u <= high)).all()})
            self.__dict__["_acted"] = read_only(u)
        self.__dict__["_x"] = x

    def _observable(self, cost: Cost, applied: ArrayLike | None) -> Array:
        """Check what is given to `observe`, and return the input that was applied."""
        acted: Array | None = self._acted
        if acted is None:
            raise self._too_early()
        if not isinstance(cost, Cost):
            hint = "QuadraticCost(1.0, 1.0) or CustomCost(value, gradient)"
            instance(f"{type(self).__name__}.observe", "cost", cost, Cost, hint)
        # A cost that is data, and of these dimensions, has nothing to be tried.
        if not cost.compiled or cost.state_dim != self.state_dim or cost.input_dim != self.input_dim:
            cost.probe(self.state_dim, self.input_dim)
        if applied is None:
            return acted
        return array(f"{type(self).__name__}.observe", "applied", applied, (self.input_dim,), copy=True)

    def __repr__(self) -> str:
        sizes = f"state_dim={self.state_dim}, input_dim={self.input_dim}"
        return f"{type(self).__name__}({sizes}, horizon={self.horizon}, round={self.round})"
