"""The linear system x_{t+1} = A x_t + B u_t + w_t, the plant of the theory (Section 5 of the paper)."""

from typing import Any, Self

import numpy as np

from driftwise._extras import optional
from driftwise._validate import number
from driftwise.control.plants.base import System
from driftwise.control.plants.kernels import LINEAR
from driftwise.errors import InputError


class LinearSystem(System):
    """The linear system x_{t+1} = A x_t + B u_t + w_t.

    The plant of the theory: regret is measured on it, as long as its inputs have no limit.

    Parameters
    ----------
    A : array of shape (states, states)
        Transition matrix; a number when there is one state.
    B : array of shape (states, inputs)
        Input matrix; a number when there is one state and one input.
    input_limit : float or array of shape (inputs,), optional
        Largest size of each input that the actuator delivers, above zero: the plant gets the input clipped to it. No
        limit when left out. With a limit the plant is no longer linear, and `linear` is False.

    See Also
    --------
    TimeVaryingSystem : matrices that change from round to round.
    double_integrator, random_system : systems to try things on.

    Examples
    --------
    >>> from driftwise.control import LinearSystem
    >>> system = LinearSystem([[1.0, 1.0], [0.0, 1.0]], [[0.0], [1.0]])
    >>> system.state_dim, system.input_dim, system.linear
    (2, 1, True)
    >>> LinearSystem(0.9, 0.5, input_limit=2.0).input_limit
    array([2.])
    """

    _kind = LINEAR

    @property
    def linear(self) -> bool:
        """Whether the plant is exactly its nominal pair, that is, whether its inputs have no limit."""
        return self.input_limit is None

    @classmethod
    def from_control(cls, statespace: Any) -> Self:
        """Return the linear system with the A and B of a discrete-time system of python-control.

        The outputs (C and D) are left aside, since a controller here sees the whole state. A system without a
        time step (``dt=None``) is taken to be in discrete time.

        Parameters
        ----------
        statespace : control.StateSpace
            The system; one in continuous time is refused, and the message says how to make it discrete.

        Examples
        --------
        >>> import control
        >>> from driftwise.control import LinearSystem
        >>> LinearSystem.from_control(control.ss(0.5, 1.0, 1.0, 0.0, True)).A
        array([[0.5]])
        """
        asker = f"{cls.__name__}.from_control"
        if not isinstance(statespace, optional(asker, "control", "control").StateSpace):
            raise InputError(
                f"{asker}: statespace must be a control.StateSpace, such as control.ss(A, B, C, D, True), got a "
                f"{type(statespace).__name__}; control.ss(system) turns a transfer function into one."
            )
        if statespace.dt is not None and statespace.dt == 0:
            raise InputError(
                f"{asker}: the system is in continuous time, and rounds need discrete time. Sample it first: "
                f'control.c2d(system, dt) or system.sample(dt, method="zoh"), with dt the time between two rounds.'
            )
        return cls(statespace.A, statespace.B)

    def to_control(self, dt: float | bool = True) -> Any:
        """Return the system for python-control, in discrete time and with the state as its output.

        A limit on the inputs is not passed on, since a `control.StateSpace` has none.

        Parameters
        ----------
        dt : float or True, default True
            Time between two rounds, above zero; True leaves it unspecified.

        Examples
        --------
        >>> from driftwise.control import double_integrator
        >>> double_integrator().to_control(dt=0.1).dt
        0.1
        """
        asker = f"{type(self).__name__}.to_control"
        step: float | bool = True if dt is True else number(asker, "dt", dt, low=0.0, exclusive=True)
        n, m = self.B.shape
        return optional(asker, "control", "control").StateSpace(self.A, self.B, np.eye(n), np.zeros((n, m)), step)
