"""An environment as a plant: states out, inputs in, whatever its observations and actions look like."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import NOT_NUMBERS, Array, array, describe
from driftwise.adapters.gymnasium.environments import check_env, check_observations, own
from driftwise.adapters.gymnasium.scaling import Scaling
from driftwise.control.costs import CostSequence
from driftwise.control.plants.actuator import each
from driftwise.errors import InputError, ParameterError

StateOf = Callable[[Any], ArrayLike]

PARAMETERS = """
state : callable, optional
    ``state(observation)`` returns the state, counted from where it is to be kept. Observations as they are, in one row,
    when left out.
scale : float or array of shape (inputs,), optional
    Input that an action of 1 is more than `rest`; 1 when left out. Driftwise's own environments say it themselves.
rest : float or array of shape (inputs,), optional
    Action that an input of 0 stands for; 0 when left out.
"""
"""What tells observations and actions of an environment, for docstrings."""


class Step(NamedTuple):
    """What came of an input."""

    state: Array
    """The next state."""
    applied: Array
    """The input as it was applied."""
    reward: float
    terminated: bool
    truncated: bool


class Loop:
    """An environment that takes inputs and returns states.

    Parameters
    ----------
    owner : str
        Who asks, for error messages.
    env : gymnasium.Env
        The environment.
    state, scale, rest : optional
        As `run` has them.
    """

    def __init__(
        self, owner: str, env: Any, state: StateOf | None, scale: ArrayLike | None, rest: ArrayLike | None
    ) -> None:
        check_env(owner, env)
        if state is None:
            check_observations(owner, env)
        elif not callable(state):
            raise ParameterError(f"{owner}: state must be a function of an observation, got {describe(state)}.")
        self._owner, self._env, self._state = owner, env, state
        self._mine = own(env)
        self.scaling = self._scaling(scale, rest)
        self.input_dim: int = self.scaling.rest.size

    def _scaling(self, scale: ArrayLike | None, rest: ArrayLike | None) -> Scaling:
        """Return what actions mean: as driftwise's own environments have it, unless a wrapper changed it."""
        space, mine = self._env.action_space, self._mine
        if mine is not None and scale is None and rest is None and space is mine.action_space:
            return mine.scaling
        size = int(np.prod(space.shape))
        scales = each(self._owner, "scale", 1.0 if scale is None else scale, size)
        if not scales.all():
            raise ParameterError(f"{self._owner}: scale must not be 0, since an action is rest + u / scale.")
        return Scaling(space, each(self._owner, "rest", 0.0 if rest is None else rest, size), scales)

    @property
    def length(self) -> int | None:
        """Steps after which an episode is truncated; None if that is not known."""
        spec, limit = self._env.spec, "_max_episode_steps"  # of the wrapper TimeLimit
        known = [None if spec is None else spec.max_episode_steps, None if self._mine is None else self._mine.horizon]
        known.append(self._env.get_wrapper_attr(limit) if self._env.has_wrapper_attr(limit) else None)
        return min((steps for steps in known if steps is not None), default=None)

    @property
    def costs(self) -> CostSequence | None:
        """What steps cost in driftwise's own environments; None in all others.

        Raises
        ------
        ParameterError
            If states or inputs are in other units than those of the plant, whose cost would be another.
        """
        mine = self._mine
        if mine is None:
            return None
        same = self._state is None and self._env.observation_space == mine.observation_space
        if not same or not np.allclose(self.scaling.limits, mine.scaling.limits):
            raise ParameterError(
                f"{self._owner}: a wrapper, state=, scale= or rest= gives the controller other states or inputs than "
                "the plant has, so that the environment's own cost does not fit them; give cost=."
            )
        return mine.costs

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> Array:
        """Begin an episode, and return the first state."""
        return self._read(self._env.reset(seed=seed, options=options)[0])

    def step(self, u: Array) -> Step:
        """Apply an input."""
        action = self.scaling.action_of(self._owner, u)
        observation, reward, terminated, truncated, info = self._env.step(action.copy())
        # What an actuator does after an action is known to driftwise's own environments, in units of their plant.
        known = self._mine is not None and self.scaling is self._mine.scaling
        applied = np.array(info["input"]) if known else self.scaling.input_of(action)
        paid = float(array(self._owner, "the reward", reward, ()))
        return Step(self._read(observation), applied, paid, bool(terminated), bool(truncated))

    def _read(self, observation: Any) -> Array:
        """Return the state of an observation as a new row of float64."""
        if self._state is not None:
            observation = self._state(observation)
        try:
            return np.array(observation, dtype=np.float64).reshape(-1)
        except NOT_NUMBERS:
            raise InputError(f"{self._owner}: a state must be numbers, got {describe(observation)}.") from None
