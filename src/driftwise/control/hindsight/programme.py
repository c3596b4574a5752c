"""The cheapest inputs as a convex programme, modelled with cvxpy and solved by Clarabel (the extra 'convex')."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from driftwise._extras import optional
from driftwise._validate import Array
from driftwise.control.costs.kernels import INPUT
from driftwise.control.costs.run import Run
from driftwise.control.hindsight.curvature import roots
from driftwise.control.hindsight.rollout import Problem, need_finite
from driftwise.control.stability import lqr
from driftwise.errors import ConvergenceError, StabilityError
from driftwise.optimum.models import solve_model


def solve(owner: str, problem: Problem, limit: Array | None) -> tuple[Run, float, str]:
    """Return states, inputs, costs, gap and status."""
    cp = optional(f"{owner}, for these costs or an input bound,", "cvxpy", "convex")
    T, dx, du = problem.size
    gain = _gain(problem)
    # Clarabel is given numbers near 1: states and inputs in units of what a linear controller has, or of their targets.
    plain = need_finite(owner, problem.roll(gain[None]))
    assert problem.costs.data is not None
    sizes = [float(np.abs(part).max(initial=0.0)) for part in (plain.states, plain.inputs, *problem.costs.data.targets)]
    unit = max(sizes) or 1.0
    X, U = cp.Variable((T, dx)), cp.Variable((T, du))
    rules = [X[0] == problem.start / unit]
    if T > 1:
        rules.append(X[1:] == X[:-1] @ problem.A.T + U[:-1] @ problem.B.T + problem.disturbances[:-1] / unit)
    if limit is not None:
        for side, bound in ((1.0, limit[1]), (-1.0, -limit[0])):
            finite = np.flatnonzero(np.isfinite(bound))
            if finite.size:
                rules.append(side * U[:, finite] <= np.tile(bound[finite] / unit, (T, 1)))
    price = plain.total or 1.0
    total = sum(_part(cp, problem, k, (X, U)[k], unit, price) for k in range(2))
    model = cp.Problem(cp.Minimize(total), rules)
    raw = solve_model(cp, model)
    if X.value is None or U.value is None:
        raise ConvergenceError(
            f"{owner}: Clarabel ended with {raw.status}, without inputs; bring states, inputs and weights to units in "
            "which their numbers are of similar size."
        )
    plan = unit * np.asarray(X.value), unit * np.asarray(U.value)
    # Without feedback an unstable plant runs away from a plan; with it, inputs at their limit cannot follow.
    runs = [_followed(problem, each, *plan, limit) for each in (gain, 0.0 * gain)]
    best = min(runs, key=lambda run: run.total)
    bound = price * float(model.value - abs(raw.obj_val - raw.obj_val_dual))
    gap = max(0.0, best.total - bound)
    status = f"Clarabel ended with {raw.status}. By its lower bound no inputs are cheaper by more than {gap:.3g}."
    return best, gap, status


def _gain(problem: Problem) -> Array:
    """Return a gain to keep a run near the one planned; none if there is none that stabilises."""
    try:
        return lqr(problem.system)
    except StabilityError:
        return np.zeros((problem.B.shape[1], problem.B.shape[0]))


def _part(cp: ModuleType, problem: Problem, k: int, Z: Any, unit: float, price: float) -> Any:
    """Return the cost of all states (k = 0) or inputs (k = 1), given in units, in units of the price."""
    from scipy import sparse

    model, T = problem.costs.model, len(problem.disturbances)
    assert model is not None
    if not model.separable:
        blocks = (unit / math.sqrt(price)) * roots(problem).of_rounds(0, T)[k]
        diagonal = sparse.bsr_matrix((blocks, np.arange(T), np.arange(T + 1)))
        goal = model.data.targets_of_rounds(0, T)[k]
        off = Z if goal is None else Z - goal / unit
        return cp.sum_squares(diagonal.tocsr() @ cp.vec(off, order="C")) + _outside(cp, problem, k, Z, unit, price)
    weights = model.data._replace(scales=model.data.scales * (unit / price)).of_rounds(0, T)[k][:, 0]
    return cp.sum(cp.multiply(np.broadcast_to(weights, Z.shape), model.expression(cp, Z, unit)))


def _outside(cp: ModuleType, problem: Problem, k: int, Z: Any, unit: float, price: float) -> Any:
    """Return what states outside their soft limits cost, in the same units; nothing for inputs."""
    data, T = problem.costs.data, len(problem.disturbances)
    assert data is not None
    if k == INPUT or not data.limits.size:
        return 0.0
    limits = np.broadcast_to(data.limits[data.stage], (T, 3, Z.shape[1])).copy()
    roots = np.sqrt(limits[:, 2] * np.broadcast_to(data.scales, (T, 2))[:, :1] / price)
    total = 0.0
    for side, bound in ((1.0, limits[:, 1]), (-1.0, -limits[:, 0])):
        there = np.isfinite(bound)
        # Where there is no limit the weight is 0, and any number will do in its place.
        excess = cp.pos(side * Z * unit - np.where(there, bound, 0.0))
        total += cp.sum_squares(cp.multiply(np.where(there, roots, 0.0), excess))
    return total


def _followed(problem: Problem, gain: Array, states: Array, inputs: Array, limit: Array | None) -> Run:
    """Return the run that a plan leads to with some feedback, its inputs within their limit.

    A plan meets the equations of the plant only up to the solver's tolerance.
    """
    x, u = states.copy(), inputs.copy()
    x[0] = problem.start
    with np.errstate(over="ignore", invalid="ignore"):
        for t in range(len(x)):
            u[t] = inputs[t] - gain @ (x[t] - states[t])
            if limit is not None:
                u[t] = np.clip(u[t], *limit)
            if t + 1 < len(x):
                x[t + 1] = problem.A @ x[t] + problem.B @ u[t] + problem.disturbances[t]
    return problem.costed(x, u)
