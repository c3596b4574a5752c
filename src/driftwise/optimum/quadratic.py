"""Sums of losses as quadratics, ``w'Aw / 2 - b'w + c``, and their minimum over a domain."""

from typing import NamedTuple, TypeGuard

import numpy as np

from driftwise._pieces import in_pieces
from driftwise._validate import Array, Indices
from driftwise.domains import Ball, Domain
from driftwise.losses.base import DataLoss, LossStream
from driftwise.optimum.cones import has_cones, solve_segments
from driftwise.optimum.kernels import descend, segment_sums

CLOSE = 1e-9
"""Relative gap with which a minimum counts as found."""


class Quadratics(NamedTuple):
    """Several quadratics at once: shapes (n, d, d), (n, d), (n,)."""

    A: Array
    b: Array
    c: Array

    def values(self, points: Array) -> Array:
        """Return each quadratic at its own point."""
        bent = np.einsum("ni,nij,nj->n", points, self.A, points)
        return np.asarray(0.5 * bent - np.einsum("ni,ni->n", self.b, points) + self.c)


def is_quadratic(losses: LossStream) -> TypeGuard[DataLoss]:
    """Tell whether every unary loss is a quadratic (or linear) function of the decision, so that it has `sums`."""
    return losses.quadratic


def sums(losses: DataLoss, starts: Indices) -> Quadratics:
    """Return the sum of the unary losses over each segment, which begin at `starts` and end where the next begins.

    Of losses with a kink, the parabolas right of it are summed.
    """
    count, dim = len(starts), losses.dim
    result = Quadratics(np.zeros((count, dim, dim)), np.zeros((count, dim)), np.zeros(count))
    terms, features, _ = losses._parts
    segment_sums(terms, features, losses.parabolas, starts, *result)
    return result


def minimise(problem: Quadratics, domain: Domain) -> Array:
    """Return the minimiser of each quadratic over the domain, shape (n, d)."""
    A, b, _ = problem
    if isinstance(domain, Ball):
        return domain.project(_in_ball(A, b, domain))
    points = np.tile(domain.project(np.zeros(domain.dim)), (len(b), 1))
    if domain.diameter == 0.0:
        return points
    plan, room = domain.plan(), np.empty(2 * domain.dim + domain.room)

    def play(first: int, stop: int) -> int:
        descend(A[first:stop], b[first:stop], plan, points[first:stop], room, 1e-26, 3000)
        return stop

    in_pieces(play, len(b))
    for i in np.flatnonzero(gaps(problem, domain, points) > CLOSE * scales(problem, domain)):
        if has_cones(domain):
            better = domain.project(solve_segments(A[i : i + 1], b[i : i + 1], domain, 0.0).points)
            descend(A[i : i + 1], b[i : i + 1], plan, better, room, 1e-26, 3000)
            points[i] = better[0]
    return points


def gaps(problem: Quadratics, domain: Domain, points: Array) -> Array:
    """Return how far each point can be from the minimum at most: ``max_v <gradient, w - v>``."""
    slopes = np.einsum("nij,nj->ni", problem.A, points) - problem.b
    return np.asarray(np.einsum("ni,ni->n", slopes, points) + domain.support(-slopes))


def scales(problem: Quadratics, domain: Domain) -> Array:
    """Return by how much each quadratic can vary over the domain, roughly: the unit of its gap."""
    D = max(domain.diameter, 1e-6)  # a domain that is a single point leaves nothing but rounding
    slopes = np.einsum("nij,j->ni", problem.A, domain.project(np.zeros(domain.dim))) - problem.b
    bend = np.einsum("nii->n", problem.A)
    return np.asarray(D * np.linalg.norm(slopes, axis=1) + bend * D**2 + 1e-300)


def _in_ball(A: Array, b: Array, ball: Ball) -> Array:
    """Solve ``(A + nu I)(w - centre) = b - A centre`` for the least nu >= 0 with w in the ball."""
    bends, axes = np.linalg.eigh(A)
    bends = np.maximum(bends, 0.0)
    pulls = np.einsum("nij,ni->nj", axes, b - A @ ball.center)
    # |w - centre| falls as nu grows and is at most |pulls| / nu, so nu lies between 0 and |pulls| / radius.
    low, high = np.zeros(len(b)), np.linalg.norm(pulls, axis=1) / ball.radius
    floor = np.finfo(float).eps * bends[:, -1:] * len(ball.center)
    free = np.where(bends > floor, bends, np.inf)  # flat directions without a pull need not move
    flat = (bends <= floor) & (np.abs(pulls) > 1e-14 * np.linalg.norm(pulls, axis=1, keepdims=True))
    inside = (np.linalg.norm(pulls / free, axis=1) <= ball.radius) & ~flat.any(axis=1)
    for _ in range(200):
        middle = 0.5 * (low + high)
        done = (middle <= low) | (middle >= high)
        if np.all(done | inside):
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.linalg.norm(np.nan_to_num(pulls / (bends + middle[:, None])), axis=1) > ball.radius
        low, high = np.where(far & ~done, middle, low), np.where(far | done, high, middle)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(inside[:, None], pulls / free, np.nan_to_num(pulls / (bends + high[:, None])))
    return np.asarray(ball.center + np.einsum("nij,nj->ni", axes, steps))
