"""The record of a simulation, from which everything about it can be computed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from driftwise._validate import Array
from driftwise.control import drawing
from driftwise.control.controllers import Controller, LearningController
from driftwise.control.costs import CostSequence
from driftwise.control.costs.run import Run
from driftwise.control.plants import System
from driftwise.control.self_tuned import SelfTunedController
from driftwise.learners import Ensemble

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False, eq=False)
class ControlTrace(Run):
    """What happened in a run of `simulate`.

    Attributes
    ----------
    states : array of shape (T, dx)
        x_t.
    inputs : array of shape (T, du)
        u_t as the plant got it, after its actuator's limit.
    costs : array of shape (T,)
        c_t(x_t, u_t).
    disturbances : array of shape (T, dx)
        w_t, as it was added to the state.
    final_state : array of shape (dx,)
        x_T, the state after the last round.
    weights : array of shape (T, N), or None
        Weights of the base-learners, if they were recorded.
    policies : array of shape (T, H, du, dx), or None
        M_t, if they were recorded.
    system : System
        The plant.
    controller : Controller
        The controller as it was before the run.
    cost_sequence : CostSequence
        c_0, ..., c_{T-1}.
    """

    disturbances: Array
    final_state: Array
    weights: Array | None
    policies: Array | None
    system: System
    controller: Controller
    cost_sequence: CostSequence

    @property
    def label(self) -> str:
        """What the run is called in a figure: its controller."""
        return type(self.controller).__name__

    @property
    def last_steps(self) -> Array | None:
        """Step sizes of the base-learners at the end of the run; None where there are fewer than two."""
        learner, count = getattr(self.controller, "learner", None), 2 if self.weights is None else self.weights.shape[1]
        if not isinstance(learner, Ensemble) or learner.program.steps.size < max(count, 2):
            return None
        program, played = learner.program, learner.round + len(self.costs)
        return np.asarray(program.steps[:count] / np.sqrt(program.clock_at(-(-played // program.epoch))))

    @property
    def effective_disturbances(self) -> Array:
        """What the nominal pair does not explain, x_{t+1} - A x_t - B u_t: what a controller sees as disturbance."""
        following = np.vstack([self.states[1:], self.final_state])
        return np.asarray(following - self.states @ self.system.A.T - self.inputs @ self.system.B.T)

    def summary(self) -> str:
        """Return the run in a few lines of text.

        Examples
        --------
        >>> import driftwise as dw
        >>> plant = dw.control.LinearSystem(0.5, 1.0)
        >>> controller = dw.control.LinearController(plant, K=[[0.5]])
        >>> print(dw.control.simulate(plant, controller, dw.control.QuadraticCost(1.0, 1.0), [1.0, 0.0, 0.0]).summary())
        LinearController, 3 rounds, 1 states, 1 inputs
          total cost                   1.25   (0.4167 a round)
          largest state                   1
          largest input                 0.5
        """
        rounds, dx = self.states.shape
        lines = [
            f"{self.label}, {rounds} rounds, {dx} states, {self.inputs.shape[1]} inputs",
            f"  total cost       {self.total:>15.4g}   ({self.total / rounds:.4g} a round)",
            f"  largest state    {np.linalg.norm(self.states, axis=1).max():>15.4g}",
            f"  largest input    {np.linalg.norm(self.inputs, axis=1).max():>15.4g}",
        ]
        if isinstance(self.controller, LearningController):
            lines.append(f"  Scale of the constants: {self.controller.scale}. {self.controller.guarantee}")
        elif isinstance(self.controller, SelfTunedController):
            lines.append(f"  {self.controller.guarantee}")
        return "\n".join(lines)

    def plot(self) -> "Figure":
        """Draw states, inputs, cumulative cost and (if recorded) weights, and return the matplotlib figure."""
        return drawing.overview("plots.overview", self, self.weights, self.last_steps)

    def __repr__(self) -> str:
        return f"ControlTrace({self.label}, rounds={len(self.costs)}, total={self.total:.6g})"
