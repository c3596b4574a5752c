"""What absolute and Huber costs share: one weight for every state and every input."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, loose
from driftwise.control.costs.base import DataCost
from driftwise.errors import ParameterError


def _weights(owner: str, name: str, value: ArrayLike) -> Array:
    """Return weights of shape (1, d), or a single number as it is; none of them negative."""
    given = loose(owner, name, value)
    read = array(owner, name, value, ("weights",) if given.ndim else (), copy=True)
    for i in np.flatnonzero(read < 0.0)[:1]:
        raise ParameterError(f"{owner}: {name} must not be negative, got {read.flat[i]:g} at [{i}].")
    return read[None] if given.ndim else read


class WeightedCost(DataCost):
    """A cost that is a weighted sum of one function of every coordinate."""

    separable = True

    def __init__(self, kind: int, state_weights: ArrayLike, input_weights: ArrayLike, width: float = 1.0) -> None:
        owner = type(self).__name__
        state = _weights(owner, "state_weights", state_weights)
        super().__init__(kind, state, _weights(owner, "input_weights", input_weights), width)

    @property
    def state_weights(self) -> Array:
        """Weights of the states, shape (dx,)."""
        return np.asarray(self.data.scales[0, 0] * self.data.state[0, 0])

    @property
    def input_weights(self) -> Array:
        """Weights of the inputs, shape (du,)."""
        return np.asarray(self.data.scales[0, 1] * self.data.input[0, 0])

    def steepest(self, state_bound: float, input_bound: float) -> tuple[float, float] | None:
        """Return the norms of the weights, which no gradient exceeds; None if their number is not known.

        Parameters
        ----------
        state_bound, input_bound : float
            Largest norms of a state and of an input.
        """
        if not self.compiled or self.state_dim is None or self.input_dim is None:
            return None
        norms = [np.linalg.norm(part, axis=(1, 2))[self.data.stage] for part in (self.data.state, self.data.input)]
        largest = (np.stack(norms, axis=-1) * np.abs(self.data.scales)).max(axis=0)
        return float(largest[0]), float(largest[1])
