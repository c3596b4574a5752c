"""The hindsight optimum of any convex losses, modelled with cvxpy and solved by Clarabel (the extra 'convex').

For the built-in losses the multipliers go through the same lower bound as those of the active-set method, so the
certificate is ours. A user's own losses are given as cvxpy expressions, and there only Clarabel's word can be had.
"""

import contextlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from driftwise._extras import optional
from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.domains.kernels import BALL, BOX, SIMPLEX
from driftwise.errors import ConvergenceError, DriftwiseError, InputError
from driftwise.losses.base import DataLoss, LossStream, window
from driftwise.movecost import MoveCost
from driftwise.optimum.cones import middle
from driftwise.optimum.duality import Answer, lower_bound
from driftwise.optimum.fixed import best_fixed
from driftwise.optimum.models import solve_model
from driftwise.optimum.stages import capped
from driftwise.optimum.values import total_cost

Expression = Callable[[int, Any], Any]


class _Units(NamedTuple):
    """The units in which Clarabel is given a problem, so that all its numbers are near 1: ``w = middle + width v``."""

    middle: Array
    width: float
    score: float
    cost: float


def _units(losses: DataLoss, domain: Domain) -> _Units:
    center, width = middle(domain), max(domain.diameter, 1e-100)
    features, _, taps, _ = losses.data
    farthest = float(np.abs(losses.aims - _held(losses, center)).max())
    grows = 1.0 if losses.each else float(np.linalg.norm(features, axis=1).max()) * float(np.abs(taps).sum())
    return _Units(center, width, *losses.units(max(grows * width, farthest, 1e-100)))


def _held(losses: DataLoss, point: Array) -> Array:
    """Return the scores of every round if a decision is held."""
    return losses.scores(np.broadcast_to(point, (len(losses), losses.dim)))


