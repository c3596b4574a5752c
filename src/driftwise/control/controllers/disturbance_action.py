"""Controllers that play disturbance-action policies: fixed ones, and those that a learner of the core learns."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import LARGEST
from driftwise._validate import Array, instance, read_only, whole
from driftwise.control.controllers.base import Controller
from driftwise.control.costs import Cost, DataCost
from driftwise.control.engine import HEAD, SPARE, Memory, act, foresee, normalise, pull_back, remember, slope
from driftwise.control.policies import DisturbanceAction, read_loop
from driftwise.control.reduction import make_loop, make_room
from driftwise.control.stability import StrongStability, certify, lqr
from driftwise.control.stability.certificate import stable
from driftwise.control.systems import PLANT_HINT, System
from driftwise.engine.kernels import OK
from driftwise.errors import InputError, ParameterError
from driftwise.learners import Learner

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
        self._loop, self._room = make_loop(system, self.K, self.input_bound), make_room(H, du, dx)
        columns = 2 * H + 1 + SPARE
        self._memory = Memory(
            np.array([0, columns - 2 * H - 1]), np.zeros((dx, columns)), np.zeros(dx), np.zeros(du), np.zeros(3)
        )

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
        head = int(self._memory.marks[HEAD])
        return self._memory.past[:, head : head + 2 * self.memory + 1].T.copy()

    def _read_state(self, x: ArrayLike) -> Array:
        # The numbers of a plain float64 array are checked by the kernel, which is quicker.
        if type(x) is np.ndarray and x.dtype is _FLOAT64 and x.shape == self._memory.x.shape:
            return x.copy()
        return super()._read_state(x)

    def _decide(self, x: Array) -> Array:
        u = np.empty(self.input_dim)
        if act(self._loop, self._memory, self._room, self.learner.act(), x, u) != OK:
            raise InputError(
                f"{type(self).__name__}.act: the state {np.array2string(x, threshold=6)} must be finite and at most "
                "1e+100 in size, and so must the disturbance that explains it; the controller is unchanged."
            )
        return read_only(u)

    def _learn(self, x: Array, applied: Array, cost: Cost) -> None:
        square = self._gradient(cost, self.learner.act()) if self._learns else 0.0
        if not square <= LARGEST * LARGEST:
            raise InputError(
                f"{type(self).__name__}.observe: the gradient of {cost!r} leaves the range of numbers; the plant "
                "diverges, or costs or disturbances are in units far too small. The controller is unchanged."
            )
        if self._learns:
            self.learner.observe(self._room.gradient)
        remember(self._memory, applied, square)

    def _gradient(self, cost: Cost, policy: Array) -> float:
        """Write the gradient for the learner into the room, and return its squared norm, or what it counts for."""
        parts = (self._loop, self._memory, self._room)
        if isinstance(cost, DataCost) and cost.plain:
            return slope(*parts, policy, cost.data, 0, self.normalised)
        foresee(*parts, policy)
        self._room.slope_x[:], self._room.slope_u[:] = cost.gradient(self._room.y.copy(), self._room.v.copy())
        square = pull_back(*parts)
        if self.normalised and square <= LARGEST * LARGEST:
            square = normalise(self._memory, self._room, square)
        return square
