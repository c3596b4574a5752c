"""OGD.Control, known as GPC (Agarwal et al. 2019): gradient descent over policies, one step size."""

import math
from typing import Any

from driftwise._docs import documented
from driftwise.control.controllers.learning import PARAMETERS, LearningController
from driftwise.control.policies.scales import Constants
from driftwise.learners import Pool


@documented(parameters=PARAMETERS)
class GradientController(LearningController):
    """OGD.Control, or GPC: learns a disturbance-action policy by gradient descent with one step size.

    The controller to begin with when disturbances are correlated and the world hardly changes. When it does, at an
    unknown pace, `ScreamController` has a step size for every pace. For a step size of your own, give
    ``OGD(SpectralBalls((H, du, dx), radii), step=...)`` to `DisturbanceActionController`.

    {parameters}

    Notes
    -----
    Static policy regret O(sqrt(T)) up to logarithms at the scales "certified" and "theory".

    References
    ----------
    .. [1] Agarwal, Bullins, Hazan, Kakade, Singh, "Online control with adversarial disturbances", ICML 2019.

    Examples
    --------
    >>> import driftwise as dw
    >>> controller = dw.control.GradientController(dw.control.double_integrator(), horizon=2000)
    >>> controller.learner.step_sizes.round(5)
    array([0.00886])
    """

    _theorem = "Static policy regret O(sqrt(T)), up to logarithms, (Agarwal et al. 2019)"

    def _ensemble(self, constants: Constants) -> dict[str, Any]:
        D, G, lambda_ = constants.diameter, constants.gradient_bound, constants.switching_cost
        return {"pool": Pool(D / math.sqrt(G**2 + lambda_ * G))}
