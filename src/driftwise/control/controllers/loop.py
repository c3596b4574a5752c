"""The loop of every controller of disturbance-action policies: recover the disturbance, play the policy, learn."""

import math
from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from driftwise._protocol import BadInput
from driftwise._validate import Array, array, instance, loose, read_only
from driftwise.control.controllers.base import Controller, read_reference
from driftwise.control.controllers.guard import (
    Event,
    Guard,
    Health,
    health_of,
    log_of,
    read_guard,
    settle_time,
    sight_of,
)
from driftwise.control.controllers.run import Calls, Learning, address_of
from driftwise.control.controllers.saving import resume_cell, resume_weights
from driftwise.control.costs import Cost, QuadraticCost
from driftwise.control.frozen import FrozenPolicy, Margins
from driftwise.control.plants import System
from driftwise.control.plants.actuator import read_rate
from driftwise.control.policies.disturbance_action import DisturbanceAction, nominal_loop, stable_loop
from driftwise.control.policies.engine import PAUSED, act, end_round, observe, report
from driftwise.control.policies.guard import COSTLY, LATE, MISSING, OUT_OF_RANGE
from driftwise.control.policies.layout import (
    CELL,
    GUARDED,
    HEAD,
    LOST,
    MEASURED,
    REST,
    ROUND,
    SHARE,
    SPARE,
    U_AT,
    sides_of,
    views,
)
from driftwise.control.policies.model import Model, follow_reference, model_of, set_point, targets_of, weights_of
from driftwise.control.policies.reduction import loop_cell
from driftwise.control.stability import StrongStability, certify
from driftwise.engine.rounds import OK, REFUSED
from driftwise.errors import InputError

_FLOAT64 = np.dtype(np.float64)


