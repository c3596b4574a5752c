"""Disturbances that follow a pattern: a constant push, a sinusoid, a square wave."""

import math

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, loose, number, read_only, whole
from driftwise.control.plants.disturbances.base import ByCoordinate, Disturbance
from driftwise.errors import InputError


class ConstantDisturbance(Disturbance):
    """The same push in all rounds, w_t = value: a slope, a leak, a wind that does not turn.

    Parameters
    ----------
    value : float or array of shape (dim,)
        In units of the state; a number stands for every coordinate, and then ``bound_for(dim)`` is
        ``sqrt(dim) * abs(value)``.
    seed : int, optional
        Not used; accepted as by every disturbance.

    Examples
    --------
    >>> from driftwise.control import ConstantDisturbance
    >>> wind = ConstantDisturbance([3.0, -4.0])
    >>> wind.sample(rounds=2, dim=2)
    array([[ 3., -4.],
           [ 3., -4.]])
    >>> wind.bound
    5.0
    """

    def __init__(self, value: ArrayLike, seed: int | None = None) -> None:
        super().__init__(seed)
        given = loose("ConstantDisturbance", "value", value)
        self.value = read_only(array("ConstantDisturbance", "value", given, ("dim",) if given.ndim else (), copy=True))
        self.bound = float(np.linalg.norm(self.value))

    def bound_for(self, dim: int) -> float:
        """Return the Euclidean norm of a row of `dim` coordinates."""
        return float(np.linalg.norm(self._row("ConstantDisturbance.bound_for", dim)))

    def _row(self, owner: str, dim: int) -> Array:
        size = whole(owner, "dim", dim)
        if self.value.ndim and self.value.size != size:
            raise InputError(f"{owner}: value has {self.value.size} coordinates, but the plant has {size} states.")
        return np.broadcast_to(self.value, (size,))

    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
        return np.tile(self._row("ConstantDisturbance.sample", dim), (rounds, 1))


class SinusoidDisturbance(ByCoordinate):
    """A wave: w_{t,i} = amplitude sin(theta_t + phi_i), with theta_t = 2 pi t / period.

    The phases phi_i are uniform in [0, 2 pi), one a coordinate, by the seed. Since its past tells its future, a
    disturbance-action controller gains much over u = -Kx.

    Parameters
    ----------
    amplitude : float, default 1.0
        Largest size of a coordinate, in units of the state; ``bound_for(dim)`` is ``sqrt(dim) * amplitude``.
    period : float, default 20.0
        Rounds in a full wave, at least 2.
    switch_every : int, optional
        Number of rounds after which a new frequency is drawn, by the seed: between half and twice 1 / period,
        log-uniformly. The first stretch has the period given. theta_t goes on from where it was, so that the wave does
        not jump.
    seed : int, optional
        Own seed.

    Examples
    --------
    >>> from driftwise.control import SinusoidDisturbance
    >>> wave = SinusoidDisturbance(amplitude=2.0, period=4, seed=0)
    >>> wave.sample(rounds=3, dim=2).round(4)
    array([[-1.5164,  1.9846],
           [-1.304 , -0.248 ],
           [ 1.5164, -1.9846]])
    >>> round(wave.bound_for(2), 4)
    2.8284
    """

    def __init__(
        self, amplitude: float = 1.0, period: float = 20.0, switch_every: int | None = None, seed: int | None = None
    ) -> None:
        owner = "SinusoidDisturbance"
        super().__init__(seed)
        self.amplitude = self.bound = number(owner, "amplitude", amplitude, low=0.0)
        self.period = number(owner, "period", period, low=2.0)
        self.switch_every = None if switch_every is None else whole(owner, "switch_every", switch_every)

    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
        phases = rng.uniform(0.0, 2.0 * math.pi, dim)
        turns = np.arange(rounds) / self.period
        if self.switch_every is not None:
            stretch = np.arange(rounds - 1) // self.switch_every
            factors = np.concatenate([[1.0], 2.0 ** rng.uniform(-1.0, 1.0, rounds // self.switch_every)])
            turns[1:] = np.cumsum(factors[stretch]) / self.period
        return np.asarray(self.amplitude * np.sin(2.0 * math.pi * turns[:, None] + phases))


class SquareWaveDisturbance(ByCoordinate):
    """A load that switches: w_{t,i} is amplitude in the first half of a period and -amplitude in the second.

    Coordinate i is o_i rounds ahead, o_i uniform in 0, ..., period - 1, by the seed. In an odd period the first half is
    the longer one.

    Parameters
    ----------
    amplitude : float, default 1.0
        Size of a coordinate, in units of the state; ``bound_for(dim)`` is ``sqrt(dim) * amplitude``.
    period : int, default 20
        Rounds in a period, at least 2.
    seed : int, optional
        Own seed.

    Examples
    --------
    >>> from driftwise.control import SquareWaveDisturbance
    >>> SquareWaveDisturbance(amplitude=0.5, period=4, seed=0).sample(rounds=5, dim=2).T
    array([[-0.5,  0.5,  0.5, -0.5, -0.5],
           [-0.5, -0.5,  0.5,  0.5, -0.5]])
    """

    def __init__(self, amplitude: float = 1.0, period: int = 20, seed: int | None = None) -> None:
        super().__init__(seed)
        self.amplitude = self.bound = number("SquareWaveDisturbance", "amplitude", amplitude, low=0.0)
        self.period = whole("SquareWaveDisturbance", "period", period, low=2)

    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
        ahead = rng.integers(self.period, size=dim)
        place = (np.arange(rounds)[:, None] + ahead) % self.period
        return np.where(2 * place < self.period, self.amplitude, -self.amplitude)
