"""python-control: driftwise's controllers, learning, in its block diagrams, and its plants sampled for them.

What does not learn is linear, and has been a `control.StateSpace` all along: ``controller.to_control()``,
``plant.to_control()`` and ``LinearSystem.from_control(statespace)``.
"""

from driftwise.adapters.control.sampled import sampled
from driftwise.adapters.control.system import ControllerSystem

__all__ = ["ControllerSystem", "sampled"]
