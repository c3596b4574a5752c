"""What runs on the machine once learning has stopped: a disturbance-action policy with its model, and nothing else."""

import copy
import os
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._settings import Fixed
from driftwise._validate import Array, array, instance, loose, number, read_only
from driftwise.control.frozen.kernels import step
from driftwise.control.frozen.law import Law, read_law
from driftwise.control.frozen.layout import CELL, HEAD, ROUND, SEEN, new_cell
from driftwise.control.frozen.margins import Margins, margins_of
from driftwise.control.frozen.statespace import to_statespace
from driftwise.control.frozen.store import read_policy, write_policy
from driftwise.control.plants import PLANT_HINT, System, read_limits
from driftwise.control.policies import DisturbanceAction
from driftwise.errors import InputError, ParameterError

_FLOAT64 = np.dtype(np.float64)


class FrozenPolicy(Fixed):
    """A policy that no longer learns: u = rest - K z + offset + sum_{i=1..H} M[i] w_{t-i}, within limits.

    Use it for what goes to the machine: it can be saved and loaded (`save`, `load`), exported to C (`export_c`), asked
    for its margins (`margins`) and drawn by python-control (`to_control`). It never raises for what a sensor
    delivers, and every input is finite and within its limits: a sample that is missing (None) or not finite is replaced
    by what the model expects, and counts as a round without a disturbance.

    z is the state relative to the set-point, followed by the memory of the actuator, if the model has one (inputs on
    their way, lags): the model predicts that part exactly, from 0. The disturbance w_{t-1} is what the
    model did not expect, x_t - A z_{t-1} - B u_{t-1}. With an observer, act is given outputs y = C x instead, the state
    is the prediction x_{t+1} = A x_t + B u_t + L (y_t - C x_t), and w_t = L (y_t - C x_t).

    Parameters
    ----------
    A : array of shape (nz, nz)
        Nominal model; the first n of its coordinates are states.
    B : array of shape (nz, du)
        Nominal input matrix.
    K : array of shape (du, nz)
        Gain.
    M : array of shape (H, du, n), optional
        Answers to the disturbances of 1, ..., H rounds ago; none when left out.
    C : array of shape (dy, n), optional
        What is measured of the state, y = C x; the whole state when left out.
    L : array of shape (n, dy), optional
        Gain of the observer in predictor form; goes with C.
    origin : array of shape (n,), optional
        The set-point; 0 when left out.
    rest : array of shape (du,), optional
        Input that keeps the plant at the set-point; 0 when left out.
    offset : array of shape (du,), optional
        Constant that is added to the input; 0 when left out.
    limits : array of shape (2, du), optional
        The lows of all inputs, then the highs; either may be infinite. No limits when left out.
    rate : float or array of shape (du,), optional
        Largest change of each input from one round to the next. The input before the first round is 0, or the limit
        that is nearest to 0, unless `applied` says otherwise. No limit when left out.
    states : int, optional
        n; found from M, C or origin when left out, and nz without these.

    See Also
    --------
    DisturbanceAction : the policy without a model, which is given the disturbances.
    export_c : the same policy as a C function, with the same bits.

    Examples
    --------
    >>> from driftwise.control import double_integrator, lqr
    >>> from driftwise.control.frozen import FrozenPolicy
    >>> plant = double_integrator()
    >>> policy = FrozenPolicy(plant.A, plant.B, lqr(plant), M=[[[-0.2, -0.5]]], limits=[[-1.0], [1.0]])
    >>> [round(float(policy.act(x)[0]), 4) for x in ([0.4, 0.0], None, [0.4, 0.3])]
    [-0.1688, 0.0412, -0.7896]
    >>> policy.margins()
    Margins(gain x 0 to x 1.476, phase 29.4 degrees, delay 0 samples)
    """

    def __init__(
        self,
        A: ArrayLike,
        B: ArrayLike,
        K: ArrayLike,
        M: ArrayLike | None = None,
        *,
        C: ArrayLike | None = None,
        L: ArrayLike | None = None,
        origin: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        limits: ArrayLike | None = None,
        rate: ArrayLike | None = None,
        states: int | None = None,
    ) -> None:
        owner = type(self).__name__
        others = {"C": C, "L": L, "origin": origin, "rest": rest, "offset": offset, "limits": limits, "rate": rate}
        law = read_law(owner, A, B, K, M, states=states, **others)
        self._law = law
        self.A, self.B, self.K, self.M = law.A, law.B, law.K, law.M
        self.C: Array | None = law.C if law.observed else None
        self.L: Array | None = law.L if law.observed else None
        self.origin, self.rest, self.offset, self.limits, self.rate = law[6:]
        self.states: int = law.sides["n"]
        self._take(new_cell(law))

    @classmethod
    def from_policy(
        cls,
        system: System,
        policy: DisturbanceAction,
        *,
        C: ArrayLike | None = None,
        L: ArrayLike | None = None,
        origin: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        limits: ArrayLike | None = None,
        rate: ArrayLike | None = None,
    ) -> Self:
        """Return a policy together with the nominal model of a plant, its actuator included.

        Parameters
        ----------
        system : System
            The plant; its nominal (A, B), with delay and lag if it has them.
        policy : DisturbanceAction
            K and M. A gain on the states alone does not look at the actuator's memory.
        C, L, origin, rest, offset : array, optional
            As in `FrozenPolicy`.
        limits, rate : array, optional
            As in `FrozenPolicy`; those of the plant when left out.
        """
        owner = f"{cls.__name__}.from_policy"
        instance(owner, "system", system, System, PLANT_HINT)
        instance(owner, "policy", policy, DisturbanceAction, "DisturbanceAction(K, M)")
        A, B = system.augmented
        n, wide = system.state_dim, policy.K.shape[1]
        if wide not in (n, len(A)) or policy.K.shape[0] != system.input_dim:
            raise InputError(
                f"{owner}: policy must have a gain of shape {(system.input_dim, n)}, as the plant's, got "
                f"{policy.K.shape}."
            )
        gain = np.zeros((system.input_dim, len(A)))
        gain[:, :wide] = policy.K
        if limits is None:
            limits = read_limits(owner, "input_limit", system.input_limit, system.input_dim)
        rate = system.rate_limit if rate is None else rate
        others = {"C": C, "L": L, "origin": origin, "rest": rest, "offset": offset, "limits": limits, "rate": rate}
        return cls(A, B, gain, policy.M[:, :, :n], states=n, **others)

    def _take(self, cell: Array) -> None:
        """Continue from a cell."""
        parts = CELL.views(cell, self._law.sides)
        self._cell, self._parts = cell, parts
        self._sample, self._input, self._shape = parts["sample"], parts["u"], parts["sample"].shape

    @property
    def law(self) -> Law:
        """Everything it was built with, as plain data."""
        return self._law

    @property
    def state_dim(self) -> int:
        """Number n of states."""
        return self.states

    @property
    def input_dim(self) -> int:
        """Number du of inputs."""
        return len(self.K)

    @property
    def memory(self) -> int:
        """Number H of past disturbances that the policy answers to."""
        return len(self.M)

    @property
    def round(self) -> int:
        """Number of inputs given since it was built, or since `reset`."""
        return int(self._cell[ROUND])

    @property
    def state(self) -> Array:
        """The state of the last round as the policy had it, measured, predicted or estimated, shape (n,)."""
        return read_only(self._parts["z"][: self.states] + self.origin)

    def act(self, x: ArrayLike | None) -> Array:
        """Return the input for a sample: read-only, finite, within limits and rate.

        Parameters
        ----------
        x : array of shape (n,), or (dy,) with an observer, or None
            The state, or the output, measured now; None if the sample is missing. A sample with NaN, an infinity or a
            number beyond 1e100 in it counts as missing.
        """
        if type(x) is np.ndarray and x.dtype is _FLOAT64 and x.shape == self._shape:
            self._sample[:] = x
        else:
            self._sample[:] = np.nan if x is None else self._read(x)
        step(self._cell)
        # From bytes an array is born read-only.
        return np.frombuffer(self._input.tobytes())

    def _read(self, x: ArrayLike) -> Any:
        """Return a sample that is not a plain array; NaN is welcome in it, another shape is not."""
        owner, kind = f"{type(self).__name__}.act", "the output" if self._law.observed else "the state"
        given = loose(owner, "x", x)
        if given.dtype.kind not in "fiu" or given.shape != self._shape:
            raise InputError(
                f"{owner}: x must be {kind}, real numbers of shape {self._shape}, or None for a missing sample, got "
                f"{x!r:.60}; the policy is unchanged."
            )
        return given

    def applied(self, u: ArrayLike) -> None:
        """Say what the actuator really did, before the next `act`, if it was not what `act` returned.

        The next disturbance is then recovered from this input, and the rate limits hold from it. Before the first
        `act`, it says where the actuator is, so that taking over is without a jump.

        Parameters
        ----------
        u : array of shape (du,)
            The input that the plant got.
        """
        self._input[:] = array(f"{type(self).__name__}.applied", "u", u, self._input.shape)

    def reset(self) -> None:
        """Forget all samples and inputs, as if just built."""
        self._cell[[HEAD, ROUND, SEEN]] = 0.0
        for name in ("z", "past", "gap"):
            self._parts[name][...] = 0.0
        self._input[:] = self._parts["first"]

    def clone(self) -> Self:
        """Return an independent copy in the same state."""
        return copy.deepcopy(self)

    def scaled(self, part: float) -> Self:
        """Return a new policy with this share of M and of the offset; with 0, it is u = rest - K z.

        Parameters
        ----------
        part : float
            The share, from 0 to 1.
        """
        owner = f"{type(self).__name__}.scaled"
        factor = number(owner, "part", part, low=0.0)
        if factor > 1.0:
            raise ParameterError(f"{owner}: part must be from 0 to 1, got {factor:g}.")
        return self._made_of(self._law._replace(M=factor * self.M, offset=factor * self.offset))

    def margins(self) -> Margins:
        """Return by how much gain, phase and delay of the plant may be off before the loop becomes unstable.

        Limits are left aside.
        """
        return margins_of(self._law)

    def to_control(self, dt: float | bool | None = None) -> Any:
        """Return the policy as a `control.StateSpace` from samples to inputs, for Bode plots and interconnections.

        Limits, set-point and constants are left aside. The sign is that of the policy, u = system(x): close the loop
        with positive feedback.

        Parameters
        ----------
        dt : float, optional
            Time between two samples, above zero; left unspecified when None or True.
        """
        return to_statespace(f"{type(self).__name__}.to_control", self._law, dt)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to a text file, all at once: whatever happens, the old file or the new one is there.

        Parameters
        ----------
        path : str or path
            The file; one that exists is replaced. What the policy remembers of past rounds is not written.
        """
        write_policy(f"{type(self).__name__}.save", self._law, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return a policy that was saved, as it was before its first round.

        A file that is damaged, of another kind or too large is refused with an `InputError`; nothing in it is run.

        Parameters
        ----------
        path : str or path
            The file.
        """
        return cls._made_of(read_policy(f"{cls.__name__}.load", path))

    @classmethod
    def _made_of(cls, law: Law) -> Self:
        values = {**law._asdict(), "states": law.sides["n"]}
        if not law.observed:
            values |= {"C": None, "L": None}
        return cls(**values)

    def _configuration(self) -> dict[str, Any]:
        """Return the arguments that build it again, for files of controllers that begin with it."""
        values = {**self._law._asdict(), "states": self.states}
        return values if self._law.observed else {**values, "C": None, "L": None}

    def __getstate__(self) -> dict[str, Any]:
        """Return what is to be copied: no views into the cell."""
        return {"law": tuple(self._law), "_cell": CELL.kept(self._cell)}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Continue after copying or unpickling."""
        twin = self._made_of(Law(*saved["law"]))
        self.__dict__.update(twin.__dict__)
        self._take(CELL.with_room(saved["_cell"], self._law.sides))

    def __copy__(self) -> Self:
        """Return a deep copy: a shallow one would share what is remembered."""
        return self.clone()

    def __repr__(self) -> str:
        seen = f"outputs={len(self.C)}, " if self.C is not None else ""
        sizes = f"states={self.states}, {seen}inputs={self.input_dim}, memory={self.memory}"
        return f"{type(self).__name__}({sizes}, round={self.round})"
