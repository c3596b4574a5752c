"""The linear system x_{t+1} = A x_t + B u_t + w_t, y_t = C x_t + D u_t, the plant of the theory (Section 5)."""

from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from driftwise._docs import documented
from driftwise._extras import optional
from driftwise._validate import Array, array, instance, loose, number, read_only
from driftwise.control.plants.actuator import PARAMETERS, ActuatorOptions
from driftwise.control.plants.base import System, as_matrix
from driftwise.control.plants.kernels import LINEAR
from driftwise.errors import InputError, ParameterError

_SAME = 1e-9
"""Relative difference up to which two sampling times are the same."""


@documented(actuator=PARAMETERS)
class LinearSystem(System):
    """The linear system x_{t+1} = A x_t + B u_t + w_t, whose output is y_t = C x_t + D u_t.

    The plant of the theory: regret is measured on it, as long as its actuator delivers every input as it is. With
    limits, a delay or a lag `linear` is False.

    Parameters
    ----------
    A : array of shape (states, states)
        Transition matrix; a number when there is one state.
    B : array of shape (states, inputs)
        Input matrix; a number when there is one state and one input.
    C : array of shape (outputs, states), optional
        What is measured, for controllers that do not see the state; a number when there is one state and one output.
    D : array of shape (outputs, inputs), optional
        How inputs reach the output directly; zero when left out. Only with C.
    dt : float, optional
        Time between two rounds, in seconds, above zero; only kept, and handed on by `to_control`.
    {actuator}

    Attributes
    ----------
    C, D : array or None
        The output matrices, read-only; None without C.
    output_dim : int or None
        Number of outputs; None without C.
    dt : float or None
        Time between two rounds.

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

    A heater of at most 3 kW whose input arrives after two rounds; only the temperature is measured:

    >>> heated = LinearSystem([[0.9, 0.1], [0.1, 0.8]], [[0.5], [0.0]], [[1.0, 0.0]], input_limit=[0.0, 3.0], delay=2)
    >>> heated.input_limit, heated.linear, heated.output([20.0, 18.0])
    (array([[0., 3.]]), False, array([20.]))
    >>> heated.augmented[0].shape
    (4, 4)
    """

    _kind = LINEAR

    def __init__(
        self,
        A: ArrayLike,
        B: ArrayLike,
        C: ArrayLike | None = None,
        D: ArrayLike | None = None,
        *,
        dt: float | None = None,
        **actuator: Unpack[ActuatorOptions],
    ) -> None:
        super().__init__(A, B, **actuator)
        owner = type(self).__name__
        self.dt = None if dt is None else _step(owner, dt)
        if C is None and D is not None:
            raise ParameterError(f"{owner}: D belongs to an output y = C x + D u; give C as well, or leave D out.")
        self.C: Array | None = None
        self.D: Array | None = None
        self.output_dim: int | None = None
        if C is not None:
            self.C = read_only(as_matrix(owner, "C", C, ("outputs", self.state_dim)))
            self.output_dim = len(self.C)
            shape = (self.output_dim, self.input_dim)
            self.D = read_only(np.zeros(shape) if D is None else as_matrix(owner, "D", D, shape))

    @property
    def linear(self) -> bool:
        """Whether the plant is exactly its nominal pair, that is, whether it gets every input as it is."""
        return self.direct

    def output(self, x: ArrayLike, u: ArrayLike | None = None) -> Array:
        """Return y = C x + D u; the state itself for a system without C.

        Parameters
        ----------
        x : array of shape (states,) or (rounds, states)
            A state, or one a row.
        u : array of shape (inputs,) or (rounds, inputs), optional
            The input, as it reaches the plant; may be left out if D is zero.
        """
        owner = f"{type(self).__name__}.output"
        rows: tuple[int | str, ...] = ("rounds",) if loose(owner, "x", x).ndim == 2 else ()
        state = array(owner, "x", x, (*rows, self.state_dim), copy=True)
        if u is None and self.D is not None and self.D.any():
            raise InputError(f"{owner}: u reaches the output directly, since D is not zero; give u as well.")
        applied = None if u is None else array(owner, "u", u, (*state.shape[:-1], self.input_dim))
        if self.C is None or self.D is None:
            return state
        return state @ self.C.T if applied is None else state @ self.C.T + applied @ self.D.T

    @classmethod
    def from_continuous(
        cls,
        A: ArrayLike,
        B: ArrayLike,
        dt: float,
        C: ArrayLike | None = None,
        D: ArrayLike | None = None,
        **actuator: Unpack[ActuatorOptions],
    ) -> Self:
        """Return the system in continuous time dx/dt = A x + B u, y = C x + D u, sampled with its input held.

        The input is constant between two samples (zero-order hold), which is what a digital controller does.

        Parameters
        ----------
        A, B, C, D : array
            The matrices of the system in continuous time, of the shapes above.
        dt : float
            Time between two samples, in seconds, above zero.
        **actuator : optional
            `input_limit`, `rate_limit`, `delay` and `lag`, as above; delay and lag are in samples.

        Examples
        --------
        >>> from driftwise.control import LinearSystem
        >>> motor = LinearSystem.from_continuous([[0.0, 1.0], [0.0, -2.0]], [[0.0], [2.0]], dt=0.1, C=[[1.0, 0.0]])
        >>> motor.A.round(4)
        array([[1.    , 0.0906],
               [0.    , 0.8187]])
        >>> motor.dt, motor.output_dim
        (0.1, 1)
        """
        from scipy.signal import cont2discrete

        step = _step(f"{cls.__name__}.from_continuous", dt)
        given = cls(A, B, C, D, dt=step, **actuator)
        n, m = given.B.shape
        parts = given.A, given.B, np.zeros((1, n)), np.zeros((1, m))
        with np.errstate(all="ignore"):  # what comes of it is checked below
            held = cont2discrete(parts, step, method="zoh")
        return cls(held[0], held[1], given.C, given.D, dt=step, **actuator)

    @classmethod
    def from_control(cls, statespace: Any, dt: float | None = None, **actuator: Unpack[ActuatorOptions]) -> Self:
        """Return the linear system with the A, B, C, D and time step of a system of python-control.

        A system without a time step (``dt=None``) is taken to be in discrete time; one in continuous time is sampled
        with its input held (zero-order hold).

        A nonlinear system is linearised first, ``from_control(system.linearize(x0, u0), dt=...)``. Its states, inputs
        and outputs then count from there: a controller is told x - x0 and gives u - u0, and costs and input bounds are
        of these. If (x0, u0) is not at rest, how it moves there is a constant disturbance.

        Parameters
        ----------
        statespace : control.StateSpace
            The system.
        dt : float, optional
            Time between two rounds, in seconds, above zero; needed for a system in continuous time. A discrete one
            has its own, and another one is refused.
        **actuator : optional
            `input_limit`, `rate_limit`, `delay` and `lag`, as above, which a `control.StateSpace` does not have.

        Examples
        --------
        >>> import control
        >>> import numpy as np
        >>> from driftwise.control import LinearSystem
        >>> LinearSystem.from_control(control.ss(0.5, 1.0, 1.0, 0.0, True)).A
        array([[0.5]])
        >>> sampled = LinearSystem.from_control(control.ss(-1.0, 1.0, 2.0, 0.0), dt=0.5)
        >>> sampled.A.round(4), sampled.C, sampled.dt
        (array([[0.6065]]), array([[2.]]), 0.5)
        >>> swing = control.nlsys(lambda t, x, u, params: [x[1], u[0] - 9.81 * np.sin(x[0])], inputs=1, states=2)
        >>> LinearSystem.from_control(swing.linearize([0.0, 0.0]), dt=0.1).A.round(3)
        array([[ 0.951,  0.098],
               [-0.965,  0.951]])
        """
        asker = f"{cls.__name__}.from_control"
        if not isinstance(statespace, optional(asker, "control", "control").StateSpace):
            raise InputError(
                f"{asker}: statespace must be a control.StateSpace, such as control.ss(A, B, C, D, True), got a "
                f"{type(statespace).__name__}; control.ss(system) turns a transfer function into one, and "
                "system.linearize(x0, u0) a nonlinear system."
            )
        given, step = statespace.dt, None if dt is None else _step(asker, dt)
        matrices = statespace.A, statespace.B, statespace.C, statespace.D
        if given is not None and given == 0:
            if step is None:
                raise InputError(
                    f"{asker}: the system is in continuous time, and rounds need discrete time. Give dt=, the time "
                    "between two rounds in seconds, at which it is to be sampled with its input held."
                )
            return cls.from_continuous(*matrices[:2], step, *matrices[2:], **actuator)
        own = None if given is None or given is True else float(given)
        if own is not None and step is not None and abs(own - step) > _SAME * own:
            raise InputError(
                f"{asker}: the system is in discrete time with a step of {own:g} s, and dt={step:g} was asked for; "
                "leave dt out, or sample the system in continuous time again."
            )
        return cls(*matrices, dt=own if step is None else step, **actuator)

    def to_control(self, dt: float | bool | None = None, *, disturbances: bool = False) -> Any:
        """Return the system for python-control, in discrete time; its output is the state if it has no C.

        Limits, delay and lag are not passed on, since a `control.StateSpace` has none; `augmented` has delay and lag.

        Parameters
        ----------
        dt : float or True, optional
            Time between two rounds, above zero; True leaves it unspecified. The system's own when left out,
            unspecified if it has none.
        disturbances : bool, default False
            Have an input ``w[i]`` for every state after the inputs ``u[k]``: what is added to the next state.

        Examples
        --------
        >>> from driftwise.control import double_integrator
        >>> double_integrator().to_control(dt=0.1).dt
        0.1
        >>> double_integrator().to_control(disturbances=True).input_labels
        ['u[0]', 'w[0]', 'w[1]']
        """
        asker = f"{type(self).__name__}.to_control"
        instance(asker, "disturbances", disturbances, bool, "True")
        step: float | bool = True if dt is True else self.dt or True if dt is None else _step(asker, dt)
        if step is not True and self.dt is not None and abs(step - self.dt) > _SAME * self.dt:
            raise ParameterError(
                f"{asker}: dt must be {self.dt:g}, the time between two rounds of this system, got {step:g}; leave it "
                "out."
            )
        n, m = self.B.shape
        C, D = (np.eye(n), np.zeros((n, m))) if self.C is None or self.D is None else (self.C, self.D)
        B, labels = self.B, [f"u[{k}]" for k in range(m)]
        if disturbances:
            B, D = np.hstack([B, np.eye(n)]), np.hstack([D, np.zeros((len(C), n))])
            labels += [f"w[{i}]" for i in range(n)]
        return optional(asker, "control", "control").StateSpace(self.A, B, C, D, step, inputs=labels)


def _step(owner: str, dt: object) -> float:
    return number(owner, "dt", dt, low=0.0, exclusive=True)
