"""Random problems for the bounds of control."""

from typing import NamedTuple

import numpy as np

from driftwise import control
from driftwise._validate import Array
from tests.control.cases import policies

SCALES = ("certified", "theory")


class Case(NamedTuple):
    """A plant and policies for it."""

    system: control.LinearSystem
    K: Array
    memory: int
    radii: float
    disturbance_bound: float
    rounds: int


def random_case(rng: np.random.Generator, rounds: tuple[int, int] = (5, 120)) -> Case:
    """Draw a plant, a gain near the best, a memory, a size of policies and of disturbances."""
    dx, du = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    system = control.random_system(dx, du, radius=float(rng.uniform(0.3, 1.1)), seed=int(rng.integers(10**6)))
    K = control.lqr(system, float(10.0 ** rng.uniform(-1, 1)), 1.0)
    sizes = 10.0 ** rng.uniform(-2.0, 0.5, 2)
    return Case(system, K, int(rng.integers(1, 7)), float(sizes[0]), float(sizes[1]), int(rng.integers(*rounds)))


def some_state(rng: np.random.Generator, dim: int, size: float) -> Array:
    """Draw a state of this norm."""
    x = rng.standard_normal(dim)
    return np.asarray(size * x / np.linalg.norm(x))


def drawn_policies(rng: np.random.Generator, case: Case, count: int) -> Array:
    """Draw policies within the radii."""
    du, dx = case.K.shape
    return policies(rng, count, case.memory, du, dx, case.radii)


def pushes(rng: np.random.Generator, case: Case, worst: Array | None = None) -> Array:
    """Draw disturbances of the largest norm: of random signs, constant or slow, or along a direction that is given."""
    T, dx = case.rounds, case.system.state_dim
    kind = rng.integers(4)
    rows = rng.standard_normal((T, dx))
    if kind == 1:
        rows = np.tile(rows[:1], (T, 1))
    if kind == 2:
        rows = np.sin(np.arange(T)[:, None] / rng.uniform(1.0, 10.0) + rows[0])
    if kind == 3 and worst is not None:
        rows = np.tile(worst, (T, 1))
    return np.asarray(case.disturbance_bound * rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)[:, None])
