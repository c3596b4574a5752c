"""The hindsight optimum of any convex losses, modelled with cvxpy and solved by Clarabel (the extra 'convex').

For the built-in losses the multipliers go through the same lower bound as those of the active-set method, so the
certificate is ours. A user's own losses are given as cvxpy expressions, and there only Clarabel's word can be had.
"""

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.domains.kernels import BALL, BOX, SIMPLEX
from driftwise.errors import ConvergenceError, InputError, MissingExtraError
from driftwise.losses import LossStream, kernels
from driftwise.losses.base import DataLoss, window
from driftwise.losses.kernels import LossData
from driftwise.movecost import MoveCost
from driftwise.optimum.cones import middle
from driftwise.optimum.duality import EACH, Answer, lower_bound
from driftwise.optimum.stages import capped
from driftwise.optimum.values import policy_losses

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


class _Units(NamedTuple):
    """The units in which Clarabel is given a problem, so that all its numbers are near 1: ``w = middle + width v``."""

    middle: Array
    width: float
    score: float
    cost: float


def _units(losses: LossStream, domain: Domain, own: bool) -> _Units:
    middle_, width = middle(domain), max(domain.diameter, 1e-100)
    if own or not isinstance(losses, DataLoss):
        return _Units(middle_, width, 1.0, 1.0)
    data = losses.data
    if data.link in EACH:
        score = max(width, float(np.abs(data.features - middle_).max()))
    elif data.link == kernels.LOGISTIC:
        score = 1.0  # the one loss that has a unit of its own
    else:
        reach = float(np.linalg.norm(data.features, axis=1).max()) * width * float(np.abs(data.taps).sum())
        score = max(reach, float(np.abs(data.targets - _held(data, middle_)).max()), 1e-100)
    if data.link == kernels.CAPACITY:
        return _Units(middle_, width, score, score * max(float(data.prices.max()), 1e-100))
    power = 2.0 if data.link in (kernels.SQUARED, kernels.HUBER, kernels.TRACKING) else 1.0
    return _Units(middle_, width, score, score**power)


def _held(data: LossData, point: Array) -> Array:
    """Return the score of every round if a decision is held."""
    return np.asarray(data.taps.sum() * (data.features @ point))


