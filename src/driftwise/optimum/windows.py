"""The best fixed decision of a window of rounds, with planes below the losses that tell about all other windows too.

Planes below the losses, ``f_t(w) >= h_t + <s_t, w>``, add up to one below the sum of any rounds I, so that

.. code-block:: text

   min_{v in W} sum_{t in I} f_t(v)  >=  sum_{t in I} h_t - sup_{v in W} <-sum_{t in I} s_t, v>

With the slopes of the best decision of a window it is an equality for that window, and close to one for windows that
share most of their rounds with it: one solution bounds the minima of all windows of all lengths, in time linear in T.

Losses made of lines and kinks whose coordinates are independent have a quantile as their best decision. Any others made
of parabolas and kinks are a cone problem for Clarabel, whose multipliers are the slopes. Losses with a second
derivative are minimised by Newton's method, with the domain in every step, and the slopes are their gradients.
"""

import math
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.losses.base import DataLoss, LossStream
from driftwise.optimum.cones import Rows, middle, solve_cones, stay_inside
from driftwise.optimum.coordinates import limits
from driftwise.optimum.duality import slopes_at
from driftwise.optimum.quadratic import Quadratics, minimise

CLOSE = 1e-9
"""Gap, relative to the sum of the losses, at which a search ends."""

FINER = (1.0, 1e-3, 1e-6)
"""Units of the cone problems, relative to the diameter: each is solved around what the last one found."""

STEPS, HALVINGS = 60, 50
"""Largest number of steps of Newton's method, and of halvings in the search along each."""


class Planes(NamedTuple):
    """A plane below the loss of every round, summed from the first round on, so that any rounds are a difference."""

    heights: Array
    """(T + 1,)"""
    slopes: Array
    """(T + 1, d)"""

    def lower_bounds(self, domain: Domain, length: int) -> Array:
        """Return a number below the least sum of losses of every window of a length, (T - length + 1,)."""
        heights = self.heights[length:] - self.heights[:-length]
        slopes = self.slopes[length:] - self.slopes[:-length]
        reach = float(domain.farthest(np.zeros(domain.dim)))
        size = float(np.abs(self.heights).max() + reach * np.abs(self.slopes).sum(axis=1).max())
        return np.asarray(heights - domain.support(-slopes) - 8.0 * np.finfo(float).eps * size)


def fits(losses: LossStream) -> bool:
    """Tell whether the best fixed decision of a window is found here: of built-in losses without memory."""
    if not isinstance(losses, DataLoss) or losses.memory > 0:
        return False
    return losses.pieces is not None or losses.bends(losses.aims[:1], losses.aims[:1]) is not None


