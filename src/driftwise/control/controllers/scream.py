"""Scream.Control (Algorithm 3 of the paper): dynamic policy regret for online non-stochastic control."""

from driftwise._validate import Array
from driftwise.control.controllers.learning import LearningController
from driftwise.control.policies.scales import Constants
from driftwise.domains import SpectralBalls
from driftwise.learners import Ensemble, Learner
from driftwise.learners.scream import scream_parts


def scream_over_policies(
    domain: SpectralBalls, constants: Constants, horizon: int | None, start: Array, epoch: int
) -> Learner:
    """Return Scream with these constants, over epochs of so many rounds."""
    D, G, lambda_ = constants.diameter, epoch * constants.gradient_bound, constants.switching_cost
    pool, meta, surrogate = scream_parts(D, G, lambda_, "appendix")
    return Ensemble(domain, pool=pool, meta=meta, surrogate=surrogate, horizon=horizon, epoch=epoch, start=start)


class ScreamController(LearningController):
    """Scream.Control: many step sizes over policies, mixed by Hedge over losses that include each one's own movement.

    The controller to reach for when costs or disturbances change at an unknown pace. With independent noise the past
    tells nothing, u = -K x is nearly optimal, and learning costs a few per cent: compare with `LinearController`.

    Parameters
    ----------
    system : System
        The plant, of which the nominal pair (A, B) is used.
    horizon, K, memory, scale, alpha, disturbance_bound, cost_gradient, gradient_bound, radii, start, seed, input_bound
        As in `LearningController`.

    Notes
    -----
    Theorem 7: dynamic policy regret O(sqrt(T (1 + P))) up to logarithms, for any comparators with path length P, at the
    scales "certified" and "theory".

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory and non-stochastic control", JMLR 24,
       2023.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> cost, waves = dw.control.QuadraticCost(1.0, 1.0), dw.control.SinusoidDisturbance(0.3, period=40.0, seed=1)
    >>> controller = dw.control.ScreamController(plant, horizon=2000)
    >>> trace = dw.control.simulate(plant, controller, cost, waves, rounds=2000)
    >>> lqr = dw.control.simulate(plant, dw.control.LinearController(plant), cost, waves, rounds=2000)
    >>> round(trace.total / lqr.total, 3)
    0.504
    """

    _theorem = "Theorem 7: dynamic policy regret O(sqrt(T (1 + P_T))), up to logarithms,"

    def _learner(self, domain: SpectralBalls, constants: Constants, horizon: int | None, start: Array) -> Learner:
        return scream_over_policies(domain, constants, horizon, start, epoch=1)
