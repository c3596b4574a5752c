"""Random disturbances: independent noise, noise with a memory, and a random walk."""

import math

import numpy as np

from driftwise._validate import Array, number
from driftwise.control.plants.disturbances.base import Disturbance, directions
from driftwise.errors import ParameterError


class GaussianDisturbance(Disturbance):
    """Independent noise, w_t ~ N(0, scale^2 I): the noise of the paper's experiments and of linear-quadratic control.

    It has no bound, and its past tells nothing of its future: no controller gains much over u = -Kx.

    Parameters
    ----------
    scale : float, default 1.0
        Standard deviation of every coordinate, in units of the state.
    seed : int, optional
        Own seed.

    Examples
    --------
    >>> from driftwise.control import GaussianDisturbance
    >>> GaussianDisturbance(scale=0.1, seed=0).sample(rounds=2, dim=2).round(4)
    array([[ 0.0126, -0.0132],
           [ 0.064 ,  0.0105]])
    """

    bound = math.inf

    def __init__(self, scale: float = 1.0, seed: int | None = None) -> None:
        super().__init__(seed)
        self.scale = number("GaussianDisturbance", "scale", scale, low=0.0)

    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
        return self.scale * rng.standard_normal((rounds, dim))


class UniformDisturbance(Disturbance):
    """Independent noise, uniform in the ball ``|w_t| <= bound``: noise for which the guarantees hold.

    Parameters
    ----------
    bound : float, default 1.0
        Radius of the ball, in units of the state.
    seed : int, optional
        Own seed.

    Examples
    --------
    >>> from driftwise.control import UniformDisturbance
    >>> UniformDisturbance(bound=0.5, seed=0).sample(rounds=2, dim=2).round(4)
    array([[ 0.3109, -0.3266],
           [ 0.4714,  0.0772]])
    """

    def __init__(self, bound: float = 1.0, seed: int | None = None) -> None:
        super().__init__(seed)
        self.bound = number("UniformDisturbance", "bound", bound, low=0.0)

    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
        return self.bound * directions(rng, rounds, dim) * rng.random((rounds, 1)) ** (1.0 / dim)


class AutoregressiveDisturbance(Disturbance):
    """Noise with a memory: w_t = coefficient * w_{t-1} + scale * N(0, I), stationary from the first round.

    Every coordinate has standard deviation scale / sqrt(1 - coefficient^2) in all rounds, and no bound.

    Parameters
    ----------
    coefficient : float, default 0.9
        Correlation of one round with the next, between -1 and 1, both excluded.
    scale : float, default 1.0
        Standard deviation of what is new in a round, in units of the state.
    seed : int, optional
        Own seed.

    Examples
    --------
    >>> from driftwise.control import AutoregressiveDisturbance
    >>> AutoregressiveDisturbance(coefficient=0.6, scale=0.8, seed=0).sample(rounds=3, dim=1).round(4)
    array([[ 0.1257],
           [-0.0302],
           [ 0.4942]])
    """

    bound = math.inf

    def __init__(self, coefficient: float = 0.9, scale: float = 1.0, seed: int | None = None) -> None:
        owner = "AutoregressiveDisturbance"
        super().__init__(seed)
        self.coefficient = number(owner, "coefficient", coefficient)
        if abs(self.coefficient) >= 1.0:
            raise ParameterError(
                f"{owner}: coefficient must be between -1 and 1, got {self.coefficient:g}; "
                "for a walk use RandomWalkDisturbance."
            )
        self.scale = number(owner, "scale", scale, low=0.0)

    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
        rows = self.scale * rng.standard_normal((rounds, dim))
        rows[0] /= math.sqrt(1.0 - self.coefficient**2)
        for t in range(1, rounds):
            rows[t] += self.coefficient * rows[t - 1]
        return rows


class RandomWalkDisturbance(Disturbance):
    """A walk, w_t = w_{t-1} + step * N(0, I) with w_{-1} = 0, kept inside its bound by reflection.

    Every coordinate is reflected at bound / sqrt(dim) and its negative, so that ``|w_t| <= bound``. A slow drift, whose
    past tells much of its future.

    Parameters
    ----------
    step : float, default 0.1
        Standard deviation of one step of a coordinate, in units of the state.
    bound : float, default 1.0
        Largest Euclidean norm of a row, above zero, in the same units.
    seed : int, optional
        Own seed.

    Examples
    --------
    >>> from driftwise.control import RandomWalkDisturbance
    >>> RandomWalkDisturbance(step=1.0, bound=1.0, seed=0).sample(rounds=3, dim=1).round(4)
    array([[ 0.1257],
           [-0.0064],
           [ 0.634 ]])
    """

    def __init__(self, step: float = 0.1, bound: float = 1.0, seed: int | None = None) -> None:
        super().__init__(seed)
        self.step = number("RandomWalkDisturbance", "step", step, low=0.0)
        self.bound = number("RandomWalkDisturbance", "bound", bound, low=1e-100)

    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
        # Steps are symmetric, so that a free walk folded at the walls is a walk reflected there.
        wall = self.bound / math.sqrt(dim)
        free = self.step * np.cumsum(rng.standard_normal((rounds, dim)), axis=0)
        folded = wall - np.abs(np.mod(free + wall, 4.0 * wall) - 2.0 * wall)
        return np.clip(folded, -wall, wall)
