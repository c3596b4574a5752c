"""The hindsight optimum as one sparse cone problem of all rounds, handed to Clarabel.

For losses made of parabolas and kinks, at any prices of moves, where coordinates depend on one another: see
`coordinates` for where they do not, and `active_set` for losses without kinks at a price of Euclidean distance. Every
round is linked to the next one only, so time and memory grow with the number of rounds, not faster.
"""

import math
from collections.abc import Callable

import numpy as np

from driftwise._validate import Array, Indices
from driftwise.domains import Domain
from driftwise.losses.base import DataLoss, LossStream
from driftwise.movecost import MoveCost
from driftwise.optimum.cones import NORM, Rows, block_diagonal, middle, solve_cones, stay_inside
from driftwise.optimum.duality import Answer, lower_bound, slopes_at
from driftwise.optimum.quadratic import sums
from driftwise.optimum.values import total_cost

FINER = (1.0, 1e-3, 1e-6)
"""Units of the problems, relative to the diameter: each is solved around what the last one found, for more digits."""


def solve(losses: DataLoss, domain: Domain, cost: MoveCost, tolerance: float, floor: float) -> Answer:
    """Return the best sequence of decisions found, with its lower bound; a gap is relative to `floor` at least."""
    best = np.tile(domain.project(middle(domain)), (len(losses), 1))
    least, bound, words = total_cost(losses, best, cost), -math.inf, "nothing to decide"
    if domain.diameter == 0.0:
        return Answer(best, lower_bound(losses, domain, slopes_at(losses, best), 0.0 * best, cost), words)
    for width in FINER:
        decisions, slopes, dual, words = _solve(losses, domain, cost, best, width * domain.diameter)
        if not (np.all(np.isfinite(decisions)) and np.all(np.isfinite(dual)) and np.all(np.isfinite(slopes))):
            break
        decisions = domain.project(decisions)
        total = total_cost(losses, decisions, cost)
        if total < least:
            best, least = decisions, total
        bound = max(bound, lower_bound(losses, domain, slopes, dual, cost))
        if least - bound <= tolerance * max(abs(least), floor):
            break
    return Answer(best, bound, f"all rounds at once, where Clarabel ended with {words}")


def _solve(
    losses: DataLoss, domain: Domain, cost: MoveCost, around: Array, width: float
) -> tuple[Array, Array, Array, str]:
    """Return decisions, slopes, multipliers and Clarabel's word, of a problem in units of `width`."""
    rounds, dim = around.shape
    A, b, _ = sums(losses, np.arange(rounds))
    rows, q, shift = Rows(), [np.zeros(rounds * dim)], [around.ravel()]
    dual_of = _price_moves(rows, q, shift, capped(losses, domain, cost), around)
    q[0] -= b.ravel()
    missing_of = _price_kinks(rows, q, shift, losses, around)
    stay_inside(rows, domain, rounds)
    P = block_diagonal(A, sum(part.size for part in q))
    P.eliminate_zeros()
    x, z, words = solve_cones(P, np.concatenate(q), rows, np.concatenate(shift), width)
    decisions = x[: rounds * dim].reshape(rounds, dim)
    dual = np.zeros((rounds, dim))
    dual[:-1] = dual_of(z)
    return decisions, slopes_at(losses, decisions, missing_of(z)), dual, words


