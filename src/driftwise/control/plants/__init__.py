"""Plants, and what disturbs them (`disturbances`)."""

from driftwise.control.plants.actuator import read_limits, shown_limits
from driftwise.control.plants.base import PLANT_HINT, System, as_matrix
from driftwise.control.plants.linear import LinearSystem
from driftwise.control.plants.pendulum import InvertedPendulum
from driftwise.control.plants.ready_made import double_integrator, random_system
from driftwise.control.plants.varying import TimeVaryingSystem

__all__ = [
    "PLANT_HINT",
    "InvertedPendulum",
    "LinearSystem",
    "System",
    "TimeVaryingSystem",
    "as_matrix",
    "double_integrator",
    "random_system",
    "read_limits",
    "shown_limits",
]