def _constraints(cp: ModuleType, domain: Domain, V: Any, units: _Units) -> list[Any]:
    """Keep ``middle + width v`` in the domain, for every row v of V."""
    result = []
    for (kind, size, numbers, rows), place in zip(domain.blocks, domain.slices, strict=True):
        part, shift = V[:, place], units.middle[place]

        def limit(values: Array, shift: Array = shift) -> Array:
            return np.tile((values - shift) / units.width, (V.shape[0], 1))

        if kind == BALL:
            result.append(cp.norm(part - limit(numbers[1:]), axis=1) <= numbers[0] / units.width)
        elif kind == BOX:
            result += [part >= limit(numbers[:size]), part <= limit(numbers[size:])]
        elif kind == SIMPLEX:
            result += [part >= limit(np.zeros(size)), cp.sum(part, axis=1) == 0.0]
        else:
            shape, radius = (rows, size // rows), numbers[0] / units.width
            result += [cp.sigma_max(cp.reshape(row, shape, order="C")) <= radius for row in part]
    return result


def _gaps(cp: ModuleType, losses: DataLoss, V: Any, units: _Units) -> Any:
    """Return scores less targets, in units of score, as a linear function of V."""
    offset = (_held(losses, units.middle) - losses.aims) / units.score
    if losses.each:
        return (units.width / units.score) * V + offset
    features, rounds, total = losses.data.features * (units.width / units.score), np.arange(len(losses)), offset
    for age, tap in enumerate(losses.data.taps):
        total = total + tap * cp.sum(cp.multiply(features, V[np.maximum(rounds - age, 0)]), axis=1)
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


def _price(cp: ModuleType, steps: Any, cost: MoveCost, units: _Units) -> Any:
    """Return the price of all moves in units of cost, of steps in units of width."""
    if cost.plain is not None:
        return cost.plain * units.width / units.cost * cp.sum(cp.norm(steps, axis=1))
    sides = cost.prices(steps.shape[1]) * units.width / units.cost
    up, down = (np.tile(side, (steps.shape[0], 1)) for side in sides)
    each = cp.multiply(up, cp.pos(steps)) + cp.multiply(down, cp.neg(steps))
    return cp.sum(each) if cost.norm == "l1" else cp.sum(cp.norm(each, axis=1))


class _Model:
    """A problem in cvxpy without its losses: decisions V in their units, in a domain, and the price of their moves."""

    def __init__(self, rounds: int, domain: Domain, cost: MoveCost, units: _Units) -> None:
        self.cp = optional("hindsight_optimum, for these losses,", "cvxpy", "convex")
        self.domain, self.units = domain, units
        self.V = self.cp.Variable((rounds, domain.dim))
        self.rules, self.price = _constraints(self.cp, domain, self.V, units), 0.0
        if rounds > 1:
            steps = self.cp.Variable((rounds - 1, domain.dim))
            self.rules.append(steps == self.V[1:] - self.V[:-1])
            self.price = _price(self.cp, steps, cost, units)

    def solve(self, loss: Any, *rules: Any) -> tuple[Array, Any, str]:
        """Return the decisions with the least loss and price under more rules, the problem's lower bound, and words."""
        problem = self.cp.Problem(self.cp.Minimize(loss + self.price), [*self.rules, *rules])
        raw = solve_model(self.cp, problem)
        words = f"Clarabel ended with {raw.status}"
        if self.V.value is None:
            raise ConvergenceError(
                f"hindsight_optimum: {words}, without decisions; either the losses are not finite anywhere in "
                f"{self.domain!r}, or they are hard on the solver: rescale them or the domain."
            )
        decisions = self.domain.project(self.units.middle + self.units.width * np.asarray(self.V.value))
        return decisions, float(problem.value - abs(raw.obj_val - raw.obj_val_dual)), words


def _or_held(losses: LossStream, domain: Domain, cost: MoveCost, decisions: Array) -> Array:
    """Return the decisions, or one that is held if that costs less: a solver's zero is not quite zero."""
    fixed = [domain.project(decisions.mean(axis=0))]
    with contextlib.suppress(DriftwiseError):  # if it cannot be found, it is not a candidate
        fixed.append(best_fixed(losses, domain))
    candidates = [decisions, *(np.tile(point, (len(losses), 1)) for point in fixed)]
    return min(candidates, key=lambda rows: total_cost(losses, rows, cost))


def solve(losses: DataLoss, domain: Domain, cost: MoveCost) -> Answer:
    """Return the best sequence of decisions by Clarabel, with a lower bound from its multipliers."""
    limited, units = capped(losses, domain, cost), _units(losses, domain)
    model, dual = _Model(len(losses), domain, limited, units), np.zeros((len(losses), domain.dim))
    gaps = model.cp.Variable(losses.aims.shape)
    seen = gaps == _gaps(model.cp, losses, model.V, units)
    decisions, _, words = model.solve(losses.expression(model.cp, gaps, units.score, units.cost), seen)
    if len(losses) > 1:
        dual[:-1] = -np.asarray(model.rules[-1].dual_value) * (units.cost / units.width)
    slopes = -np.asarray(seen.dual_value) * (units.cost / units.score)
    bound = lower_bound(losses, domain, slopes, dual, limited)
    return Answer(_or_held(losses, domain, cost, decisions), bound, words)


def solve_stated(losses: LossStream, domain: Domain, cost: MoveCost, expression: Expression) -> Answer:
    """Return the best sequence of decisions and Clarabel's lower bound, of losses that a user states for cvxpy."""
    units = _Units(middle(domain), max(domain.diameter, 1e-100), 1.0, 1.0)
    model = _Model(len(losses), domain, cost, units)
    W = np.tile(units.middle, (len(losses), 1)) + units.width * model.V
    loss = _own_losses(model.cp, losses, expression, W)
    decisions, bound, words = model.solve(loss)
    model.V.value = (decisions - units.middle) / units.width
    stated, true = float(loss.value), float(losses.policy_losses(decisions).sum())
    if not abs(stated - true) <= 1e-6 * max(abs(stated), abs(true), 1.0):
        raise InputError(
            f"hindsight_optimum: at the optimum found the expressions add up to {stated:.10g}, but the losses "
            f"themselves to {true:.10g}; expression(t, w) must be the loss of round t."
        )
    return Answer(_or_held(losses, domain, cost, decisions), bound, words)
