"""Mirror descent and Hedge with switching cost (Appendix B.3 of the paper)."""

import math

from driftwise._validate import checked, instance, number, whole
from driftwise.errors import ParameterError
from driftwise.learners.parts import SMALLEST
from driftwise.regret.bounds.anytime import shrinking_hedge
from driftwise.regret.bounds.constants import given_or, of_policy


@checked
def mirror_descent(
    *,
    horizon: int,
    gradient_bound: float,
    radius: float,
    path_length: float = 0.0,
    lipschitz: float | None = None,
    switching_cost: float = 0.0,
    step: float | None = None,
    policy: bool = False,
) -> float:
    """Return the bound of `MirrorDescent`: the theorem of Appendix B.3, in the norm of the mirror map.

    ``(R^2 + gamma P) / eta + eta (lambda G + G^2) T``

    Parameters
    ----------
    horizon : int
        T.
    gradient_bound : float
        G, in the dual norm.
    radius : float
        R: its square bounds the divergence of any decision from the start. (The paper takes any two decisions; with a
        constant step the proof needs no others than these.)
    path_length : float, default 0.0
        P, in the norm of the map.
    lipschitz : float, optional
        gamma, a Lipschitz constant of the divergence in its first argument; needed when the comparators move.
        ``MirrorMap.lipschitz(domain)`` has it for the Euclidean map and for p-norms; negative entropy has none (`hedge`
        with a share covers it).
    switching_cost : float, default 0.0
        lambda, on movement in the norm of the map.
    step : float, optional
        eta; sqrt(R^2 / ((G^2 + lambda G) T)) when left out.
    policy : bool, default False
        Bound policy regret: add lambda P.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> bounds.mirror_descent(horizon=10_000, gradient_bound=1.0, radius=1.0)
    200.0
    """
    owner = "bounds.mirror_descent"
    T, P = whole(owner, "horizon", horizon), number(owner, "path_length", path_length, low=0.0)
    G = number(owner, "gradient_bound", gradient_bound, low=SMALLEST)
    lambda_ = number(owner, "switching_cost", switching_cost, low=0.0)
    R = number(owner, "radius", radius, low=SMALLEST)
    if P > 0.0 and lipschitz is None:
        raise ParameterError(
            f"{owner}: comparators that move (path_length={P:g}) need lipschitz=, a Lipschitz constant of the "
            "divergence; without one, such as for negative entropy, the theorem is for fixed comparators only."
        )
    gamma = 0.0 if lipschitz is None else number(owner, "lipschitz", lipschitz, low=0.0)
    price = (G**2 + lambda_ * G) * T
    eta = given_or(owner, "step", step, R / math.sqrt(price))
    return (R**2 + gamma * P) / eta + eta * price + of_policy(owner, policy, lambda_, P)


@checked
def hedge(
    *,
    horizon: int,
    experts: int,
    loss_bound: float,
    switching_cost: float = 0.0,
    rate: float | None = None,
    prior: float | None = None,
    path_length: float = 0.0,
    share: float = 0.0,
    least: float | None = None,
    anytime: bool = False,
) -> float:
    """Return the bound of `Hedge` with switching cost: the second corollary of Appendix B.3, and fixed share.

    ``ln(1 / p_i) / eps + eps (lambda C + C^2) T`` bounds the regret to a fixed expert i plus lambda times the l1
    movement. With a share a, against experts or mixtures of them with l1 path length P, there is added to it

    ``[ (P / 2) ln(1 / (a q)) + (T - 1) ln(1 / (1 - a)) ] / eps + 2 a lambda (T - 1)``

    where q is the least initial weight. For the step from p to p' ~ p exp(-eps l), Hoeffding's inequality gives
    ``<l, p> - l_i <= ln(p'_i / p_i) / eps + eps C^2 / 2`` for every i, and so for every mixture v_t of experts: the
    regret is at most the sum of v_t ln(p'_{t+1} / p_t) / eps. The weights of the next round, (1 - a) p' + a p_1, are at
    least (1 - a) p', so putting them in place of p' costs ln(1 / (1 - a)) a round; after that the sum telescopes, but
    for ``(v_t - v_{t-1}) ln(1 / p_t)``. They are at least a q, so this is at most ln(1 / (a q)) times what v_t has more
    than v_{t-1}, which adds up to P / 2. The weights move by at most eps C in the step, and 2 a in sharing.

    Parameters
    ----------
    horizon : int
        T.
    experts : int
        N.
    loss_bound : float
        C, the largest size of a loss.
    switching_cost : float, default 0.0
        lambda, on l1 movement.
    rate : float, optional
        eps; sqrt(ln(1 / p_i) / (C (lambda + C) T)) when left out.
    prior : float, optional
        p_i, the initial weight of the expert compared with, at first if it changes; 1 / N when left out.
    path_length : float, default 0.0
        P, of the comparators in l1: 2 for a change from one expert to another. Above 0, it needs a share.
    share : float, default 0.0
        a, as in `Hedge`.
    least : float, optional
        q, the least initial weight; 1 / N when left out.
    anytime : bool, default False
        The bound for a rate of eps sqrt(T / t) in round t, which needs no horizon, and has no share; `rate` is then the
        last one.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> round(bounds.hedge(horizon=10_000, experts=10, loss_bound=1.0), 4)
    303.4854
    >>> changes = dict(path_length=8.0, share=1e-4)
    >>> round(bounds.hedge(horizon=10_000, experts=10, loss_bound=1.0, **changes), 4)
    1405.0514
    """
    owner = "bounds.hedge"
    T, N = whole(owner, "horizon", horizon), whole(owner, "experts", experts, low=2)
    C = number(owner, "loss_bound", loss_bound, low=SMALLEST)
    lambda_ = number(owner, "switching_cost", switching_cost, low=0.0)
    p = given_or(owner, "prior", prior, 1.0 / N)
    if p > 1.0 + 1e-12:
        raise ParameterError(f"{owner}: prior must be a weight of at most 1, got {p:g}.")
    P, a = number(owner, "path_length", path_length, low=0.0), number(owner, "share", share, low=0.0)
    q = given_or(owner, "least", least, 1.0 / N)
    if a >= 1.0 or q > 1.0 / N + 1e-12:
        raise ParameterError(f"{owner}: share must be below 1 and least at most 1 / experts, got {a:g} and {q:g}.")
    if P > 0.0 and a == 0.0:
        raise ParameterError(f"{owner}: comparators that move (path_length={P:g}) need a share above 0.")
    log, price = max(-math.log(p), 0.0) - (T - 1) * math.log1p(-a), C * (lambda_ + C) * T
    if P > 0.0:
        log -= 0.5 * P * math.log(a * q)
    eps = given_or(owner, "rate", rate, math.sqrt(log / price))
    if instance(owner, "anytime", anytime, bool, "True"):
        if a > 0.0:
            raise ParameterError(f"{owner}: anytime=True goes without a share, got {a:g}.")
        return shrinking_hedge(T, C, lambda_, rate=eps * math.sqrt(T), log_prior=log)
    return (log / eps if log > 0.0 else 0.0) + eps * price + 2.0 * a * lambda_ * (T - 1)
