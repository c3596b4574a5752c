"""Controllers that play disturbance-action policies: fixed ones, and those that a learner of the core learns."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import LARGEST
from driftwise._validate import Array, array, instance, read_only, whole
from driftwise.control.controllers.base import Controller
from driftwise.control.controllers.run import Learning, address_of
from driftwise.control.costs import Cost, DataCost
from driftwise.control.plants.systems import PLANT_HINT, System
from driftwise.control.policies.disturbance_action import DisturbanceAction, read_loop
from driftwise.control.policies.engine import (
    act,
    admits_state,
    data_slope,
    learn_by_gradient,
    learner_weights,
    look_ahead,
    look_back,
    observe,
)
from driftwise.control.policies.layout import COUNT, HEAD, MEASURED, ROUND, SPARE, SQUARES, U_AT, kept, views, with_room
from driftwise.control.policies.reduction import loop_cell
from driftwise.control.stability import StrongStability, certify, lqr
from driftwise.control.stability.certificate import stable
from driftwise.engine.layout import DECISION_AT
from driftwise.engine.rounds import OK
from driftwise.errors import InputError, ParameterError
from driftwise.learners import Ensemble, Learner
from driftwise.play import plain

_FLOAT64 = np.dtype(np.float64)


class DisturbanceActionController(Controller):
    """Plays u_t = -K x_t + sum_i M_t[i] w_{t-i} with the policies M_t that a learner decides on.

    The disturbance w_{t-1} = x_t - A x_{t-1} - B u_{t-1} is recovered in every round, with the input that was really
    applied. The learner observes the gradient of the truncated unary loss at its policy (Algorithm 3 of the paper).
    The named controllers are this one with a learner of the core; give it a learner of your own to try another.

    Parameters
    ----------
    system : System
        The plant, of which the nominal pair (A, B) is used.
    learner : Learner
        Decides in ``SpectralBalls((H, du, dx), radii)``, or any domain of as many dimensions with `memory` given.
    K : array of shape (du, dx), optional
        Gain that stabilises the plant; `lqr` with unit weights when left out.
    memory : int, optional
        H; taken from the learner's domain when left out.
    normalised : bool, default False
        Divide every gradient by the root mean square of those so far.
    input_bound : float or array of shape (du,), optional
        Largest size of each input.

    Attributes
    ----------
    K : array of shape (du, dx)
        The gain.
    policy : DisturbanceAction
        The policy of this round.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> learner = dw.OGD(dw.SpectralBalls((5, 1, 2), radii=2.0), step=0.01)
    >>> controller = dw.control.DisturbanceActionController(plant, learner)
    >>> controller.act([1.0, 0.0])
    array([-0.42208244])
    >>> controller.observe(dw.control.QuadraticCost(1.0, 1.0))
    """

    _learns = True
    _learning = Learning(DECISION_AT, None, learn_by_gradient, learner_weights)

    def __init__(
        self,
        system: System,
        learner: Learner,
        *,
        K: ArrayLike | None = None,
        memory: int | None = None,
        normalised: bool = False,
        input_bound: ArrayLike | None = None,
    ) -> None:
        owner = type(self).__name__
        self.system = instance(owner, "system", system, System, PLANT_HINT)
        instance(owner, "learner", learner, Learner, "OGD(SpectralBalls((5, 1, 2), 1.0), step=0.01)")
        if learner.round > 0 or learner._acted is not None or getattr(learner, "_own", False):
            raise ParameterError(
                f"{owner}: the learner must be a new one, that takes gradients at its decision; got {learner!r}."
            )
        self.learner = learner.clone()
        super().__init__(system.state_dim, system.input_dim, learner.horizon, input_bound)
        dx, du, dim = self.state_dim, self.input_dim, learner.domain.dim
        H = dim // (du * dx) if memory is None else whole(owner, "memory", memory)
        if H < 1 or H * du * dx != dim or (len(learner.domain.shape) == 3 and learner.domain.shape != (H, du, dx)):
            raise ParameterError(
                f"{owner}: the learner must decide on {H or 'H'} matrices of shape ({du}, {dx}), such as in "
                f"SpectralBalls(({H or 5}, {du}, {dx}), radii), got {learner.domain!r}."
            )
        self.memory = H
        gain, _ = read_loop(owner, system, lqr(system) if K is None else K)
        self.K = read_only(gain)
        stable(owner, system, gain)
        self.normalised = instance(owner, "normalised", normalised, bool, "True")
        cell = loop_cell(system, self.K, H, 2 * H + 1 + SPARE, self.input_bound)
        cell[MEASURED] = self.normalised
        self._take(cell)
        self._compiled = self._runs_compiled()

    def _runs_compiled(self) -> bool:
        """Tell whether compiled code does for the learner what its own methods would."""
        return isinstance(self.learner, Ensemble) and plain(self.learner, False)

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

    def _adopt(self, cell: Array, learner_cell: Array, rounds: int) -> None:
        """Continue from where copies of the two cells have come in so many rounds."""
        self._take(cell)
        self._round += rounds
        if self._learns:
            learner: Any = self.learner
            learner._take(learner_cell)
            learner._round = self._round

    def __getstate__(self) -> dict[str, Any]:
        """Return what is to be copied: neither views into the cell nor its room."""
        views = ("_parts", "_input")
        state = {name: part for name, part in self.__dict__.items() if name not in views}
        return {**state, "_cell": kept(self._cell)}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Make room to work in again after copying or unpickling."""
        super().__setstate__(saved)
        self._take(with_room(self._cell))

    @cached_property
    def stability(self) -> StrongStability:
        """The certificate of the gain."""
        return certify(self.system, self.K)

    @property
    def policy(self) -> DisturbanceAction:
        """The policy in use in this round, or to be used in the next."""
        learner = self.learner.clone()
        decision = learner._decide() if learner._acted is None else learner._acted
        return DisturbanceAction(self.K, decision.reshape(self.memory, self.input_dim, self.state_dim))

    @property
    def weights(self) -> Array:
        """Weights of the base-learners, smallest step first."""
        return self.learner.weights

    @property
    def disturbances(self) -> Array:
        """The last disturbances as they were recovered, newest first, shape (2H + 1, dx); 0 before the first."""
        head = int(self._cell[HEAD])
        return self._parts["past"][:, head : head + 2 * self.memory + 1].T.copy()

    def _read_state(self, x: ArrayLike) -> Array:
        # The numbers of a plain float64 array are checked by the kernel, which is quicker.
        if type(x) is np.ndarray and x.dtype is _FLOAT64 and x.shape == self._shape:
            return x.copy()
        return super()._read_state(x)

    def _decide(self, x: Array) -> Array:
        if self._compiled:
            learner: Any = self.learner
            way = self._learning
            refused = act(address_of(way.enter), self._cell, learner._cell, way.decision, x) != OK
        else:
            # A state that is refused must not reach the learner.
            refused = not admits_state(self._cell, x)
            if not refused:
                act(0, self._cell, np.concatenate([[1.0], self._policy()]), 0, x)
        if refused:
            raise InputError(
                f"{type(self).__name__}.act: the state {np.array2string(x, threshold=6)} must be finite and at most "
                "1e+100 in size, and so must the disturbance that explains it; the controller is unchanged."
            )
        # From bytes an array is born read-only.
        return np.frombuffer(self._input.tobytes())

    def _learn(self, x: Array, applied: Array, cost: Any) -> None:
        if not self._learns:
            self._count(0.0)
        elif self._compiled and cost.plain:
            learner: Any = self.learner
            if observe(address_of(self._learning.learn), self._cell, learner._link(), cost.vector) != OK:
                raise self._out_of_range(cost)
            learner._round += 1
            learner._acted = None
        else:
            self._learn_by_hand(cost)
        self._input[:] = applied

    def _policy(self) -> Array:
        """Return the decision of a learner of any kind, as kernels read it."""
        name = f"{type(self).__name__}: what {type(self.learner).__name__}.act"
        return array(name, "returns", self.learner.act(), (self.learner.domain.dim,))

    def _learn_by_hand(self, cost: Cost) -> None:
        """Take in a cost by the learner's own verbs."""
        square = self._gradient(cost, self._policy())
        if not square <= LARGEST * LARGEST:
            raise self._out_of_range(cost)
        self.learner.observe(self._parts["gradient"].ravel().copy())
        self._count(square)

    def _count(self, square: float) -> None:
        """End a round with a gradient that counts for so much, as `engine.remember` does."""
        self._cell[ROUND] += 1.0
        if square > 0.0:
            self._cell[COUNT] += 1.0
            self._cell[SQUARES] += square

    def _out_of_range(self, cost: Cost) -> InputError:
        return InputError(
            f"{type(self).__name__}.observe: the gradient of {cost!r} leaves the range of numbers; the plant "
            "diverges, or costs or disturbances are in units far too small. The controller is unchanged."
        )

    def _gradient(self, cost: Cost, policy: Array) -> float:
        """Write the gradient for the learner into the room, and return its squared norm, or what it counts for."""
        parts, writable = self._parts, np.array(policy)
        if isinstance(cost, DataCost) and cost.plain:
            return data_slope(self._cell, writable, cost.vector)
        look_ahead(self._cell, writable)
        parts["slope_x"][:], parts["slope_u"][:] = cost.gradient(parts["y"].copy(), parts["v"].copy())
        return look_back(self._cell)
