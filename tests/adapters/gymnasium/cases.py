"""Environments and controllers that the tests share."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

import driftwise as dw
import driftwise.adapters.gymnasium
from driftwise import control

A, B = np.array([[0.95, 0.2], [-0.1, 0.9]]), np.array([[0.05], [0.5]])
PLANT = control.LinearSystem(A, B, input_limit=1.5)
SEEN = control.LinearSystem(A, B, [[1.0, 0.0], [0.0, 1.0]], input_limit=1.5)
"""The same with a C, as a controller of outputs wants it."""
SINE = control.SinusoidDisturbance(0.1, period=30.0)

ENVIRONMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "a double integrator": ("LinearSystem", {}),
    "matrices": ("LinearSystem", {"A": A, "B": B}),
    "two inputs": ("LinearSystem", {"A": A, "B": np.eye(2), "input_limit": [1.0, 3.0]}),
    "limits on one side": ("LinearSystem", {"plant": control.LinearSystem(A, B, input_limit=[[0.0, 3.0]])}),
    "one limit missing": (
        "LinearSystem",
        {"plant": control.LinearSystem(A, B, input_limit=[[-np.inf, 0.5]]), "input_limit": 2.0},
    ),
    "a rate limit": ("LinearSystem", {"plant": control.LinearSystem(A, B, rate_limit=0.2)}),
    "a delay": ("LinearSystem", {"plant": control.LinearSystem(A, B, delay=2)}),
    "a delay and a lag": ("LinearSystem", {"plant": control.LinearSystem(A, B, delay=1, lag=0.5)}),
    "an output": ("LinearSystem", {"plant": control.LinearSystem(A, B, [[1.0, 0.0]])}),
    "matrices that change": ("LinearSystem", {"plant": control.TimeVaryingSystem(A, B, spread_A=0.1)}),
    "a random start": ("LinearSystem", {"A": A, "B": B, "start": [1.0, 0.0], "spread": [0.5, 0.0]}),
    "disturbances as an array": ("LinearSystem", {"A": A, "B": B, "disturbance": np.ones((30, 2))}),
    "noise": ("LinearSystem", {"A": A, "B": B, "disturbance": control.GaussianDisturbance(0.1)}),
    "an adversary": ("LinearSystem", {"A": A, "B": B, "disturbance": control.AdversarialDisturbance(0.1)}),
    "a cost for each round": (
        "LinearSystem",
        {"A": A, "B": B, "horizon": 20, "cost": [control.QuadraticCost(1.0 + t, 1.0) for t in range(20)]},
    ),
    "an early end": ("LinearSystem", {"A": 1.2 * A, "B": B, "state_limit": 0.3}),
    "actions in units of the plant": ("LinearSystem", {"plant": PLANT, "unit_actions": False}),
    "no limit at all": ("LinearSystem", {"A": A, "B": B, "unit_actions": False}),
    "a pendulum": ("InvertedPendulum", {}),
    "a strong pendulum": (
        "InvertedPendulum",
        {"plant": control.InvertedPendulum(torque_limit=5.0, delay=1), "spread": [0.3, 1.0]},
    ),
    "a torque in N m": ("InvertedPendulum", {"unit_actions": False, "horizon": 50}),
}
"""Environments by what is special about them."""


def make(case: str, **more: Any) -> Any:
    """Return an environment as gymnasium makes it."""
    name, options = ENVIRONMENTS[case]
    return gym.make(f"driftwise/{name}-v0", **{**options, **more})


def linear(**options: Any) -> Any:
    """Return the plant of these tests as an environment, with actions that are inputs."""
    settings = {"plant": PLANT, "disturbance": SINE, "unit_actions": False, **options}
    return gym.make("driftwise/LinearSystem-v0", **settings)


CONTROLLERS: dict[str, Callable[[control.LinearSystem], control.Controller]] = {
    "AdaptiveController": control.AdaptiveController,
    "AderController": lambda plant: control.AderController(plant, horizon=210),
    "DisturbanceActionController": lambda plant: control.DisturbanceActionController(
        plant, dw.OGD(dw.SpectralBalls((4, 1, 2), radii=2.0), step=1e-3)
    ),
    "ExploreThenCommit": lambda plant: control.ExploreThenCommit(
        K=control.lqr(plant), state_dim=2, input_dim=1, horizon=210, seed=1
    ),
    "GradientController": lambda plant: control.GradientController(plant, horizon=210),
    "LazyScreamController": lambda plant: control.LazyScreamController(plant, horizon=210),
    "LinearController": control.LinearController,
    "OutputFeedback": control.OutputFeedback,
    "PolicyController": lambda plant: control.PolicyController(
        plant, control.DisturbanceAction(control.lqr(plant), np.full((3, 1, 2), -0.1))
    ),
    "ScreamController": lambda plant: control.ScreamController(plant, horizon=210),
    "SelfTunedController": control.SelfTunedController,
}
"""Every public controller, for a plant of two states and an input; that of outputs needs a C."""
