"""What every plant is: a nominal pair of matrices, an actuator, and data that compiled rounds move on.

The setting of Section 5 of the paper, x_{t+1} = A x_t + B u_t + w_t.
"""

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._docs import documented
from driftwise._settings import Fixed
from driftwise._validate import Array, array, instance, loose, read_only, whole
from driftwise.control.plants.actuator import PARAMETERS, augment, read_lag, read_limits, read_rate, shown_limits
from driftwise.control.plants.kernels import PlantData
from driftwise.errors import InputError

PLANT_HINT = "LinearSystem(A, B) or LinearSystem.from_control(statespace)"
"""How to make a plant, for error messages."""

LONGEST_DELAY = 10_000
"""Largest delay, in rounds."""


def as_matrix(owner: str, name: str, value: ArrayLike, shape: tuple[int | str, int | str]) -> Array:
    """Return `value` as a new matrix of `shape`; a number is a matrix of one entry."""
    given = loose(owner, name, value)
    number_like = given.ndim == 0 and given.dtype.kind in "fiu"
    return array(owner, name, given.reshape(1, 1) if number_like else value, shape, copy=True)


@documented(actuator=PARAMETERS)
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
    {actuator}

    Attributes
    ----------
    A, B : array
        The nominal pair, read-only.
    state_dim, input_dim : int
        Number of states and inputs.
    input_limit : array of shape (inputs,) or (inputs, 2), or None
        The limits, read-only: sizes if they are symmetric, rows [low, high] otherwise.
    rate_limit, lag : array of shape (inputs,) or None
        As above, read-only.
    delay : int
        As above.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.LinearSystem([[1.0, 1.0], [0.0, 1.0]], [[0.0], [1.0]], input_limit=2.0, delay=1)
    >>> isinstance(plant, dw.control.System), plant
    (True, LinearSystem(state_dim=2, input_dim=1, input_limit=..., delay=1))
    >>> plant.prompt, plant.augmented[0].shape
    (False, (3, 3))
    """

    _numbers: tuple[float, ...] = (0.0,)

    def __init__(
        self,
        A: ArrayLike,
        B: ArrayLike,
        *,
        input_limit: ArrayLike | None = None,
        rate_limit: ArrayLike | None = None,
        delay: int = 0,
        lag: ArrayLike | None = None,
    ) -> None:
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
        self._limits = read_limits(owner, "input_limit", input_limit, self.input_dim)
        self.input_limit: Array | None = None if input_limit is None else shown_limits(self._limits)
        self.rate_limit = read_rate(owner, rate_limit, self.input_dim)
        self.delay = whole(owner, "delay", delay, low=0, high=LONGEST_DELAY)
        self.lag = read_lag(owner, lag, self.input_dim)

    @property
    def linear(self) -> bool:
        """Whether the plant is exactly its nominal pair, without an actuator, so that regret is defined on it."""
        return False

    @property
    def prompt(self) -> bool:
        """Whether inputs arrive in the round in which they are given: no delay and no lag."""
        return self.delay == 0 and (self.lag is None or not self.lag.any())

    @property
    def direct(self) -> bool:
        """Whether the plant gets every input as it is: no limits, no delay and no lag."""
        return self.prompt and self.input_limit is None and self.rate_limit is None

    @property
    def augmented(self) -> tuple[Array, Array]:
        """The nominal pair together with delay and lag, read-only; the pair (A, B) itself if there is neither.

        Its state is [x_t, f_{t-1}, u_{t-1}, ..., u_{t-delay}]: the state of the plant, what it got in the round before
        (only with a lag above 0), and the inputs on their way, the newest first. Limits are no part of it.
        """
        return (self.A, self.B) if self.prompt else augment(self.A, self.B, self.delay, self.lag)

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Continue after copying or unpickling, where numpy forgets that the matrices are read-only."""
        self.__dict__.update(saved)
        for part in saved.values():
            if isinstance(part, np.ndarray):
                part.setflags(write=False)

    def data(self, rounds: int, rng: np.random.Generator) -> PlantData:
        """Return the plant over the rounds of one run; what is random about it is drawn here, from `rng`.

        Parameters
        ----------
        rounds : int
            T.
        rng : numpy.random.Generator
            Where random changes come from.
        """
        owner = f"{type(self).__name__}.data"
        instance(owner, "rng", rng, np.random.Generator, "numpy.random.default_rng(0)")
        changes = self._changes(whole(owner, "rounds", rounds), rng)
        rate = np.full(self.input_dim, math.inf) if self.rate_limit is None else self.rate_limit.copy()
        lag = np.zeros(self.input_dim) if self.lag is None else self.lag.copy()
        pair, numbers = (self.A.copy(), self.B.copy()), np.array(self._numbers)
        # Copies, since compiled code is built once more for arrays that are read-only.
        return PlantData(self._kind, *pair, *changes, numbers, self._limits.copy(), rate, lag, self.delay)

    @property
    @abstractmethod
    def _kind(self) -> int:
        """Which of the kinds that `PlantData` knows."""

    def _changes(self, rounds: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the changes of A and of B in every round; none unless the plant is VARYING."""
        n, m = self.B.shape
        return np.empty((0, n, n)), np.empty((0, n, m))

    def __repr__(self) -> str:
        sizes = f"state_dim={self.state_dim}, input_dim={self.input_dim}"
        return f"{type(self).__name__}({sizes}{self._actuator})"

    @property
    def _actuator(self) -> str:
        """The actuator, as `repr` shows it."""
        given = [name for name in ("input_limit", "rate_limit", "lag") if getattr(self, name) is not None]
        return "".join(f", {name}=..." for name in given) + (f", delay={self.delay}" if self.delay else "")
