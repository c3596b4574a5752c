"""Plants: linear systems, linear systems that change from round to round, and an inverted pendulum.

The setting of Section 5 of the paper, x_{t+1} = A x_t + B u_t + w_t, and the plants of its experiments (Section 6).
A plant only says what it is; `PlantData`, which it gives for a run, is what the compiled rounds move on.
"""

import math
from abc import abstractmethod
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, Checked, array, checked, instance, loose, number, read_only, seeded, whole
from driftwise.control.plants.kernels import LINEAR, PENDULUM, VARYING, PlantData
from driftwise.errors import InputError, MissingExtraError, ParameterError

PLANT_HINT = "LinearSystem(A, B) or LinearSystem.from_control(statespace)"
"""How to make a plant, for error messages."""

OWN_STREAM = 0x5F3759DF
"""Keeps the changes of a plant apart from disturbances that were given the same seed."""


def _control(asker: str) -> ModuleType:
    try:
        import control
    except ImportError:
        raise MissingExtraError(
            f"{asker} needs python-control, which the extra 'control' brings: pip install 'driftwise[control]'."
        ) from None
    module: ModuleType = control
    return module


def as_matrix(owner: str, name: str, value: ArrayLike, shape: tuple[int | str, int | str]) -> Array:
    """Return `value` as a new matrix of `shape`; a number is a matrix of one entry."""
    given = loose(owner, name, value)
    number_like = given.ndim == 0 and given.dtype.kind in "fiu"
    return array(owner, name, given.reshape(1, 1) if number_like else value, shape, copy=True)


def read_limits(owner: str, name: str, value: ArrayLike | None, input_dim: int) -> Array:
    """Return the largest size of every input, from one number for all or one for each; infinite when there is none."""
    if value is None:
        return read_only(np.full(input_dim, math.inf))
    given = loose(owner, name, value)
    if given.ndim == 0 and given.dtype.kind in "fiu":
        value = np.full(input_dim, given[()])
    limits = array(owner, name, value, (input_dim,), copy=True)
    if not (limits > 0.0).all():
        raise ParameterError(
            f"{owner}: {name} must be above 0 for every input, got {limits.min():g}; leave it out if there is no limit."
        )
    return read_only(limits)


