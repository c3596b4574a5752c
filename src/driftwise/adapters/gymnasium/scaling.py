"""What an action means: inputs of a controller to actions of an environment, and back."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftwise._validate import Array
from driftwise.errors import InputError


class Scaling(NamedTuple):
    """The input u stands for the action rest + u / scale."""

    space: Any
    """The Box of actions."""
    rest: Array
    """(inputs,): the action for an input of 0."""
    scale: Array
    """(inputs,): the input that one more of the action is."""

    def action_of(self, owner: str, u: Array) -> NDArray[Any]:
        """Return the action for an input: finite, within its bounds, of the shape and type that the space has."""
        with np.errstate(over="ignore"):
            action = self.clip((self.rest + u / self.scale).astype(self.space.dtype).reshape(self.space.shape))
        if not np.isfinite(action).all():
            raise InputError(
                f"{owner}: the input {np.array2string(u, threshold=6)} is no finite action in {self.space.dtype}; it "
                "was not sent. Give the controller an input_bound."
            )
        return action

    def clip(self, action: NDArray[Any]) -> NDArray[Any]:
        """Return an action within the bounds of the space."""
        return np.asarray(np.clip(action, self.space.low, self.space.high))

    def input_of(self, action: NDArray[Any]) -> Array:
        """Return the input that an action stands for."""
        return np.asarray((action.astype(np.float64).ravel() - self.rest) * self.scale)

    @property
    def limits(self) -> tuple[Array, Array]:
        """The smallest and the largest input."""
        return self.input_of(self.space.low), self.input_of(self.space.high)
