"""How far a simulation was from what would have been best: dynamic policy regret on a linear system (Section 5.1).

Regret compares the costs of a run with those that another policy would have had under the same disturbances. It is
defined on a `LinearSystem` without an input limit only: anywhere else, the disturbance that explains the states depends
on the policy. An adversary's disturbances, too, depend on what the controller did; here those that happened in the run
are played again to the comparator.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, checked, describe, instance, loose
from driftwise.control.controllers import Controller
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.hindsight import BestPolicies, BestPolicy, Comparator
from driftwise.control.hindsight.rollout import Problem, cost_values, need_finite, read_problem
from driftwise.control.plants import as_matrix
from driftwise.control.policies.disturbance_action import DisturbanceAction
from driftwise.control.simulate import simulate
from driftwise.control.stability import lqr
from driftwise.control.trace import ControlTrace
from driftwise.errors import InputError, OrderError
from driftwise.regret import measures


@checked
def dynamic_policy_regret(trace: ControlTrace, comparator: Any, *, K: ArrayLike | None = None) -> float:
    """Return ``sum_t c_t(x_t, u_t) - sum_t c_t(x_t^pi, u_t^pi)``: the regret of a run to any comparator.

    Parameters
    ----------
    trace : ControlTrace
        A run of `simulate` on a `LinearSystem` without an input limit.
    comparator : BestPolicy, BestPolicies, BestLinear, Clairvoyant, DisturbanceAction, array, Controller or ControlTrace
        What to compare with:

        - a result of `best_policy`, `best_policies`, `best_linear` or `clairvoyant` for this run, or another run with
          the same plant, costs and disturbances;
        - a `DisturbanceAction`, or an array of policies: (H, du, dx) for one that is held, (T, H, du, dx) for one a
          round;
        - a gain, an array of shape (du, dx);
        - a controller that has not played, which is then simulated.
    K : array of shape (du, dx), optional
        Gain of the policies given as an array; that of the run's own controller when left out, or `lqr` with unit
        weights if it has none.

    Notes
    -----
    Comparators begin in the state in which the run began, and disturbances before its first round count as 0. With an
    `AdversarialDisturbance` the disturbances that happened in the run are played again to the comparator: an adversary
    would have answered it with others.

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023, Section 5.1.

    Examples
    --------
    >>> import driftwise as dw
    >>> from driftwise.control.hindsight import best_policy
    >>> from driftwise.control.regret import dynamic_policy_regret
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> waves = dw.control.SinusoidDisturbance(0.3, period=40.0, seed=1)
    >>> trace = dw.control.simulate(plant, dw.control.LinearController(plant), cost, waves, rounds=2000)
    >>> best = best_policy(plant, cost, trace.disturbances)
    >>> round(trace.total, 2), round(dynamic_policy_regret(trace, best), 2)
    (407.69, 215.26)
    """
    return float(_differences("dynamic_policy_regret", trace, comparator, K).sum())


@checked
def regret_over_time(trace: ControlTrace, comparator: Any, *, K: ArrayLike | None = None) -> Array:
    """Return the regret of the first t rounds, for every t, shape (T,); parameters as in `dynamic_policy_regret`.

    Parameters
    ----------
    trace, comparator, K
        As in `dynamic_policy_regret`.

    Returns
    -------
    array of shape (T,)

    Examples
    --------
    >>> import driftwise as dw
    >>> from driftwise.control.regret import regret_over_time
    >>> plant = dw.control.LinearSystem(0.5, 1.0)
    >>> controller = dw.control.LinearController(plant, K=[[0.0]])
    >>> trace = dw.control.simulate(plant, controller, dw.control.QuadraticCost(1.0, 1.0), [1.0, 0.0, 0.0])
    >>> regret_over_time(trace, [[0.5]])
    array([ 0.  , -0.25,  0.  ])
    """
    return np.asarray(np.cumsum(_differences("regret_over_time", trace, comparator, K)))


@checked
def path_length(policies: "ArrayLike | BestPolicy | BestPolicies") -> float:
    """Return ``P = sum_{t>=2} |M_t - M_{t-1}|`` in Frobenius norm: how much a sequence of policies moves.

    Parameters
    ----------
    policies : array of shape (T, H, du, dx), BestPolicy or BestPolicies
        The sequence.

    Examples
    --------
    >>> from driftwise.control.regret import path_length
    >>> path_length([[[[0.0, 0.0]]], [[[3.0, 4.0]]], [[[3.0, 4.0]]]])
    5.0
    """
    if isinstance(policies, BestPolicy | BestPolicies):
        return policies.path_length
    rows = array("path_length", "policies", policies, ("T", "H", "du", "dx"))
    return measures.path_length(rows.reshape(len(rows), -1))


@checked
def policy_costs(run: Any, policies: "ArrayLike | DisturbanceAction", K: ArrayLike | None = None) -> Array:
    """Return c_t(x_t, u_t) of every round under given policies, shape (T,).

    Parameters
    ----------
    run : ControlTrace or (system, costs, disturbances) or (system, costs, disturbances, start)
        The plant, its costs, the disturbances that happened and the first state.
    policies : DisturbanceAction, or array of shape (T, H, du, dx) or (H, du, dx)
        One policy a round, or one that is held.
    K : array of shape (du, dx), optional
        Gain of policies given as an array, as in `dynamic_policy_regret`.

    Examples
    --------
    >>> import driftwise as dw
    >>> from driftwise.control.regret import policy_costs
    >>> plant, cost = dw.control.LinearSystem(0.5, 1.0), dw.control.QuadraticCost(1.0, 1.0)
    >>> policy_costs((plant, cost, [1.0, 0.0, 0.0]), [[[-0.5]]], K=[[0.0]])
    array([0.  , 1.25, 0.  ])
    """
    owner = "policy_costs"
    controller: Controller | None = None
    if isinstance(run, ControlTrace):
        problem = _of_trace(owner, run)
        if K is None and not isinstance(policies, DisturbanceAction):
            controller = run.controller
    elif isinstance(run, tuple) and len(run) in (3, 4):
        problem = read_problem(owner, run[0], run[1], run[2], run[3] if len(run) == 4 else None)
    else:
        raise InputError(
            f"{owner}: run must be a ControlTrace or a tuple (system, costs, disturbances), with the first state as a "
            f"fourth entry if it is not the origin, got {describe(run)}."
        )
    if isinstance(policies, DisturbanceAction):
        return _of_policies(owner, problem, policies.M, policies.K)
    return _of_policies(owner, problem, policies, _gain(owner, problem, controller, K))


def _of_trace(owner: str, trace: ControlTrace) -> Problem:
    """Return the plant of a run with everything that happened to it."""
    instance(owner, "trace", trace, ControlTrace, "simulate(system, controller, costs, disturbances)")
    return read_problem(owner, trace.system, trace.cost_sequence, trace.disturbances, trace.states[0])


def _gain(owner: str, problem: Problem, controller: Controller | None, K: ArrayLike | None) -> Array:
    """Return the gain of policies that come without one."""
    if K is not None:
        return as_matrix(owner, "K", K, (problem.system.input_dim, problem.system.state_dim))
    return controller.K if isinstance(controller, PolicyLoop) else lqr(problem.system)


def _of_policies(owner: str, problem: Problem, policies: ArrayLike, K: ArrayLike) -> Array:
    """Play one policy a round, or one that is held."""
    T, dx, du = problem.size
    gain = as_matrix(owner, "K", K, (du, dx))
    given = loose(owner, "policies", policies)
    if given.ndim == 3:
        played, index = array(owner, "policies", given[None], (1, "H", du, dx)), np.zeros(T, np.int64)
    else:
        played, index = array(owner, "policies", given, (T, "H", du, dx)), np.arange(T)
    # A copy, since compiled code is built once more for arrays that are read-only.
    return need_finite(owner, problem.roll(gain[None], problem.extra_inputs(played.copy(), index))).costs


def _differences(owner: str, trace: ControlTrace, comparator: Any, K: ArrayLike | None) -> Array:
    """Return the costs of a run less those of a comparator."""
    problem = _of_trace(owner, trace)
    return np.asarray(trace.costs - _costs(owner, problem, trace, comparator, K))


def _costs(owner: str, problem: Problem, trace: ControlTrace, comparator: Any, K: ArrayLike | None) -> Array:
    """Return the costs of a comparator."""
    if isinstance(comparator, Comparator | ControlTrace):
        _same_world(owner, problem, comparator)
        return comparator.costs
    if isinstance(comparator, DisturbanceAction):
        return _of_policies(owner, problem, comparator.M, comparator.K)
    if isinstance(comparator, Controller):
        if comparator.round > 0:
            raise OrderError(
                f"{owner}: the comparator {comparator!r} has played already; give a new one, or its trace."
            )
        args = problem.system, comparator.clone(), problem.costs, problem.disturbances
        return simulate(*args, start=problem.start).costs
    given = loose(owner, "comparator", comparator, "policies, a gain, a controller or a run")
    if given.dtype.kind not in "fiu" or given.ndim not in (0, 2, 3, 4):
        du, dx = problem.system.input_dim, problem.system.state_dim
        raise InputError(
            f"{owner}: comparator must be a result of best_policy, best_policies, best_linear or clairvoyant, a "
            f"DisturbanceAction, policies of shape (T, H, {du}, {dx}) or (H, {du}, {dx}), a gain of shape "
            f"({du}, {dx}), a controller or another ControlTrace, got {describe(comparator)}."
        )
    if given.ndim in (0, 2):
        gain = as_matrix(owner, "comparator", given, (problem.system.input_dim, problem.system.state_dim))
        return _of_policies(owner, problem, np.zeros((1, *gain.shape)), gain)
    return _of_policies(owner, problem, given, _gain(owner, problem, None if K is not None else trace.controller, K))


def _same_world(owner: str, problem: Problem, other: "Comparator | ControlTrace") -> None:
    """Refuse a run that was not on the same plant, from the same start, with the same disturbances and costs."""
    T, dx, du = problem.size
    same = other.states.shape == (T, dx) and other.inputs.shape == (T, du)
    if same:
        led_to = np.vstack([problem.start, (other.states @ problem.A.T + other.inputs @ problem.B.T)[:-1]])
        led_to[1:] += problem.disturbances[:-1]
        size = np.abs(other.states).max() + np.abs(problem.disturbances).max() + np.abs(other.inputs).max()
        same = bool(np.abs(led_to - other.states).max() <= 1e-9 * size)
    if not same:
        raise InputError(
            f"{owner}: the comparator {other!r} was not on this run's plant, with this run's first state and "
            "disturbances, so that the two cannot be compared. A comparator is made for trace.disturbances, with "
            "start=trace.states[0]; an adversary answers every controller differently."
        )
    mine = cost_values(problem.costs, other.states, other.inputs)
    if not np.abs(mine - other.costs).max() <= 1e-9 * max(float(np.abs(mine).max()), float(np.abs(other.costs).max())):
        raise InputError(
            f"{owner}: the comparator {other!r} had other costs than this run, {other.total:.6g} in all instead of "
            f"{mine.sum():.6g}; a comparator is made for trace.cost_sequence."
        )
