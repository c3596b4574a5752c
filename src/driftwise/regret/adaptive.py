"""Adaptive regret: the worst interval of every dyadic length, each against its own best fixed decision."""

import math
from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array, Indices, checked
from driftwise.domains import Domain
from driftwise.losses.base import DataLoss, LossStream
from driftwise.optimum import windows
from driftwise.optimum.fixed import best_on
from driftwise.optimum.quadratic import Quadratics, gaps, is_quadratic, minimise, sums
from driftwise.optimum.values import read_problem, read_run, run_domain
from driftwise.trace import Trace


@dataclass(frozen=True, eq=False)
class AdaptiveRegret:
    """The worst interval of each length.

    Attributes
    ----------
    lengths : array of shape (k,)
        Numbers of rounds, 1, 2, 4, ...
    regrets : array of shape (k,)
        The largest regret of any interval of that length to its own best fixed decision.
    starts : array of shape (k,)
        First round of that interval.
    gaps : array of shape (k,)
        How much larger the regret of an interval of that length can be at most: by this much its best fixed decision
        may be better than the one that was found. NaN for custom losses, of which no bound from below is known.

    Examples
    --------
    >>> import driftwise as dw
    >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), dw.TrackingLoss([1.0, 1.0, -1.0, -1.0]))
    >>> found = dw.regret.adaptive_regret(trace)
    >>> found.lengths, found.regrets.round(3), found.starts
    (array([1, 2, 4]), array([1.531, 1.914, 0.539]), array([2, 2, 0]))
    """

    lengths: Indices
    regrets: Array
    starts: Indices
    gaps: Array

    @property
    def upper_bounds(self) -> Array:
        """Numbers that the regret of no interval of each length is above, shape (k,)."""
        return np.asarray(self.regrets + self.gaps)

    def __str__(self) -> str:
        lines = ["  length     regret  regret / sqrt(length)   worst interval"]
        for length, regret, start in zip(self.lengths, self.regrets, self.starts, strict=True):
            stop = start + length - 1
            lines.append(f"{length:>8} {regret:>10.4g} {regret / np.sqrt(length):>22.4g}   {start} to {stop}")
        return "\n".join(lines)


@checked
def adaptive_regret(trace: Trace, losses: LossStream | None = None, domain: Domain | None = None) -> AdaptiveRegret:
    """Return the largest regret over intervals of 1, 2, 4, ... rounds, wherever they begin.

    ``max over intervals I of that length: sum_{t in I} f~_t(w_t) - min_v sum_{t in I} f~_t(v)``, unary losses, moves
    not counted. For a learner that follows a drifting world it is small at every length; for one that averages over
    everything it is large at short lengths.

    Of squared, tracking and linear losses, sums are doubled from length to length, so time and memory are O(T log T)
    and O(T) in the number of rounds. Of absolute, quantile, capacity, Huber and logistic losses, intervals are solved
    one after the other, always the one whose regret may be largest; each solution bounds the regret of all others, and
    the search ends when none of them can be above the largest that was found by more than a millionth. So only some
    dozens of intervals are solved at each length. Of custom losses, intervals are bounded by tangents alone, and far
    more of them have to be solved.

    Parameters
    ----------
    trace : Trace
        A run.
    losses : LossStream, optional
        The losses; those that were played when left out.
    domain : Domain, optional
        Where the fixed decisions may lie; the learner's domain when left out.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.TrackingLoss([1.0, 1.0, -1.0, -1.0])
    >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), losses)
    >>> print(dw.regret.adaptive_regret(trace))
      length     regret  regret / sqrt(length)   worst interval
           1      1.531                  1.531   2 to 2
           2      1.914                  1.353   2 to 3
           4     0.5391                 0.2695   0 to 3

    The same for absolute losses, where the best fixed decision is a median:

    >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), dw.AbsoluteLoss([1.0] * 5, [1.0, 1.0, -1.0, -1.0, -0.5]))
    >>> found = dw.regret.adaptive_regret(trace)
    >>> found.regrets.round(6), bool(found.gaps.max() < 1e-8)
    (array([2. , 3.5, 2. ]), True)
    """
    owner = "adaptive_regret"
    losses = read_run(owner, trace, losses)
    domain = run_domain(owner, trace, domain)
    read_problem(owner, losses, domain)
    return worst_intervals(owner, losses, domain, trace.decisions, np.zeros(len(losses)))


def worst_intervals(owner: str, losses: LossStream, domain: Domain, decisions: Array, moves: Array) -> AdaptiveRegret:
    """Return the worst interval of each length, with a cost for the move into every round."""
    suffered = losses.unary_losses(decisions) + moves
    lengths = 2 ** np.arange(len(losses).bit_length())
    if is_quadratic(losses):
        worst = _by_sums(losses, domain, suffered, lengths)
    elif isinstance(losses, DataLoss) and windows.fits(losses):
        worst = _by_search(losses, domain, suffered, lengths)
    else:
        worst = _by_tangents(owner, losses, domain, decisions, moves, lengths)
    regrets, starts, missing = (np.array(column) for column in zip(*worst, strict=True))
    return AdaptiveRegret(lengths, regrets, starts, missing)


