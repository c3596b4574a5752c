"""Lemma 5.2 of the paper's source: disturbance-action policies imitate every linear controller that is strongly stable.

Let A* = A - B K* and M[i] = (K - K*) A*^(i-1), i = 1, ..., H (the paper's exponent i is off by one). With u* = -K* x*
from x*_0 = 0, x*_t = sum_i A*^(i-1) w_{t-i}, so that what the policy adds to -K x_t is (K - K*) (x*_t - A*^H x*_{t-H}).
As x*_{t+1} = A_K x*_t + B (K - K*) x*_t + w_t, the difference e_t = x*_t - x_t follows

    e_{t+1} = A_K e_t + B d_t   and   u*_t - u_t = d_t - K e_t   with   d_t = (K - K*) A*^H x*_{t-H},

and ``|d_t| <= W |K - K*| sum_{i>=H} |A*^i|``; d_t is 0 up to round H. So the policy with infinite memory *is* the
linear controller, and with memory H it is off by ``|e_t| <= |d| sum_j |A_K^j B|``.

M[i] is within the radii 2 kappa^3 (1 - gamma)^(i-1) if ``|K|, |K*| <= kappa`` and K* is (kappa, gamma)-strongly stable.
"""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import checked, choice, number, whole
from driftwise.control.bounds.problem import PROVED
from driftwise.control.bounds.response import CertifiedResponse, Sums
from driftwise.control.plants import System, as_matrix
from driftwise.control.policies.disturbance_action import nominal_loop, stable_loop
from driftwise.control.stability import certify
from driftwise.control.stability.certificate import stable


@checked
def sufficiency(
    system: System,
    target: ArrayLike,
    *,
    horizon: int,
    memory: int,
    K: ArrayLike | None = None,
    scale: str = "certified",
    disturbance_bound: float = 1.0,
    cost_gradient: float = 2.0,
) -> float:
    """Return a bound on how much more ``DisturbanceAction.matching`` costs than the linear controller that it imitates.

    ``G_c D (T - H - 1) W r (1 + sum_j |A_K^j B| + sum_j |K A_K^j B|)`` with ``r = |K - K*| sum_{i>=H} |A*^i|`` and D a
    bound on the states and inputs of both; no less than 0. It falls geometrically with H. So policy regret to all
    policies within the radii, plus this, bounds the regret to all linear controllers K* whose imitation is within them.

    Parameters
    ----------
    system : System
        The plant; its nominal (A, B) is used.
    target : array of shape (du, dx)
        K*, a gain that stabilises the plant.
    horizon : int
        T.
    memory : int
        H.
    K : array of shape (du, dx), optional
        The gain that policies are around; `lqr` with unit weights when left out.
    scale : {"certified", "theory"}, default "certified"
        Norms that are computed, or bounds on them by kappa and gamma: the larger kappa and the smaller gamma of the two
        gains, which make r at most 2 kappa^3 (1 - gamma)^H / gamma.
    disturbance_bound, cost_gradient : float, default 1.0 and 2.0
        W and G_c, as the controllers take them.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant, target = dw.control.double_integrator(), [[0.2, 0.8]]
    >>> [f"{dw.control.bounds.sufficiency(plant, target, horizon=2000, memory=H):.2g}" for H in (5, 20, 80)]
    ['1.6e+05', '82', '1.3e-10']
    """
    owner = "bounds.sufficiency"
    choice(owner, "scale", scale, PROVED)
    T, H = whole(owner, "horizon", horizon), whole(owner, "memory", memory)
    W = number(owner, "disturbance_bound", disturbance_bound, low=0.0, exclusive=True)
    G_c = number(owner, "cost_gradient", cost_gradient, low=0.0, exclusive=True)
    gain, _ = stable_loop(owner, system, K)
    goal = as_matrix(owner, "target", target, gain.shape)
    system = nominal_loop(system)
    stable(owner, system, goal)
    if scale == "theory":
        found = certify(system, gain), certify(system, goal)
        kappa, gamma = max(each.kappa for each in found), min(each.gamma for each in found)
        kappa_B = max(1.0, float(np.linalg.norm(system.B, 2)))
        mine = Sums(*(kappa**2 / gamma * np.array([1.0, kappa_B, kappa, kappa * kappa_B])).tolist())
        imitated, left = mine, 2.0 * kappa**3 * (1.0 - gamma) ** H / gamma
    else:
        mine, goals = CertifiedResponse(system, gain).whole, CertifiedResponse(system, goal)
        imitated = goals.whole
        left = float(np.linalg.norm(gain - goal, 2)) * goals.tail(H - 1).states
    state = imitated.states + left * mine.pushed
    input = imitated.gains + left * (1.0 + mine.answered)
    late = max(T - H - 1, 0)
    return G_c * W**2 * max(state, input) * late * left * (1.0 + mine.pushed + mine.answered)
