"""The record of a simulation, from which everything about it can be computed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from driftwise._frames import MAX_BYTES, Part, Record, Table
from driftwise._frames.files import read_parquet
from driftwise._frames.frames import from_pandas, from_polars
from driftwise._html import Card, Curve, Picture, counted, paths
from driftwise._validate import Array, checked, instance
from driftwise.control import drawing
from driftwise.control.controllers import Controller, LearningController
from driftwise.control.costs import Cost, CostSequence, as_costs
from driftwise.control.costs.run import Run
from driftwise.control.plants import PLANT_HINT, System
from driftwise.control.self_tuned import SelfTunedController
from driftwise.errors import InputError
from driftwise.learners import Ensemble

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

LAYOUT = (
    Part("cost"),
    Part("x", 1),
    Part("u", 1),
    Part("w", 1),
    Part("next_x", 1),
    Part("weight", 1, required=False),
    Part("M", 3, required=False),
)
"""Columns of a control trace as a table. Each row has the next state too, so that the one after the last is kept."""


@dataclass(frozen=True, repr=False, eq=False)
class ControlTrace(Record, Run):
    """What happened in a run of `simulate`.

    It goes to and from pandas, polars and parquet; see `to_pandas` and `from_pandas`.

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

    Examples
    --------
    >>> import driftwise as dw
    >>> plant, cost = dw.control.LinearSystem(0.5, 1.0), dw.control.QuadraticCost(1.0, 1.0)
    >>> controller = dw.control.LinearController(plant, K=[[0.5]])
    >>> trace = dw.control.simulate(plant, controller, cost, [1.0, 0.0, 0.0])
    >>> trace
    ControlTrace(LinearController, rounds=3, total=1.25)
    >>> trace.states.ravel(), trace.inputs.ravel(), trace.costs
    (array([0., 1., 0.]), array([ 0. , -0.5,  0. ]), array([0.  , 1.25, 0.  ]))
    """

    disturbances: Array
    final_state: Array
    weights: Array | None
    policies: Array | None
    system: System
    controller: Controller
    cost_sequence: CostSequence

    _layout: ClassVar = LAYOUT
    _outside: ClassVar = ("system", "controller", "cost_sequence")

    @property
    def label(self) -> str:
        """What the run is called in a figure: its controller."""
        return self._maker("controller") or "unknown controller"

    @property
    def _seen(self) -> Controller | None:
        """The controller; None for a record that was read without it."""
        return vars(self).get("controller")

    @property
    def last_steps(self) -> Array | None:
        """Step sizes of the base-learners at the end of the run; None where there are fewer than two."""
        learner, count = getattr(self._seen, "learner", None), 2 if self.weights is None else self.weights.shape[1]
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
        if isinstance(self._seen, LearningController):
            lines.append(f"  Scale of the constants: {self._seen.scale}. {self._seen.guarantee}")
        elif isinstance(self._seen, SelfTunedController):
            lines.append(f"  {self._seen.guarantee}")
        return "\n".join(lines)

    def plot(self) -> "Figure":
        """Draw states, inputs, cumulative cost and (if recorded) weights, and return the matplotlib figure."""
        return drawing.overview("plots.overview", self, self.weights, self.last_steps)

    def _card(self) -> Card:
        rounds, dx = self.states.shape
        rows = [
            ("rounds", f"{rounds} of {counted(dx, 'state')} and {counted(self.inputs.shape[1], 'input')}{self._span}"),
            ("total cost", f"{self.total:.6g}, {self.total / rounds:.4g} a round"),
            ("largest state", f"{np.linalg.norm(self.states, axis=1).max():.4g}"),
            ("largest input", f"{np.linalg.norm(self.inputs, axis=1).max():.4g}"),
        ]
        pictures = [
            Picture("cumulative cost", [Curve("cost", np.cumsum(self.costs), filled=True)]),
            Picture("states", list(paths(self.states, "x"))),
            Picture("inputs", list(paths(self.inputs, "u"))),
        ]
        return Card(f"ControlTrace of {self.label}", rows, pictures=pictures)

    def __repr__(self) -> str:
        return f"ControlTrace({self.label}, rounds={len(self.costs)}, total={self.total:.6g})"

    @classmethod
    @checked
    def from_pandas(
        cls,
        frame: Any,
        *,
        system: System | None = None,
        controller: Controller | None = None,
        cost_sequence: "Cost | CostSequence | Sequence[Cost] | None" = None,
    ) -> Self:
        """Return the run that a pandas DataFrame holds, bit for bit.

        The columns are those of `to_pandas`, in any order: ``round``, ``cost``, states ``x_0``, ``x_1``, ..., inputs
        ``u_0``, ..., disturbances ``w_0``, ..., the states that followed ``next_x_0``, ..., and if they were recorded
        ``weight_0``, ... and policies ``M_0_0_0``, .... The index does not matter.

        Parameters
        ----------
        frame : pandas.DataFrame
            One row a round, in order.
        system : System, optional
            The plant. Without it everything works that does not need it, and what does need it says so; the same
            holds for the next two.
        controller : Controller, optional
            The controller as it was before the run.
        cost_sequence : Cost, CostSequence or list of Cost, optional
            One cost for all rounds, or one a round.

        Returns
        -------
        ControlTrace

        Raises
        ------
        InputError
            If columns are missing, unknown, not float64 or not finite; if rows are out of order, or a row's next
            state is not the state of the next row; if what is given by keyword has other dimensions.

        Examples
        --------
        >>> import driftwise as dw
        >>> plant, cost = dw.control.LinearSystem(0.5, 1.0), dw.control.QuadraticCost(1.0, 1.0)
        >>> controller = dw.control.LinearController(plant, K=[[0.5]])
        >>> frame = dw.control.simulate(plant, controller, cost, [1.0, 0.0, 0.0]).to_pandas()
        >>> frame
           round  cost  x_0  u_0  w_0  next_x_0
        0      0  0.00  0.0  0.0  1.0       1.0
        1      1  1.25  1.0 -0.5  0.0       0.0
        2      2  0.00  0.0  0.0  0.0       0.0
        >>> dw.control.ControlTrace.from_pandas(frame, system=plant, cost_sequence=cost)
        ControlTrace(LinearController, rounds=3, total=1.25)
        """
        owner = "ControlTrace.from_pandas"
        return cls._restored(owner, from_pandas(owner, frame), system, controller, cost_sequence)

    @classmethod
    @checked
    def from_polars(
        cls,
        frame: "polars.DataFrame",
        *,
        system: System | None = None,
        controller: Controller | None = None,
        cost_sequence: "Cost | CostSequence | Sequence[Cost] | None" = None,
    ) -> Self:
        """Return the run that a polars DataFrame holds, bit for bit.

        Parameters
        ----------
        frame : polars.DataFrame
            One row a round, in order, with the columns that `from_pandas` describes.
        system, controller, cost_sequence : optional
            As in `from_pandas`.

        Returns
        -------
        ControlTrace

        Examples
        --------
        >>> import driftwise as dw
        >>> plant, cost = dw.control.LinearSystem(0.5, 1.0), dw.control.QuadraticCost(1.0, 1.0)
        >>> controller = dw.control.LinearController(plant, K=[[0.5]])
        >>> frame = dw.control.simulate(plant, controller, cost, [1.0, 0.0, 0.0]).to_polars()
        >>> dw.control.ControlTrace.from_polars(frame, controller=controller)
        ControlTrace(LinearController, rounds=3, total=1.25)
        """
        owner = "ControlTrace.from_polars"
        return cls._restored(owner, from_polars(owner, frame), system, controller, cost_sequence)

    @classmethod
    @checked
    def from_parquet(
        cls,
        path: str | os.PathLike[str],
        *,
        system: System | None = None,
        controller: Controller | None = None,
        cost_sequence: "Cost | CostSequence | Sequence[Cost] | None" = None,
        max_bytes: int = MAX_BYTES,
    ) -> Self:
        """Return the run that a parquet file holds, bit for bit.

        Parameters
        ----------
        path : str or path
            A file that `to_parquet` wrote, or another one with the columns that `from_pandas` describes.
        system, controller, cost_sequence : optional
            As in `from_pandas`.
        max_bytes : int, default 2147483648
            Largest file, and largest table in memory, that is read, in bytes.

        Returns
        -------
        ControlTrace

        Raises
        ------
        CheckpointError
            If the file is not a parquet file, is damaged, or was changed since driftwise wrote it.
        InputError
            As in `from_pandas`, and for more than `max_bytes`.
        StorageError
            If the file does not exist or cannot be read.

        Examples
        --------
        >>> import tempfile
        >>> import driftwise as dw
        >>> plant, cost = dw.control.LinearSystem(0.5, 1.0), dw.control.QuadraticCost(1.0, 1.0)
        >>> controller = dw.control.LinearController(plant, K=[[0.5]])
        >>> trace = dw.control.simulate(plant, controller, cost, [1.0, 0.0, 0.0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     trace.to_parquet(f"{folder}/run.parquet")
        ...     dw.control.ControlTrace.from_parquet(f"{folder}/run.parquet")
        ControlTrace(LinearController, rounds=3, total=1.25)
        """
        owner = "ControlTrace.from_parquet"
        return cls._restored(owner, read_parquet(owner, path, max_bytes), system, controller, cost_sequence)

    def _parts(self) -> "Mapping[str, Array | None]":
        return {
            "cost": self.costs,
            "x": self.states,
            "u": self.inputs,
            "w": self.disturbances,
            "next_x": np.vstack([self.states[1:], self.final_state]),
            "weight": self.weights,
            "M": self.policies,
        }

    def _settings(self) -> Mapping[str, Any]:
        return {"controller": self._maker("controller")}

    @classmethod
    def _restored(
        cls,
        owner: str,
        table: Table,
        system: System | None,
        controller: Controller | None,
        cost_sequence: "Cost | CostSequence | Sequence[Cost] | None",
    ) -> Self:
        """Return the run of a table, with what was given by keyword, if all of it fits together."""
        parts, settings = cls._read(owner, table)
        states, inputs, following = _checked_sides(owner, parts)
        dims = states.shape[1], inputs.shape[1]
        if system is not None:
            instance(owner, "system", system, System, PLANT_HINT)
        if controller is not None:
            instance(owner, "controller", controller, Controller, "the one that was run, as it was before")
            if settings.get("controller") not in (None, type(controller).__name__):
                raise InputError(
                    f"{owner}: the run is one of {settings['controller']!r:.60}, and the controller given is "
                    f"{controller!r:.60}."
                )
        for name, given in (("system", system), ("controller", controller)):
            if given is not None and (given.state_dim, given.input_dim) != dims:
                raise InputError(
                    f"{owner}: the run has {dims[0]} states and {dims[1]} inputs, and {name} is {given!r:.60}."
                )
        costs = None if cost_sequence is None else as_costs(owner, cost_sequence, len(states), *dims)
        held: dict[str, Any] = {
            "states": states,
            "inputs": inputs,
            "costs": parts["cost"],
            "disturbances": parts["w"],
            "final_state": following[-1].copy(),
            "weights": parts["weight"],
            "policies": parts["M"],
        }
        outside = {"system": system, "controller": controller, "cost_sequence": costs}
        held["_index"] = table.index
        return cls._made_of(settings.get("controller"), held, outside)


def _checked_sides(owner: str, parts: "Mapping[str, Array | None]") -> tuple[Array, Array, Array]:
    """Return states, inputs and following states of a table, if its parts fit together."""
    states, inputs, disturbances, following = (parts[name] for name in ("x", "u", "w", "next_x"))
    assert states is not None and inputs is not None and disturbances is not None and following is not None  # noqa: PT018
    sides = {"w": disturbances.shape[1:], "next_x": following.shape[1:]}
    dx, policies = states.shape[1:], parts["M"]
    if policies is not None:
        sides["M"] = policies.shape[2:]
    expected = {"M": (inputs.shape[1], *dx)}
    for name, side in sides.items():
        if side != expected.get(name, dx):
            raise InputError(
                f"{owner}: there are {dx[0]} states x and {inputs.shape[1]} inputs u, but the columns {name} are "
                f"{' by '.join(map(str, side))}."
            )
    wrong = np.argwhere(following[:-1] != states[1:])
    if wrong.size:
        t, i = (int(place) for place in wrong[0])
        raise InputError(
            f"{owner}: next_x_{i} is {following[t, i]:.9g} in round {t}, and x_{i} is {states[t + 1, i]:.9g} in round "
            f"{t + 1}; rows or columns are not those of one run."
        )
    return states, inputs, following
