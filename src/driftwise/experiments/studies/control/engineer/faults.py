"""How a plant differs from what its controller knows: entries, gain, delay and lag of the actuator."""

from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.control import LinearSystem, spectral_radius
from driftwise.experiments.studies.control.engineer.baselines.design import design
from driftwise.experiments.studies.control.engineer.disturbances import seed_of
from driftwise.experiments.studies.control.engineer.plants import Plant

MARGIN = 0.999
"""LQR counts as stable around a plant if the spectral radius of the loop is below this."""


class Fault(NamedTuple):
    """One way to be wrong about a plant; by default none."""

    name: str
    mismatch: float = 0.0
    """Share by which every entry of A - I and B is off, up or down."""
    seed: int = 0
    """Which entries are off upwards."""
    gain: float = 1.0
    """Factor of B."""
    delay: int = 0
    """Rounds until an input arrives."""
    lag: float = 0.0
    """Coefficient of a first-order lag of the inputs."""


NOMINAL = Fault("nominal")

FAMILIES: dict[str, tuple[Fault, ...]] = {
    "mismatch": tuple(
        Fault(f"{share:.0%} off, draw {seed}", mismatch=share, seed=seed) for share in (0.1, 0.2) for seed in range(2)
    ),
    "delay": tuple(Fault(f"delay {delay}", delay=delay) for delay in (1, 2, 3)),
    "gain": tuple(
        Fault(f"gain x {gain:g}" + ", delay 1" * delay, gain=gain, delay=delay)
        for gain in (0.5, 2.0)
        for delay in (0, 1)
    ),
    "beyond": (
        *(Fault(f"delay {delay}", delay=delay) for delay in (4, 5)),
        *(Fault(f"lag {lag:g}", lag=lag) for lag in (0.6, 0.9)),
    ),
}
"""Faults that belong together; those "beyond" are longer delays, and lags between those of the bank of models."""


def truth(plant: Plant, name: str, fault: Fault) -> LinearSystem:
    """Return the plant as it is.

    Parameters
    ----------
    plant : Plant
        The plant as it is known.
    name : str
        Its name, part of the seed of a mismatch.
    fault : Fault
        What is wrong about it.
    """
    identity, rng = np.eye(len(plant.A)), seed_of(name, "mismatch", fault.seed)
    off_A, off_B = (1.0 + fault.mismatch * rng.choice([-1.0, 1.0], part.shape) for part in (plant.A, plant.B))
    A = identity + (plant.A - identity) * off_A if fault.mismatch else plant.A
    B = fault.gain * plant.B * off_B
    return LinearSystem(A, B, delay=fault.delay, lag=fault.lag or None)


def regulated(plant: Plant, pair: tuple[Array, Array]) -> bool:
    """Tell whether LQR of the plant as it is known is stable around the plant as it is, actuator included."""
    A, B = pair
    n, m = plant.B.shape
    K = np.hstack([design(plant.A, plant.B).K, np.zeros((m, len(A) - n))])
    return bool(spectral_radius(A - B @ K) < MARGIN)
