"""Members of a committee that learn: gradient descent with a small, a middle and a large step."""

import math

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.learners import OGD
from driftwise.losses import LossStream
from driftwise.play import play

STEPS = {"small": 0.2, "middle": 1.0, "large": 5.0}
"""In units of D / (G sqrt T)."""


def descents(losses: LossStream, domain: Domain, gradient_bound: float, start: Array) -> dict[str, Array]:
    """Return the decisions of gradient descent with three steps, all from the same start."""
    unit = domain.diameter / (gradient_bound * math.sqrt(len(losses)))
    return {
        f"Gradient descent, {name} step": play(OGD(domain, step=size * unit, start=start), losses).decisions
        for name, size in STEPS.items()
    }
