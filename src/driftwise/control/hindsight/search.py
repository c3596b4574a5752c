"""The cheapest policies, by the kind of the costs: from second derivatives, by quasi-Newton steps, by smoothing.

Whatever the way, the result carries a gap that follows from convexity and the gradients at the end alone.
"""

import numpy as np

from driftwise._validate import Array
from driftwise.control.costs import CostSequence, DataCost
from driftwise.control.costs.kernels import CostData
from driftwise.control.hindsight.curvature import Curvature, diagonal_roots, roots
from driftwise.control.hindsight.cuts import by_cuts
from driftwise.control.hindsight.descent import projected, quasi_newton
from driftwise.control.hindsight.rollout import cost_slopes
from driftwise.control.hindsight.totals import Found, Region, Totals

CLOSE, FAIR = 1e-9, 1e-6
"""Gaps, relative to the total, at which to stop: for smooth costs, and for costs with kinks."""

STEPS, DEAR_STEPS = 20_000, 2_000
"""Largest number of projected steps, and the same where each takes a run of the plant."""


def cheapest(owner: str, totals: Totals, region: Region) -> Found:
    """Return the cheapest policies of a region; zeros, if those are cheaper than what was found."""
    found = _by_kind(owner, totals, region)
    none = np.zeros(totals.dim)
    if region.contains(none) and totals.roll(none).total < totals.roll(found.policies).total:
        return found._replace(policies=none)
    return found


def _by_kind(owner: str, totals: Totals, region: Region) -> Found:
    model = totals.problem.costs.model
    if model is None or not (model.quadratic or model.separable):
        return _by_values(owner, totals, region)
    if model.quadratic:
        return _quadratic(totals, region)
    if model.smooth:
        how = "By Newton-like steps." if region.domain is None else "By projected gradient steps."
        return _certain(how, totals, region, _smooth(totals, region, model, np.zeros(totals.dim), CLOSE))
    return _by_smoothing(totals, region, model)


def _certain(how: str, totals: Totals, region: Region, policies: Array) -> Found:
    """Return policies with the gap that their gradient proves."""
    value, slope = totals.at(policies)
    return Found.told(how, region, policies, value, region.gap(policies, slope))


def _curvature(totals: Totals, weights: CostData) -> Curvature:
    return Curvature(totals.problem, weights, totals.gains[0], totals.shape[1], totals.starts)


def _quadratic(totals: Totals, region: Region) -> Found:
    """Solve the normal equations; on a domain that does not contain the solution, go downhill within it."""
    curvature = _curvature(totals, roots(totals.problem))
    policies = np.zeros(totals.dim)
    base, tilt = value, slope = totals.at(policies)
    free = region._replace(domain=None)
    for _ in range(4):  # after the first step only rounding is left
        better = policies + curvature.newton(slope)
        lower, after = totals.at(better)
        if not (lower <= value * (1.0 + 1e-12) and free.gap(better, after) < free.gap(policies, slope)):
            break
        policies, value, slope = better, lower, after
    if region.contains(policies):
        return _certain("From the normal equations.", totals, region, policies)

    def quadratic(policies: Array) -> tuple[float, Array]:
        bent = curvature.times(policies)
        return base + float((tilt + 0.5 * bent) @ policies), tilt + bent

    bend = curvature.steepest
    found = projected(quadratic, region.project, region.gap, policies, bend=bend, enough=CLOSE, most=STEPS)
    return _certain("By projected gradient steps.", totals, region, found)


def _smooth(totals: Totals, region: Region, model: DataCost, policies: Array, enough: float) -> Array:
    """Return the cheapest policies of smooth costs, to a gap of `enough` times the total if that can be had."""
    T, dx, du = totals.problem.size
    of_states, of_inputs = model.data.of_rounds(0, T)
    weights = np.broadcast_to(of_states[:, 0], (T, dx)), np.broadcast_to(of_inputs[:, 0], (T, du))
    if region.domain is not None:
        bend = _curvature(totals, diagonal_roots(*weights)).steepest / (2.0 * model.data.width)
        return projected(totals.at, region.project, region.gap, policies, bend=bend, enough=enough, most=DEAR_STEPS)
    for _ in range(6):
        rollout = totals.roll(policies)
        value, slope = totals.seen(rollout)
        if region.gap(policies, slope) <= enough * value:
            break
        sizes = np.abs(rollout.states), np.abs(rollout.inputs)
        local = (weight * model.bend(size) for weight, size in zip(weights, sizes, strict=True))
        curvature = _curvature(totals, diagonal_roots(*local))
        policies = quasi_newton(totals.at, policies, newton=curvature.newton, most=40)
    return policies


def _by_smoothing(totals: Totals, region: Region, model: DataCost) -> Found:
    """Minimise costs with kinks as the limit of smooth ones of smaller and smaller width: absolute ones of Huber's.

    The slopes of Huber's function are within those of the absolute value, so that sum_t <slopes, (x_t, u_t)>, an affine
    function of the policies, lies below the total of the absolute costs everywhere: this is where the gap comes from.
    """
    problem = totals.problem
    policies = np.zeros(totals.dim)
    rollout = totals.roll(policies)
    width = float(max(np.abs(rollout.states).mean(), np.abs(rollout.inputs).mean())) or 1.0
    best: Found | None = None
    enough, stuck = 0.03, 0
    for _ in range(20):
        smoothed = model.smoothed(width)
        costs = CostSequence.from_data(smoothed, smoothed.data, len(problem.costs))
        smooth = totals._replace(problem=problem._replace(costs=costs))
        policies = _smooth(smooth, region, smoothed, policies, enough)
        rollout = totals.roll(policies)
        slopes = cost_slopes(costs, rollout.states, rollout.inputs)
        plane = float(np.sum(slopes[0] * rollout.states) + np.sum(slopes[1] * rollout.inputs))
        gap = max(0.0, rollout.total - plane + region.gap(policies, smooth.at(policies)[1]))
        stuck = 0 if best is None or gap <= 0.7 * best.gap else stuck + 1
        if best is None or gap < best.gap:
            best = Found.told("By smoothing.", region, policies, rollout.total, gap)
        if stuck > 2 or best.gap <= FAIR * rollout.total:
            break
        width *= 0.3
        enough = max(0.03 * best.gap / rollout.total, 0.1 * FAIR)
    assert best is not None
    return best


def _by_values(owner: str, totals: Totals, region: Region) -> Found:
    """Minimise costs by their values and gradients alone."""
    curvature = _curvature(totals, roots(totals.problem))
    start = np.zeros(totals.dim)
    if region.domain is None:
        how = "By quasi-Newton steps."
        policies = quasi_newton(totals.at, start, newton=curvature.newton, most=200)
    else:
        how, bend = "By projected gradient steps.", curvature.steepest
        policies = projected(totals.at, region.project, region.gap, start, bend=bend, enough=FAIR, most=200)
    found = _certain(how, totals, region, policies)
    if found.gap <= FAIR * totals.at(policies)[0]:
        return found
    return by_cuts(owner, totals, region, found)
