"""The controllers of the paper by name: OGD.Control, Ader.Control, Scream.Control (Algorithm 3) and its lazy form."""

from typing import Any

from driftwise._docs import documented
from driftwise.control.bounds.known import gradient_step, lazy_epoch
from driftwise.control.controllers.learning import PARAMETERS, LearningController
from driftwise.control.policies.scales import Constants
from driftwise.learners import Pool
from driftwise.learners.ader import ader_parts
from driftwise.learners.scream import scream_parts


@documented(parameters=PARAMETERS)
class GradientController(LearningController):
    """OGD.Control, or GPC: learns a disturbance-action policy by gradient descent with one step size.

    For correlated disturbances in a world that hardly changes. When it does change, at an unknown pace,
    `ScreamController` has a step size for every pace. For a step size of your own, give
    ``OGD(SpectralBalls((H, du, dx), radii), step=...)`` to `DisturbanceActionController`.

    {parameters}

    Notes
    -----
    Static policy regret O(sqrt(T)) up to logarithms at the scales "certified" and "theory", under the conditions of
    `ScreamController`; `bounds.gradient_controller` is the bound with its constants.

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
        return {"pool": Pool(gradient_step(constants))}


@documented(parameters=PARAMETERS)
class AderController(LearningController):
    """Ader.Control: gradient descent over policies with many step sizes, mixed by Hedge, blind to what moving costs.

    One of the paper's contenders: it shows what `ScreamController` gains by pricing movement.

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
    x_0 = 0, and disturbances and costs keep to `disturbance_bound` and `cost_gradient`. ``memory="log"`` is such an H;
    with a constant one, such as the default, the error of truncation is linear in T. `guarantee` says what holds for
    the controller at hand, `bounds.scream_controller` is the bound with its constants, and `certificate` puts a run
    next to it.

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


@documented(parameters=PARAMETERS)
class LazyScreamController(LearningController):
    """Scream.Control with lazy updates: each policy is held for an epoch, and the epochs' gradients are summed.

    For plants where a change of policy itself does harm, as it changes in one round of every sqrt(lambda / G) only.

    {parameters}

    Notes
    -----
    Combines Algorithms 2 and 3 of the paper, which does not do so itself. *Theorem* (not in the paper). Under the
    conditions of Theorem 7 (`ScreamController`), the dynamic policy regret is at most the truncation error of the
    reduction plus Theorem 4's bound on losses with memory, with epochs of Delta = ceil(sqrt(lambda / G)) rounds:
    O(sqrt(T (1 + P))) up to logarithms. `bounds.lazy_scream_controller` is the bound with its constants.

    *Proof.* Costs differ from truncated losses by the truncation error, for whatever policies. A truncated loss of a
    window of policies exceeds the unary loss of the last one by at most sum_k L_k times its distance from the one k
    rounds before, which sums to lambda times the way that the policies make, lambda = sum_k k L_k; for comparators the
    other way round, which is lambda P. What is left is regret on unary losses with switching cost lambda, which Theorem
    4 bounds.

    Examples
    --------
    >>> import driftwise as dw
    >>> controller = dw.control.LazyScreamController(dw.control.double_integrator(), horizon=2000)
    >>> controller.learner.program.epoch, controller.weights.size
    (4, 6)
    """

    _theorem = "Theorem 7 with lazy updates: dynamic policy regret O(sqrt(T (1 + P_T))), up to logarithms,"

    def _ensemble(self, constants: Constants) -> dict[str, Any]:
        return scream_over_policies(constants, lazy_epoch(constants))
