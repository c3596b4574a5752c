"""Systems and checks that several tests of this room use."""

from typing import Any

import numpy as np

from driftwise._validate import Array
from driftwise.control.plants import (
    InvertedPendulum,
    LinearSystem,
    System,
    TimeVaryingSystem,
    double_integrator,
    random_system,
)
from driftwise.control.stability import (
    lqr,
)


def alone(A: Any) -> tuple[LinearSystem, Array]:
    """Return a system with this A_K: A itself, one input that acts on all states, and no gain."""
    n = np.atleast_2d(A).shape[0]
    return LinearSystem(A, np.ones((n, 1))), np.zeros((1, n))


def jordan(value: float, size: int, link: float = 1.0) -> Array:
    return np.asarray(value * np.eye(size) + link * np.eye(size, k=1))


def spectral_norm(values: Any) -> float:
    return float(np.linalg.norm(values, 2))


STABLE: dict[str, tuple[System, Array]] = {
    "double integrator": (double_integrator(), lqr(double_integrator())),
    "pendulum": (InvertedPendulum(), lqr(InvertedPendulum())),
    "varying": (TimeVaryingSystem([[1.1]], [[1.0]]), np.array([[0.5]])),
    "scalar": (LinearSystem(0.9, 0.5), np.array([[0.3]])),
    "deadbeat": (LinearSystem(2.0 * np.eye(2), np.eye(2)), 2.0 * np.eye(2)),
    "normal": alone([[0.5, -0.8], [0.8, 0.5]]),
    "multiple of the identity": alone(0.5 * np.eye(3)),
    "Jordan block": alone(jordan(0.5, 2)),
    "long Jordan block": alone(jordan(0.7, 5)),
    "nilpotent": alone(jordan(0.0, 3)),
    "nilpotent, bad units": alone(jordan(0.0, 2, 1e12)),
    "nearly unstable": alone(np.diag([0.9999, 0.1])),
    "far from normal": alone([[0.5, 1000.0], [0.0, -0.6]]),
    **{
        f"random {n} x {m}, radius {radius}": (system, lqr(system, Q=weight))
        for n, m, radius, weight in [(2, 1, 1.2, 1.0), (4, 2, 1.0, 0.01), (6, 6, 0.9, 5.0), (10, 3, 1.1, 1.0)]
        for system in [random_system(n, m, radius=radius, seed=n)]
    },
}
