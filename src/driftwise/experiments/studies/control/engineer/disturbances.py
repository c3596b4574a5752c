"""Eight kinds of disturbance that plants meet, each through a physical load or in every state.

A setting is a plant, a kind, an entry and a seed; its numbers come from a generator made of these, so that every
controller, at every size of a study, meets the same disturbance.
"""

import math
import zlib
from collections.abc import Callable

import numpy as np

from driftwise._validate import Array
from driftwise.experiments.studies.control.engineer.plants import Plant

ENTRIES = ("load", "states")
"""Through the plant's physical load, or an independent signal in every state."""

Signal = Callable[[np.random.Generator, int, int], Array]


def seed_of(*names: object) -> np.random.Generator:
    """Return a generator that depends on the names, and on nothing else."""
    return np.random.default_rng([zlib.crc32(str(name).encode()) for name in names])


def constant(rng: np.random.Generator, rounds: int, columns: int) -> Array:
    """Return a level of size 1/2 to 3/2 for every column."""
    return np.tile(rng.choice([-1.0, 1.0], columns) * rng.uniform(0.5, 1.5, columns), (rounds, 1))


def sine(rng: np.random.Generator, rounds: int, columns: int) -> Array:
    """Return a sine with a period of 20 to 120 rounds, and a phase for every column."""
    return waves(rng, rounds, columns, 10.0 ** rng.uniform(math.log10(20.0), math.log10(120.0)))


def two_sines(rng: np.random.Generator, rounds: int, columns: int) -> Array:
    """Return a slow sine, a fast one and a level."""
    slow, fast = rng.uniform(60.0, 150.0), rng.uniform(15.0, 40.0)
    return waves(rng, rounds, columns, slow) + 0.6 * waves(rng, rounds, columns, fast) + constant(rng, 1, columns)


def autoregressive(rng: np.random.Generator, rounds: int, columns: int) -> Array:
    """Return z' = 0.97 z + noise, of variance 1 in the long run."""
    return gathered(math.sqrt(1.0 - 0.97**2) * rng.normal(size=(rounds, columns)), 0.97)


def random_walk(rng: np.random.Generator, rounds: int, columns: int) -> Array:
    """Return z' = z + noise."""
    return gathered(0.1 * rng.normal(size=(rounds, columns)), 1.0)


def steps(rng: np.random.Generator, rounds: int, columns: int) -> Array:
    """Return levels that hold for 60 to 240 rounds."""
    lengths = rng.integers(60, 241, size=rounds // 60 + 1)
    levels = rng.normal(size=(lengths.size, columns))
    return np.repeat(levels, lengths, axis=0)[:rounds]


def white(rng: np.random.Generator, rounds: int, columns: int) -> Array:
    """Return independent Gaussian noise of variance 1: nothing to learn."""
    return rng.normal(size=(rounds, columns))


def daily(rng: np.random.Generator, rounds: int, columns: int) -> Array:
    """Return a cycle of 96 rounds with a morning and an evening, a level, and noise of three tenths its size."""
    cycle = waves(rng, rounds, columns, 96.0) + 0.5 * waves(rng, rounds, columns, 48.0)
    return 0.5 * constant(rng, 1, columns) + cycle + 0.3 * rng.normal(size=(rounds, columns))


def waves(rng: np.random.Generator, rounds: int, columns: int, period: float) -> Array:
    """Return a sine of amplitude sqrt(2) with a random phase in every column."""
    phases = np.arange(rounds)[:, None] / period + rng.uniform(size=columns)
    return math.sqrt(2.0) * np.sin(2.0 * math.pi * phases)


def gathered(shocks: Array, decay: float) -> Array:
    """Return z' = decay z + shock, from 0."""
    rows = np.empty_like(shocks)
    z = np.zeros(shocks.shape[1])
    for t, shock in enumerate(shocks):
        z = decay * z + shock
        rows[t] = z
    return rows


KINDS: dict[str, Signal] = {
    "constant": constant,
    "sine": sine,
    "two sines + bias": two_sines,
    "AR(1)": autoregressive,
    "random walk": random_walk,
    "steps": steps,
    "white": white,
    "daily cycle": daily,
}
"""Every kind, by name."""


def disturbances(plant: Plant, name: str, kind: str, entry: str, rounds: int, seed: int = 0) -> Array:
    """Return w_1, ..., w_T of a setting, one row a round.

    Parameters
    ----------
    plant : Plant
        The plant.
    name : str
        Its name, part of the seed.
    kind : str
        One of `KINDS`.
    entry : str
        One of `ENTRIES`.
    rounds : int
        Number of rounds T.
    seed : int, default 0
        Which draw.
    """
    directions = plant.load if entry == "load" else 0.1 * np.eye(len(plant.A))
    signal = KINDS[kind](seed_of(name, kind, entry, seed), rounds, directions.shape[1])
    return np.asarray(signal @ directions.T)
