"""Who is in charge of a self-tuned learner, and why: in words, as a plot, and as an inequality that can be checked."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from driftwise._html import Bar, Card, Shown
from driftwise._plot import axes
from driftwise._validate import Array
from driftwise.pairs import layout
from driftwise.pairs.layout import GRADIENT
from driftwise.pairs.pool import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 5
"""Pairs that are named."""


@dataclass(frozen=True)
class Explanation(Shown):
    """Who is in charge, and why; made by `SelfTunedLearner.explain`.

    Attributes
    ----------
    rounds : int
        Rounds observed.
    members : list of str
        Names of the pairs, heaviest first.
    weights : array
        Their weights.
    costs : array
        What each would have cost so far, its own moves included. Where only gradients are known: linearised losses,
        above those of the decisions that were played.
    cost : float
        What was paid.
    clipped : int
        Rounds in which something was too far out to be believed at once.
    given : dict of str to float
        What each of your proposals would have cost with the mover that suits it best, by name.
    """

    rounds: int
    members: list[str]
    weights: Array
    costs: Array
    cost: float
    clipped: int
    given: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.rounds:
            return "Nothing has been observed yet: it plays the start."
        best = int(np.argmin(self.costs))
        lines = [f"After {self.rounds} rounds, which cost {self.cost:.6g} with moves:"]
        shown = min(SHOWN, max(int(np.sum(self.weights >= 0.01)), 1))
        for name, weight, cost in zip(self.members[:shown], self.weights, self.costs, strict=False):
            lines.append(f"  {weight:6.1%}  {name}: would have cost {cost:.6g}")
        lines.append(f"  {float(self.weights[shown:].sum()):6.1%}  {len(self.members) - shown} others")
        told = f"The cheapest so far is {self.members[best]}, with {self.costs[best]:.6g}"
        stay = self.costs[self.members.index("stay")]
        lines.append(f"{told}; standing still would have cost {stay:.6g}.")
        for name, cost in self.given.items():
            beyond = cost - float(self.costs[best])
            what = "which is the cheapest" if beyond <= 0.0 else f"{beyond:.6g} more than the cheapest"
            lines.append(f"Your proposal {name!r} would have cost {cost:.6g} at best, {what}.")
        if self.clipped:
            times = "one round" if self.clipped == 1 else f"{self.clipped} rounds"
            lines.append(f"In {times} something was too far out to be believed at once, and was clipped.")
        return "\n".join(lines)

    def _card(self) -> Card:
        rows = [("rounds", f"{self.rounds}"), ("cost, with moves", f"{self.cost:.6g}")]
        if self.rounds:
            best = int(np.argmin(self.costs))
            rows.append(("cheapest pair so far", f"{self.members[best]}, {self.costs[best]:.6g}"))
        rows += [(f"your proposal {name!r}, at best", f"{cost:.6g}") for name, cost in self.given.items()]
        triples = zip(self.members, self.weights, self.costs, strict=True)
        told = ", would have cost {:.6g}" if self.rounds else ""
        bars = [Bar(name, float(weight), f"{weight:.1%}{told.format(cost)}") for name, weight, cost in triples]
        return Card("Who is in charge", rows, "pairs by weight", bars)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the heaviest pairs: their weights as bars, and what each would have cost beside them."""
        ax = axes("Explanation.plot", ax)
        count = min(len(self.members), 12)
        places = np.arange(count)[::-1]
        ax.barh(places, self.weights[:count], color="tab:blue", alpha=0.75)
        ax.set_yticks(places, self.members[:count])
        for place, weight, cost in zip(places, self.weights, self.costs, strict=False):
            ax.annotate(f"{cost:.4g}", (weight, place), (4, 0), textcoords="offset points", va="center", fontsize=8)
        ax.set(xlabel="weight; beside it, the cost so far", title=f"Who is in charge after {self.rounds} rounds")
        ax.margins(x=0.15)
        return ax