class System(metaclass=Checked):
    """A plant with a nominal pair of matrices, which is all that a controller is told of it.

    The parent of all plants. A plant of your own inherits from one of its children; what a plant can do is limited to
    the kinds that `PlantData` knows.

    Parameters
    ----------
    A : array of shape (states, states)
        Nominal transition matrix; a number when there is one state.
    B : array of shape (states, inputs)
        Nominal input matrix; a number when there is one state and one input.
    input_limit : float or array of shape (inputs,), optional
        Largest size of each input that the actuator delivers, above zero; no limit when left out.

    Attributes
    ----------
    A, B : array
        The nominal pair, read-only.
    state_dim, input_dim : int
        Number of states and inputs.
    input_limit : array of shape (inputs,) or None
        The limits, read-only.
    """

    def __init__(self, A: ArrayLike, B: ArrayLike, *, input_limit: ArrayLike | None = None) -> None:
        owner = type(self).__name__
        self.A = as_matrix(owner, "A", A, ("states", "states"))
        self.B = as_matrix(owner, "B", B, ("states", "inputs"))
        rows, columns = self.A.shape
        if rows != columns:
            raise InputError(
                f"{owner}: A takes a state to the next state and must be square, got {rows} rows and {columns} columns."
            )
        if self.B.shape[0] != rows:
            hint = " It looks transposed." if self.B.shape[1] == rows else ""
            raise InputError(
                f"{owner}: B must have as many rows as A, one for each of the {rows} states, and a column for each "
                f"input, got {self.B.shape[0]} rows and {self.B.shape[1]} columns.{hint}"
            )
        read_only(self.A)
        read_only(self.B)
        self.state_dim: int = rows
        self.input_dim: int = self.B.shape[1]
        self.input_limit: Array | None = (
            None if input_limit is None else read_limits(owner, "input_limit", input_limit, self.input_dim)
        )

    @property
    def linear(self) -> bool:
        """Whether the plant is exactly its nominal pair, without limits, so that regret is defined on it."""
        return False

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Continue after copying or unpickling, where numpy forgets that the matrices are read-only."""
        self.__dict__.update(saved)
        for part in (self.A, self.B):
            part.setflags(write=False)

    @abstractmethod
    def data(self, rounds: int, rng: np.random.Generator) -> PlantData:
        """Return the plant over the rounds of one run; what is random about it is drawn here, from `rng`."""

    def _rounds(self, rounds: int, rng: np.random.Generator) -> int:
        owner = f"{type(self).__name__}.data"
        instance(owner, "rng", rng, np.random.Generator, "numpy.random.default_rng(0)")
        return whole(owner, "rounds", rounds)

    def _plant(self, kind: int, changes: tuple[Array, Array] | None = None, numbers: ArrayLike = (0.0,)) -> PlantData:
        n, m = self.B.shape
        changes_A, changes_B = (np.empty((0, n, n)), np.empty((0, n, m))) if changes is None else changes
        limit = np.full(m, math.inf) if self.input_limit is None else self.input_limit.copy()
        # Copies, since compiled code is built once more for arrays that are read-only.
        return PlantData(kind, self.A.copy(), self.B.copy(), changes_A, changes_B, np.array(numbers, np.float64), limit)

    def __repr__(self) -> str:
        limit = "" if self.input_limit is None else ", input_limit=..."
        return f"{type(self).__name__}(state_dim={self.state_dim}, input_dim={self.input_dim}{limit})"


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
    >>> from driftwise.control.plants.systems import LinearSystem
    >>> system = LinearSystem([[1.0, 1.0], [0.0, 1.0]], [[0.0], [1.0]])
    >>> system.state_dim, system.input_dim, system.linear
    (2, 1, True)
    >>> LinearSystem(0.9, 0.5, input_limit=2.0).input_limit
    array([2.])
    """

    @property
    def linear(self) -> bool:
        """Whether the plant is exactly its nominal pair, that is, whether its inputs have no limit."""
        return self.input_limit is None

    def data(self, rounds: int, rng: np.random.Generator) -> PlantData:
        """Return the plant over the rounds of one run; nothing is drawn."""
        self._rounds(rounds, rng)
        return self._plant(LINEAR)

    @classmethod
    def from_control(cls, statespace: Any) -> Self:
        """Return the linear system with the A and B of a discrete-time system of python-control.

        The outputs (C and D) are left aside, since a controller here sees the whole state. A system whose time step was
        not said (``dt=None``) is taken to be in discrete time.

        Parameters
        ----------
        statespace : control.StateSpace
            The system; one in continuous time is refused, and the message says how to make it discrete.

        Examples
        --------
        >>> import control
        >>> from driftwise.control.plants.systems import LinearSystem
        >>> LinearSystem.from_control(control.ss(0.5, 1.0, 1.0, 0.0, True)).A
        array([[0.5]])
        """
        asker = f"{cls.__name__}.from_control"
        if not isinstance(statespace, _control(asker).StateSpace):
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
            Time between two rounds, above zero; True leaves it unsaid.

        Examples
        --------
        >>> from driftwise.control.plants.systems import double_integrator
        >>> double_integrator().to_control(dt=0.1).dt
        0.1
        """
        asker = f"{type(self).__name__}.to_control"
        step: float | bool = True if dt is True else number(asker, "dt", dt, low=0.0, exclusive=True)
        n, m = self.B.shape
        return _control(asker).StateSpace(self.A, self.B, np.eye(n), np.zeros((n, m)), step)


class TimeVaryingSystem(System):
    """A linear system whose matrices change from round to round: x_{t+1} = A_t x_t + B_t u_t + w_t.

    The synthetic plant of the paper's experiments: A_t = A + changes_A[t] and B_t = B + changes_B[t], of which a
    controller knows A and B only. To it, the changes look like a part of the disturbance; that part depends on what the
    controller did, so regret is not defined here: compare costs.

    Parameters
    ----------
    A, B : array
        The nominal pair, as in `LinearSystem`.
    spread_A, spread_B : float, default 0.01
        Standard deviation of the entries of the changes, which are independent and Gaussian with mean zero. Not used
        when changes are given.
    changes_A : array of shape (rounds, states, states), optional
        The changes of A, to be given instead of drawn; runs can have at most that many rounds. When only changes of B
        are given, A does not change.
    changes_B : array of shape (rounds, states, inputs), optional
        The changes of B, likewise.
    seed : int, optional
        Seed of the changes. When left out they come from the seed of the run, so that two runs with different seeds see
        different plants. A longer run has the changes of a shorter one and more.
    input_limit : float or array of shape (inputs,), optional
        As in `LinearSystem`.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory and non-stochastic control", JMLR 24,
       2023, Section 6.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise.control.plants.systems import TimeVaryingSystem
    >>> system = TimeVaryingSystem([[1.0, 1.0], [0.0, 1.0]], [[0.0], [1.0]], spread_A=0.1, seed=0)
    >>> plant = system.data(1000, np.random.default_rng(5))
    >>> plant.changes_A.shape, round(float(plant.changes_A.std()), 3)
    ((1000, 2, 2), 0.101)
    """

    def __init__(
        self,
        A: ArrayLike,
        B: ArrayLike,
        *,
        spread_A: float = 0.01,
        spread_B: float = 0.01,
        changes_A: ArrayLike | None = None,
        changes_B: ArrayLike | None = None,
        seed: int | None = None,
        input_limit: ArrayLike | None = None,
    ) -> None:
        super().__init__(A, B, input_limit=input_limit)
        owner = "TimeVaryingSystem"
        self.spread_A = number(owner, "spread_A", spread_A, low=0.0)
        self.spread_B = number(owner, "spread_B", spread_B, low=0.0)
        self.seed = None if seed is None else whole(owner, "seed", seed, low=0, high=2**128)
        n, m = self.B.shape
        first = None if changes_A is None else array(owner, "changes_A", changes_A, ("rounds", n, n), copy=True)
        second = None if changes_B is None else array(owner, "changes_B", changes_B, ("rounds", n, m), copy=True)
        if first is not None and second is not None and len(first) != len(second):
            raise InputError(
                f"{owner}: changes_A and changes_B must be of the same rounds, got {len(first)} and {len(second)}."
            )
        if first is None and second is not None:
            first = np.zeros((len(second), n, n))
        if second is None and first is not None:
            second = np.zeros((len(first), n, m))
        self.changes_A = None if first is None else read_only(first)
        self.changes_B = None if second is None else read_only(second)

    def data(self, rounds: int, rng: np.random.Generator) -> PlantData:
        """Return the plant over the rounds of one run; changes that were not given are drawn from `rng` or the seed."""
        length = self._rounds(rounds, rng)
        if self.changes_A is not None and self.changes_B is not None:
            if length > len(self.changes_A):
                raise InputError(
                    f"TimeVaryingSystem.data: changes were given for {len(self.changes_A)} rounds and a run of "
                    f"{length} rounds was asked for; give changes for at least as many."
                )
            return self._plant(VARYING, (self.changes_A[:length].copy(), self.changes_B[:length].copy()))
        if self.seed is not None:
            rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(OWN_STREAM,)))
        n, m = self.B.shape
        # One row a round, so that the first rounds do not depend on how many follow.
        draws = rng.standard_normal((length, n * (n + m)))
        changes_A = self.spread_A * draws[:, : n * n].reshape(length, n, n)
        changes_B = self.spread_B * draws[:, n * n :].reshape(length, n, m)
        return self._plant(VARYING, (changes_A, changes_B))

    def __repr__(self) -> str:
        if self.changes_A is None:
            what = f"spread_A={self.spread_A:g}, spread_B={self.spread_B:g}"
        else:
            what = f"changes of {len(self.changes_A)} rounds"
        return f"{super().__repr__()[:-1]}, {what})"


class InvertedPendulum(System):
    """A pendulum to be kept upright by a motor of limited torque, as in the paper's experiments.

    The pendulum is a rod with a motor at its pivot, moved on in steps of Euler's method: theta' = theta + step omega
    and omega' = omega + step (3 g / (2 l) sin(theta) + 3 / (m l^2) u), plus the disturbance. The slightest push ends
    the upright position, so a run needs a controller; one without a disturbance that starts upright shows nothing.

    ===== ========= ======================== ==================================================
    State Name      Range                    Unit
    ===== ========= ======================== ==================================================
    x[0]  theta     [-pi, pi], wrapped       rad, 0 is upright
    x[1]  omega     not limited              rad/s
    ===== ========= ======================== ==================================================

    ===== ========= ======================== ==================================================
    Input Name      Range                    Unit
    ===== ========= ======================== ==================================================
    u[0]  torque    [-limit, limit], clipped N m, positive turns towards positive theta
    ===== ========= ======================== ==================================================

    The nominal pair is the linearisation about the upright position: A = [[1, step], [3 g step / (2 l), 1]] and
    B = [[0], [3 step / (m l^2)]].

    Parameters
    ----------
    torque_limit : float, default 2.0
        Largest torque that the motor delivers, in N m, above zero. It can hold the pendulum still only up to
        sin(theta) = 2 torque_limit / (m g l), with the defaults 0.4115 rad.
    step : float, default 0.05
        Time between two rounds, in seconds, above zero.
    gravity : float, default 10.0
        Gravitational acceleration g, in m/s^2, above zero.
    mass : float, default 1.0
        Mass m of the rod, in kg, above zero.
    length : float, default 1.0
        Length l of the rod, in m, above zero.

    Notes
    -----
    In the paper's symbols, theta' = theta + c omega and omega' = omega + a sin(theta + pi) + b u with c = 0.05,
    b = 0.15 and a = -0.75; a positive a would put the stable hanging position at 0.

    How far from upright it comes back without falling, measured with the defaults, the linear-quadratic gain for unit
    weights and no disturbance: from rest at 0.411 rad, or from theta = 0 with 1.56 rad/s. With independent Gaussian
    disturbances in both states it stayed up for 10 000 rounds at a standard deviation of 0.03 and fell at 0.05 (five
    seeds each).

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory and non-stochastic control", JMLR 24,
       2023, Section 6.

    Examples
    --------
    >>> from driftwise.control.plants.systems import InvertedPendulum
    >>> InvertedPendulum().A
    array([[1.  , 0.05],
           [0.75, 1.  ]])
    """

    def __init__(
        self,
        *,
        torque_limit: float = 2.0,
        step: float = 0.05,
        gravity: float = 10.0,
        mass: float = 1.0,
        length: float = 1.0,
    ) -> None:
        def positive(name: str, value: float) -> float:
            return number("InvertedPendulum", name, value, low=0.0, exclusive=True)

        self.torque_limit, self.step = positive("torque_limit", torque_limit), positive("step", step)
        self.gravity, self.mass, self.length = (
            positive("gravity", gravity),
            positive("mass", mass),
            positive("length", length),
        )
        fall = 1.5 * self.gravity * self.step / self.length
        push = 3.0 * self.step / self.mass / self.length / self.length
        super().__init__([[1.0, self.step], [fall, 1.0]], [[0.0], [push]], input_limit=self.torque_limit)
        self._numbers = (-fall, push, self.step)

    def data(self, rounds: int, rng: np.random.Generator) -> PlantData:
        """Return the plant over the rounds of one run; nothing is drawn."""
        self._rounds(rounds, rng)
        return self._plant(PENDULUM, numbers=self._numbers)

    def __repr__(self) -> str:
        return (
            f"InvertedPendulum(torque_limit={self.torque_limit:g}, step={self.step:g}, gravity={self.gravity:g}, "
            f"mass={self.mass:g}, length={self.length:g})"
        )


@checked
def double_integrator() -> LinearSystem:
    """Return the double integrator: a position and a velocity, the velocity moved by one input.

    The smallest system that is not stable by itself; A = [[1, 1], [0, 1]] and B = [[0], [1]].

    Examples
    --------
    >>> from driftwise.control.plants.systems import double_integrator
    >>> double_integrator()
    LinearSystem(state_dim=2, input_dim=1)
    """
    return LinearSystem([[1.0, 1.0], [0.0, 1.0]], [[0.0], [1.0]])


@checked
def random_system(
    state_dim: int, input_dim: int, *, radius: float = 0.9, seed: int | np.random.Generator = 0
) -> LinearSystem:
    """Return a random controllable linear system.

    Parameters
    ----------
    state_dim, input_dim : int
        Number of states and inputs.
    radius : float, default 0.9
        Spectral radius of A, above zero; from 1 on the system is not stable by itself.
    seed : int or Generator, default 0
        Where the entries come from: those of A are independent and Gaussian before A is scaled to its spectral radius,
        those of B have a variance of 1 / state_dim.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise.control.plants.systems import random_system
    >>> system = random_system(4, 2, radius=1.1, seed=3)
    >>> round(float(np.abs(np.linalg.eigvals(system.A)).max()), 12)
    1.1
    """
    n, m = whole("random_system", "state_dim", state_dim), whole("random_system", "input_dim", input_dim)
    size = number("random_system", "radius", radius, low=0.0, exclusive=True)
    rng = seeded("random_system", seed)
    while True:
        A, B = rng.standard_normal((n, n)), rng.standard_normal((n, m)) / math.sqrt(n)
        values, vectors = np.linalg.eig(A.T)
        drawn, reach = float(np.abs(values).max()), float(np.linalg.norm(vectors.T @ B, axis=1).min())
        # The inputs reach every mode, since its left eigenvector is not orthogonal to all columns of B.
        if drawn > 1e-6 and reach > 1e-9:
            return LinearSystem(A * (size / drawn), B)
