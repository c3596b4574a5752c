"""Controllers that do not learn: a linear gain, and a fixed disturbance-action policy."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, instance
from driftwise.control.controllers.disturbance_action import DisturbanceActionController
from driftwise.control.controllers.run import Learning
from driftwise.control.plants.systems import PLANT_HINT, System
from driftwise.control.policies.disturbance_action import DisturbanceAction, read_loop
from driftwise.control.stability import lqr
from driftwise.domains import Ball
from driftwise.learners import Learner


class Still(Learner):
    """Decides the same in every round."""

    def __init__(self, decision: Array) -> None:
        super().__init__(Ball(decision.size, radius=1.0 + float(np.linalg.norm(decision))))
        self.decision = decision
        # As compiled code reads it: where the decision is, and the decision.
        self._cell = np.concatenate([[1.0], decision])

    def _decide(self) -> Array:
        return self.decision

    def _learn(self, gradient: Array) -> None:
        pass


class PolicyController(DisturbanceActionController):
    """Plays one disturbance-action policy for ever; the controllers that learn are compared with it.

    Parameters
    ----------
    system : System
        The plant, of which the nominal pair (A, B) is used to recover disturbances.
    policy : DisturbanceAction
        The policy.
    input_bound : float or array of shape (du,), optional
        Largest size of each input.

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

    _learns = False
    _learning = Learning(decision=0)

    def __init__(self, system: System, policy: DisturbanceAction, *, input_bound: ArrayLike | None = None) -> None:
        owner = type(self).__name__
        instance(owner, "policy", policy, DisturbanceAction, "DisturbanceAction(K, M)")
        instance(owner, "system", system, System, PLANT_HINT)
        array(owner, "policy.K", policy.K, (system.input_dim, system.state_dim))
        still = Still(policy.M.ravel())
        super().__init__(system, still, K=policy.K, memory=policy.memory, input_bound=input_bound)

    def _runs_compiled(self) -> bool:
        return True


class LinearController(PolicyController):
    """u = -K x: the controller that everything else has to beat, and the safe one to fall back on.

    Parameters
    ----------
    system : System
        The plant.
    K : array of shape (du, dx), optional
        Gain that stabilises the plant; `lqr` with unit weights when left out.
    input_bound : float or array of shape (du,), optional
        Largest size of each input.

    Examples
    --------
    >>> import driftwise as dw
    >>> controller = dw.control.LinearController(dw.control.double_integrator(), K=[[0.4, 1.2]])
    >>> controller.act([1.0, 0.0])
    array([-0.4])
    """

    def __init__(self, system: System, K: ArrayLike | None = None, *, input_bound: ArrayLike | None = None) -> None:
        instance("LinearController", "system", system, System, PLANT_HINT)
        shape = (system.input_dim, system.state_dim)
        gain, _ = read_loop("LinearController", system, lqr(system) if K is None else K)
        super().__init__(system, DisturbanceAction(gain, np.zeros((1, *shape))), input_bound=input_bound)
