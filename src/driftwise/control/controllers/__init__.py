"""Controllers: one protocol, ``u = act(x)``, then ``observe(cost)``."""

from driftwise.control.controllers.base import Controller
from driftwise.control.controllers.disturbance_action import DisturbanceActionController
from driftwise.control.controllers.guard import Event, Guard, Health
from driftwise.control.controllers.learning import LearningController
from driftwise.control.controllers.linear import LinearController, PolicyController
from driftwise.control.controllers.named import (
    AderController,
    GradientController,
    LazyScreamController,
    ScreamController,
)

__all__ = [
    "AderController",
    "Controller",
    "DisturbanceActionController",
    "Event",
    "GradientController",
    "Guard",
    "Health",
    "LazyScreamController",
    "LearningController",
    "LinearController",
    "PolicyController",
    "ScreamController",
]
