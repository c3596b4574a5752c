"""Gradient descent with one step size: Theorem 1, and the two static bounds of Appendix B.8."""

import math

import numpy as np

from driftwise._validate import checked, instance, number, whole
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


@checked
def anava(
    *,
    horizon: int,
    gradient_bound: float,
    diameter: float,
    lipschitz: float,
    memory: int,
    step: float | None = None,
) -> float:
    """Return the bound of `OGD` on static policy regret for losses that are Lipschitz in the whole window.

    ``(G^2 / 2 + L m' G) eta T + D^2 / (2 eta)`` with m' = sqrt(m (m + 1) (2 m + 1) / 6), which is at most m^(3/2). It
    is Theorem 3.1 of Anava, Hazan and Mannor (2015), which Appendix B.8 restates with constants up to four times as
    large.

    The assumption is ``|f_t(x) - f_t(y)| <= L |x - y|`` in the Euclidean norm of all m + 1 decisions at once. The step
    never moves by more than eta G, so a decision of k rounds ago is within k eta G of the present one, and f_t(w_{t-m},
    ..., w_t) within ``L eta G sqrt(1 + 4 + ... + m^2)`` of the unary loss; the rest is gradient descent's regret to a
    fixed decision. If all that is known of L is the constants L_k of single decisions, then L = sqrt(sum_k L_k^2), and
    `ogd` with lambda = sum_k k L_k is never worse; this bound is for those who know a smaller L.

    Parameters
    ----------
    horizon, gradient_bound, diameter
        T, G and D.
    lipschitz : float
        L, for the whole window.
    memory : int
        m, the number of past decisions that a loss depends on.
    step : float, optional
        eta; D / sqrt((G^2 + 2 L m' G) T) when left out.

    References
    ----------
    .. [1] Anava, Hazan, Mannor, "Online learning for adversaries with memory: price of past mistakes", NeurIPS 2015.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> problem = dict(horizon=10_000, gradient_bound=1.0, diameter=2.0)
    >>> [round(bounds.anava(**problem, lipschitz=1.0, memory=m), 2) for m in (0, 1, 4, 16)]
    [200.0, 346.41, 691.5, 1770.38]
    """
    owner = "bounds.anava"
    T, _, G, D, _ = problem(owner, horizon, 0.0, gradient_bound, diameter, 0.0)
    L, m = number(owner, "lipschitz", lipschitz, low=0.0), whole(owner, "memory", memory, low=0)
    price = (0.5 * G**2 + L * G * math.sqrt(m * (m + 1) * (2 * m + 1) / 6.0)) * T
    eta = given_or(owner, "step", step, D / math.sqrt(2.0 * price))
    return price * eta + D**2 / (2.0 * eta)
