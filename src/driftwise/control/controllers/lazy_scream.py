"""Lazy Scream.Control: Scream over policies that are held for an epoch each."""

import math
from typing import Any

from driftwise._docs import documented
from driftwise.control.controllers.learning import PARAMETERS, LearningController
from driftwise.control.controllers.scream import scream_over_policies
from driftwise.control.policies.scales import Constants


@documented(parameters=PARAMETERS)
class LazyScreamController(LearningController):
    """Scream.Control with lazy updates: each policy is held for an epoch, and the epochs' gradients are summed.

    For plants where a change of policy itself does harm, as it changes in one round of every sqrt(lambda / G) only.

    {parameters}

    Notes
    -----
    Combines Algorithms 2 and 3 of the paper, which does not do so itself; see `ScreamController` and `LazyScream`.

    Examples
    --------
    >>> import driftwise as dw
    >>> controller = dw.control.LazyScreamController(dw.control.double_integrator(), horizon=2000)
    >>> controller.learner.program.epoch, controller.weights.size
    (4, 6)
    """

    def _ensemble(self, constants: Constants) -> dict[str, Any]:
        epoch = max(1, math.ceil(math.sqrt(constants.switching_cost / constants.gradient_bound)))
        return scream_over_policies(constants, epoch)
