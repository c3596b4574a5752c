"""The record of a controller's run on an environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from driftwise._frames import Part, Record
from driftwise._validate import Array
from driftwise.control.controllers import Controller
from driftwise.control.costs.run import Run

LAYOUT = (Part("cost"), Part("reward"), Part("x", 1), Part("u", 1), Part("next_x", 1))
"""Columns of such a record as a table."""


@dataclass(frozen=True, repr=False, eq=False)
class EnvTrace(Record, Run):
    """What happened in one episode of an environment under a controller, as `run` returns it.

    Attributes
    ----------
    states : array of shape (T, dx)
        x_t, as the controller was told.
    inputs : array of shape (T, du)
        u_t as it was applied, in units of the controller.
    costs : array of shape (T,)
        c_t(x_t, u_t); minus the reward for a controller of outputs, which does not see x_t.
    rewards : array of shape (T,)
        What the environment gave.
    final_state : array of shape (dx,)
        x_T.
    terminated : bool
        Whether the environment ended the episode.
    truncated : bool
        Whether the environment's time was over.
    controller : Controller
        The controller as it was before the run.

    Examples
    --------
    >>> import gymnasium
    >>> import driftwise as dw
    >>> from driftwise.adapters.gymnasium import run
    >>> env = gymnasium.make("driftwise/LinearSystem-v0", A=[[1.0]], B=[[1.0]], disturbance=[1.0, 0.0, 0.0])
    >>> controller = dw.control.LinearController(dw.control.LinearSystem(1.0, 1.0), K=[[0.5]])
    >>> run(env, controller).to_pandas()
       round    cost  reward  x_0   u_0  next_x_0
    0      0  0.0000 -0.0000  0.0  0.00      1.00
    1      1  1.2500 -1.2500  1.0 -0.50      0.50
    2      2  0.3125 -0.3125  0.5 -0.25       0.25
    """

    rewards: Array
    final_state: Array
    terminated: bool
    truncated: bool
    controller: Controller

    _layout: ClassVar = LAYOUT
    _outside: ClassVar = ("controller",)

    @property
    def label(self) -> str:
        """What the run is called in a figure: its controller."""
        return type(self.controller).__name__

    def _parts(self) -> "Mapping[str, Array | None]":
        following = np.vstack([self.states[1:], self.final_state])
        return {"cost": self.costs, "reward": self.rewards, "x": self.states, "u": self.inputs, "next_x": following}

    def _settings(self) -> Mapping[str, Any]:
        return {"controller": self.label, "terminated": self.terminated, "truncated": self.truncated}

    def __repr__(self) -> str:
        ended = ", terminated=True" if self.terminated else ""
        return f"EnvTrace({self.label}, rounds={len(self.costs)}, total={self.total:.6g}{ended})"