Worst = tuple[float, int, float]
"""Regret, first round and gap of the worst interval of a length."""


def _by_sums(losses: DataLoss, domain: Domain, suffered: Array, lengths: Indices) -> list[Worst]:
    """Find the worst interval of every length from the sums of quadratics."""
    quadratics, worst = sums(losses, np.arange(len(losses))), []
    for length in lengths:
        if length > 1:
            half = length // 2
            suffered = suffered[:-half] + suffered[half:]
            quadratics = Quadratics(*(part[:-half] + part[half:] for part in quadratics))
        worst.append(_worst(suffered, quadratics, domain, losses.nonnegative))
    return worst


CHUNK = 512
"""Number of intervals whose best fixed decisions are computed together."""


def _worst(suffered: Array, problems: Quadratics, domain: Domain, nonnegative: bool) -> Worst:
    """Return the largest regret of any window, which one has it, and how much larger one can be."""
    if not problems.A.any():
        regrets = suffered + domain.support(problems.b) - problems.c
        return float(regrets.max()), int(regrets.argmax()), 0.0
    # Where no loss is below 0, no regret is above what was suffered: take the windows in that order, and stop early.
    order = np.argsort(-suffered, kind="stable")
    worst, start, most = -np.inf, 0, -np.inf
    for first in range(0, order.size, CHUNK):
        chunk = order[first : first + CHUNK]
        if nonnegative and suffered[chunk[0]] <= worst:
            break
        part = Quadratics(*(values[chunk] for values in problems))
        points = minimise(part, domain)
        regrets = suffered[chunk] - part.values(points)
        most = max(most, float((regrets + np.maximum(gaps(part, domain, points), 0.0)).max()))
        if regrets.max() > worst:
            worst, start = float(regrets.max()), int(chunk[regrets.argmax()])
    return worst, start, max(most - worst, 0.0)


TOLERANCE = 1e-6
"""Part of the largest regret by which that of another interval may be larger when a search ends."""


def _by_search(losses: DataLoss, domain: Domain, suffered: Array, lengths: Indices) -> list[Worst]:
    """Find the worst interval of every length by solving the most promising one again and again."""
    problem = windows.Windows(losses, domain)
    before = np.concatenate([[0.0], np.cumsum(suffered)])
    first, worst, shorter = problem.tangents(problem.middle), [], np.empty(0)
    for length in lengths.tolist():
        sums = before[length:] - before[:-length]
        most = sums - first.lower_bounds(domain, length)  # no regret is above these
        if losses.nonnegative:
            most = np.minimum(most, sums)
        if length > 1:  # no better than the best decision of each half by itself
            most = np.minimum(most, shorter[: most.size] + shorter[length // 2 :][: most.size])
        regret, start, unit = -np.inf, 0, 1e-3 * float(np.abs(sums).max())
        solved = set[int]()
        while most.max() > regret + TOLERANCE * max(abs(regret), unit) or not solved:
            promising = int(most.argmax())
            if promising in solved:
                break
            solved.add(promising)
            rounds = range(promising, promising + length)
            point, planes = problem.best(rounds)
            found = float(sums[promising]) - problem.value(point, rounds)
            if found > regret:
                regret, start = found, promising
            most = np.minimum(most, sums - planes.lower_bounds(domain, length))
        worst.append((regret, start, max(float(most.max()) - regret, 0.0)))
        shorter = most
    return worst


def _by_tangents(
    owner: str, losses: LossStream, domain: Domain, decisions: Array, moves: Array, lengths: Indices
) -> list[Worst]:
    """Find the worst interval of every length of any convex losses, by branch and bound.

    Losses are above their tangents, so no regret is above that of the tangents at the decisions; and none is above the
    sum of those of its two halves. Intervals are taken in the order of these limits, until the next one is not above
    the largest regret found.
    """
    values, slopes, found = losses.unary_losses(decisions) + moves, losses.unary_gradients(decisions), list[Worst]()
    before = np.concatenate([[0.0], np.cumsum(values)])
    heights = np.concatenate([[0.0], np.cumsum(np.einsum("td,td->t", slopes, decisions) + moves)])
    pulls = np.vstack([np.zeros(losses.dim), np.cumsum(slopes, axis=0)])
    shorter = np.empty(0)
    for length in lengths.tolist():
        sums, most = before[length:] - before[:-length], heights[length:] - heights[:-length]
        most = most + domain.support(pulls[:-length] - pulls[length:])
        if length > 1:
            most = np.minimum(most, shorter[: most.size] + shorter[length // 2 :][: most.size])
        worst, start = -np.inf, 0
        for first in np.argsort(-most, kind="stable").tolist():
            if most[first] <= worst:
                break
            rounds = range(first, first + length)
            best = best_on(owner, losses, domain, rounds)
            most[first] = sums[first] - losses.unary_losses(best[None], rounds).sum()
            if most[first] > worst:
                worst, start = float(most[first]), first
        found.append((worst, start, math.nan))
        shorter = most
    return found
