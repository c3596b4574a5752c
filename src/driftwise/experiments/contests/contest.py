"""Everyone on one problem at one price of moving, beside the cheapest decisions in hindsight."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from driftwise._validate import Array
from driftwise.experiments.contests.outcome import HINDSIGHT, KINDS, Outcome
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost
from driftwise.regret import HindsightOptimum

OPTIMUM = "Hindsight optimum"

ROUNDING = 1e-9
"""Fraction of the most expensive player's cost below which the yardstick's cost is rounding noise."""


@dataclass(frozen=True, eq=False)
class Contest:
    """What everyone cost, in the order of `ranked`."""

    outcomes: list[Outcome]
    """Everyone but the optimum."""
    optimum: Outcome | None
    """The cheapest decisions in hindsight, unless they were left out."""
    solution: HindsightOptimum | None
    """The optimum with its certificate."""

    def __getitem__(self, label: str) -> Outcome:
        return next(outcome for outcome in self.outcomes if outcome.label == label)

    def of(self, kind: str) -> list[Outcome]:
        """Return the players of one kind, cheapest first."""
        return [outcome for outcome in ranked(self.outcomes) if outcome.kind == kind]

    @property
    def yardstick(self) -> Outcome:
        """Player whose cost is the unit: the optimum, or else the cheapest of those with hindsight."""
        return self.optimum or self.of(HINDSIGHT)[0]

    def multiple(self, outcome: Outcome) -> float:
        """Return a cost as a multiple of the yardstick's; nan where that is rounding noise."""
        unit = self.yardstick.overall
        return outcome.overall / unit if unit > ROUNDING * max(one.overall for one in self.outcomes) else math.nan


def ranked(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return outcomes kind by kind, cheapest first within each."""
    return sorted(outcomes, key=lambda outcome: (KINDS.index(outcome.kind), outcome.overall))


@dataclass(frozen=True)
class Referee:
    """Works out what decisions cost on one problem at one price of moving."""

    losses: LossStream
    price: MoveCost
    constant: float = 0.0
    """Running cost of a round whatever is decided, on top of the losses."""
    smallest: float = 0.0
    """As in `Outcome`."""

    def judge(self, label: str, kind: str, decisions: Array, losses: Array | None = None) -> Outcome:
        """Return what decisions cost; their losses may be known already."""
        values = self.losses.policy_losses(decisions) if losses is None else losses
        charges = self.price.along(decisions)
        return Outcome(label, kind, values + self.constant, charges, decisions, self.smallest)

    def overall(self, decisions: Array, losses: Array) -> float:
        """Return the overall cost of decisions whose losses are known."""
        return self.judge("", HINDSIGHT, decisions, losses).overall
