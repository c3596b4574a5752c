"""The guarantees as numbers: regret bounds of the paper with explicit constants, to compare with a run.

T is the number of rounds, P the path length of the comparators, G the gradient bound, D the diameter, lambda the
switching cost. Each function bounds the regret with switching cost, ``sum_t f~_t(w_t) - sum_t f~_t(v_t) + lambda sum_t
|w_t - w_{t-1}|`` (see `dynamic_regret`), for any comparators v_t in the domain. With ``policy=True`` it bounds the
dynamic policy regret of losses with memory, where lambda comes from ``losses.switching_costs(domain)``; lambda P is
then added.

- Here: Theorems 1 (OGD), 2 (Scream) and 4 (Lazy Scream), the theorem on mirror descent and the corollary on Hedge of
  Appendix B.3, the static bound of OGD in Appendix B.8, and Ader's bound, which is not the paper's own.
- As instances in `driftwise.regret.adversaries`: the lower bounds of Theorems 3 and 5.
- Not here: Theorem 7 (Scream.Control) with its truncation error and the sufficiency of disturbance-action policies
  (Appendix C), Theorem 8 (unknown systems) with the recovery of moments, Corollary 9, and the static bound for the
  stronger Lipschitz assumption that Appendix B.8 restates (Theorem 3.1 of Anava, Hazan and Mannor 2015).
"""

import math

import numpy as np

from driftwise._validate import Array, checked, choice, instance, number, whole
from driftwise.engine.program import pool_size
from driftwise.errors import ParameterError
from driftwise.learners.parts import SMALLEST
from driftwise.learners.scream import RATES, scream_parts


def _problem(
    owner: str, horizon: int, path_length: float, gradient_bound: float, diameter: float, switching_cost: float
) -> tuple[int, float, float, float, float]:
    """Return T, P, G, D and lambda, checked."""
    T = whole(owner, "horizon", horizon)
    P = number(owner, "path_length", path_length, low=0.0)
    G = number(owner, "gradient_bound", gradient_bound, low=SMALLEST)
    D = number(owner, "diameter", diameter, low=SMALLEST)
    if D * (T - 1) * (1.0 + 1e-9) < P:
        raise ParameterError(
            f"{owner}: path_length must be at most diameter * (horizon - 1) = {D * (T - 1):g}, as nothing moves "
            f"farther in {T} rounds; got {P:g}."
        )
    return T, P, G, D, number(owner, "switching_cost", switching_cost, low=0.0)


def _policy(owner: str, wanted: bool, lambda_: float, P: float) -> float:
    """Return what policy regret adds to a bound: the comparators' own movement, priced."""
    return lambda_ * P if instance(owner, "policy", wanted, bool, "True") else 0.0


def _given(owner: str, name: str, given: float | None, best: float) -> float:
    """Return a positive number that was given, or the one that is best for the bound."""
    return best if given is None else number(owner, name, given, low=0.0, exclusive=True)


def _tuned(owner: str, tuned_for: int | None, T: int) -> int:
    """Return the horizon that the rates were computed for: T, unless another one at least as large is given."""
    return T if tuned_for is None else whole(owner, "tuned_for", tuned_for, low=T)


def _mixed(eps: float, moved: float, steps: Array, walked: Array, D: float, P: float) -> float:
    """Return the bound of Hedge over gradient descents: the least over the base-learners, each with its step.

    `eps` is Hedge's rate, `moved` the part of its bound that grows with it; `walked` the part of each descent's bound
    that grows with its step. The prior is the paper's, (N + 1) / N / (i (i + 1)).
    """
    i, N = np.arange(1.0, steps.size + 1.0), float(steps.size)
    hedged = moved - np.log((N + 1.0) / (N * i * (i + 1.0))) / eps
    return float(np.min(hedged + (walked + (D**2 + 2.0 * D * P) / (2.0 * steps))))


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
    T, P, G, D, lambda_ = _problem(owner, horizon, path_length, gradient_bound, diameter, switching_cost)
    eta = _given(owner, "step", step, D / math.sqrt((G**2 + lambda_ * G) * T))
    length = eta * T
    if instance(owner, "anytime", anytime, bool, "True"):
        length = eta * math.sqrt(T) * float(np.sum(1.0 / np.sqrt(np.arange(1.0, T + 1.0))))
    regret = (0.5 * G**2 + lambda_ * G) * length + (D**2 + 2.0 * D * P) / (2.0 * eta)
    return regret + _policy(owner, policy, lambda_, P)


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
    T, _, G, D, lambda_ = _problem(owner, horizon, 0.0, gradient_bound, diameter, switching_cost)
    price = (G**2 + lambda_ * G) * T
    eta = _given(owner, "step", step, math.sqrt(2.0 * D**2 / price))
    return price * eta + 2.0 * D**2 / eta


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
        R: its square bounds the divergence between two decisions; for fixed comparators, from the start to any of them.
    path_length : float, default 0.0
        P, in the norm of the map.
    lipschitz : float, optional
        gamma, a Lipschitz constant of the divergence in its first argument; needed when the comparators move. Negative
        entropy has none.
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
    eta = _given(owner, "step", step, R / math.sqrt(price))
    return (R**2 + gamma * P) / eta + eta * price + _policy(owner, policy, lambda_, P)


