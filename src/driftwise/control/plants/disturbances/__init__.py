"""What disturbs a plant: seeded noise, patterns, and an adversary that watches the state."""

from driftwise.control.plants.disturbances.adversarial import AdversarialDisturbance
from driftwise.control.plants.disturbances.base import Disturbance, as_disturbances
from driftwise.control.plants.disturbances.noise import (
    AutoregressiveDisturbance,
    GaussianDisturbance,
    RandomWalkDisturbance,
    UniformDisturbance,
)
from driftwise.control.plants.disturbances.patterns import (
    ConstantDisturbance,
    SinusoidDisturbance,
    SquareWaveDisturbance,
)

__all__ = [
    "AdversarialDisturbance",
    "AutoregressiveDisturbance",
    "ConstantDisturbance",
    "Disturbance",
    "GaussianDisturbance",
    "RandomWalkDisturbance",
    "SinusoidDisturbance",
    "SquareWaveDisturbance",
    "UniformDisturbance",
    "as_disturbances",
]