@dataclass(frozen=True)
class PoolCertificate(Shown):
    """The proved inequality of a run: cost <= cost of a pair + multiple x overhead + what clipping hid.

    Attributes
    ----------
    rounds : int
        Rounds observed.
    cost : float
        What the decisions cost, moves included.
    pair : str
        Name of the pair that they are held against.
    pair_cost : float
        What it would have cost, its own moves included.
    overhead : float
        Cost of mixing, A_T.
    multiple : float
        1 + ln(1 / prior) / (ln(n) / 2), from the pair's prior weight.
    clipping : float
        What the inequality allows for rounds that were clipped: how much more they cost the learner than the pair, on
        true losses instead of clipped ones; at least 0.
    linearised : bool
        Whether only gradients are known, so that costs are linearised losses above those of the decisions, and moves.
    at_stake : float, default 0.0
        What the overhead began with, if that is known beforehand (`LogWealthLoss`): it was never lost.
    """

    rounds: int
    cost: float
    pair: str
    pair_cost: float
    overhead: float
    multiple: float
    clipping: float
    linearised: bool
    at_stake: float = 0.0

    @property
    def bound(self) -> float:
        """The right-hand side."""
        return self.pair_cost + (self.multiple * self.overhead - self.at_stake) + self.clipping

    @property
    def within(self) -> bool:
        """Whether the inequality holds, up to rounding."""
        return self.cost <= self.bound + 1e-9 * (abs(self.cost) + abs(self.bound))

    def _card(self) -> Card:
        rows = [
            ("cost, with moves", f"{self.cost:.6g}"),
            ("bound", f"{self.bound:.6g}"),
            (f"of {self.pair}", f"{self.pair_cost:.6g}"),
            ("overhead of mixing", f"{self.multiple:.3g} x {self.overhead:.6g}"),
            ("hidden by clipping", f"at most {self.clipping:.6g}"),
        ]
        title = f"SelfTunedLearner after {self.rounds} rounds: {'within' if self.within else 'ABOVE'} the bound"
        notes = ["Costs are linearised, above those of the decisions."] if self.linearised else []
        return Card(title, rows, notes=notes)

    def __str__(self) -> str:
        what = "linearised cost above that of the decisions, with moves" if self.linearised else "cost, with moves"
        return "\n".join(
            [
                f"SelfTunedLearner after {self.rounds} rounds: {what} {self.cost:.6g} <= {self.bound:.6g}",
                f"  {self.pair_cost:.6g}, what {self.pair} would have cost",
                f"  + {self.multiple:.3g} x {self.overhead:.6g}, the overhead of mixing",
                *([f"  - {self.at_stake:.6g}, what that began with"] if self.at_stake else []),
                f"  + {self.clipping:.6g}, what clipping may have hidden",
            ]
        )


def explain(plan: Plan, vector: Array) -> Explanation:
    """Return who is in charge of a pool."""
    parts, lanes = plan.views(vector), plan.lanes
    order = np.argsort(-parts["weights"][lanes], kind="stable")
    costs = parts["totals"] + parts["cut"] + vector[layout.LEVEL]
    cost = vector[layout.PAID] + vector[layout.LEVEL] + vector[layout.BEYOND]
    return Explanation(
        int(vector[layout.ROUNDS]),
        [plan.members[i] for i in order],
        parts["weights"][lanes[order]],
        costs[lanes[order]],
        float(cost),
        int(vector[layout.CLIPS]),
        _given(plan, costs[lanes]),
    )


def _given(plan: Plan, costs: Array) -> dict[str, float]:
    """Return what each proposal from outside would have cost with its best mover."""
    best: dict[str, float] = {}
    first = 1
    for row in plan.rows:
        if row.family is None and row.estimator is None:
            cost = float(costs[first : first + len(row.movers)].min())
            best[row.name] = min(cost, best.get(row.name, math.inf))
        first += len(row.movers)
    known = {row.name for row in plan.rows if row.family is not None or row.estimator is not None}
    return {name: cost for name, cost in best.items() if name not in known}


def certify(plan: Plan, vector: Array, pair: str | None) -> PoolCertificate:
    """Return the inequality of a pool against a pair; the one that gives the least bound when none is named."""
    parts, lanes = plan.views(vector), plan.lanes
    log_prior = parts["log_prior"][lanes]
    log_prior = log_prior - math.log(float(np.sum(np.exp(log_prior))))
    costs = parts["totals"][lanes] + parts["cut"][lanes] + vector[layout.LEVEL]
    multiples = 1.0 - log_prior / vector[layout.FACTOR]
    clipping = np.maximum(vector[layout.BEYOND] - parts["cut"][lanes], 0.0)
    at_stake = vector[layout.FACTOR] / plan.kind.mixable if plan.kind.mixable > 0.0 else 0.0
    bounds = costs + (multiples * vector[layout.OVERHEAD] - at_stake) + clipping
    i = int(np.argmin(bounds)) if pair is None else plan.members.index(pair)
    cost = vector[layout.PAID] + vector[layout.LEVEL] + vector[layout.BEYOND]
    return PoolCertificate(
        int(vector[layout.ROUNDS]),
        float(cost),
        plan.members[i],
        float(costs[i]),
        float(vector[layout.OVERHEAD]),
        float(multiples[i]),
        float(clipping[i]),
        plan.kind.form == GRADIENT,
        float(at_stake),
    )
