"""Controllers, learners and costs with methods of their own, which compiled code must not replace."""

import numpy as np
from numpy.typing import ArrayLike

import driftwise as dw
from driftwise import control
from driftwise._validate import Array


class Hand(control.ScreamController):
    """Scream with a method of its own that does nothing new: `simulate` has to call it."""

    calls = 0

    def act(self, x: ArrayLike) -> Array:  # type: ignore[override]
        type(self).calls += 1
        return super().act(x)


class HandLinear(control.LinearController):
    def act(self, x: ArrayLike) -> Array:  # type: ignore[override]
        return super().act(x)


class Steps(dw.Learner):
    """Gradient descent, written once more."""

    def __init__(self, domain: dw.Domain, step: float) -> None:
        super().__init__(domain)
        self.step, self.point = step, np.zeros(domain.dim)

    def _decide(self) -> Array:
        return self.point

    def _learn(self, gradient: Array) -> None:
        self.point = self.domain.project(self.point - self.step * gradient)


class Squares(control.QuadraticCost):
    """x'x + u'u with an arithmetic of its own."""

    def __init__(self) -> None:
        super().__init__(1.0, 1.0)

    def value(self, x: ArrayLike, u: ArrayLike) -> float:
        return float(np.sum(np.square(x)) + np.sum(np.square(u)))
