"""The two verbs of a controller, act and observe, and the order in which they may be called."""

import copy
import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, Checked, array, describe, read_only, whole
from driftwise.control.costs import Cost
from driftwise.control.plants.systems import read_limits
from driftwise.errors import DriftwiseError, HorizonError, OrderError, ParameterError


class Controller(metaclass=Checked):
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
    input_bound : float or array of shape (du,), optional
        Largest size of each input; what `act` returns is clipped to it.
    """

    def __init__(
        self, state_dim: int, input_dim: int, horizon: int | None = None, input_bound: ArrayLike | None = None
    ) -> None:
        owner = type(self).__name__
        self.state_dim = whole(owner, "state_dim", state_dim)
        self.input_dim = whole(owner, "input_dim", input_dim)
        self.horizon = None if horizon is None else whole(owner, "horizon", horizon)
        self.input_bound = read_limits(owner, "input_bound", input_bound, self.input_dim)
        self._round = 0
        self._limit = math.inf if self.horizon is None else self.horizon
        self._acted: Array | None = None
        self._x: Array = np.zeros(self.state_dim)

    @abstractmethod
    def _decide(self, x: Array) -> Array:
        """Return the input for a finite state of shape (dx,); called once a round."""

    @abstractmethod
    def _learn(self, x: Array, applied: Array, cost: Cost) -> None:
        """Take in the cost of the round, and the input that was really applied."""

    @property
    def round(self) -> int:
        """Number of rounds observed so far."""
        return self._round

    @property
    def weights(self) -> Array:
        """Weights of the base-learners; a single 1 for a controller without a meta layer."""
        return np.ones(1)

    def act(self, x: ArrayLike) -> Array:
        """Return the input for the state x: read-only, finite, within the input bound.

        Parameters
        ----------
        x : array of shape (dx,)
            The state of the plant now.
        """
        if self._acted is not None or self._round >= self._limit:
            self._in_order()
        state = self._read_state(x)
        u = self._decide(state)
        # One that is handed over read-only is trusted; any other is checked and clipped.
        if type(u) is not np.ndarray or u.flags.writeable:
            u = array(f"{type(self).__name__}.act", "what _decide returns", u, (self.input_dim,))
            u = read_only(np.clip(u, -self.input_bound, self.input_bound))
        self._x, self._acted = state, u
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
        self._round += 1
        self._acted = None

    def clone(self) -> Self:
        """Return an independent copy in the same state."""
        return copy.deepcopy(self)

    def __copy__(self) -> Self:
        """Return a deep copy: a shallow one would share the state and corrupt both."""
        return self.clone()

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Continue after copying or unpickling, where numpy forgets which arrays are read-only."""
        self.__dict__.update(saved)
        for part in (self._acted, self.input_bound, getattr(self, "K", None)):
            if part is not None:
                part.setflags(write=False)

    def _read_state(self, x: ArrayLike) -> Array:
        """Return a copy of the state, checked."""
        return array(f"{type(self).__name__}.act", "x", x, (self.state_dim,), copy=True)

    def _in_order(self) -> None:
        """Raise unless it is time to act."""
        if self._acted is not None:
            raise OrderError(
                f"{type(self).__name__}: act was called again before observe in round {self._round}; call "
                "observe(cost) once after every act(x), with applied= if another input was applied."
            )
        if self._round >= self._limit:
            raise HorizonError(
                f"{type(self).__name__}: all {self.horizon} rounds of its horizon have been played; build it with a "
                "larger horizon, or with horizon=None for any number of rounds."
            )

    def _observable(self, cost: Cost, applied: ArrayLike | None) -> Array:
        """Check what is given to `observe`, and return the input that was applied."""
        acted = self._acted
        if acted is None or not isinstance(cost, Cost):
            raise self._not_observable(cost)
        # A cost that is data, and of these dimensions, has nothing to be tried.
        if not cost.plain or cost.state_dim != self.state_dim or cost.input_dim != self.input_dim:
            cost.probe(self.state_dim, self.input_dim)
        if applied is None:
            return acted
        return array(f"{type(self).__name__}.observe", "applied", applied, (self.input_dim,), copy=True)

    def _not_observable(self, cost: object) -> DriftwiseError:
        """Return what is wrong with an `observe`: it is not time for it, or there is no cost."""
        owner = f"{type(self).__name__}.observe"
        if self._acted is None:
            return OrderError(f"{owner} was called before act in round {self._round}; call act(x) first, once a round.")
        hint = "QuadraticCost(1.0, 1.0) or CustomCost(value, gradient)"
        return ParameterError(f"{owner}: cost must be a Cost, such as {hint}, got {describe(cost)}.")

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(state_dim={self.state_dim}, input_dim={self.input_dim}, horizon={self.horizon}, "
            f"round={self.round})"
        )
