"""A learner of your own
=====================

A learner of your own in twenty lines: subclass `Learner`, write two methods, run the public checks over it.

Order, validation, horizon, cloning and pickling are taken care of by the base class. You see that the checks pass, and
what the learner costs on the paper's stream beside `SelfTunedScream`.
"""

import numpy as np
import numpy.typing as npt

import driftwise as dw
from driftwise.testing import check_learner


class Momentum(dw.Learner):
    """Gradient descent with a memory of its last steps."""

    def __init__(self, domain: dw.Domain, step: float) -> None:
        super().__init__(domain)
        self.step, self.point, self.velocity = step, domain.project(np.zeros(domain.dim)), np.zeros(domain.dim)

    def _decide(self) -> npt.NDArray[np.float64]:
        return self.point

    def _learn(self, gradient: npt.NDArray[np.float64]) -> None:
        self.velocity = 0.9 * self.velocity - self.step * gradient
        self.point = self.domain.project(self.point + self.velocity)


check_learner(lambda: Momentum(dw.Ball(3), step=0.01), dw.streams.drifting_regression(rounds=200, dim=3))
print("Momentum passes every check of check_learner.")

losses = dw.streams.drifting_regression(rounds=5000, dim=3, segment=1000, seed=1)
for learner in (Momentum(dw.Ball(3), step=0.01), dw.SelfTunedScream(dw.Ball(3), switching_cost=1.0)):
    print(dw.play(learner, losses, switching_cost=1.0).summary())
