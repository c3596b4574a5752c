"""Ader.Control: many step sizes over policies, blind to what moving a policy costs (the paper's contender)."""

from driftwise._validate import Array
from driftwise.control.controllers.learning import LearningController
from driftwise.control.policies.scales import Constants
from driftwise.domains import SpectralBalls
from driftwise.learners import Ensemble, Learner
from driftwise.learners.ader import ader_parts


class AderController(LearningController):
    """Ader.Control: gradient descent over policies with many step sizes, mixed by Hedge, blind to what moving costs.

    A contender of the paper's: it shows what `ScreamController` gains by pricing movement.

    Parameters
    ----------
    system : System
        The plant, of which the nominal pair (A, B) is used.
    horizon, K, memory, scale, alpha, disturbance_bound, cost_gradient, gradient_bound, radii, start, seed, input_bound
        As in `LearningController`.

    Notes
    -----
    A plant remembers past policies, so moving them costs something; no policy regret is proved for Ader here.

    References
    ----------
    .. [1] Zhang, Lu, Zhou, "Adaptive online learning in dynamic environments", NeurIPS 2018.
    .. [2] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory and non-stochastic control", JMLR 24,
       2023.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> cost, waves = dw.control.QuadraticCost(1.0, 1.0), dw.control.SinusoidDisturbance(0.3, period=40.0, seed=1)
    >>> controller = dw.control.AderController(plant, horizon=2000)
    >>> trace = dw.control.simulate(plant, controller, cost, waves, rounds=2000)
    >>> lqr = dw.control.simulate(plant, dw.control.LinearController(plant), cost, waves, rounds=2000)
    >>> round(trace.total / lqr.total, 3)
    0.608
    """

    def _learner(self, domain: SpectralBalls, constants: Constants, horizon: int | None, start: Array) -> Learner:
        pool, meta = ader_parts(constants.diameter, constants.gradient_bound)
        return Ensemble(domain, pool=pool, meta=meta, horizon=horizon, start=start)
