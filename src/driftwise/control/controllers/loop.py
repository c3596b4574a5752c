"""The loop of every controller of disturbance-action policies: recover the disturbance, play the policy, learn."""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, read_only
from driftwise.control.controllers.base import Controller
from driftwise.control.controllers.run import Calls, Learning, address_of
from driftwise.control.costs import Cost
from driftwise.control.plants import System
from driftwise.control.policies.disturbance_action import DisturbanceAction, stable_loop
from driftwise.control.policies.engine import act, end_round, observe
from driftwise.control.policies.layout import CELL, HEAD, MEASURED, ROUND, SPARE, U_AT, sides_of, views
from driftwise.control.policies.reduction import loop_cell
from driftwise.control.stability import StrongStability, certify
from driftwise.engine.rounds import OK
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
    input_bound : float or array of shape (du,), optional
        Largest size of each input.
    normalised : bool, default False
        Divide every gradient by the root mean square of those so far.
    """

    _learning: ClassVar[Learning]
    _decider: Array
    """The vector of what decides on policies, ready for kernels."""
    _compiled = True
    """Whether compiled code does what the methods of the decider would."""

    def __init__(
        self,
        system: System,
        K: ArrayLike | None,
        memory: int,
        *,
        horizon: int | None = None,
        input_bound: ArrayLike | None = None,
        normalised: bool = False,
    ) -> None:
        gain, _ = stable_loop(type(self).__name__, system, K)
        self.system, self.memory, self.K, self.normalised = system, memory, read_only(gain), normalised
        super().__init__(system.state_dim, system.input_dim, horizon, input_bound)
        cell = loop_cell(system, self.K, memory, 2 * memory + 1 + SPARE, self.input_bound)
        cell[MEASURED] = normalised
        self._take(cell)

    @abstractmethod
    def _decision(self) -> Array:
        """Return the policy of this round, flat."""

    def _learn_by_hand(self, cost: Cost) -> None:
        """Learn from a cost that compiled code does not know."""
        end_round(self._cell, 0.0)

    def runs_compiled(self, *, with_weights: bool = False) -> bool:
        """Tell whether compiled loops may play in its place: not if a subclass has methods of its own."""
        # The class that says how compiled code learns answers for its own methods, and for no others.
        base = next(kind for kind in type(self).__mro__ if "_learning" in kind.__dict__)
        names = ("act", "observe", "_decide", "_learn", "_gradient", *(["weights"] if with_weights else []))
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
        state = {name: part for name, part in self.__dict__.items() if name not in ("_parts", "_input")}
        return {**state, "_cell": CELL.kept(self._cell)}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Make room to work in again after copying or unpickling."""
        super().__setstate__(saved)
        self._take(CELL.with_room(self._cell, sides_of(self._cell)))

    @cached_property
    def stability(self) -> StrongStability:
        """The certificate of the gain."""
        return certify(self.system, self.K)

    @property
    def policy(self) -> DisturbanceAction:
        """The policy in use in this round, or to be used in the next."""
        return DisturbanceAction(self.K, self._decision().reshape(self.memory, self.input_dim, self.state_dim))

    @property
    def disturbances(self) -> Array:
        """The last disturbances as they were recovered, newest first, shape (2H + 1, dx); 0 before the first."""
        head = int(self._cell[HEAD])
        return self._parts["past"][:, head : head + 2 * self.memory + 1].T.copy()

    def _read_state(self, x: ArrayLike) -> Array:
        # The numbers of a float64 array are checked by the kernel, which is quicker.
        if type(x) is np.ndarray and x.dtype is _FLOAT64 and x.shape == self._shape:
            return x.copy()
        return super()._read_state(x)

    def _decide(self, x: Array) -> Array:
        way = self._learning
        if act(address_of(way.enter), self._cell, self._decider, way.decision, x) != OK:
            raise self._bad_state(x)
        # From bytes an array is born read-only.
        return np.frombuffer(self._input.tobytes())

    def _bad_state(self, x: Array) -> InputError:
        return InputError(
            f"{type(self).__name__}.act: the state {np.array2string(x, threshold=6)} must be finite and at most "
            "1e+100 in size, and so must the disturbance that explains it; the controller is unchanged."
        )

    def _learn(self, x: Array, applied: Array, cost: Any) -> None:
        if self._learning.learn is not None and self._compiled and cost.compiled:
            decider = self._decider
            if observe(self._learning.learn.address, self._cell, decider, cost.vector) != OK:
                raise self._out_of_range(cost)
            self._decider = decider
        else:
            self._learn_by_hand(cost)
        self._input[:] = applied

    def _out_of_range(self, cost: Cost) -> InputError:
        return InputError(
            f"{type(self).__name__}.observe: the gradient of {cost!r} leaves the range of numbers; the plant "
            "diverges, or costs or disturbances are in units far too small. The controller is unchanged."
        )
