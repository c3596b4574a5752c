"""Ader.Control: many step sizes over policies, blind to what moving a policy costs (the paper's contender)."""

from typing import Any

from driftwise._docs import documented
from driftwise.control.controllers.learning import PARAMETERS, LearningController
from driftwise.control.policies.scales import Constants
from driftwise.learners.ader import ader_parts


@documented(parameters=PARAMETERS)
class AderController(LearningController):
    """Ader.Control: gradient descent over policies with many step sizes, mixed by Hedge, blind to what moving costs.

    A contender of the paper's: it shows what `ScreamController` gains by pricing movement.

    {parameters}

    Notes
    -----
    A plant remembers past policies, so moving them costs something; no policy regret is proved for Ader here.

    References
    ----------
    .. [1] Zhang, Lu, Zhou, "Adaptive online learning in dynamic environments", NeurIPS 2018.
    .. [2] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023.

    Examples
    --------
    >>> import driftwise as dw
    >>> controller = dw.control.AderController(dw.control.double_integrator(), horizon=2000)
    >>> controller.learner.step_sizes.round(3)
    array([0.055, 0.11 , 0.22 , 0.44 , 0.879, 1.758, 3.517])
    """

    def _ensemble(self, constants: Constants) -> dict[str, Any]:
        pool, meta = ader_parts(constants.diameter, constants.gradient_bound)
        return {"pool": pool, "meta": meta}
