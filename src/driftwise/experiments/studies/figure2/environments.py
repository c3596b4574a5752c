"""The plants, costs and disturbances of the paper's experiments with controllers (Section 6.2).

Every seed has a plant of its own: seeds 0, 1, 2, ... are taken as they come. The paper does not say which matrices,
which noise and which stages it used.
"""

import math
from typing import NamedTuple

import numpy as np

from driftwise import control
from driftwise._validate import Array

STAGES = 5


class Environment(NamedTuple):
    """Everything in a run except the controller."""

    plant: control.System
    costs: control.CostSequence
    disturbances: Array
    memory: int
    """Memory H of the policies, as in the paper."""


NAMES = ("LDS, gradual", "LDS, abrupt", "pendulum")

PUSH = 0.05
"""Standard deviation of the disturbance of the pendulum's velocity, in rad/s."""

INDEPENDENT: dict[str, control.Disturbance] = {
    "LDS, gradual": control.GaussianDisturbance(1.0),
    "LDS, abrupt": control.GaussianDisturbance(1.0),
    "pendulum": control.GaussianDisturbance(PUSH),
}
"""Disturbances of the paper: their past tells nothing about their future."""

CORRELATED: dict[str, control.Disturbance] = {
    "LDS, gradual": control.SinusoidDisturbance(math.sqrt(2.0), period=40.0),
    "LDS, abrupt": control.RandomWalkDisturbance(0.3, bound=math.sqrt(6.0)),
    "pendulum": control.AutoregressiveDisturbance(0.95, scale=math.sqrt(1.0 - 0.95**2) * PUSH),
}
"""A wave, a drift, gusts of wind, as large as the independent ones: what disturbance-action policies are made for."""


def environment(name: str, correlated: bool, rounds: int, seed: int) -> Environment:
    """Return the environment of a seed.

    The disturbances of a linear system are in units in which independent ones cost LQR about one a round, so that the
    costs of different plants can be shown together. The pendulum's push its velocity only.
    """
    disturbance = (CORRELATED if correlated else INDEPENDENT)[name]
    rows = disturbance.sample(rounds, 2, seed=np.random.default_rng([seed, 1]))
    if name == "pendulum":
        push = rows * np.array([0.0, 1.0])
        return Environment(control.InvertedPendulum(), control.pendulum(rounds), push, 5)
    system = control.random_system(2, 1, seed=seed)
    plant = control.TimeVaryingSystem(system.A, system.B, seed=seed)
    costs = control.gradual(rounds) if name == "LDS, gradual" else control.abrupt(rounds, stages=STAGES, seed=seed)
    return Environment(plant, costs, rows / math.sqrt(_cost_of_noise(system)), 10)


def _cost_of_noise(system: control.LinearSystem) -> float:
    """Return what LQR with unit weights pays in a round, on average, for independent noise of variance 1."""
    from scipy.linalg import solve_discrete_lyapunov

    K = control.lqr(system)
    closed = system.A - system.B @ K
    return float(np.trace(solve_discrete_lyapunov(closed.T, np.eye(system.state_dim) + K.T @ K)))
