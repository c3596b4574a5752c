"""A plant of python-control in continuous time, as a controller that comes by once every dt seconds sees it."""

from typing import Any

import numpy as np

from driftwise._extras import optional
from driftwise._validate import Array, checked, describe, number, whole
from driftwise.errors import InputError

OWNER = "sampled"


@checked
def sampled(system: Any, dt: float, *, steps: int = 10) -> Any:
    """Return a nonlinear system in continuous time as one in discrete time, its input held from sample to sample.

    python-control does not mix the two in one diagram, and learning controllers are in discrete time. For a linear
    system ``control.c2d(system, dt)`` is exact; this is what it is for all others, by Runge-Kutta steps of order 4.

    Parameters
    ----------
    system : control.NonlinearIOSystem
        The system, in continuous time, such as ``control.nlsys(...)``; its signals keep their names.
    dt : float
        Time between two samples, in seconds, above zero.
    steps : int, default 10
        Steps from one sample to the next. The error of dt / steps falls with its fourth power.

    Returns
    -------
    control.NonlinearIOSystem

    Raises
    ------
    InputError
        If this is no system of python-control in continuous time.

    Examples
    --------
    >>> import control
    >>> import numpy as np
    >>> from driftwise.adapters.control import sampled
    >>> tank = control.nlsys(lambda t, x, u, params: u - np.sqrt(abs(x)), inputs=1, states=1)
    >>> every_second = sampled(tank, dt=1.0)
    >>> every_second.dynamics(0.0, [1.0], [0.0]).round(6), every_second.dt  # the level falls as (1 - t / 2)^2
    (array([0.25]), 1.0)
    """
    ct = optional("driftwise.adapters.control", "control", "control")
    step, count = number(OWNER, "dt", dt, low=0.0, exclusive=True), whole(OWNER, "steps", steps)
    if not isinstance(system, ct.NonlinearIOSystem) or system.nstates is None or not system.isctime():
        raise InputError(
            f"{OWNER}: system must be a control.NonlinearIOSystem in continuous time with a known number of states, "
            f"such as control.nlsys(...), got {describe(system)}."
        )
    held = _Held(system, step, count)
    labels = {"inputs": system.input_labels, "outputs": system.output_labels, "states": system.state_labels}
    return ct.NonlinearIOSystem(held.update, held.output, params=system.params, dt=step, name=system.name, **labels)


class _Held:
    """The update and the output of a system whose input is held."""

    def __init__(self, system: Any, dt: float, steps: int) -> None:
        self._system, self._steps, self._step = system, steps, dt / steps

    def update(self, t: float, x: Array, u: Array, params: dict[str, Any]) -> Array:
        """Return the state one sample later."""
        h, slope = self._step, self._system.dynamics
        for k in range(self._steps):
            now = t + k * h
            first = slope(now, x, u, params)
            second = slope(now + 0.5 * h, x + 0.5 * h * first, u, params)
            third = slope(now + 0.5 * h, x + 0.5 * h * second, u, params)
            last = slope(now + h, x + h * third, u, params)
            x = x + h / 6.0 * (first + 2.0 * second + 2.0 * third + last)
        return np.asarray(x)

    def output(self, t: float, x: Array, u: Array, params: dict[str, Any]) -> Array:
        """Return the output at a sample."""
        return np.asarray(self._system.output(t, x, u, params))
