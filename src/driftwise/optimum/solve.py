"""The door: the cheapest sequence of decisions in hindsight, switching cost included, and the choice of a method."""

from dataclasses import dataclass

import numpy as np

from driftwise._html import Card, Picture, Shown, counted, paths
from driftwise._validate import Array, checked, whole
from driftwise.domains import Domain
from driftwise.errors import InputError, ParameterError
from driftwise.losses.base import DataLoss, LossStream
from driftwise.movecost import MoveCost, move_cost_for
from driftwise.optimum import active_set, coordinates, general, stages
from driftwise.optimum.cones import has_cones
from driftwise.optimum.duality import Answer
from driftwise.optimum.general import Expression
from driftwise.optimum.quadratic import is_quadratic
from driftwise.optimum.values import read_problem, step_lengths

CERTIFIED = 1e-6
"""Relative gap up to which an optimum is called optimal."""

ROUNDING, SMALL = 1e-12, 1e-6
"""Parts of the cost of standing still: a total below the first is rounding noise, its gap relative to the second."""

FAR = 1e9
"""A decision so far out that what is nearest to it is at the edge of any domain in sensible units."""


@dataclass(frozen=True, repr=False, eq=False)
class HindsightOptimum(Shown):
    """The cheapest sequence of decisions in hindsight, with a certificate.

    Attributes
    ----------
    decisions : array of shape (T, d)
        Sequence of decisions, all in the domain.
    switching_cost : float or MoveCost
        Price of moving that it is optimal for: lambda, or prices up and down.
    total_loss, total_switching : float
        Its losses, and the price of its moves.
    lower_bound : float
        Cost that no sequence of decisions is below.
    gap : float
        Relative gap, (total - lower_bound) / total; for a total that is 0 up to rounding, relative to a millionth of
        what standing still can cost.
    optimal : bool
        Whether the gap is at most 1e-6 *and* the lower bound was computed here, from multipliers, for these losses.
    status : str
        The same as a full sentence.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.CapacityLoss([2, 2, 7, 2, 7, 2], shortage=5.0, price=1.0)
    >>> best = dw.regret.hindsight_optimum(losses, dw.Box([0.0], [10.0]), dw.MoveCost(up=6.0, down=0.0))
    >>> best.decisions.ravel(), best.total_loss, best.total_switching, best.optimal
    (array([7., 7., 7., 7., 7., 2.]), 37.0, 0.0, True)
    """

    decisions: Array
    switching_cost: float | MoveCost
    total_loss: float
    total_switching: float
    lower_bound: float
    gap: float
    optimal: bool
    status: str

    @property
    def total(self) -> float:
        """Overall cost: loss plus switching."""
        return self.total_loss + self.total_switching

    def summary(self) -> str:
        """Return the result in a few lines of text."""
        steps = step_lengths(self.decisions)
        pieces = 1 + int(np.count_nonzero(steps > 1e-6 * steps.max()))
        return "\n".join(
            [
                f"Hindsight optimum, {len(self.decisions)} rounds, {pieces} {'piece' if pieces == 1 else 'pieces'}",
                f"  loss      {self.total_loss:>16.6g}",
                f"  switching {self.total_switching:>16.6g}",
                f"  overall   {self.total:>16.6g}",
                f"  {self.status}",
            ]
        )

    def _card(self) -> Card:
        rounds, dim = self.decisions.shape
        rows = [
            ("rounds", f"{rounds} of {counted(dim, 'coordinate')}"),
            ("loss", f"{self.total_loss:.6g}"),
            ("switching", f"{self.total_switching:.6g}"),
            ("overall", f"{self.total:.6g}"),
            ("no sequence costs less than", f"{self.lower_bound:.6g}, a gap of {self.gap:.1e}"),
        ]
        pictures = [Picture("decisions", list(paths(self.decisions, "w")))]
        return Card("Hindsight optimum", rows, pictures=pictures, notes=[self.status])

    def __repr__(self) -> str:
        return f"HindsightOptimum(total={self.total:.6g}, gap={self.gap:.1e}, optimal={self.optimal})"