def _constraints(cp: ModuleType, domain: Domain, V: Any, units: _Units) -> list[Any]:
    """Keep ``middle + width v`` in the domain, for every row v of V."""
    result = []
    for (kind, start, stop, _, rows), block in zip(domain.table, domain.blocks, strict=True):
        part, numbers, shift = V[:, start:stop], block.numbers, units.middle[start:stop]

        def limit(values: Array, shift: Array = shift) -> Array:
            return np.tile((values - shift) / units.width, (V.shape[0], 1))

        if kind == BALL:
            result.append(cp.norm(part - limit(numbers[1:]), axis=1) <= numbers[0] / units.width)
        elif kind == BOX:
            result += [part >= limit(numbers[: block.size]), part <= limit(numbers[block.size :])]
        elif kind == SIMPLEX:
            result += [part >= limit(np.zeros(block.size)), cp.sum(part, axis=1) == 0.0]
        else:
            shape = (int(rows), int(block.size // rows))
            radius = numbers[0] / units.width
            result += [cp.sigma_max(cp.reshape(row, shape, order="C")) <= radius for row in part]
    return result


def _loss(cp: ModuleType, data: LossData, gap: Any, units: _Units) -> Any:
    """Return the sum of the losses in units of cost, at scores less targets in units of score."""
    match data.link:
        case kernels.LINEAR:
            return cp.sum(gap)
        case kernels.ABSOLUTE:
            return cp.norm1(gap)
        case kernels.HUBER:
            return 0.5 * cp.sum(cp.huber(gap, data.width / units.score))
        case kernels.CAPACITY:
            price, shortage = (np.tile(each, (gap.shape[0], 1)) * units.score / units.cost for each in data.prices)
            return cp.sum(cp.multiply(price, gap) + cp.multiply(shortage, cp.pos(-gap)))
        case kernels.LOGISTIC:
            return cp.sum(cp.logistic(cp.multiply(-data.targets, gap)))
    return 0.5 * cp.sum_squares(gap)


def _gaps(cp: ModuleType, data: LossData, V: Any, units: _Units) -> Any:
    """Return scores less targets (for logistic losses scores), in units of score, as a linear function of V."""
    if data.link in EACH:
        return (units.width / units.score) * V + (units.middle - data.features) / units.score
    rounds = data.features.shape[0]
    offset = _held(data, units.middle)
    if data.link not in (kernels.LINEAR, kernels.LOGISTIC):
        offset = offset - data.targets
    features = data.features * (units.width / units.score)
    total = data.taps[0] * cp.sum(cp.multiply(features, V), axis=1) + offset / units.score
    for k in range(1, data.taps.size):
        past = V[np.maximum(np.arange(rounds) - k, 0)]
        total += data.taps[k] * cp.sum(cp.multiply(features, past), axis=1)
    return total


def _own_losses(cp: ModuleType, losses: LossStream, expression: Expression, W: Any) -> Any:
    """Return the sum of a user's expressions, each checked to be a convex function of the decisions."""
    total = []
    for t in range(len(losses)):
        given = W[t] if losses.memory == 0 else window(W, t, losses.memory)
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


def _price(cp: ModuleType, steps: Any, cost: float | MoveCost, units: _Units) -> Any:
    """Return the price of all moves in units of cost, of steps in units of width."""
    if not isinstance(cost, MoveCost):
        return cost * units.width / units.cost * cp.sum(cp.norm(steps, axis=1))
    sides = cost.prices(steps.shape[1]) * units.width / units.cost
    up, down = (np.tile(side, (steps.shape[0], 1)) for side in sides)
    each = cp.multiply(up, cp.pos(steps)) + cp.multiply(down, cp.neg(steps))
    return cp.sum(each) if cost.norm == "l1" else cp.sum(cp.norm(each, axis=1))


def solve(losses: LossStream, domain: Domain, lambda_: float | MoveCost, expression: Expression | None) -> Answer:
    """Return the best sequence of decisions by Clarabel, with a lower bound on every sequence's cost."""
    cp = _cvxpy()
    rounds, dim = len(losses), losses.dim
    if expression is None:
        # At a price above what all the losses can change by, nothing moves, and a higher one is only hard on Clarabel.
        if isinstance(lambda_, MoveCost):
            lambda_ = capped(losses, domain, lambda_)
        else:
            lambda_ = min(lambda_, 2.0 * rounds * float(losses.lipschitz(domain).sum()) + 1e-100)
    units = _units(losses, domain, expression is not None)
    V = cp.Variable((rounds, dim))
    constraints = _constraints(cp, domain, V, units)
    steps = cp.Variable((rounds - 1, dim)) if rounds > 1 else None
    price: Any = 0.0
    if steps is not None:
        constraints.append(steps == V[1:] - V[:-1])
        price = _price(cp, steps, lambda_, units)
    if expression is None:
        assert isinstance(losses, DataLoss)
        gaps = cp.Variable((rounds, dim) if losses.data.link in EACH else rounds)
        constraints.append(gaps == _gaps(cp, losses.data, V, units))
        cost = _loss(cp, losses.data, gaps, units)
    else:
        cost = _own_losses(cp, losses, expression, np.tile(units.middle, (rounds, 1)) + units.width * V)
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
        V.value = None
    if V.value is None:
        raise ConvergenceError(
            f"hindsight_optimum: {words}, without decisions; either the losses are not finite anywhere in {domain!r}, "
            "or they are hard on the solver: rescale them or the domain."
        )
    decisions = domain.project(units.middle + units.width * np.asarray(V.value))
    if expression is not None:
        return Answer(decisions, _stated(losses, cost, problem, raw, V, decisions, units), words)
    assert isinstance(losses, DataLoss)
    dual = np.zeros((rounds, dim))
    if steps is not None:
        dual[:-1] = -np.asarray(constraints[-2].dual_value) * (units.cost / units.width)
    slopes = -np.asarray(constraints[-1].dual_value) * (units.cost / units.score)
    return Answer(decisions, lower_bound(losses.data, domain, slopes, dual, lambda_), words)


def _stated(losses: LossStream, cost: Any, problem: Any, raw: Any, V: Any, decisions: Array, units: _Units) -> float:
    """Return Clarabel's lower bound for a user's expressions, if they are the losses that they stand for."""
    bound = float(problem.value - abs(raw.obj_val - raw.obj_val_dual))
    V.value = (decisions - units.middle) / units.width
    stated, true = float(cost.value), float(policy_losses(losses, decisions).sum())
    if not abs(stated - true) <= 1e-6 * max(abs(stated), abs(true), 1.0):
        raise InputError(
            f"hindsight_optimum: at the optimum found the expressions add up to {stated:.10g}, but the losses "
            f"themselves to {true:.10g}; expression(t, w) must be the loss of round t."
        )
    return bound
