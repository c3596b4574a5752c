"""The hindsight optimum of any convex losses, modelled with cvxpy and solved by Clarabel (the extra 'convex').

For the built-in losses the multipliers go through the same lower bound as those of the active-set method, so the
certificate is ours. A user's own losses are given as cvxpy expressions, and there only Clarabel's word can be had.
"""

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from driftwise.domains import Domain
from driftwise.domains.kernels import BALL, BOX, SIMPLEX
from driftwise.errors import ConvergenceError, InputError, MissingExtraError
from driftwise.losses import LossStream, kernels
from driftwise.losses.base import DataLoss
from driftwise.losses.kernels import LossData
from driftwise.regret.duality import Answer, lower_bound
from driftwise.regret.values import policy_losses

Expression = Callable[[int, Any], Any]

_OPTIONS = {"tol_gap_rel": 1e-9, "tol_gap_abs": 1e-9, "tol_feas": 1e-9, "accept_unknown": True}


def _cvxpy() -> ModuleType:
    try:
        import cvxpy
    except ImportError:
        raise MissingExtraError(
            "hindsight_optimum needs cvxpy for these losses, which the extra 'convex' brings: "
            "pip install 'driftwise[convex]'."
        ) from None
    return cvxpy


def _constraints(cp: ModuleType, domain: Domain, W: Any) -> list[Any]:
    """Keep every row of W in the domain."""
    result = []
    for (kind, start, stop, _, rows), block in zip(domain.table, domain.blocks, strict=True):
        part, numbers = W[:, start:stop], block.numbers
        if kind == BALL:
            result.append(cp.norm(part - np.tile(numbers[1:], (W.shape[0], 1)), axis=1) <= numbers[0])
        elif kind == BOX:
            result += [part >= np.tile(numbers[: block.size], (W.shape[0], 1))]
            result += [part <= np.tile(numbers[block.size :], (W.shape[0], 1))]
        elif kind == SIMPLEX:
            result += [part >= 0.0, cp.sum(part, axis=1) == numbers[0]]
        else:
            shape = (int(rows), int(block.size // rows))
            result += [cp.sigma_max(cp.reshape(row, shape, order="C")) <= numbers[0] for row in part]
    return result


def _loss(cp: ModuleType, data: LossData, z: Any) -> Any:
    """Return the sum of the losses at scores z (at decisions, for tracking losses)."""
    gap = z - (data.features if data.link == kernels.TRACKING else data.targets)
    match data.link:
        case kernels.LINEAR:
            return cp.sum(z)
        case kernels.ABSOLUTE:
            return cp.norm1(gap)
        case kernels.HUBER:
            return 0.5 * cp.sum(cp.huber(gap, data.width))
        case kernels.LOGISTIC:
            return cp.sum(cp.logistic(cp.multiply(-data.targets, z)))
    return 0.5 * cp.sum_squares(gap)


def _scores(cp: ModuleType, data: LossData, W: Any) -> Any:
    """Return the filtered score of every round, a linear function of the decisions W."""
    if data.link == kernels.TRACKING:
        return W
    rounds = data.features.shape[0]
    total = data.taps[0] * cp.sum(cp.multiply(data.features, W), axis=1)
    for k in range(1, data.taps.size):
        past = W[np.maximum(np.arange(rounds) - k, 0)]
        total += data.taps[k] * cp.sum(cp.multiply(data.features, past), axis=1)
    return total


def _own_losses(cp: ModuleType, losses: LossStream, expression: Expression, W: Any) -> Any:
    """Return the sum of a user's expressions, each checked to be a convex function of the decisions."""
    total = []
    for t in range(len(losses)):
        given = W[t] if losses.memory == 0 else W[np.maximum(np.arange(t - losses.memory, t + 1), 0)]
        each = expression(t, given)
        if not isinstance(each, cp.Expression) or each.size != 1:
            raise InputError(f"hindsight_optimum: expression({t}, w) must be a scalar cvxpy expression, got {each!r}.")
        if not each.is_convex():
            raise InputError(
                f"hindsight_optimum: expression({t}, w) = {each} is not convex by cvxpy's rules, and only the optimum "
                "of convex losses can be certified; write it as a convex expression, if it is one."
            )
        total.append(each)
    return cp.sum(cp.hstack([cp.reshape(each, (1,), order="C") for each in total]))


def solve(losses: LossStream, domain: Domain, lambda_: float, expression: Expression | None) -> Answer:
    """Return the best sequence of decisions by Clarabel, with a lower bound on every sequence's cost."""
    cp = _cvxpy()
    rounds, dim = len(losses), losses.dim
    if expression is None:
        # At a price above what all the losses can change by, nothing moves, and a higher one is only hard on Clarabel.
        lambda_ = min(lambda_, 2.0 * rounds * float(losses.lipschitz(domain).sum()) + 1.0)
    W = cp.Variable((rounds, dim))
    constraints = _constraints(cp, domain, W)
    steps = cp.Variable((rounds - 1, dim)) if rounds > 1 else None
    price: Any = 0.0
    if steps is not None:
        constraints.append(steps == W[1:] - W[:-1])
        price = lambda_ * cp.sum(cp.norm(steps, axis=1))
    if expression is None:
        assert isinstance(losses, DataLoss)
        scores = cp.Variable((rounds, dim) if losses.data.link == kernels.TRACKING else rounds)
        constraints.append(scores == _scores(cp, losses.data, W))
        cost = _loss(cp, losses.data, scores)
    else:
        cost = _own_losses(cp, losses, expression, W)
    problem = cp.Problem(cp.Minimize(cost + price), constraints)
    # Step by step, and not problem.solve: Clarabel's own result has the dual value, and how it ended.
    data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts=_OPTIONS)
    raw = chain.solve_via_data(problem, data, solver_opts=_OPTIONS)
    words = f"Clarabel ended with {raw.status}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that the solution may be inaccurate: the gap will tell
            problem.unpack_results(raw, chain, inverse)
    except cp.SolverError:
        W.value = None
    if W.value is None:
        raise ConvergenceError(
            f"hindsight_optimum: {words}, without decisions; either the losses are not finite anywhere in {domain!r}, "
            "or they are hard on the solver: rescale them or the domain."
        )
    decisions = domain.project(np.ascontiguousarray(W.value))
    if expression is not None:
        W.value = decisions
        stated, true = float(cost.value), float(policy_losses(losses, decisions).sum())
        if not abs(stated - true) <= 1e-6 * max(abs(stated), abs(true), 1.0):
            raise InputError(
                f"hindsight_optimum: at the optimum found the expressions add up to {stated:.10g}, but the losses "
                f"themselves to {true:.10g}; expression(t, w) must be the loss of round t."
            )
        return Answer(decisions, float(problem.value - abs(raw.obj_val - raw.obj_val_dual)), words)
    assert isinstance(losses, DataLoss)
    dual = np.zeros((rounds, dim))
    if steps is not None:
        dual[:-1] = -np.asarray(constraints[-2].dual_value)
    slopes = -np.asarray(constraints[-1].dual_value)
    return Answer(decisions, lower_bound(losses.data, domain, slopes, dual, lambda_), words)
