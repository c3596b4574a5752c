"""Lazy Scream.Control: Scream over policies that are held for an epoch each."""

import math

from driftwise._validate import Array
from driftwise.control.controllers.learning import LearningController
from driftwise.control.controllers.scream import scream_over_policies
from driftwise.control.policies.scales import Constants
from driftwise.domains import SpectralBalls
from driftwise.learners import Learner


class LazyScreamController(LearningController):
    """Scream.Control with lazy updates: each policy is held for an epoch, and the epochs' gradients are summed.

    For plants where a change of policy itself does harm, as it changes in one round of every sqrt(lambda / G) only.

    Parameters
    ----------
    system : System
        The plant, of which the nominal pair (A, B) is used.
    horizon, K, memory, scale, alpha, disturbance_bound, cost_gradient, gradient_bound, radii, start, seed, input_bound
        As in `LearningController`.

    Notes
    -----
    Combines Algorithms 2 and 3 of the paper, which does not do so itself.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory and non-stochastic control", JMLR 24,
       2023.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> cost, waves = dw.control.QuadraticCost(1.0, 1.0), dw.control.SinusoidDisturbance(0.3, period=40.0, seed=1)
    >>> controller = dw.control.LazyScreamController(plant, horizon=2000)
    >>> trace = dw.control.simulate(plant, controller, cost, waves, rounds=2000)
    >>> lqr = dw.control.simulate(plant, dw.control.LinearController(plant), cost, waves, rounds=2000)
    >>> round(trace.total / lqr.total, 3)
    0.494
    """

    def _learner(self, domain: SpectralBalls, constants: Constants, horizon: int | None, start: Array) -> Learner:
        epoch = max(1, math.ceil(math.sqrt(constants.switching_cost / constants.gradient_bound)))
        return scream_over_policies(domain, constants, horizon, start, epoch)
