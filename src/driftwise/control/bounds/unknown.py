"""Theorem 8 with explicit constants: explore a plant that is not known, then control it by its estimate.

All is stated by the estimate (A^, B^), which is what is at hand, and by e, with ``|A^ - A|, |B^ - B| <= e``; the loop
A_K is then off by at most e_K = (1 + ``|K|``) e. Sums s_a, s_b, s_ka, s_kb over the norms of A^_K^j, A^_K^j B^, K
A^_K^j and K A^_K^j B^ are known; those of the true plant are bounded by them (`shaken`). R is the sum of the radii, W
bounds the true disturbances, and costs are convex with gradients of at most G_c times the larger of state and input, so
that each is least at the origin.

1. *Exploration.* Probes of size p sqrt(du) keep states within X and inputs within V. So T_0 rounds cost at most T_0 G_c
   max(X, V) (X + V) more than any other inputs would.
2. *What the controller sees.* The plant is the estimate under the disturbances w^_t = w_t + (A - A^) x_t + (B - B^)
   u_t. With W^ their largest norm, states and inputs of the controller on the estimate add up to at most c_0 X + c_1
   W^, c_0 = max_j ``|A^_K^j|`` + max_j ``|K A^_K^j|`` and c_1 = s_a + s_ka + R (1 + s_b + s_kb). So W^ <= W + e (c_0 X
   + c_1 W^), round after round, and W^ <= (W + e c_0 X) / (1 - e c_1) if e c_1 < 1.
3. *Commit.* On the estimate under w^ Theorem 7 holds for a controller that is built for W^ or more, from a first state
   of at most X: `scream_controller`.
4. *Mismatch.* The same comparators on the estimate under w^, from the controller's state, and on the plant under w,
   from their own, differ by d_t, ``d_{t+1} = A^_K d_t + (A^_K - A_K) z_t + (B^ - B) s_t + B^ (s^_t - s_t) + w^_t -
   w_t``, z_t and s_t being their state and answer on the plant: at most Z and R W. ``|w^_t - w_t|`` is at most e_w = e
   (c_0 X + c_1 W^), and ``|s^_t - s_t|`` at most R e_w, plus what is answered to disturbances before the commit, at
   most W sum_i i r_i over all rounds. ``|d|`` is at most X + Z at the commit. Summed over N = T - T_0 rounds, with the
   gradient of the cost on the estimate's side, this is at most G_c D^ times ::

       (s_a + s_ka) (X + Z + N (e_K Z + e R W + e_w)) + (1 + s_b + s_kb) (N R e_w + W sum_i i r_i).
"""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import checked, number, whole
from driftwise.control.bounds.known import regret_bound
from driftwise.control.bounds.problem import LOG, read_problem
from driftwise.control.bounds.response import shaken
from driftwise.control.plants import System


class UnknownSystem(NamedTuple):
    """The parts of Theorem 8's bound; infinite where the estimate is too far off for it.

    Parameters
    ----------
    exploration : float
        What exploring costs.
    commit : float
        Regret on the estimate after the commit.
    mismatch : float
        What the same comparators cost more on the estimate than on the plant.
    disturbance : float
        W^, the largest disturbance that the controller sees; it must be built for that.

    Examples
    --------
    >>> import driftwise as dw
    >>> estimate = dw.control.LinearSystem([[0.6, 0.2], [0.0, 0.5]], [[0.0], [1.0]])
    >>> found = dw.control.bounds.unknown_system(
    ...     estimate, error=1e-4, horizon=10**6, exploration=10**4, path_length=0.0, K=[[0.0, 0.1]], radii=0.1
    ... )
    >>> found.total == found.exploration + found.commit + found.mismatch
    True
    """

    exploration: float
    commit: float
    mismatch: float
    disturbance: float

    @property
    def total(self) -> float:
        """The bound on the dynamic policy regret of all rounds."""
        return self.exploration + self.commit + self.mismatch


