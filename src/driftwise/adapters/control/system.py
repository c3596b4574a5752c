"""A controller that learns, as a block of python-control."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._extras import optional
from driftwise._validate import Array, Checked, array, describe, instance, number
from driftwise.adapters.control.histories import Histories, Told
from driftwise.control.controllers import Controller
from driftwise.control.costs import Cost, CostSequence, as_costs
from driftwise.errors import HorizonError, InputError, ParameterError

ct = optional("driftwise.adapters.control", "control", "control")

NAME = "ControllerSystem"


class ControllerSystem(ct.NonlinearIOSystem, metaclass=Checked):  # type: ignore[misc, name-defined]
    """A controller that learns, as a nonlinear system of python-control in discrete time.

    It goes wherever a `control.NonlinearIOSystem` goes: `control.interconnect`, `control.feedback`,
    `control.input_output_response`. What learns no longer is linear: ``controller.to_control()`` is a
    `control.StateSpace`, with Bode plots and margins.

    ========= ====== ===========================================================================================
    Signal    Name   Meaning
    ========= ====== ===========================================================================================
    inputs    y      what the controller is given: the states, or the outputs if it is one of outputs
    inputs    r      a set-point for every state, with ``reference=True``
    inputs    v      the inputs of the plant as its actuator let them through, with ``applied=True``
    outputs   u      the inputs for the plant
    state     rounds a number for what the controller has been through; 0 is nothing
    ========= ====== ===========================================================================================

    Its state is no physical quantity, but the name of a history of rounds. The system remembers what the controller did
    after each history that it was asked about, so that it is a function of its state as a diagram needs it to be: two
    responses from the same start are the same, and one with another input begins anew from what was given here. In the
    first response its numbers count the rounds. A number that it has not given out itself is refused: what learns
    has no linearisation, and cannot be integrated in continuous time.

    Parameters
    ----------
    controller : Controller
        Any of driftwise's controllers, or one of your own. It begins as this one is now, which is left as it is.
    cost : Cost, CostSequence or list of Cost
        What is revealed to it: one cost for all rounds, or one a round.
    dt : float or True, optional
        Time between two rounds, above zero; True leaves it unspecified. That of the controller's plant when left out,
        unspecified if it has none.
    around : pair of arrays, optional
        Operating point (y, u) about which the controller's plant was linearised: it is told y less the first, and what
        it does is added to the second. Its costs, bounds and set-points count from there. Zeros when left out.
    reference : bool, default False
        Have an input for the set-point of every state.
    applied : bool, default False
        Have an input for what the actuator really did in the same round, if it has limits that the controller was not
        told.
    name : str, optional
        What the block is called.

    Raises
    ------
    HorizonError
        By responses of more time points than the controller has rounds left, or there are costs.

    See Also
    --------
    driftwise.control.LinearSystem.to_control : plants, with an input for disturbances.

    Notes
    -----
    A round costs two copies of the controller, since a diagram is tried with inputs of zero before the loop is closed,
    and the memory of its answers, about 2 kB; one state of the controller is kept in every 64 rounds, and what is asked
    about a round in between is played again from there.

    Examples
    --------
    A double integrator that is pushed by a wave, which the controller learns to foresee:

    >>> import control
    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.adapters.control import ControllerSystem
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> block = ControllerSystem(dw.control.SelfTunedController(plant), cost)
    >>> loop = control.interconnect(
    ...     [plant.to_control(disturbances=True), block], inputs=["w[0]", "w[1]"], outputs=["y[0]", "y[1]", "u[0]"]
    ... )
    >>> t = np.arange(500)
    >>> pushes = np.array([np.zeros(500), 0.1 * np.sin(t / 8.0)])
    >>> response = control.input_output_response(loop, t, pushes)
    >>> ours = dw.control.simulate(plant, dw.control.SelfTunedController(plant), cost, pushes.T)
    >>> bool(np.allclose(response.outputs[:2].T, ours.states, atol=1e-9))
    True
    >>> block.controller_at(response.states[-1, -1]).round
    499
    """

    def __init__(
        self,
        controller: Controller,
        cost: "Cost | CostSequence | Sequence[Cost]",
        *,
        dt: float | bool | None = None,
        around: tuple[ArrayLike, ArrayLike] | None = None,
        reference: bool = False,
        applied: bool = False,
        name: str | None = None,
    ) -> None:
        instance(NAME, "controller", controller, Controller, "SelfTunedController(LinearSystem(A, B))")
        controller.expect_act()
        if _deadline(controller) is not None:
            raise ParameterError(
                f"{NAME}: the guard of {controller!r} has a deadline by the clock, and a simulation has none; build it "
                "with Guard(deadline=None)."
            )
        for word, flag in (("reference", reference), ("applied", applied)):
            instance(NAME, word, flag, bool, "True")
        outputs: int | None = getattr(controller, "output_dim", None)
        if reference and outputs is None and not hasattr(controller, "_refer"):
            raise ParameterError(f"{NAME}: {controller!r} takes no references.")
        n, m = controller.state_dim, controller.input_dim
        seen = n if outputs is None else outputs
        self._sizes = seen, n * reference, m * applied
        self._costs = _read_costs(cost, n, m)
        self._offsets = _read_point(around, seen, m)
        self._histories = Histories(controller, self._cost_of)
        labels = [f"{letter}[{i}]" for letter, size in zip("yrv", self._sizes, strict=True) for i in range(size)]
        super().__init__(
            self._following,
            self._acting,
            inputs=labels,
            outputs=[f"u[{i}]" for i in range(m)],
            states=["rounds"],
            dt=_period(controller, dt),
            name=name,
        )

    def controller_at(self, state: float = 0.0) -> Controller:
        """Return the controller as it is after what this block has been through, to go on with or to look at.

        Parameters
        ----------
        state : float, default 0.0
            State of this block, such as the last one of a response; 0 is as it was given.
        """
        return self._histories.controller(self._history(np.atleast_1d(state)))

    def _acting(self, t: float, x: Array, u: Array, params: dict[str, Any]) -> Array:
        """Return the output."""
        told, _ = self._read(u)
        return self._offsets[1] + self._histories.input(self._history(x), told)

    def _following(self, t: float, x: Array, u: Array, params: dict[str, Any]) -> Array:
        """Return the next state."""
        told, applied = self._read(u)
        return np.array([self._histories.follow(self._history(x), told, applied)], dtype=np.float64)

    def _read(self, u: Array) -> tuple[Told, Array | None]:
        """Return what the controller is told, and what was applied."""
        seen, goals, inputs = self._sizes
        given = np.array(u, dtype=np.float64).reshape(-1)
        if given.size != seen + goals + inputs:
            raise InputError(f"{NAME}: this block has {seen + goals + inputs} inputs, got {given.size}.")
        reference = given[seen : seen + goals] if goals else None
        told = Told(given[:seen] - self._offsets[0], reference)
        return told, given[seen + goals :] - self._offsets[1] if inputs else None

    def _history(self, x: Array) -> int:
        """Return the history that a state stands for."""
        known = len(self._histories)
        if np.shape(x) != (1,) or not 0 <= x[0] < known or x[0] != int(x[0]):
            raise InputError(
                f"{NAME}: the state of {self.name} is the number of a history that it has given out itself, from 0 to "
                f"{known - 1}, got {np.array2string(np.asarray(x), threshold=6)}. What learns has no derivative by its "
                "state, and no rest; to linearise or to plot, take controller.to_control(), which has stopped learning."
            )
        return int(x[0])

    def _cost_of(self, t: int) -> Cost:
        """Return the cost of a round, counted from where the controller began."""
        if isinstance(self._costs, Cost):
            return self._costs
        if t >= len(self._costs):
            raise HorizonError(
                f"{NAME}: costs were given for {len(self._costs)} rounds, and a response needs one for each of its "
                "time points; give more, or one cost for all rounds."
            )
        return self._costs[t]


def _deadline(controller: Controller) -> float | None:
    """Return the deadline of the guard of a controller, or of the one inside."""
    guards = [getattr(one, "guard", None) for one in (controller, getattr(controller, "inner", None))]
    return next((found for guard in guards if (found := getattr(guard, "deadline", None)) is not None), None)


def _read_costs(cost: Any, n: int, m: int) -> Cost | CostSequence:
    """Return the cost of all rounds, or those of each, checked."""
    if isinstance(cost, Cost):
        return as_costs(NAME, cost, 1, n, m)[0]
    given = cost if isinstance(cost, CostSequence) else list(instance(NAME, "cost", cost, Sequence, "a Cost"))
    return as_costs(NAME, given, len(given), n, m)


def _read_point(around: Any, seen: int, m: int) -> tuple[Array, Array]:
    """Return the operating point."""
    if around is None:
        return np.zeros(seen), np.zeros(m)
    if not isinstance(around, tuple | list) or len(around) != 2:
        raise InputError(f"{NAME}: around must be a pair (y, u), got {describe(around)}.")
    y, u = (np.atleast_1d(np.asarray(part)) for part in around)
    return array(NAME, "around[0]", y, (seen,), copy=True), array(NAME, "around[1]", u, (m,), copy=True)


def _period(controller: Controller, dt: float | bool | None) -> float | bool:
    """Return the time between two rounds."""
    if dt is None:
        known: float | None = getattr(getattr(controller, "system", None), "dt", None)
        return True if known is None else known
    return True if dt is True else number(NAME, "dt", dt, low=0.0, exclusive=True)
