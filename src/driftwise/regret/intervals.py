"""A run next to the theorem on strongly adaptive learning, interval by interval."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from driftwise._html import Bar, Card, Shown
from driftwise._validate import Array, Indices, checked, whole
from driftwise.errors import InputError
from driftwise.learners import StronglyAdaptive
from driftwise.optimum.fixed import best_on
from driftwise.optimum.values import read_run
from driftwise.regret.adaptive import worst_intervals
from driftwise.regret.certificates import ROUNDING, Certificate
from driftwise.regret.theorems import Assumption
from driftwise.regret.theorems.adaptive import OfStronglyAdaptive
from driftwise.trace import Trace

NOT_ITS = ("measure", "path length of the comparators")
"""Rows of the card of the worst interval that are not about all of them."""


@dataclass(frozen=True, eq=False)
class IntervalCertificate(Shown):
    """Measured regrets on intervals, each to its own best fixed decision, and what the theory allows.

    Attributes
    ----------
    learner, theorem, measure : str
        Name of the learner, the theorem that covers it, and the kind of regret.
    starts, stops : array of shape (k,)
        First round of every interval, counted from 0, and the round after its last.
    measured, bounds : array of shape (k,)
        The regret on every interval, the move into its first round included, and its bound.
    assumptions : tuple of Assumption
        Assumptions of the theorem, with what was found.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=400, dim=2, segment=100, seed=0)
    >>> learner = dw.StronglyAdaptive(dw.Ball(2), switching_cost=1.0, gradient_bound=2.0, horizon=400)
    >>> found = dw.regret.interval_certificate(dw.play(learner, losses, switching_cost=1.0), [(0, 400), (100, 200)])
    >>> found.within, found.measured.round(2), found.bounds.round(1)
    (True, array([-7.72,  2.17]), array([548.6, 280.9]))
    """

    learner: str
    theorem: str
    measure: str
    starts: Indices
    stops: Indices
    measured: Array
    bounds: Array
    assumptions: tuple[Assumption, ...]

    def _card(self) -> Card:
        order = sorted(range(len(self.measured)), key=lambda i: -float(self.ratios[i]))
        bars = [Bar(f"{self.starts[i]} to {self.stops[i] - 1}", float(self.ratios[i]), self._told(i)) for i in order]
        worst = self.worst._card()
        heading = f"intervals, {'within their bounds' if self.within else 'NOT within their bounds'}, the worst first"
        rows = [("measure", self.measure), *(row for row in worst.rows if row[0] not in NOT_ITS)]
        return Card(worst.title, rows, heading, bars)

    def _told(self, i: int) -> str:
        return f"measured {self.measured[i]:.4g}, bound {self.bounds[i]:.4g}, ratio {self.ratios[i]:.2%}"

    @property
    def ratios(self) -> Array:
        """Measured regret over bound for every interval; above 1 is a violation."""
        return np.asarray(self.measured / self.bounds)

    @property
    def ratio(self) -> float:
        """The largest of the ratios."""
        return float(self.ratios.max())

    @property
    def within(self) -> bool:
        """Whether the regret is within the bound on every interval, up to rounding."""
        return bool(np.all(self.measured <= self.bounds + ROUNDING * (np.abs(self.measured) + np.abs(self.bounds))))

    @property
    def guaranteed(self) -> bool:
        """Whether every assumption was checked and holds, so that the theorem applies."""
        return self.worst.guaranteed

    @property
    def worst(self) -> Certificate:
        """The certificate of the interval that comes nearest to its bound."""
        i = int(np.argmax(self.ratios))
        measure = f"{self.measure} in rounds {self.starts[i]} to {self.stops[i] - 1}"
        measured, bound = float(self.measured[i]), float(self.bounds[i])
        return Certificate(self.learner, self.theorem, measure, measured, bound, 0.0, self.assumptions)

    def __str__(self) -> str:
        lines = [f"{self.learner}: {self.measure}", "  length    measured       bound    ratio   interval"]
        rows = zip(self.starts, self.stops, self.measured, self.bounds, self.ratios, strict=True)
        for start, stop, measured, bound, ratio in rows:
            lines.append(f"{stop - start:>8} {measured:>11.4g} {bound:>11.4g} {ratio:>8.2%}   {start} to {stop - 1}")
        return "\n".join([*lines, *str(self.worst).splitlines()[2:]])


@checked
def interval_certificate(trace: Trace, intervals: Iterable[tuple[int, int]] | None = None) -> IntervalCertificate:
    """Compare the regret of a run of `StronglyAdaptive` on intervals with its bound, and report what was checked.

    The measure is ``sum f~_t(w_t) + lambda sum |w_t - w_{t-1}| - min_v sum f~_t(v)`` over the rounds of the interval,
    the move into its first round included, at the trace's switching cost. Losses must be without memory, as those with
    memory look back beyond the interval.

    Parameters
    ----------
    trace : Trace
        A run of a `StronglyAdaptive` learner.
    intervals : iterable of pairs (start, stop), optional
        Rounds from `start` to before `stop`, counted from 0. When left out, the interval with the largest regret of
        each of the lengths 1, 2, 4, ..., as `adaptive_regret` finds them, and the whole run.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=2000, dim=2, segment=400, seed=0)
    >>> learner = dw.StronglyAdaptive(dw.Ball(2), switching_cost=1.0, gradient_bound=2.0, horizon=2000)
    >>> trace = dw.play(learner, losses, switching_cost=1.0)
    >>> print(dw.regret.interval_certificate(trace, [(0, 2000), (400, 800)]))
    StronglyAdaptive: regret with switching cost 1 on intervals
      length    measured       bound    ratio   interval
        2000      -94.25        1325   -7.11%   0 to 1999
         400       3.773       597.2    0.63%   400 to 799
      the theorem on strongly adaptive learning; the theorem applies
        convexity       holds        DriftingRegression is convex
        gradient bound  holds        the largest in the run is 0.941022, the bound 2
        domain          holds        decisions and comparators lie in it
        horizon         holds        2000 rounds planned, 2000 played
        start           holds        a new learner
        switching cost  holds        the learner was built for 1, the run is priced at 1
    """
    owner = "interval_certificate"
    losses = read_run(owner, trace, None)
    if type(trace.learner) is not StronglyAdaptive:  # a subclass may do anything
        raise InputError(f"{owner}: the theorem is for runs of StronglyAdaptive, got a run of {trace.learner!r}.")
    if losses.memory:
        raise InputError(f"{owner}: the losses have memory, and look back beyond an interval: {losses!r}.")
    domain, moves, rounds = trace.learner.domain, trace.move_costs, len(losses)
    theorem = OfStronglyAdaptive(owner, trace, trace.decisions[0])
    if intervals is None:
        found = worst_intervals(owner, losses, domain, trace.decisions, moves)
        pairs = [(int(start), int(start + length)) for start, length in zip(found.starts, found.lengths, strict=True)]
        measured = found.regrets.tolist()
        extra = [] if pairs[-1] == (0, rounds) else [(0, rounds)]
    else:
        pairs, measured, extra = [], [], [_read(owner, pair, rounds) for pair in intervals]
        if not extra:
            raise InputError(f"{owner}: intervals must have at least one pair (start, stop), got none.")
    suffered = losses.unary_losses(trace.decisions) + moves
    for start, stop in extra:
        best = best_on(owner, losses, domain, range(start, stop))
        least = losses.unary_losses(best[None], range(start, stop)).sum()
        measured.append(float(suffered[start:stop].sum() - least))
    pairs += extra
    return IntervalCertificate(
        type(trace.learner).__name__,
        theorem.name,
        f"regret with switching cost {trace.price} on intervals",
        np.array([start for start, _ in pairs]),
        np.array([stop for _, stop in pairs]),
        np.array(measured),
        np.array([theorem.on_interval(start, stop, 0.0) for start, stop in pairs]),
        tuple(theorem.assumptions()),
    )


def _read(owner: str, pair: tuple[int, int], rounds: int) -> tuple[int, int]:
    """Return an interval, checked."""
    try:
        start, stop = pair
    except (TypeError, ValueError):
        raise InputError(f"{owner}: intervals must be pairs (start, stop), got {pair!r}.") from None
    start, stop = whole(owner, "start", start, low=0), whole(owner, "stop", stop)
    if not start < stop <= rounds:
        raise InputError(f"{owner}: an interval must have 0 <= start < stop <= {rounds}, got {(start, stop)}.")
    return start, stop
