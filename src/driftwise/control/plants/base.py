"""What every plant is: a nominal pair of matrices, limits on its inputs, and data that compiled rounds move on.

The setting of Section 5 of the paper, x_{t+1} = A x_t + B u_t + w_t.
"""

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._settings import Fixed
from driftwise._validate import Array, array, instance, loose, read_only, whole
from driftwise.control.plants.kernels import PlantData
from driftwise.errors import InputError, ParameterError

PLANT_HINT = "LinearSystem(A, B) or LinearSystem.from_control(statespace)"
"""How to make a plant, for error messages."""


def as_matrix(owner: str, name: str, value: ArrayLike, shape: tuple[int | str, int | str]) -> Array:
    """Return `value` as a new matrix of `shape`; a number is a matrix of one entry."""
    given = loose(owner, name, value)
    number_like = given.ndim == 0 and given.dtype.kind in "fiu"
    return array(owner, name, given.reshape(1, 1) if number_like else value, shape, copy=True)


def read_limits(owner: str, name: str, value: ArrayLike | None, input_dim: int) -> Array:
    """Return the largest size of every input, from one number for all or one for each; infinite when there is none."""
    if value is None:
        return read_only(np.full(input_dim, math.inf))
    given = loose(owner, name, value)
    if given.ndim == 0 and given.dtype.kind in "fiu":
        value = np.full(input_dim, given[()])
    limits = array(owner, name, value, (input_dim,), copy=True)
    if not (limits > 0.0).all():
        raise ParameterError(
            f"{owner}: {name} must be above 0 for every input, got {limits.min():g}; leave it out if there is no limit."
        )
    return read_only(limits)


class System(Fixed):
    """A plant with a nominal (A, B), which is all that a controller knows of it.

    The parent of all plants. A plant of your own inherits from one of its children; what a plant can do is limited to
    the kinds that `PlantData` knows.

    Parameters
    ----------
    A : array of shape (states, states)
        Nominal transition matrix; a number when there is one state.
    B : array of shape (states, inputs)
        Nominal input matrix; a number when there is one state and one input.
    input_limit : float or array of shape (inputs,), optional
        Largest size of each input that the actuator delivers, above zero; no limit when left out.

    Attributes
    ----------
    A, B : array
        The nominal pair, read-only.
    state_dim, input_dim : int
        Number of states and inputs.
    input_limit : array of shape (inputs,) or None
        The limits, read-only.
    """

    _numbers: tuple[float, ...] = (0.0,)

    def __init__(self, A: ArrayLike, B: ArrayLike, *, input_limit: ArrayLike | None = None) -> None:
        owner = type(self).__name__
        self.A = as_matrix(owner, "A", A, ("states", "states"))
        self.B = as_matrix(owner, "B", B, ("states", "inputs"))
        rows, columns = self.A.shape
        if rows != columns:
            raise InputError(
                f"{owner}: A takes a state to the next state and must be square, got {rows} rows and {columns} columns."
            )
        if self.B.shape[0] != rows:
            hint = " It looks transposed." if self.B.shape[1] == rows else ""
            raise InputError(
                f"{owner}: B must have as many rows as A, one for each of the {rows} states, and a column for each "
                f"input, got {self.B.shape[0]} rows and {self.B.shape[1]} columns.{hint}"
            )
        read_only(self.A)
        read_only(self.B)
        self.state_dim: int = rows
        self.input_dim: int = self.B.shape[1]
        self.input_limit: Array | None = (
            None if input_limit is None else read_limits(owner, "input_limit", input_limit, self.input_dim)
        )

    @property
    def linear(self) -> bool:
        """Whether the plant is exactly its nominal pair, without limits, so that regret is defined on it."""
        return False

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Continue after copying or unpickling, where numpy forgets that the matrices are read-only."""
        self.__dict__.update(saved)
        for part in (self.A, self.B):
            part.setflags(write=False)

    def data(self, rounds: int, rng: np.random.Generator) -> PlantData:
        """Return the plant over the rounds of one run; what is random about it is drawn here, from `rng`."""
        owner = f"{type(self).__name__}.data"
        instance(owner, "rng", rng, np.random.Generator, "numpy.random.default_rng(0)")
        changes = self._changes(whole(owner, "rounds", rounds), rng)
        limit = np.full(self.input_dim, math.inf) if self.input_limit is None else self.input_limit.copy()
        # Copies, since compiled code is built once more for arrays that are read-only.
        return PlantData(self._kind, self.A.copy(), self.B.copy(), *changes, np.array(self._numbers), limit)

    @property
    @abstractmethod
    def _kind(self) -> int:
        """Which of the kinds that `PlantData` knows."""

    def _changes(self, rounds: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the changes of A and of B in every round; none unless the plant is VARYING."""
        n, m = self.B.shape
        return np.empty((0, n, n)), np.empty((0, n, m))

    def __repr__(self) -> str:
        limit = "" if self.input_limit is None else ", input_limit=..."
        return f"{type(self).__name__}(state_dim={self.state_dim}, input_dim={self.input_dim}{limit})"
