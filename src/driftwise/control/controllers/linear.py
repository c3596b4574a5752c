"""Controllers that do not learn: a linear gain, and a fixed disturbance-action policy."""

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from driftwise._protocol import BadInput
from driftwise._validate import Array, array, instance
from driftwise.control.controllers.guard import Guard
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.controllers.run import Learning
from driftwise.control.plants import PLANT_HINT, System
from driftwise.control.policies.disturbance_action import DisturbanceAction, nominal_loop, stable_loop


class PolicyController(PolicyLoop):
    """Plays a constant disturbance-action policy; the controllers that learn are compared with it.

    Parameters
    ----------
    system : System
        The plant; its nominal (A, B) is used to recover disturbances.
    policy : DisturbanceAction
        The policy.
    input_bound : float or array of shape (du,) or (du, 2), optional
        Largest size of each input, or rows [low, high].
    rate_limit : float or array of shape (du,), optional
        Most that an input may change from one round to the next.
    guard : bool or Guard, default False
        Fall back on u = -K x when states, samples or what is learnt look wrong, instead of raising; see `Guard`.
    on_bad_input : {"raise", "skip"}, default "raise"
        What to do about input that is refused; see `Controller`.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.LinearSystem(0.5, 1.0)
    >>> controller = dw.control.PolicyController(plant, dw.control.DisturbanceAction([[0.5]], [[[-1.0]]]))
    >>> inputs = []
    >>> for x in (1.0, 0.5, 0.0):
    ...     inputs.append(float(controller.act([x])[0]))
    ...     controller.observe(dw.control.QuadraticCost(1.0, 1.0))
    >>> inputs
    [-0.5, -0.75, -0.5]
    """

    _learning = Learning(decision=0)

    def __init__(
        self,
        system: System,
        policy: DisturbanceAction,
        *,
        input_bound: ArrayLike | None = None,
        rate_limit: ArrayLike | None = None,
        guard: bool | Guard = False,
        **rounds: Unpack[BadInput],
    ) -> None:
        owner = type(self).__name__
        instance(owner, "policy", policy, DisturbanceAction, "DisturbanceAction(K, M)")
        instance(owner, "system", system, System, PLANT_HINT)
        loop = nominal_loop(system)
        array(owner, "policy.K", policy.K, (loop.input_dim, loop.state_dim))
        # As compiled code reads it: where the policy is, and the policy.
        self._decider = np.concatenate([[1.0], policy.M.ravel()])
        limits: dict[str, Any] = {"input_bound": input_bound, "rate_limit": rate_limit, "guard": guard}
        super().__init__(system, policy.K, policy.memory, **limits, **rounds)

    def _decision(self) -> Array:
        return self._decider[1:]


class LinearController(PolicyController):
    """u = -K x: the controller that everything else has to beat, and the safe one to fall back on.

    Parameters
    ----------
    system : System
        The plant.
    K : array of shape (du, dx), optional
        Gain that stabilises the plant; `lqr` with unit weights when left out.
    input_bound : float or array of shape (du,) or (du, 2), optional
        Largest size of each input, or rows [low, high].
    rate_limit : float or array of shape (du,), optional
        Most that an input may change from one round to the next.
    guard : bool or Guard, default False
        Fall back on u = -K x when states, samples or what is learnt look wrong, instead of raising; see `Guard`.
    on_bad_input : {"raise", "skip"}, default "raise"
        What to do about input that is refused; see `Controller`.

    Examples
    --------
    >>> import driftwise as dw
    >>> controller = dw.control.LinearController(dw.control.double_integrator(), K=[[0.4, 1.2]])
    >>> controller.act([1.0, 0.0])
    array([-0.4])
    """

    def __init__(
        self,
        system: System,
        K: ArrayLike | None = None,
        *,
        input_bound: ArrayLike | None = None,
        rate_limit: ArrayLike | None = None,
        guard: bool | Guard = False,
        **rounds: Unpack[BadInput],
    ) -> None:
        gain, _ = stable_loop("LinearController", system, K)
        still = DisturbanceAction(gain, np.zeros((1, *gain.shape)))
        super().__init__(system, still, input_bound=input_bound, rate_limit=rate_limit, guard=guard, **rounds)
