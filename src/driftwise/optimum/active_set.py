"""The hindsight optimum of quadratic losses: segments of constant decisions, added where the dual asks for them.

A sequence that is constant except for K - 1 breaks is a small cone problem in K points, because a segment's losses add
up to one quadratic. Its solution is optimal among *all* sequences if the running dual s_t (the sum of gradients so far,
plus normals of the domain) stays within ``|s_t| <= lambda``; where it does not, a break is missing. So: solve, walk the
dual, add a break at the peak of every excursion, drop breaks across which nothing moves, and go on until the lower
bound of `duality` meets the cost. A break that was dropped once and asked for again stays, so that nothing cycles.
"""

import math

import numpy as np

from driftwise._validate import Array, Indices
from driftwise.domains import Domain
from driftwise.losses.base import DataLoss
from driftwise.movecost import MoveCost
from driftwise.optimum.cones import solve_segments
from driftwise.optimum.duality import Answer, lower_bound, slopes_at
from driftwise.optimum.kernels import running_dual
from driftwise.optimum.quadratic import minimise, sums

FINEST = 3
"""How many times the unit of the cone problems may be made a thousand times smaller, for more digits."""

CLOSE, PATIENCE = 1e-3, 3
"""Once the relative gap is close, so many cone problems in a row may fail to halve it before the unit shrinks."""


def solve(losses: DataLoss, domain: Domain, lambda_: float, tolerance: float, floor: float, iterations: int) -> Answer:
    """Return the best sequence of decisions found, with its lower bound; a gap is relative to `floor` at least."""
    rounds, dim, price = len(losses), losses.dim, MoveCost(lambda_, norm="l2")
    starts = np.zeros(1, np.int64)
    dropped: set[int] = set()
    stay: set[int] = set()
    best, best_cost, bound = np.tile(domain.project(np.zeros(dim)), (rounds, 1)), math.inf, -math.inf
    fineness, least, waited = 0, math.inf, 0
    for iteration in range(1, iterations + 1):
        problem = sums(losses, starts)
        if starts.size == 1:
            points, ends, words = minimise(problem, domain), np.zeros((1, dim)), "Solved"
        else:
            width = domain.diameter * 1e-3**fineness
            points, ends, words = solve_segments(problem.A, problem.b, domain, lambda_, best[starts], width)
        if not (np.all(np.isfinite(points)) and np.all(np.isfinite(ends))):
            return Answer(best, bound, f"Clarabel stopped with {words}")
        points = domain.project(points)
        decisions = np.repeat(points, np.diff(starts, append=rounds), axis=0)
        moves = np.linalg.norm(np.diff(points, axis=0), axis=1)
        cost = float(losses.unary_losses(decisions).sum() + lambda_ * moves.sum())
        if cost < best_cost:
            best, best_cost = decisions, cost
        slopes = slopes_at(losses, decisions)
        dual = np.array(losses.pulls(losses.admissible(slopes)))  # the gradients, which become the running dual
        running_dual(starts, ends, lambda_, np.empty((2, dim)), dual)
        bound = max(bound, lower_bound(losses, domain, slopes, dual, price))
        gap = best_cost - bound
        if gap <= tolerance * max(abs(best_cost), floor):
            return Answer(best, bound, f"segments: {starts.size}, cone problems: {iteration}")
        wanted = _peaks(np.linalg.norm(dual, axis=1), lambda_, starts) - set(starts.tolist())
        still = (moves <= 1e-7 * domain.diameter) & (np.linalg.norm(ends[:-1], axis=1) < (1.0 - 1e-6) * lambda_)
        idle = set(starts[1:][still].tolist()) - stay
        stay |= dropped & wanted
        dropped |= idle
        if gap <= CLOSE * abs(best_cost):
            least, waited = (gap, 0) if gap <= 0.5 * least else (least, waited + 1)
        if waited >= PATIENCE or not (wanted or idle):
            if fineness == FINEST and not (wanted or idle):
                return Answer(best, bound, f"Clarabel's precision ({words}) allows no more")
            fineness, waited = min(fineness + 1, FINEST), 0
        starts = np.array(sorted((set(starts.tolist()) - idle) | wanted), np.int64)
    return Answer(best, bound, f"the limit of {iterations} cone problems was reached")


def solve_apart(losses: DataLoss, domain: Domain) -> Answer:
    """Solve the problem when moving is free: rounds are independent of one another, and the dual is 0."""
    decisions = minimise(sums(losses, np.arange(len(losses))), domain)
    bound = lower_bound(losses, domain, slopes_at(losses, decisions), 0.0 * decisions, MoveCost(0.0))
    return Answer(decisions, bound, "every round by itself")


def _peaks(norms: Array, lambda_: float, starts: Indices) -> set[int]:
    """Return where to break: after the largest |s_t| of every stretch, within one segment, with |s_t| above lambda."""
    rounds = np.flatnonzero(norms[:-1] > lambda_ * (1.0 + 1e-8))
    if not rounds.size:
        return set()
    segment = np.searchsorted(starts, rounds, side="right")
    new = (np.diff(rounds, prepend=-2) > 1) | (np.diff(segment, prepend=-1) != 0)
    stretches = np.split(rounds, np.flatnonzero(new)[1:])
    return {int(stretch[np.argmax(norms[stretch])]) + 1 for stretch in stretches}