class PolicyLoop(Controller):
    """Plays u_t = -K x_t + sum_i M_t[i] w_{t-i}, whoever decides on the policies M_t.

    The disturbance w_{t-1} = x_t - A x_{t-1} - B u_{t-1} is recovered in every round, with the input that was really
    applied. The loop is one vector of numbers, its cell (``policies.layout``); whatever decides on the policies is
    another: the cell of a learner, a pool of learners, or a policy that stays. How compiled code reads and teaches the
    second one is declared in `_learning`.

    Parameters
    ----------
    system : System
        The plant; the controller uses its nominal (A, B).
    K : array of shape (du, dx), optional
        Gain that stabilises the plant; `lqr` with unit weights when left out.
    memory : int
        H, the number of past disturbances that a policy answers to.
    horizon : int, optional
        Number of rounds the controller is made for; None for any number.
    input_bound : float or array of shape (du,) or (du, 2), optional
        Largest size of each input, or rows [low, high].
    rate_limit : float or array of shape (du,), optional
        Most that an input may change from one round to the next.
    guard : bool or Guard, default False
        Fall back on u = -K x when states, samples or what is learnt look wrong, instead of raising; see `Guard`.
    normalised : bool, default False
        Divide every gradient by the root mean square of those so far.
    on_bad_input : {"raise", "skip"}, default "raise"
        What to do about input that is refused; see `Controller`.
    """

    _learning: ClassVar[Learning]
    _decider: Array
    """The vector of what decides on policies, ready for kernels."""
    state_names = ()
    _compiled = True
    """Whether compiled code does what the methods of the decider would."""
    records_policies: ClassVar[bool] = True
    """Whether the vector of what decides holds the policy in use, so that compiled loops can write it down."""

    def __init__(
        self,
        system: System,
        K: ArrayLike | None,
        memory: int,
        *,
        horizon: int | None = None,
        input_bound: ArrayLike | None = None,
        rate_limit: ArrayLike | None = None,
        guard: bool | Guard = False,
        normalised: bool = False,
        **rounds: Unpack[BadInput],
    ) -> None:
        owner = type(self).__name__
        gain, closed = stable_loop(owner, system, K)
        self.system, self.memory, self.K, self.normalised = system, memory, read_only(gain), normalised
        super().__init__(system.state_dim, system.input_dim, horizon, input_bound, **rounds)
        self.rate_limit, self.guard = read_rate(owner, rate_limit, self.input_dim), read_guard(owner, guard)
        cell = loop_cell(system, self.K, memory, 2 * memory + 1 + SPARE, self._bounds)
        cell[MEASURED] = normalised
        parts = views(cell)
        if self.rate_limit is not None:
            parts["rate"][:] = self.rate_limit
        cell[[REST, GUARDED]] = settle_time(closed), self.guard is not None
        if self.guard is not None:
            parts["sight"][:] = sight_of(closed, gain)
            if self.guard.state_bound is not None:
                bound = self.guard.state_bound
                if bound.ndim:
                    array(owner, "guard.state_bound", bound, (self.state_dim,))
                parts["bound"][: self.state_dim] = bound
        self._heard_at, self._referred = -math.inf, False
        self._take(cell)

    @abstractmethod
    def _decision(self) -> Array:
        """Return the policy of this round, flat."""

    def _learn_by_hand(self, cost: Cost) -> int:
        """Learn from a cost that compiled code does not know; return the status of the round."""
        end_round(self._cell, 0.0)
        return PAUSED

    def runs_compiled(self, *, with_weights: bool = False) -> bool:
        """Tell whether compiled loops may play in its place: not if a subclass has methods of its own."""
        # The class that says how compiled code learns answers for its own methods, and for no others.
        base = next(kind for kind in type(self).__mro__ if "_learning" in kind.__dict__)
        names = ("act", "observe", "_decide", "_learn", "_gradient", *(["weights"] if with_weights else []))
        if (self.guard is not None and self.guard.deadline is not None) or self.on_bad_input == "skip":
            return False  # compiled loops have no clock, and end where something is refused
        return self._compiled and all(getattr(type(self), name, None) is getattr(base, name, None) for name in names)

    @property
    def cells(self) -> tuple[Array, Array]:
        """The loop and what decides on its policies, as two vectors that kernels read and write.

        For compiled loops such as that of `simulate`: let them work on copies, and `adopt` them at the end.
        """
        return self._cell, self._decider

    def adopt(self, cells: tuple[Array, Array]) -> None:
        """Continue from where copies of `cells` have come."""
        self._take(cells[0])
        self._round = int(self._cell[ROUND])
        self._decider = cells[1]

    def plugins(self, *, with_weights: bool = False) -> Calls:
        """Return how compiled code lets the controller learn, and writes down its weights if asked to."""
        return self._learning.calls(with_weights)

    @property
    def most_weights(self) -> int:
        """Largest number of base-learners there can be."""
        return self.weights.size

    def _take(self, cell: Array) -> None:
        """Continue from another cell."""
        self.__dict__.pop("_parts", None)
        start = int(cell[U_AT])
        self._cell, self._input = cell, cell[start : start + self.input_dim]
        self._shape = (self.state_dim,)

    @cached_property
    def _parts(self) -> dict[str, Array]:
        """The parts of the cell by name."""
        return views(self._cell)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is to be copied: neither views into the cell nor its room."""
        state = {name: part for name, part in self.__dict__.items() if name not in ("_parts", "_input", "_aiming")}
        return {**state, "_cell": CELL.kept(self._cell)}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Make room to work in again after copying or unpickling."""
        super().__setstate__(saved)
        self._take(CELL.with_room(self._cell, sides_of(self._cell)))

    @property
    def _may_miss(self) -> bool:
        return self.guard is not None or super()._may_miss

    def _saved(self) -> dict[str, Any]:
        """Return the state: the loop, and what references go by. When the clock was last looked at is forgotten."""
        aims = self.__dict__.get("_aims_by")
        loop = {"cell": CELL.kept(self._cell), "referred": self._referred, "aims_by": aims and list(aims)}
        return {**super()._saved(), **loop}

    def _resume(self, saved: dict[str, Any]) -> None:
        """Continue from a state that was saved."""
        owner = type(self).__name__
        cell, referred, aims = (saved.pop(name) for name in ("cell", "referred", "aims_by"))
        super()._resume(saved)
        resume_cell(owner, self._cell, cell, self._round, len(self.__dict__.get("_actuators", [None])))
        self.__dict__["_referred"] = instance(owner, "referred", referred, bool, "True")
        if aims is not None:
            self.__dict__["_aims_by"] = resume_weights(owner, aims, (self.state_dim, self.input_dim))

    @cached_property
    def stability(self) -> StrongStability:
        """The certificate of the gain."""
        return certify(self.system, self.K)

    @property
    def policy(self) -> DisturbanceAction:
        """The policy in use in this round, or to be used in the next."""
        return DisturbanceAction(self.K, self._decision().reshape(self.memory, *self.K.shape))

    @property
    def disturbances(self) -> Array:
        """The last disturbances as they were recovered, newest first, shape (2H + 1, dx); 0 before the first.

        With a delay or a lag, the memory of the actuator is among the states, and has no disturbances.
        """
        head = int(self._cell[HEAD])
        return self._parts["past"][:, head : head + 2 * self.memory + 1].T.copy()

    def _read_state(self, x: ArrayLike | None) -> Array:
        # The numbers of a float64 array are checked by the kernel, which is quicker.
        if type(x) is np.ndarray and x.dtype is _FLOAT64 and x.shape == self._shape:
            return x.copy()
        if self.guard is not None:
            if x is None:
                return np.full(self.state_dim, math.nan)
            given = loose(f"{type(self).__name__}.act", "x", x)
            if given.shape == self._shape and given.dtype.kind in "fiu":
                return np.array(given, dtype=float)
        return super()._read_state(x)  # type: ignore[arg-type]

    def _decide(self, x: Array) -> Array:
        if self._first_half(x, 2 if self._is_late() else 1) != OK:
            if self.guard is None:
                raise self._bad_state(x)
            self._first_half(x, 0)
            self._say_lost(x)
        # From bytes an array is born read-only.
        return np.frombuffer(self._input.tobytes())

    def _decide_blind(self, seen: Array) -> Array:
        missing = np.full(self.state_dim, math.nan)
        self._first_half(missing, 0)
        self._say_lost(missing)
        return np.frombuffer(self._input.tobytes())

    def _miss(self, x: Array, applied: Array) -> None:
        self._input[:] = applied
        end_round(self._cell, 0.0)

    def _say_lost(self, x: Array) -> None:
        """Write down that a sample was lost."""
        report(self._cell, MISSING if np.isnan(x).any() else OUT_OF_RANGE, 0.0)

    def _first_half(self, x: Array, known: int) -> int:
        """Go from a state to an input; 1 says that it is known, 2 that it came late, 0 that it is not known."""
        way = self._learning
        return act(address_of(way.enter), self._cell, self._decider, way.decision, x, known)

    def _is_late(self) -> bool:
        """Look at the clock, and tell whether this sample is late."""
        if self.guard is None or self.guard.deadline is None:
            return False
        now = self.guard.clock()
        waited, self.__dict__["_heard_at"] = now - self._heard_at, now
        late = math.isfinite(waited) and waited > self.guard.deadline
        if late:
            report(self._cell, LATE, waited)
        return late

    def _bad_state(self, x: Array) -> InputError:
        return InputError(
            f"{type(self).__name__}.act: the state {np.array2string(x, threshold=6)} must be finite and at most "
            "1e+100 in size, and so must the disturbance that explains it; the controller is unchanged."
        )

    def _learn(self, x: Array, applied: Array, cost: Any) -> None:
        before = self._input.copy()
        self._input[:] = applied
        if self._cell[LOST] > 0.0:
            end_round(self._cell, 0.0)
            return
        try:
            if self._learning.learn is not None and self._compiled and cost.compiled:
                decider = self._decider
                status = observe(self._learning.learn.address, self._cell, decider, cost.vector)
                self._decider = decider
            else:
                status = self._learn_by_hand(cost)
            if status == REFUSED and self.guard is None:
                raise self._out_of_range(cost)
        except BaseException:
            self._input[:] = before
            raise
        if status == REFUSED:
            report(self._cell, COSTLY, 0.0)
            end_round(self._cell, 0.0)
            self._cell[LOST] = 1.0
        elif status == PAUSED:
            self.attend(cost)

    def act(self, x: ArrayLike | None, *, reference: ArrayLike | None = None) -> Array:
        """Return the input for the state x: read-only, finite, within the input bound.

        The same state gives the same input until `observe`; another one is out of order.

        Parameters
        ----------
        x : array of shape (dx,)
            The state of the plant now. A guarded controller takes None for a sample that is missing.
        reference : array of shape (dx,) or (rounds, dx), optional
            Where the state is to be in this round, and in those to come if that is known; the last one stays. The cost
            of the round then counts from there, unless it has a target itself. It holds until another is given.
        """
        rows = None if reference is None or self._acted is not None else read_reference(self, reference)
        if rows is None:
            return super().act(x)  # type: ignore[arg-type]
        aimed = self._aims()
        try:
            self._refer(rows)
            return super().act(x)  # type: ignore[arg-type]
        except BaseException:
            self._aim_again(aimed)
            raise

    def _aims(self) -> tuple[Any, ...]:
        """Return what a reference changes, for `_aim_again`, which is called if the round is refused."""
        parts, names = self._parts, ("target", "aim", "lead", "centre", "level")
        return self._referred, {name: parts[name].copy() for name in names}

    def _aim_again(self, aims: tuple[Any, ...]) -> None:
        """Aim as before."""
        self.__dict__["_referred"] = aims[0]
        for name, part in aims[1].items():
            self._parts[name][:] = part

    def _refer(self, rows: Array) -> None:
        """Aim at a reference, by what is known of it."""
        model = self._aiming
        lead = self._parts["lead"].copy() if model is None else follow_reference(model, rows, self._parts["aim"])[0]
        self._rest(rows[0], self._parts["aim"].copy(), lead)
        self.__dict__["_referred"] = True

    @cached_property
    def _aiming(self) -> Model | None:
        """The model by which set-points are taken; it solves a Riccati equation."""
        loop, (n, du) = nominal_loop(self.system), (self.state_dim, self.input_dim)
        Q, R = self.__dict__.get("_aims_by") or (np.eye(n), np.eye(du))
        return model_of(loop.A, loop.B, self.K, Q, R)

    def observe(self, cost: Cost | None, applied: ArrayLike | None = None) -> None:
        """Take in the cost that the round turned out to have.

        Parameters
        ----------
        cost : Cost or None
            The convex cost c_t(x, u), such as ``QuadraticCost(Q, R)``; None if nobody knows it, as with `skip`.
        applied : array of shape (du,), optional
            The input that the plant really got, if it was not what `act` returned: the actuator saturated or was late,
            or somebody else took over. Disturbances are recovered with it, so that nothing wrong is learnt.
        """
        if self._referred and isinstance(cost, QuadraticCost) and cost.compiled and cost.target is None:
            row = self._parts["target"][None, : self.state_dim].copy()
            cost = cost.with_data(cost.data._replace(state_target=row))
        super().observe(cost, applied)

    def attend(self, cost: Cost) -> None:
        """Do what compiled rounds have left to be done, after a round with this cost: move to its set-point.

        For compiled loops such as that of `simulate`.
        """
        n, du = self.state_dim, self.input_dim
        target, aim = targets_of(cost, n, du)
        if not (np.array_equal(target, self._parts["target"][:n]) and np.array_equal(aim, self._parts["aim"])):
            self._aim(target, aim, cost)

    def _aim(self, target: Array, aim: Array, cost: Cost) -> None:
        """Take a set-point: what it adds to -K x, and where the loop rests with that."""
        self.__dict__["_aims_by"] = weights_of(cost, self.state_dim, self.input_dim)
        self.__dict__.pop("_aiming", None)
        model = self._aiming
        lead = np.zeros(self.input_dim) if model is None else set_point(model, target, aim)[0]
        self._rest(target, aim, lead)

    def _rest(self, target: Array, aim: Array, lead: Array) -> None:
        """Write a set-point down."""
        parts = self._parts
        centre = np.linalg.solve(np.eye(len(parts["A"])) - parts["closed"], parts["B"] @ lead)
        parts["target"][: target.size], parts["aim"][:], parts["lead"][:] = target, aim, lead
        parts["centre"][:], parts["level"][:] = centre, lead - self.K @ centre

    def freeze(self) -> FrozenPolicy:
        """Return the policy in use as one that no longer learns: for the machine, for margins, for C.

        It keeps the gain, the answers to past disturbances at the guard's present share, the set-point and the limits.
        """
        return FrozenPolicy(**self._frozen(float(self._cell[SHARE])))

    def _frozen(self, share: float) -> dict[str, Any]:
        """Return what `FrozenPolicy` is made of, with a share of what is learnt."""
        n, parts = self.state_dim, self._parts
        pair = {"A": parts["A"].copy(), "B": parts["B"].copy(), "K": self.K}
        M = share * self.policy.M[:, :, :n]
        return {**pair, "M": M, "rest": parts["lead"].copy(), "states": n, **self._fences()}

    def _fences(self) -> dict[str, Any]:
        """Return the limits of the inputs, as `FrozenPolicy` takes them."""
        return {"limits": self._bounds, "rate": self._parts["rate"].copy()}

    def margins(self) -> Margins:
        """Return how far gain, phase and delay of the plant may be off before the policy in use makes it unstable."""
        return self.freeze().margins()

    def to_control(self, dt: float | bool | None = None) -> Any:
        """Return the policy in use, frozen, as a system of python-control from states to inputs, for Bode plots.

        Parameters
        ----------
        dt : float or True, optional
            Time between two rounds; that of the plant when left out, if it has one.
        """
        known = getattr(self.system, "dt", None)
        return self.freeze().to_control(known if dt is None else dt)

    def warm_up(self) -> None:
        """Compile what the two verbs need, before the loop starts; the controller stays as it is."""
        twin = self.clone()
        for _ in range(2):
            twin.act(np.zeros(self.state_dim))
            twin.observe(QuadraticCost(1.0, 1.0))

    @property
    def health(self) -> Health:
        """How the controller is: whether what is learnt is in use, and what its guard has seen."""
        return health_of(self._cell, self._model_words(None))

    @property
    def log(self) -> tuple[Event, ...]:
        """The last 64 events, oldest first: what the guard did and why, and what was found of the actuator."""
        return log_of(self._cell, self._parts["events"], self._model_words)

    def _model_words(self, number: int | None) -> str:
        """Say what the actuator is taken to be, now or by the number of a model."""
        return "none"

    def _out_of_range(self, cost: Cost) -> InputError:
        return InputError(
            f"{type(self).__name__}.observe: the gradient of {cost!r} leaves the range of numbers; the plant "
            "diverges, or costs or disturbances are in units far too small. The controller is unchanged."
        )
