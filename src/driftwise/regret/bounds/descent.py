"""Gradient descent with one step size: Theorem 1, and the static bounds of Appendix B.8."""

import math

import numpy as np

from driftwise._validate import checked, instance
from driftwise.regret.bounds.constants import given_or, of_policy, problem


@checked
def ogd(
    *,
    horizon: int,
    path_length: float,
    gradient_bound: float,
    diameter: float,
    switching_cost: float = 0.0,
    step: float | None = None,
    anytime: bool = False,
    policy: bool = False,
) -> float:
    """Return the bound of `OGD`: Theorem 1, with the constants of its proof in Appendix B.1.

    ``(G^2 / 2 + lambda G) eta T + (D^2 + 2 D P) / (2 eta)``

    Parameters
    ----------
    horizon : int
        T.
    path_length : float
        P, of the comparators.
    gradient_bound, diameter : float
        G and D.
    switching_cost : float, default 0.0
        lambda.
    step : float, optional
        eta; sqrt(D^2 / ((G^2 + lambda G) T)), which is what `OGD` uses, when left out.
    anytime : bool, default False
        The bound for steps eta_t = eta sqrt(T / t), which need no horizon: the sum of the steps in place of eta T,
        the last step in place of eta (Zinkevich 2003). `step` is then the last one.
    policy : bool, default False
        Bound policy regret: add lambda P.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> bounds.ogd(horizon=10_000, path_length=0.0, gradient_bound=1.0, diameter=2.0)
    200.0
    """
    owner = "bounds.ogd"
    T, P, G, D, lambda_ = problem(owner, horizon, path_length, gradient_bound, diameter, switching_cost)
    eta = given_or(owner, "step", step, D / math.sqrt((G**2 + lambda_ * G) * T))
    length = eta * T
    if instance(owner, "anytime", anytime, bool, "True"):
        length = eta * math.sqrt(T) * float(np.sum(1.0 / np.sqrt(np.arange(1.0, T + 1.0))))
    regret = (0.5 * G**2 + lambda_ * G) * length + (D**2 + 2.0 * D * P) / (2.0 * eta)
    return regret + of_policy(owner, policy, lambda_, P)


@checked
def ogd_static(
    *,
    horizon: int,
    gradient_bound: float,
    diameter: float,
    switching_cost: float = 0.0,
    step: float | None = None,
) -> float:
    """Return the bound of `OGD` on static policy regret: the theorem of Appendix B.8.

    ``(G^2 + lambda G) eta T + 2 D^2 / eta``, with eta = sqrt(2 D^2 / ((G^2 + lambda G) T)) when no step is given.
    `ogd` with a path length of 0 is the sharper bound; this one is the paper's own statement.

    Parameters
    ----------
    horizon, gradient_bound, diameter, switching_cost, step
        As in `ogd`.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> round(bounds.ogd_static(horizon=10_000, gradient_bound=1.0, diameter=2.0), 4)
    565.6854
    """
    owner = "bounds.ogd_static"
    T, _, G, D, lambda_ = problem(owner, horizon, 0.0, gradient_bound, diameter, switching_cost)
    price = (G**2 + lambda_ * G) * T
    eta = given_or(owner, "step", step, math.sqrt(2.0 * D**2 / price))
    return price * eta + 2.0 * D**2 / eta
