"""Theorem 7 and its relatives with explicit constants: controllers of a plant that is known.

The cost of a run is at most that of its truncated losses plus a truncation error, and the comparators' truncated losses
are at most their costs plus another (`truncation_error`). What is left is the policy regret of a learner on losses with
memory H + 1, which `driftwise.regret.bounds` has. Their constants at the scale "certified" are: with s bounding the
cost's gradients in state and input where truncated ones can get to, a loss changes by at most L_k per unit (in
Frobenius norm) of the policy of k rounds ago, ``L_0 = sqrt(H) W s`` and ``L_k = sqrt(H) W s (|A_K^(k-1) B| + |K
A_K^(k-1) B|)``; gradients of the unary loss are at most G = sum_k L_k, and the price of moving is lambda = sum_k k L_k.
At "theory" they are the paper's, with its slips mended (`driftwise.control.policies.scales`).
"""

import math
from typing import Any

from numpy.typing import ArrayLike

from driftwise._docs import documented
from driftwise._validate import checked, number, whole
from driftwise.control.bounds.problem import LOG, PARAMETERS, Problem, read_problem
from driftwise.control.bounds.truncation import truncation
from driftwise.control.plants import System
from driftwise.control.policies.scales import Constants
from driftwise.regret import bounds


def gradient_step(constants: Constants) -> float:
    """Return the step of gradient descent over policies, times sqrt(T)."""
    D, G, lambda_ = constants.diameter, constants.gradient_bound, constants.switching_cost
    return D / math.sqrt(G**2 + lambda_ * G)


def lazy_epoch(constants: Constants) -> int:
    """Return the rounds for which a lazy controller holds a policy."""
    return max(1, math.ceil(math.sqrt(constants.switching_cost / constants.gradient_bound)))


def learning(kind: str, problem: Problem, T: int, path_length: float, tuned_for: int) -> float:
    """Return the bound on the policy regret over truncated losses of "ogd", "scream" or "lazy_scream"."""
    constants = problem.constants
    usual: dict[str, Any] = {
        "horizon": T,
        "path_length": path_length,
        "gradient_bound": constants.gradient_bound,
        "diameter": problem.domain.diameter,
        "switching_cost": constants.switching_cost,
        "policy": True,
    }
    if kind == "ogd":
        return bounds.ogd(**usual, step=gradient_step(constants) / math.sqrt(tuned_for))
    if kind == "scream":
        return bounds.scream(**usual, tuned_for=tuned_for)
    return bounds.lazy_scream(**usual, epoch=lazy_epoch(constants), tuned_for=tuned_for)


def regret_bound(kind: str, problem: Problem, T: int, path_length: float, tuned_for: int, start: float = 0.0) -> float:
    """Return truncation error and learning together."""
    return truncation(problem, T, start) + learning(kind, problem, T, path_length, tuned_for)


def _bound(
    owner: str, kind: str, system: System, horizon: int, tuned_for: int | None, P: float, start: float, **given: Any
) -> float:
    """Read what was given, and return the bound."""
    T = whole(owner, "horizon", horizon)
    planned = T if tuned_for is None else whole(owner, "tuned_for", tuned_for, low=T)
    problem = read_problem(owner, system, horizon=planned, **given)
    return regret_bound(kind, problem, T, P, planned, number(owner, "start", start, low=0.0))