class Windows:
    """Minima of the sums of losses over windows of rounds.

    Parameters
    ----------
    losses : DataLoss
        Losses that `fits` tells to be of use.
    domain : Domain
        Where decisions live.
    """

    def __init__(self, losses: DataLoss, domain: Domain) -> None:
        self.losses, self.domain = losses, domain
        self.middle = domain.project(middle(domain))
        box = limits(domain)
        lines = losses.pieces is not None and losses.pieces.bend == 0.0
        self._box = box if lines and losses.separable else None
        self._grows = losses.pulls(np.ones(losses.aims.shape))  # how a score grows with each coordinate

    def best(self, rounds: range) -> tuple[Array, Planes]:
        """Return the best fixed decision of some rounds, and planes that are close to tight there."""
        if self.domain.diameter == 0.0:
            return self.middle, self.tangents(self.middle)
        if self.losses.pieces is None:
            point = self._by_newton(rounds)
            return point, self.tangents(point)
        if self._box is not None:
            point, missing = self._by_quantiles(rounds, *self._box)
            return point, self._planes(rounds, point, missing)
        return self._by_cones(rounds)

    def value(self, point: Array, rounds: range) -> float:
        """Return the sum of the losses of some rounds at a decision."""
        return float(self.losses.unary_losses(point[None], rounds).sum())

    def tangents(self, point: Array) -> Planes:
        """Return the planes that touch the losses at a decision."""
        values, slopes = self.losses.unary_losses(point[None]), self.losses.unary_gradients(point[None])
        return _summed(values - slopes @ point, slopes)

    def _by_newton(self, rounds: range) -> Array:
        """Minimise the parabola that touches the sum, over the domain, and go as far there as it goes downhill."""
        losses, domain, part = self.losses, self.domain, slice(rounds.start, rounds.stop)
        features, aims, point = self._grows[part], losses.aims[part], self.middle
        for _ in range(STEPS):
            slope = losses.unary_gradients(point[None], rounds).sum(axis=0)
            gap = float(slope @ point + domain.support(-slope))
            if gap <= CLOSE * abs(self.value(point, rounds)):
                break
            bends = losses.bends(features @ point, aims)
            assert bends is not None
            A = (features * bends[:, None]).T @ features
            A += (1e-9 * max(float(np.trace(A)), float(np.linalg.norm(slope)) / domain.diameter)) * np.eye(domain.dim)
            model = Quadratics(A[None], (A @ point - slope)[None], np.zeros(1))
            step = minimise(model, domain)[0] - point
            if not float(slope @ step) < 0.0:
                break
            point = point + self._downhill(point, step, rounds) * step
        return domain.project(point)

    def _downhill(self, point: Array, step: Array, rounds: range) -> float:
        """Return how much of a step, from 0 to 1, leads to the lowest point along it."""

        def rises(share: float) -> bool:
            slopes = self.losses.unary_gradients((point + share * step)[None], rounds)
            return float(slopes.sum(axis=0) @ step) > 0.0

        low, high = 0.0, 1.0
        if not rises(high):
            return high
        for _ in range(HALVINGS):
            between = 0.5 * (low + high)
            low, high = (low, between) if rises(between) else (between, high)
            if high - low <= 1e-3 * low:
                break
        return low or high

    def _by_quantiles(self, rounds: range, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the decision at which the slope turns positive, coordinate by coordinate, with what `_solve` returns.

        Where it turns, the slopes of the losses with a kink there lie between both sides, and so that the sum is 0.
        """
        losses, part = self.losses, slice(rounds.start, rounds.stop)
        grows = self._grows[part]
        aims = losses.aims[part].reshape(grows.shape)
        _, *sides, _ = losses.known_pieces
        right, jump = (np.broadcast_to(side, grows.shape) for side in sides)
        at_left = grows * np.where(grows > 0.0, right - jump, right)  # slopes in the decision, left of the kink
        jumps = np.abs(grows) * jump
        kinks = np.divide(aims, grows, out=np.zeros_like(aims), where=grows != 0.0)
        point, passed = np.empty(losses.dim), np.empty(grows.shape)
        for k in range(losses.dim):
            order = np.argsort(kinks[:, k], kind="stable")
            slopes = at_left[:, k].sum() + np.cumsum(jumps[order, k])
            first = int(np.searchsorted(slopes, 0.0)) if at_left[:, k].sum() < 0.0 else -1
            turn = low[k] if first < 0 else (high[k] if first == len(order) else kinks[order[first], k])
            point[k] = np.clip(turn, low[k], high[k])
            here, before = kinks[:, k] == point[k], kinks[:, k] < point[k]
            lacking = -(at_left[:, k].sum() + jumps[before, k].sum())
            share = np.clip(lacking / max(float(jumps[here, k].sum()), 1e-300), 0.0, 1.0)
            passed[:, k] = np.where(here, share, before)
        left = np.where(grows > 0.0, 1.0 - passed, np.where(grows < 0.0, passed, aims > 0.0))  # of the target, by score
        return point, (jump * left).reshape(losses.aims[part].shape)

    def _by_cones(self, rounds: range) -> tuple[Array, Planes]:
        """Solve a cone problem, with a variable for each kink, in finer and finer units until bound and sum meet."""
        best, least, gap = self.middle, self.value(self.middle, rounds), math.inf
        planes = self.tangents(best)
        for width in FINER:
            point, missing = self._solve(rounds, best, width * self.domain.diameter)
            if not (np.isfinite(point).all() and np.isfinite(missing).all()):
                break
            point = self.domain.project(point)
            value = self.value(point, rounds)
            if value < least:
                best, least = point, value
            found = self._planes(rounds, point, missing)
            bound = float(found.lower_bounds(self.domain, len(rounds))[rounds.start])
            if least - bound < gap:
                planes, gap = found, least - bound
            if gap <= CLOSE * abs(least):
                break
        return best, planes

    def _planes(self, rounds: range, point: Array, missing: Array) -> Planes:
        """Return planes with the slopes at a decision, in some rounds by so much less than right of the kink."""
        losses = self.losses
        slopes = slopes_at(losses, np.broadcast_to(point, (len(losses), losses.dim)))
        bend, right, _, _ = losses.known_pieces
        part = slice(rounds.start, rounds.stop)
        gaps = losses.scores(np.broadcast_to(point, (len(losses), losses.dim)))[part] - losses.aims[part]
        slopes[part] = bend * gaps + right - missing
        slopes = losses.admissible(slopes)
        conjugates = sum(np.broadcast_to(addend, slopes.shape) for addend in losses.conjugates(slopes))
        return _summed(-np.reshape(conjugates, (len(losses), -1)).sum(axis=1), losses.pulls(slopes))

    def _solve(self, rounds: range, around: Array, width: float) -> tuple[Array, Array]:
        """Return a decision, and by how much less the slope of each loss is than right of its kink."""
        from scipy import sparse

        losses, dim = self.losses, self.domain.dim
        part = slice(rounds.start, rounds.stop)
        grows, aims = self._grows[part], losses.aims[part]
        bend, right, jump, _ = losses.known_pieces
        places = np.arange(aims.size)
        if losses.each:
            where, columns = places, np.tile(np.arange(dim), len(rounds))
            A, scores = np.diag(bend * np.full(dim, float(len(rounds)))), np.broadcast_to(around, aims.shape)
            pull = np.broadcast_to(right, aims.shape).sum(axis=0) - bend * aims.sum(axis=0)
        else:
            where, columns = np.repeat(places, dim), np.tile(np.arange(dim), len(rounds))
            A, scores = bend * grows.T @ grows, grows @ around
            pull = (right - bend * aims) @ grows
        unit = float(np.abs(grows).max()) or 1.0  # keeps the rows near 1
        rows, kinks = Rows(), dim + places
        rows.entry(where, columns, -grows.ravel() / unit)
        rows.entry(places, kinks, -1.0)
        rows.close(-aims.ravel() / unit)
        rows.entry(places, kinks, -1.0)
        rows.close(np.zeros(places.size))
        stay_inside(rows, self.domain, 1)
        size = dim + places.size
        P = sparse.csc_matrix(sparse.triu(sparse.block_diag([A, sparse.csc_matrix((places.size,) * 2)])))
        P.eliminate_zeros()
        q = np.concatenate([pull, unit * np.broadcast_to(jump, aims.shape).ravel()])
        shift = np.concatenate([around, np.maximum(aims - scores, 0.0).ravel() / unit])
        assert P.shape == (size, size)
        x, z, _ = solve_cones(P, q, rows, shift, width)
        return x[:dim], z[: places.size].reshape(aims.shape) / unit


def _summed(heights: Array, slopes: Array) -> Planes:
    sums = (np.concatenate([np.zeros((1, *part.shape[1:])), np.cumsum(part, axis=0)]) for part in (heights, slopes))
    return Planes(*sums)