def _price_moves(
    rows: Rows, q: list[Array], shift: list[Array], cost: MoveCost, around: Array
) -> Callable[[Array], Array]:
    """Add the price of every change x_t = w_{t+1} - w_t, and return what reads its multipliers, (T - 1, d).

    In l1 a change costs ``-down x + (up + down) max(x, 0)``: one more variable each. In l2 with one price up and down
    it is the norm of the changes times their prices; with two, of variables above both ``up x`` and ``-down x``.
    """
    count, dim = len(around) - 1, around.shape[1]
    places, changes = np.arange(count * dim), np.diff(around, axis=0)
    up, down = cost.prices(dim)
    ups, downs = np.tile(up, count), np.tile(down, count)
    first = sum(part.size for part in q)
    if cost.norm == "l1":
        q[0][dim:] -= downs
        q[0][:-dim] += downs
        q.append(ups + downs)
        shift.append(np.maximum(changes, 0.0).ravel())
        _put_change(rows, places, dim, 1.0)
        rows.entry(places, first + places, -1.0)
        rows.close(np.zeros(places.size))
        rows.entry(places, first + places, -1.0)
        rows.close(np.zeros(places.size))
        return lambda z: z[: places.size].reshape(count, dim) - down
    unit = max(cost.largest(dim), 1e-300)  # keeps the rows near 1
    ups, downs = ups / unit, downs / unit
    above = np.maximum(changes * up, -changes * down) / unit
    norms = (places // dim) * (dim + 1) + 1 + places % dim  # the rows of a cone but for its first
    if cost.symmetric:
        q.append(np.full(count, unit))
        shift.append(np.linalg.norm(above, axis=1))
        rows.entry(np.arange(count) * (dim + 1), first + np.arange(count), -1.0)
        _put_change(rows, places, dim, -ups, norms)
        rows.close(np.zeros(count * (dim + 1)), NORM, count)
        return lambda z: -z[norms].reshape(count, dim) * up / unit
    q += [np.zeros(places.size), np.full(count, unit)]
    shift += [above.ravel(), np.linalg.norm(above, axis=1)]
    for side in (ups, -downs):
        _put_change(rows, places, dim, side)
        rows.entry(places, first + places, -1.0)
        rows.close(np.zeros(places.size))
    rows.entry(np.arange(count) * (dim + 1), first + places.size + np.arange(count), -1.0)
    rows.entry(norms, first + places, -1.0)
    rows.close(np.zeros(count * (dim + 1)), NORM, count)
    return lambda z: (ups * z[: places.size] - downs * z[places.size : 2 * places.size]).reshape(count, dim)


def _put_change(rows: Rows, places: Indices, dim: int, factor: float | Array, where: Indices | None = None) -> None:
    """Put `factor` times the changes into rows, the next free ones unless it is said where."""
    where = places if where is None else where
    rows.entry(where, dim + places, factor)
    rows.entry(where, places, -factor)


def _price_kinks(
    rows: Rows, q: list[Array], shift: list[Array], losses: DataLoss, around: Array
) -> Callable[[Array], Array]:
    """Add ``jump max(target - score, 0)``, a variable for each kink; return what reads its multipliers.

    They are by how much less the slope is than right of the kink.
    """
    y, jump = losses.aims, losses.known_pieces.jump
    if not np.any(jump):
        return lambda z: np.zeros(y.shape)
    kinks, before, first = np.arange(y.size), rows.count, sum(part.size for part in q)
    pulls = losses.pulls(np.ones(y.shape))  # how a score grows with each coordinate
    unit = 1.0 if losses.each else float(np.linalg.norm(pulls, axis=1).max()) or 1.0  # keeps the rows near 1
    q.append(np.broadcast_to(unit * jump, y.shape).ravel())
    shift.append(np.maximum(y - losses.scores(around), 0.0).ravel() / unit)
    rows.entry(kinks, first + kinks, -1.0)
    rows.entry(np.repeat(kinks, pulls.size // y.size), np.arange(pulls.size), -pulls.ravel() / unit)
    rows.close(-y.ravel() / unit)
    rows.entry(kinks, first + kinks, -1.0)
    rows.close(np.zeros(y.size))
    return lambda z: z[before : before + y.size].reshape(y.shape) / unit


def capped(losses: LossStream, domain: Domain, cost: MoveCost) -> MoveCost:
    """Return prices that are no higher than makes a difference, because very high ones are hard on Clarabel.

    A lower price never gives a lower bound that is too high, so nothing is at stake but how close the bound is.
    """
    most = 2.0 * len(losses) * float(losses.lipschitz(domain).sum()) + 1e-100
    return MoveCost(np.minimum(cost.up, most), np.minimum(cost.down, most), cost.norm)  # type: ignore[arg-type]
