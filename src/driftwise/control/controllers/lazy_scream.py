"""Lazy Scream.Control: Scream over policies that are held for an epoch each."""

import math

from driftwise._docs import documented
from driftwise._validate import Array
from driftwise.control.controllers.learning import PARAMETERS, LearningController
from driftwise.control.controllers.scream import scream_over_policies
from driftwise.control.policies.scales import Constants
from driftwise.domains import SpectralBalls
from driftwise.learners import Learner


@documented(parameters=PARAMETERS)
class LazyScreamController(LearningController):
    """Scream.Control with lazy updates: each policy is held for an epoch, and the epochs' gradients are summed.

    For plants where a change of policy itself does harm, as it changes in one round of every sqrt(lambda / G) only.

    {parameters}

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
    >>> controller = dw.control.LazyScreamController(dw.control.double_integrator(), horizon=2000)
    >>> controller.learner.program.epoch, controller.weights.size
    (4, 6)
    """

    def _learner(self, domain: SpectralBalls, constants: Constants, horizon: int | None, start: Array) -> Learner:
        epoch = max(1, math.ceil(math.sqrt(constants.switching_cost / constants.gradient_bound)))
        return scream_over_policies(domain, constants, horizon, start, epoch)
