"""Explorations that several tests of this room use."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.control.identification import METHODS

A = np.array([[0.9, 0.5, 0.0], [0.0, 0.7, 0.4], [-0.3, 0.0, 0.8]])


B = np.array([[0.3, 1.0], [1.0, 0.0], [0.0, -0.6]])


K = np.array([[0.2, 0.3, 0.1], [0.1, 0.0, -0.2]])


"""Three states and two inputs, stable without and with the gain."""


ALL = pytest.mark.parametrize("method", list(METHODS))


PROBED = pytest.mark.parametrize("method", ["iv", "moments"])


Run = tuple[Array, Array, Array]


def signs(rounds: int, inputs: int, scale: float = 1.0, seed: int = 0) -> Array:
    return scale * np.random.default_rng([seed, 5]).choice([-1.0, 1.0], (rounds, inputs))


def play(
    rounds: int = 400, noise: float = 0.3, *, seed: int = 0, plant: tuple[Array, Array, Array] = (A, B, K), **how: Any
) -> Run:
    """Play -K x + probe, up to a limit, under Gaussian noise or the disturbances given."""
    A, B, K = plant
    states, inputs = B.shape
    w = how.get("disturbances", noise * np.random.default_rng([seed, 6]).normal(size=(rounds, states)))
    probes, limit = how.get("probes", signs(rounds, inputs, seed=seed)), how.get("limit", np.inf)
    x, u = np.zeros((rounds + 1, states)), np.zeros((rounds, inputs))
    for t in range(rounds):
        u[t] = np.clip(probes[t] - K @ x[t], -limit, limit)
        x[t + 1] = A @ x[t] + B @ u[t] + w[t]
    return x, u, probes


def miss(found: dw.control.Identified, A: Array = A, B: Array = B) -> float:
    return float(max(np.linalg.norm(found.A - A, 2), np.linalg.norm(found.B - B, 2)))