@checked
def hedge(
    *,
    horizon: int,
    experts: int,
    loss_bound: float,
    switching_cost: float = 0.0,
    rate: float | None = None,
    prior: float | None = None,
) -> float:
    """Return the bound of `Hedge` with switching cost: the second corollary of Appendix B.3.

    ``ln(1 / p_i) / eps + eps (lambda C + C^2) T`` bounds the regret to a fixed expert i plus lambda times the l1
    movement.

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
        p_i, the initial weight of the expert compared with; 1 / N when left out.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> round(bounds.hedge(horizon=10_000, experts=10, loss_bound=1.0), 4)
    303.4854
    """
    owner = "bounds.hedge"
    T, N = whole(owner, "horizon", horizon), whole(owner, "experts", experts, low=2)
    C = number(owner, "loss_bound", loss_bound, low=SMALLEST)
    lambda_ = number(owner, "switching_cost", switching_cost, low=0.0)
    p = _given(owner, "prior", prior, 1.0 / N)
    if p > 1.0 + 1e-12:
        raise ParameterError(f"{owner}: prior must be a weight of at most 1, got {p:g}.")
    log, price = max(-math.log(p), 0.0), C * (lambda_ + C) * T
    eps = _given(owner, "rate", rate, math.sqrt(log / price))
    return (log / eps if log > 0.0 else 0.0) + eps * price


@checked
def ader(
    *,
    horizon: int,
    path_length: float,
    gradient_bound: float,
    diameter: float,
    tuned_for: int | None = None,
) -> float:
    """Return the bound of `Ader` with a horizon on dynamic regret, moves not counted: the least over its base-learners.

    ``min_i [ eps G^2 D^2 T / 2 + ln(1 / p_i) / eps + G^2 eta_i T / 2 + (D^2 + 2 D P) / (2 eta_i) ]``

    The first two terms are Hedge's on losses in [-GD, GD], the others those of gradient descent; Theorems 3 and 4 of
    Zhang, Lu and Zhou (2018) follow by the choice of i. It holds for both variants. For i = 1, ..., N

    - N = ceil(log2(1 + 4 T / 7) / 2) + 1 and p_i = (N + 1) / (N i (i + 1)),
    - eta_i = 2^(i - 1) (D / G) sqrt(7 / (2 T)) and eps = sqrt(2 / T) / (G D).

    Parameters
    ----------
    horizon, path_length, gradient_bound, diameter
        T, P, G and D.
    tuned_for : int, optional
        The horizon that step sizes and rate were computed for, if it was more than T.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> round(bounds.ader(horizon=10_000, path_length=10.0, gradient_bound=1.0, diameter=2.0), 2)
    997.85
    """
    T, P, G, D, _ = _problem("bounds.ader", horizon, path_length, gradient_bound, diameter, 0.0)
    H = _tuned("bounds.ader", tuned_for, T)
    steps = np.asarray((D / G) * math.sqrt(7.0 / (2.0 * H)) * 2.0 ** np.arange(pool_size(H, 4.0 / 7.0)), dtype=float)
    eps = math.sqrt(2.0 / H) / (G * D)
    return _mixed(eps, 0.5 * eps * G**2 * D**2 * T, steps, 0.5 * G**2 * steps * T, D, P)


