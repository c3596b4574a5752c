"""The record of a simulation, from which everything about it can be computed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from driftwise._validate import Array
from driftwise.control.controllers import Controller, LearningController
from driftwise.control.costs import CostSequence
from driftwise.control.plants.systems import System
from driftwise.control.self_tuned.controller import SelfTunedController

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False, eq=False)
class ControlTrace:
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

    states: Array
    inputs: Array
    costs: Array
    disturbances: Array
    final_state: Array
    weights: Array | None
    policies: Array | None
    system: System
    controller: Controller
    cost_sequence: CostSequence

    @property
    def total(self) -> float:
        """Sum of the costs."""
        return float(self.costs.sum())

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
            f"{type(self.controller).__name__}, {rounds} rounds, {dx} states, {self.inputs.shape[1]} inputs",
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
        from driftwise.control import plots

        return plots.overview(self)

    def __repr__(self) -> str:
        return f"ControlTrace({type(self.controller).__name__}, rounds={len(self.costs)}, total={self.total:.6g})"
