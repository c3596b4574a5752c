"""Scream.Control (Algorithm 3 of the paper): dynamic policy regret for online non-stochastic control."""

from typing import Any

from driftwise._docs import documented
from driftwise.control.controllers.learning import PARAMETERS, LearningController
from driftwise.control.policies.scales import Constants
from driftwise.learners.scream import scream_parts


def scream_over_policies(constants: Constants, epoch: int) -> dict[str, Any]:
    """Return Scream with these constants, over epochs of so many rounds."""
    D, G, lambda_ = constants.diameter, epoch * constants.gradient_bound, constants.switching_cost
    pool, meta, surrogate = scream_parts(D, G, lambda_, "appendix")
    return {"pool": pool, "meta": meta, "surrogate": surrogate, "epoch": epoch}


@documented(parameters=PARAMETERS)
class ScreamController(LearningController):
    """Scream.Control: many step sizes over policies, mixed by Hedge over losses that include each one's own movement.

    The controller to reach for when costs or disturbances change at an unknown pace. With independent noise the past
    tells nothing, u = -K x is nearly optimal, and learning costs a few per cent: compare with `LinearController`.

    {parameters}

    Notes
    -----
    Theorem 7: dynamic policy regret O(sqrt(T (1 + P))) up to logarithms, for any comparators with path length P, at the
    scales "certified" and "theory", if the horizon T is given, H grows like log T, the plant is linear and starts at
    x_0 = 0, and disturbances and costs keep to `disturbance_bound` and `cost_gradient`. With a constant H, such as the
    default, the error of truncation is linear in T. `guarantee` says what holds for the controller at hand.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023.

    Examples
    --------
    >>> import driftwise as dw
    >>> controller = dw.control.ScreamController(dw.control.double_integrator(), horizon=2000)
    >>> controller.weights.round(3)
    array([0.571, 0.19 , 0.095, 0.057, 0.038, 0.027, 0.02 ])
    """

    _theorem = "Theorem 7: dynamic policy regret O(sqrt(T (1 + P_T))), up to logarithms,"

    def _ensemble(self, constants: Constants) -> dict[str, Any]:
        return scream_over_policies(constants, epoch=1)
