"""Adaptive regret: the worst interval of every dyadic length, each against its own best fixed decision."""

from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array, Indices, checked
from driftwise.domains import Domain
from driftwise.losses import LossStream
from driftwise.losses.base import DataLoss
from driftwise.optimum.fixed import best_on
from driftwise.optimum.quadratic import Quadratics, is_quadratic, minimise, sums
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
    """

    lengths: Indices
    regrets: Array
    starts: Indices

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
    everything it is large at short lengths. For squared, tracking and linear losses, sums are doubled from length to
    length, so time and memory are O(T log T) and O(T) in the number of rounds. For any other convex losses it is a
    branch and bound with a convex problem for each interval that may be the worst: exact too, but far slower.

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
        worst = _of_quadratics(losses, domain, suffered, lengths)
    else:
        worst = _by_limits(owner, losses, domain, decisions, suffered, moves, lengths)
    regrets, starts = zip(*worst, strict=True)
    return AdaptiveRegret(lengths, np.array(regrets), np.array(starts))


def _doubled(values: Array, length: int) -> Array:
    """Return the sums over all windows of a length from those over all windows of half of it."""
    half = length // 2
    return np.asarray(values[:-half] + values[half:]) if half else values


def _of_quadratics(losses: DataLoss, domain: Domain, suffered: Array, lengths: Indices) -> list[tuple[float, int]]:
    windows, worst = sums(losses, np.arange(len(losses))), []
    for length in lengths.tolist():
        suffered = _doubled(suffered, length)
        windows = Quadratics(*(_doubled(part, length) for part in windows))
        worst.append(_worst(suffered, windows, domain, losses.nonnegative))
    return worst


def _by_limits(
    owner: str, losses: LossStream, domain: Domain, decisions: Array, suffered: Array, moves: Array, lengths: Indices
) -> list[tuple[float, int]]:
    """Return the worst windows of any convex losses, by branch and bound.

    Losses are above their tangents, so no regret is above that of the tangents at the decisions; and none is above the
    sum of those of its two halves. Windows are taken in the order of these limits, until the next one is not above the
    largest regret found.
    """
    slopes, found = losses.unary_gradients(decisions), []
    above, limits = np.einsum("td,td->t", slopes, decisions) + moves, np.full(len(losses), np.inf)
    for length in lengths.tolist():
        suffered, above, limits = (_doubled(part, length) for part in (suffered, above, limits))
        slopes = _doubled(slopes, length)
        limits = np.minimum(limits, above + domain.support(-slopes))
        if isinstance(losses, DataLoss) and losses.nonnegative:
            limits = np.minimum(limits, suffered)
        worst, start = -np.inf, 0
        for first in np.argsort(-limits, kind="stable").tolist():
            if limits[first] <= worst:
                break
            rounds = range(first, first + length)
            best = best_on(owner, losses, domain, rounds)
            limits[first] = suffered[first] - losses.unary_losses(best[None], rounds).sum()
            if limits[first] > worst:
                worst, start = float(limits[first]), first
        found.append((worst, start))
    return found


CHUNK = 512
"""Number of intervals whose best fixed decisions are computed together."""


def _worst(suffered: Array, windows: Quadratics, domain: Domain, nonnegative: bool) -> tuple[float, int]:
    """Return the largest regret of any window, and which one has it."""
    if not windows.A.any():
        regrets = suffered + domain.support(windows.b) - windows.c
        return float(regrets.max()), int(regrets.argmax())
    # Where no loss is below 0, no regret is above what was suffered: take the windows in that order, and stop early.
    order = np.argsort(-suffered, kind="stable")
    worst, start = -np.inf, 0
    for first in range(0, order.size, CHUNK):
        chunk = order[first : first + CHUNK]
        if nonnegative and suffered[chunk[0]] <= worst:
            break
        part = Quadratics(*(values[chunk] for values in windows))
        regrets = suffered[chunk] - part.values(minimise(part, domain))
        if regrets.max() > worst:
            worst, start = float(regrets.max()), int(chunk[regrets.argmax()])
    return worst, start