@checked
def hindsight_optimum(
    losses: LossStream,
    domain: Domain,
    switching_cost: float | MoveCost,
    *,
    expression: Expression | None = None,
    iterations: int = 100,
) -> HindsightOptimum:
    """Return the sequence that minimises ``sum_t f_t(w_t) + lambda sum_t |w_t - w_{t-1}|``, with a certificate.

    Use it to see how much better a run could have been: compare the run's cost with that of the optimum.

    - Squared, tracking and linear losses on balls, boxes, simplices and their products, at a price of Euclidean
      distance: an active-set method of our own, seconds for 50 000 rounds, memory linear in them.
    - The same losses at other prices, and capacity, absolute and quantile losses at any: where the coordinates are
      independent of one another (one coordinate; or a box, with prices and losses that add up), each by itself, exactly
      and in well under a second; otherwise all rounds as one sparse problem for Clarabel.
    - Anything else built in (Huber and logistic losses, losses with memory, spectral balls): a model in cvxpy, solved
      by Clarabel, which needs ``pip install 'driftwise[convex]'`` and suits some thousands of rounds.

    Either way the multipliers give a lower bound on the cost of *every* sequence of decisions, and only a gap of at
    most 1e-6 is called optimal. In l2, prices up and down that differ by a factor of a million or more may be too much
    for that, and the status says so.

    Parameters
    ----------
    losses : LossStream
        The losses; with memory, f_t(w_{t-m}, ..., w_t) is what is minimised.
    domain : Domain
        Where decisions live.
    switching_cost : float or MoveCost
        lambda, the price of moving by one unit of Euclidean distance, or prices up and down, per coordinate.
    expression : callable, optional
        For a `CustomLoss`, whose form only you know: ``expression(t, w)`` returns f_t as a convex cvxpy expression of
        the variable w, of shape (d,), or (memory + 1, d) with the oldest first.
    iterations : int, default 100
        Cone problems that the active-set method may solve before it gives up; the status says if it did.

    Returns
    -------
    HindsightOptimum
        ``.decisions``, ``.total``, ``.gap``, ``.status``, ...

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.streams.drifting_regression(rounds=2000, dim=3, segment=500, seed=1)
    >>> best = dw.regret.hindsight_optimum(losses, losses.domain, switching_cost=2.0)
    >>> round(best.total, 4), best.optimal
    (7.121, True)

    How many machines should have run, when one costs 1, a missing one 5, a start 6 and a stop nothing?

    >>> losses = dw.CapacityLoss([2, 2, 2, 2, 2, 2, 2, 2, 7, 2, 7, 2], shortage=5.0, price=1.0)
    >>> best = dw.regret.hindsight_optimum(losses, dw.Box([0.0], [10.0]), dw.MoveCost(up=6.0, down=0.0))
    >>> best.decisions.ravel(), best.total, best.optimal
    (array([2., 2., 2., 2., 2., 2., 2., 2., 7., 7., 7., 2.]), 69.0, True)
    """
    owner = "hindsight_optimum"
    read_problem(owner, losses, domain)
    cost = move_cost_for(owner, switching_cost, domain.dim)
    limit = whole(owner, "iterations", iterations)
    if expression is not None and not callable(expression):
        raise ParameterError(f"{owner}: expression must be a function of (t, w), got {expression!r}.")
    edges = (domain.project(np.full((1, domain.dim), far)) for far in (0.0, FAR))
    still = max(float(np.abs(losses.unary_losses(edge)).sum()) for edge in edges)
    ours = expression is None
    if expression is not None:
        answer = general.solve_stated(losses, domain, cost, expression)
    elif isinstance(losses, DataLoss):
        answer = _by_kind(losses, domain, cost, still, limit)
    else:
        raise InputError(
            f"{owner}: nothing is known of the form of {losses!r}, so its optimum cannot be certified; give "
            "expression=, a function that returns the loss of round t as a convex cvxpy expression."
        )
    total_loss = float(losses.policy_losses(answer.decisions).sum())
    total_switching = cost.total(answer.decisions, step_lengths(answer.decisions))
    total = total_loss + total_switching
    unit = abs(total) if abs(total) > ROUNDING * still else SMALL * still
    gap = max(total - answer.lower_bound, 0.0) / max(unit, 1e-300)
    optimal = ours and gap <= CERTIFIED
    status = _sentence(total, answer.lower_bound, gap, optimal, ours, answer.words)
    parts = total_loss, total_switching, answer.lower_bound, gap, optimal, status
    return HindsightOptimum(answer.decisions, cost.simplest, *parts)


def _by_kind(losses: DataLoss, domain: Domain, cost: MoveCost, still: float, limit: int) -> Answer:
    """Solve the problem by the first method that fits the losses, the domain and the price."""
    cones, now = has_cones(domain), losses.memory == 0
    if cones and now and is_quadratic(losses) and cost.plain is not None:
        if cost.plain == 0.0 or domain.diameter == 0.0:
            return active_set.solve_apart(losses, domain)
        return active_set.solve(losses, domain, cost.plain, 0.1 * CERTIFIED, ROUNDING * still, limit)
    if coordinates.separable(losses, domain, cost):
        return coordinates.solve(losses, domain, cost)
    if cones and now and losses.pieces is not None:
        return stages.solve(losses, domain, cost, 0.1 * CERTIFIED, ROUNDING * still)
    return general.solve(losses, domain, cost)


def _sentence(total: float, bound: float, gap: float, optimal: bool, ours: bool, words: str) -> str:
    if optimal:
        return (
            f"Optimal to a relative gap of {gap:.1e}, certified by duality: no sequence of decisions costs less than "
            f"{bound:.10g} ({words})."
        )
    if not ours:
        return (
            f"Not certified: Clarabel puts the optimum between {bound:.10g} and {total:.10g} (relative gap {gap:.1e}), "
            f"which was not checked independently ({words})."
        )
    return (
        f"Not certified as optimal: the optimum lies between {bound:.10g} and {total:.10g} (relative gap {gap:.1e}), "
        f"where the search ended: {words}."
    )
