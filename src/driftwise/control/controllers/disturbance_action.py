"""Disturbance-action policies that a learner decides on (Algorithm 3 of the paper, with any learner)."""

from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import LARGEST
from driftwise._protocol import BadInput
from driftwise._validate import Array, array, instance
from driftwise.control.controllers.guard import Guard
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.controllers.run import Learning
from driftwise.control.costs import Cost, DataCost
from driftwise.control.plants import PLANT_HINT, System
from driftwise.control.policies import engine
from driftwise.control.policies.disturbance_action import nominal_loop, policy_memory
from driftwise.engine.layout import DECISION_AT
from driftwise.engine.rounds import REFUSED
from driftwise.errors import CheckpointError, ParameterError
from driftwise.learners import Ensemble, Learner


class DisturbanceActionController(PolicyLoop):
    """Plays u_t = -K x_t + sum_i M_t[i] w_{t-i} with the policies M_t that a learner decides on.

    The disturbance w_{t-1} = x_t - A x_{t-1} - B u_{t-1} is recovered in every round, with the input that was really
    applied. The learner observes the gradient of the truncated unary loss at its policy (Algorithm 3 of the paper).
    The named controllers are this one with a learner of the core; give it a learner of your own to try another.

    Parameters
    ----------
    system : System
        The plant; the controller uses its nominal (A, B).
    learner : Learner
        Decides in ``SpectralBalls((H, du, dx), radii)``, or any domain of as many dimensions with `memory` given.
    K : array of shape (du, dx), optional
        Gain that stabilises the plant; `lqr` with unit weights when left out.
    memory : int, optional
        H; taken from the learner's domain when left out.
    normalised : bool, default False
        Divide every gradient by the root mean square of those so far.
    input_bound : float or array of shape (du,) or (du, 2), optional
        Largest size of each input, or rows [low, high].
    rate_limit : float or array of shape (du,), optional
        Most that an input may change from one round to the next.
    guard : bool or Guard, default False
        Fall back on u = -K x when states, samples or what is learnt look wrong, instead of raising; see `Guard`.
    on_bad_input : {"raise", "skip"}, default "raise"
        What to do about input that is refused; see `Controller`.

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

    _learning = Learning(DECISION_AT, None, engine.learn_by_gradient, engine.learner_weights)

    def __init__(
        self,
        system: System,
        learner: Learner,
        *,
        K: ArrayLike | None = None,
        memory: int | None = None,
        normalised: bool = False,
        input_bound: ArrayLike | None = None,
        rate_limit: ArrayLike | None = None,
        guard: bool | Guard = False,
        **rounds: Unpack[BadInput],
    ) -> None:
        owner = type(self).__name__
        instance(owner, "system", system, System, PLANT_HINT)
        instance(owner, "learner", learner, Learner, "OGD(SpectralBalls((5, 1, 2), 1.0), step=0.01)")
        own_gradients = isinstance(learner, Ensemble) and learner.program.own_gradients
        if learner.round > 0 or learner._acted is not None or own_gradients:
            raise ParameterError(
                f"{owner}: the learner must be a new one, that takes gradients at its decision; got {learner!r}."
            )
        loop, domain = nominal_loop(system), learner.domain
        dx, du = loop.state_dim, loop.input_dim
        H = policy_memory(f"{owner}: the learner must decide on", domain, memory, (du, dx))
        instance(owner, "normalised", normalised, bool, "True")
        self.learner = learner.clone()
        # One whose constructor is called with what it has become by now, such as `rounded`, is kept as it was.
        own = type(learner)._configuration is not Learner._configuration
        self._fresh = learner.clone() if own else None
        self._compiled = isinstance(learner, Ensemble) and learner.runs_compiled()
        limits: dict[str, Any] = {"input_bound": input_bound, "rate_limit": rate_limit, "guard": guard}
        super().__init__(system, K, H, horizon=learner.horizon, normalised=normalised, **limits, **rounds)

    def _configuration(self) -> dict[str, Any]:
        """Return what builds it again, with a learner that has not played yet."""
        known = super()._configuration()
        return known if self._fresh is None else {**known, "learner": self._fresh}

    def _saved(self) -> dict[str, Any]:
        """Return the state: the loop and the learner."""
        return {**super()._saved(), "learner": self.learner._saved() if self._fresh is None else self.learner}

    def _resume(self, saved: dict[str, Any]) -> None:
        """Continue from a state that was saved."""
        learner = saved.pop("learner")
        super()._resume(saved)
        if self._fresh is None:
            self.learner._resume(learner)
            return
        if type(learner) is not type(self.learner) or learner.domain.dim != self.learner.domain.dim:
            raise CheckpointError(f"{type(self).__name__}: it learns by another learner, {learner!r:.60}.")
        self.__dict__["learner"] = learner

    @property
    def _decider(self) -> Array:
        return cast(Ensemble, self.learner).cell  # a check of its type, twice a round, would be slower

    @_decider.setter
    def _decider(self, cell: Array) -> None:
        cast(Ensemble, self.learner).adopt(cell)

    def _decision(self) -> Array:
        learner = self.learner.clone()
        decision: Array = learner._decide() if learner._acted is None else learner._acted
        return decision

    @property
    def weights(self) -> Array:
        """Weights of the base-learners, smallest step first."""
        return self.learner.weights

    @property
    def most_weights(self) -> int:
        """Largest number of base-learners there can be."""
        return self.learner.program.steps.size if isinstance(self.learner, Ensemble) else self.weights.size

    def runs_compiled(self, *, with_weights: bool = False) -> bool:
        """Tell whether compiled loops may play in its place: not if it, or its learner, has methods of its own."""
        compiled = isinstance(self.learner, Ensemble) and self.learner.runs_compiled(with_weights=with_weights)
        return compiled and super().runs_compiled(with_weights=with_weights)

    def _first_half(self, x: Array, known: int) -> int:
        if self._compiled:
            return super()._first_half(x, known)
        # A state that is refused must not reach the learner.
        if known and not engine.admits_state(self._cell, x):
            return REFUSED
        return engine.act(0, self._cell, np.concatenate([[1.0], self._policy()]), 0, x, known)

    def _policy(self) -> Array:
        """Return the decision of a learner of any kind, as kernels read it."""
        name = f"{type(self).__name__}: what {type(self.learner).__name__}.act"
        return array(name, "returns", self.learner.act(), (self.learner.domain.dim,))

    def _learn_by_hand(self, cost: Cost) -> int:
        acted, status = self.learner._acted, REFUSED
        try:
            square = self._gradient(cost, self._policy())
            if square <= LARGEST * LARGEST:
                self.learner.observe(self._parts["gradient"].ravel().copy())
                engine.end_round(self._cell, square)
                status = engine.PAUSED
        finally:
            if status == REFUSED:  # compiled rounds do not ask the learner to act, so it may not have
                self.learner.__dict__["_acted"] = acted
        return status

    def _gradient(self, cost: Cost, policy: Array) -> float:
        """Write the gradient for the learner into the room, and return its squared norm, or what it counts for."""
        parts, writable = self._parts, np.array(policy)
        if isinstance(cost, DataCost) and cost.compiled:
            return engine.data_slope(self._cell, writable, cost.vector)
        engine.look_ahead(self._cell, writable)
        n = self.state_dim
        parts["slope_x"][n:] = 0.0
        parts["slope_x"][:n], parts["slope_u"][:] = cost.gradient(parts["y"][:n].copy(), parts["v"].copy())
        return engine.look_back(self._cell)
