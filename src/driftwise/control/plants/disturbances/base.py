"""What a disturbance is: rows w_0, ..., w_{T-1} that are added to the states of a run.

x_{t+1} = A x_t + B u_t + w_t, so a disturbance has the units of the state.
"""

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from driftwise._frames.given import plain
from driftwise._settings import Fixed
from driftwise._validate import Array, array, loose, seeded, whole
from driftwise.errors import InputError


class Disturbance(Fixed):
    """A kind of disturbance, from which the rows of a run are drawn with `sample`.

    Parameters
    ----------
    seed : int, optional
        Own seed: the same rows in every run. Without one, every run draws its own.

    Attributes
    ----------
    seed : int or None
        The own seed.
    bound : float
        Largest Euclidean norm that a row can have; infinite if there is none. For the kinds that are given coordinate
        by coordinate it is the norm of a row of one coordinate, and `bound_for` has it for any number of them.
    push : float
        Norm of the push away from the origin with which an `AdversarialDisturbance` answers the state; 0 for every
        other kind.

    Examples
    --------
    One of your own gives the rows of a run, from a generator that it is handed:

    >>> import driftwise as dw
    >>> class Gusts(dw.control.Disturbance):
    ...     bound = 2.0
    ...
    ...     def _rows(self, rounds, dim, rng):
    ...         return 2.0 * (rng.random((rounds, dim)) < 0.25) / dim**0.5
    >>> Gusts(seed=0).sample(rounds=8, dim=1).ravel()
    array([0., 0., 2., 2., 0., 0., 0., 0.])
    """

    bound: float
    push: float = 0.0

    def __init__(self, seed: int | None = None) -> None:
        self.seed = None if seed is None else whole(type(self).__name__, "seed", seed, low=0, high=2**128)

    @abstractmethod
    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array: ...

    def bound_for(self, dim: int) -> float:
        """Return the largest Euclidean norm that a row of `dim` coordinates can have.

        Parameters
        ----------
        dim : int
            Number of states.
        """
        whole(type(self).__name__, "dim", dim)
        return self.bound

    def sample(self, rounds: int, dim: int, seed: int | np.random.Generator = 0) -> Array:
        """Draw the disturbances of a run.

        Parameters
        ----------
        rounds : int
            T.
        dim : int
            Number of states.
        seed : int or numpy.random.Generator, default 0
            Used when the disturbance has no seed of its own.

        Returns
        -------
        array of shape (T, dim)
        """
        owner = f"{type(self).__name__}.sample"
        size, width = whole(owner, "rounds", rounds), whole(owner, "dim", dim)
        given = seeded(owner, seed)
        return self._rows(size, width, given if self.seed is None else np.random.default_rng(self.seed))

    def __repr__(self) -> str:
        names = type(self).__signature__.parameters
        settings = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        shown = (f"{name}={np.asarray(value).tolist()}" for name, value in settings.items())
        return f"{type(self).__name__}({', '.join(shown)})"


class ByCoordinate(Disturbance):
    """A disturbance whose every coordinate stays within `bound`."""

    def bound_for(self, dim: int) -> float:
        """Return the largest Euclidean norm of a row: sqrt(dim) times that of one coordinate."""
        return self.bound * math.sqrt(whole(type(self).__name__, "dim", dim))


def directions(rng: np.random.Generator, rounds: int, dim: int) -> Array:
    """Return random rows of norm 1."""
    rows = rng.standard_normal((rounds, dim))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def as_disturbances(
    owner: str, disturbances: Any, rounds: int | None, dim: int, rng: np.random.Generator
) -> tuple[Array, float]:
    """Return the disturbances of a run, a new array of shape (T, dim), and the push of an adversary.

    Parameters
    ----------
    owner : str
        Who asks, for error messages.
    disturbances : Disturbance or array of shape (T, dim)
        With one state, also of shape (T,).
    rounds : int or None
        T; None to take it from the array.
    dim : int
        Number of states.
    rng : numpy.random.Generator
        Drawn from when the disturbance has no seed of its own.
    """
    if isinstance(disturbances, Disturbance):
        if rounds is None:
            raise InputError(f"{owner}: {disturbances!r} has no length of its own; give rounds=, the number of rounds.")
        return disturbances.sample(rounds, dim, rng), disturbances.push
    given = loose(owner, "disturbances", plain(owner, "disturbances", disturbances))
    if given.ndim == 1 and dim == 1:
        given = given[:, None]
    if given.ndim == 0:
        raise InputError(
            f"{owner}: disturbances must be a Disturbance, such as GaussianDisturbance(), or an array with one row a "
            f"round, of shape (T, {dim}), got {disturbances!r:.60}."
        )
    return array(owner, "disturbances", given, ("T" if rounds is None else rounds, dim), copy=True), 0.0