@checked
def scream(
    *,
    horizon: int,
    path_length: float,
    gradient_bound: float,
    diameter: float,
    switching_cost: float,
    rate: str = "appendix",
    policy: bool = False,
    tuned_for: int | None = None,
) -> float:
    """Return the bound of `Scream` with a horizon: Theorem 2 with its constants, as the least over the base-learners.

    ``min_i [ eps (lambda D + Gm) Gm T + ln(1 / p_i) / eps + (G^2 + lambda G) eta_i T + (D^2 + 2 D P) / (2 eta_i) ]``
    with Gm = G D (1 + 2 lambda / sqrt(lambda G + G^2)), the size of the losses that Hedge sees, and for i = 1, ..., N

    - N = ceil(log2(1 + T) / 2) + 1 and p_i = (N + 1) / (N i (i + 1)),
    - eta_i = 2^(i - 1) D / sqrt((lambda G + G^2) T),
    - eps = sqrt(2 / (Gm (lambda D + Gm) T)), or with the theorem rate sqrt(2 / ((2 lambda + G) (lambda + G) D^2 T)).

    Parameters
    ----------
    horizon, path_length, gradient_bound, diameter, switching_cost
        T, P, G, D and lambda.
    rate : {"appendix", "theorem"}, default "appendix"
        Hedge's learning rate eps, as in `Scream`.
    policy : bool, default False
        Bound policy regret: add lambda P.
    tuned_for : int, optional
        The horizon that step sizes and rate were computed for, if it was more than T.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> round(bounds.scream(horizon=50_000, path_length=60.0, gradient_bound=2.0, diameter=2.0, switching_cost=2.0))
    22657
    """
    owner = "bounds.scream"
    T, P, G, D, lambda_ = _problem(owner, horizon, path_length, gradient_bound, diameter, switching_cost)
    choice(owner, "rate", rate, RATES)
    H = _tuned(owner, tuned_for, T)
    pool, meta, _ = scream_parts(D, G, lambda_, rate)
    steps, eps = pool.for_rounds(H) / math.sqrt(H), meta.rate / math.sqrt(H)
    G_meta = G * D * (1.0 + 2.0 * lambda_ / math.sqrt(lambda_ * G + G**2))
    moved, walked = eps * (lambda_ * D + G_meta) * G_meta * T, (G**2 + lambda_ * G) * steps * T
    return _mixed(eps, moved, steps, walked, D, P) + _policy(owner, policy, lambda_, P)


@checked
def lazy_scream(
    *,
    horizon: int,
    path_length: float,
    gradient_bound: float,
    diameter: float,
    switching_cost: float,
    rate: str = "appendix",
    epoch: int | None = None,
    policy: bool = False,
    tuned_for: int | None = None,
) -> float:
    """Return the bound of `LazyScream` with a horizon: Theorem 4 with the constants of its proof.

    Scream's bound on K = ceil(T / Delta) epochs with gradients of up to Delta G, plus ``G (Delta - 1) P`` for
    comparators that move within an epoch.

    Parameters
    ----------
    horizon, path_length, gradient_bound, diameter, switching_cost
        T, P, G, D and lambda.
    epoch : int, optional
        Delta; max(1, ceil(sqrt(lambda))) when left out.
    rate, policy, tuned_for
        As in `scream`.

    Examples
    --------
    >>> from driftwise.regret import bounds
    >>> problem = dict(horizon=50_000, path_length=60.0, gradient_bound=2.0, diameter=2.0)
    >>> [round(bound(**problem, switching_cost=900.0)) for bound in (bounds.lazy_scream, bounds.scream)]
    [444366, 626034]
    """
    owner = "bounds.lazy_scream"
    T, P, G, D, lambda_ = _problem(owner, horizon, path_length, gradient_bound, diameter, switching_cost)
    choice(owner, "rate", rate, RATES)
    length = max(1, math.ceil(math.sqrt(lambda_))) if epoch is None else whole(owner, "epoch", epoch)
    H, K = _tuned(owner, tuned_for, T), -(-T // length)
    held = scream(
        horizon=K,
        path_length=min(P, D * (K - 1)),
        gradient_bound=length * G,
        diameter=D,
        switching_cost=lambda_,
        rate=rate,
        tuned_for=-(-H // length),
    )
    return held + G * (length - 1) * P + _policy(owner, policy, lambda_, P)