@checked
def unknown_system(
    estimate: System,
    *,
    error: float,
    horizon: int,
    exploration: int,
    path_length: float,
    memory: int | str = LOG,
    K: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    scale: str = "certified",
    disturbance_bound: float = 1.0,
    cost_gradient: float = 2.0,
    probe: float = 1.0,
    built_for: float | None = None,
) -> UnknownSystem:
    """Return the bound of Theorem 8: T_0 rounds with probes, then `ScreamController` on the estimate until round T.

    It bounds the dynamic policy regret over all T rounds from x_0 = 0, if the estimate is within the error, which for
    ``method="moments"`` has the probability that `moment_recovery` says, and if the controller is a new one at the
    commit, built for disturbances of W^ or more, with no limit on its inputs and no guard that overrules it. With T_0
    of the order of T^(2/3) the error is of the order of T^(-1/3), and so is the bound of the order of T^(2/3) + sqrt(T
    (1 + P)). The derivation is in the module's docstring.

    Parameters
    ----------
    estimate : System
        The estimate of the plant, such as ``identified.system``.
    error : float
        Largest spectral norm that A and B of the estimate are off by.
    horizon, exploration : int
        T, and T_0 of them with probes.
    path_length : float
        P, of the comparators.
    memory : int or "log", default "log"
        H; "log" is the one that goes with the rounds after the commit.
    K : array of shape (du, dx), optional
        The gain, in use from the first round on; `lqr` with unit weights, of the estimate, when left out.
    radii, scale, cost_gradient
        As in `scream_controller`.
    disturbance_bound : float, default 1.0
        W, the largest norm of a true disturbance.
    probe : float, default 1.0
        p, the size of the probes of every input.
    built_for : float, optional
        The `disturbance_bound` that the controller was built with; W^ when left out. If it is less than W^, nothing is
        proved, and the bound is infinite.

    Examples
    --------
    >>> import driftwise as dw
    >>> estimate = dw.control.LinearSystem([[0.6, 0.2], [0.0, 0.5]], [[0.0], [1.0]])
    >>> problem = dict(horizon=10**6, exploration=10**4, path_length=0.0, K=[[0.0, 0.1]], radii=0.1)
    >>> for error in (1e-4, 1e-3, 1.0):
    ...     found = dw.control.bounds.unknown_system(estimate, error=error, **problem)
    ...     print(*(f"{part:.3g}" for part in (*found, found.total)))
    6.16e+05 3.07e+06 6.92e+05 1 4.38e+06
    6.2e+05 3.17e+06 7.04e+06 1.02 1.08e+07
    inf inf inf inf inf
    """
    owner = "bounds.unknown_system"
    T, T_0 = whole(owner, "horizon", horizon, low=2), whole(owner, "exploration", exploration)
    N = T - whole(owner, "exploration", T_0, high=T - 1)
    e, p = number(owner, "error", error, low=0.0), number(owner, "probe", probe, low=0.0, exclusive=True)
    W = number(owner, "disturbance_bound", disturbance_bound, low=0.0, exclusive=True)
    P = number(owner, "path_length", path_length, low=0.0)
    given: dict[str, Any] = {"memory": memory, "K": K, "radii": radii, "scale": scale, "cost_gradient": cost_gradient}
    problem = read_problem(owner, estimate, horizon=N, **given)
    sums, R, (peak, gained) = problem.response.whole, problem.total, problem.response.peaks
    e_K = e * (1.0 + float(np.linalg.norm(problem.K, 2)))
    true = shaken(sums, e, e_K)
    c_0 = peak + gained
    c_1 = sums.states + sums.gains + R * (1.0 + sums.pushed + sums.answered)
    if not (e * c_1 < 1.0 and true.states < math.inf):
        return UnknownSystem(math.inf, math.inf, math.inf, math.inf)
    push = p * math.sqrt(estimate.input_dim)
    X, V = W * true.states + push * true.pushed, W * true.gains + push * (1.0 + true.answered)
    G_c = problem.cost_gradient
    exploring = T_0 * G_c * max(X, V) * (X + V)
    seen = (W + e * c_0 * X) / (1.0 - e * c_1)
    W_c = seen if built_for is None else number(owner, "built_for", built_for, low=0.0, exclusive=True)
    mine = read_problem(owner, estimate, horizon=N, **given, disturbance_bound=W_c)
    commit = regret_bound("scream", mine, N, min(P, mine.domain.diameter * (N - 1)), N, X) if W_c >= seen else math.inf
    problem = replace(problem, disturbance_bound=seen)
    off, Z = e * (c_0 * X + c_1 * seen), W * true.reach(R)[0]
    late = W * float(np.arange(1, problem.memory + 1) @ problem.domain.radii)
    drift = X + Z + N * (e_K * Z + e * R * W + off)
    apart = (sums.states + sums.gains) * drift + (1.0 + sums.pushed + sums.answered) * (N * R * off + late)
    return UnknownSystem(exploring, commit, problem.slope(X) * apart, seen)