@documented(parameters=PARAMETERS)
@checked
def scream_controller(
    system: System,
    *,
    horizon: int,
    path_length: float,
    memory: int | str = LOG,
    K: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    scale: str = "certified",
    disturbance_bound: float = 1.0,
    cost_gradient: float = 2.0,
    start: float = 0.0,
    tuned_for: int | None = None,
) -> float:
    """Return the bound of `ScreamController`: Theorem 7, as the truncation error plus Theorem 2 on the reduction.

    It bounds ``sum_t c_t(x_t, u_t) - sum_t c_t(x_t^*, u_t^*)`` for all policies M_1^*, ..., M_T^* within the radii,
    around the same gain, if costs are convex with gradients in state and in input of at most G_c times the larger of
    the two, disturbances are at most W, and inputs reach the plant as they are. With ``memory="log"`` it grows like
    sqrt(T (1 + P)) up to logarithms; with a memory that stays the same, the truncation error in it is linear in T.

    {parameters}

    Examples
    --------
    >>> import driftwise as dw
    >>> plant, bound = dw.control.double_integrator(), dw.control.bounds.scream_controller
    >>> [f"{bound(plant, horizon=T, path_length=0.0):.3g}" for T in (10_000, 1_000_000)]
    ['2.42e+08', '3e+09']
    """
    given = {"memory": memory, "K": K, "radii": radii, "scale": scale}
    given |= {"disturbance_bound": disturbance_bound, "cost_gradient": cost_gradient}
    owner = "bounds.scream_controller"
    return _bound(owner, "scream", system, horizon, tuned_for, path_length, start, **given)


@documented(parameters=PARAMETERS)
@checked
def lazy_scream_controller(
    system: System,
    *,
    horizon: int,
    path_length: float,
    memory: int | str = LOG,
    K: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    scale: str = "certified",
    disturbance_bound: float = 1.0,
    cost_gradient: float = 2.0,
    start: float = 0.0,
    tuned_for: int | None = None,
) -> float:
    """Return the bound of `LazyScreamController`: the truncation error plus Theorem 4 on the reduction.

    It is about the same regret as `scream_controller`, under the same conditions. Policies are held for Delta =
    ceil(sqrt(lambda / G)) rounds; Theorem 4 takes gradients summed over an epoch, at most Delta G, and charges G
    (Delta - 1) P for comparators that move within one. How a loss remembers past policies enters by lambda alone, so
    nothing else changes in control.

    {parameters}

    Examples
    --------
    >>> import driftwise as dw
    >>> plant, bound = dw.control.double_integrator(), dw.control.bounds.lazy_scream_controller
    >>> [f"{bound(plant, horizon=T, path_length=0.0):.3g}" for T in (10_000, 1_000_000)]
    ['2.47e+08', '3.06e+09']
    """
    given = {"memory": memory, "K": K, "radii": radii, "scale": scale}
    given |= {"disturbance_bound": disturbance_bound, "cost_gradient": cost_gradient}
    owner = "bounds.lazy_scream_controller"
    return _bound(owner, "lazy_scream", system, horizon, tuned_for, path_length, start, **given)


@documented(parameters=PARAMETERS.replace("path_length : float\n", "path_length : float, default 0.0\n"))
@checked
def gradient_controller(
    system: System,
    *,
    horizon: int,
    path_length: float = 0.0,
    memory: int | str = LOG,
    K: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    scale: str = "certified",
    disturbance_bound: float = 1.0,
    cost_gradient: float = 2.0,
    start: float = 0.0,
    tuned_for: int | None = None,
) -> float:
    """Return the bound of `GradientController`: the truncation error plus Theorem 1 on the reduction.

    For one policy in hindsight, a path length of 0, this is the static bound O(sqrt(T)) up to logarithms of Agarwal et
    al. (2019); comparators that move are covered too, but their path length P counts with sqrt(T), since the step is
    not made for it.

    {parameters}

    Examples
    --------
    >>> import driftwise as dw
    >>> plant, bound = dw.control.double_integrator(), dw.control.bounds.gradient_controller
    >>> [f"{bound(plant, horizon=T):.3g}" for T in (10_000, 1_000_000)]
    ['5.49e+07', '6.75e+08']
    """
    given = {"memory": memory, "K": K, "radii": radii, "scale": scale}
    given |= {"disturbance_bound": disturbance_bound, "cost_gradient": cost_gradient}
    owner = "bounds.gradient_controller"
    return _bound(owner, "ogd", system, horizon, tuned_for, path_length, start, **given)
