"""What disturbs a plant: rows w_0, ..., w_{T-1} of a run, from seeded noise to an adversary that watches the state.

A disturbance is added to the state, x_{t+1} = A x_t + B u_t + w_t, and so has the units of the state.
"""

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, Checked, array, loose, number, read_only, seeded, whole
from driftwise.errors import InputError, ParameterError


class Disturbance(metaclass=Checked):
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
    """

    bound: float
    push: float = 0.0

    def __init__(self, seed: int | None = None) -> None:
        self.seed = None if seed is None else whole(type(self).__name__, "seed", seed, low=0, high=2**128)

    @abstractmethod
    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array: ...

    def bound_for(self, dim: int) -> float:
        """Return the largest Euclidean norm that a row of so many coordinates can have."""
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


class _ByCoordinate(Disturbance):
    """A disturbance whose every coordinate stays within `bound`."""

    def bound_for(self, dim: int) -> float:
        """Return the largest Euclidean norm of a row: sqrt(dim) times that of one coordinate."""
        return self.bound * math.sqrt(whole(type(self).__name__, "dim", dim))


def _directions(rng: np.random.Generator, rounds: int, dim: int) -> Array:
    """Return random rows of norm 1."""
    rows = rng.standard_normal((rounds, dim))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


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
    >>> from driftwise.control.plants.disturbances import GaussianDisturbance
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
    >>> from driftwise.control.plants.disturbances import UniformDisturbance
    >>> UniformDisturbance(bound=0.5, seed=0).sample(rounds=2, dim=2).round(4)
    array([[ 0.3109, -0.3266],
           [ 0.4714,  0.0772]])
    """

    def __init__(self, bound: float = 1.0, seed: int | None = None) -> None:
        super().__init__(seed)
        self.bound = number("UniformDisturbance", "bound", bound, low=0.0)

    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
        return self.bound * _directions(rng, rounds, dim) * rng.random((rounds, 1)) ** (1.0 / dim)


class ConstantDisturbance(Disturbance):
    """The same push in all rounds, w_t = value: a slope, a leak, a wind that does not turn.

    Parameters
    ----------
    value : float or array of shape (dim,)
        In units of the state; a number stands for every coordinate, and then ``bound_for(dim)`` is
        ``sqrt(dim) * abs(value)``.
    seed : int, optional
        Nothing is drawn; accepted like everywhere.

    Examples
    --------
    >>> from driftwise.control.plants.disturbances import ConstantDisturbance
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
        """Return the Euclidean norm of a row of so many coordinates."""
        return float(np.linalg.norm(self._row("ConstantDisturbance.bound_for", dim)))

    def _row(self, owner: str, dim: int) -> Array:
        size = whole(owner, "dim", dim)
        if self.value.ndim and self.value.size != size:
            raise InputError(f"{owner}: value has {self.value.size} coordinates, but the plant has {size} states.")
        return np.broadcast_to(self.value, (size,))

    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
        return np.tile(self._row("ConstantDisturbance.sample", dim), (rounds, 1))


class SinusoidDisturbance(_ByCoordinate):
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
        Draw a new frequency every so many rounds, by the seed: between half and twice 1 / period, log-uniformly. The
        first stretch has the period given. theta_t goes on from where it was, so that the wave does not jump.
    seed : int, optional
        Own seed.

    Examples
    --------
    >>> from driftwise.control.plants.disturbances import SinusoidDisturbance
    >>> wave = SinusoidDisturbance(amplitude=2.0, period=4, seed=0)
    >>> wave.sample(rounds=3, dim=2).round(4)
    array([[-1.5164,  1.9846],
           [-1.304 , -0.248 ],
           [ 1.5164, -1.9846]])
    >>> round(wave.bound_for(2), 4)
    2.8284
    """

    def __init__(
        self,
        amplitude: float = 1.0,
        period: float = 20.0,
        switch_every: int | None = None,
        seed: int | None = None,
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
    >>> from driftwise.control.plants.disturbances import RandomWalkDisturbance
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
    >>> from driftwise.control.plants.disturbances import AutoregressiveDisturbance
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


class SquareWaveDisturbance(_ByCoordinate):
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
    >>> from driftwise.control.plants.disturbances import SquareWaveDisturbance
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


class AdversarialDisturbance(Disturbance):
    """The push that hurts most at once: ``w_t = bound * z / |z|``, z = A_t x_t + B_t u_t the next state without it.

    It sees the plant, the state and the input, and drives the next state as far from the origin as it can. `sample`
    gives only what is used where z = 0, random directions times bound; in a simulation, which reads `push`, all other
    rows are replaced.

    Parameters
    ----------
    bound : float, default 1.0
        Norm of every push, in units of the state.
    seed : int, optional
        Own seed.

    Examples
    --------
    >>> from driftwise.control.plants.disturbances import AdversarialDisturbance
    >>> enemy = AdversarialDisturbance(bound=0.5, seed=0)
    >>> enemy.push
    0.5
    >>> enemy.sample(rounds=2, dim=2).round(4)
    array([[ 0.3447, -0.3622],
           [ 0.4934,  0.0808]])
    """

    def __init__(self, bound: float = 1.0, seed: int | None = None) -> None:
        super().__init__(seed)
        self.bound = self.push = number("AdversarialDisturbance", "bound", bound, low=0.0)

    def _rows(self, rounds: int, dim: int, rng: np.random.Generator) -> Array:
        return self.bound * _directions(rng, rounds, dim)


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
            raise InputError(f"{owner}: {disturbances!r} goes on for ever; give rounds=, how many to play.")
        return disturbances.sample(rounds, dim, rng), disturbances.push
    given = loose(owner, "disturbances", disturbances)
    if given.ndim == 1 and dim == 1:
        given = given[:, None]
    if given.ndim == 0:
        raise InputError(
            f"{owner}: disturbances must be a Disturbance, such as GaussianDisturbance(), or an array with one row a "
            f"round, of shape (T, {dim}), got {disturbances!r:.60}."
        )
    return array(owner, "disturbances", given, ("T" if rounds is None else rounds, dim), copy=True), 0.0
