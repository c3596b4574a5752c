"""Everyone on one case at one price of moving: ours, rules of today, and what takes hindsight."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array
from driftwise.applications import ours
from driftwise.applications.case import Case
from driftwise.experiments.contests.contest import OPTIMUM, Contest, Referee, ranked
from driftwise.experiments.contests.outcome import CAUTION, HINDSIGHT, OURS, RULE, Outcome
from driftwise.movecost import MoveCost
from driftwise.regret import HindsightOptimum, best_fixed, hindsight_optimum

COUNTED = 1e-3
"""A change of the decision by more than this, in the unit of the decision, is counted as a move."""

STATIC = "Best static level in hindsight"


@dataclass(frozen=True, eq=False)
class CaseContest(Contest):
    """Everyone on a case at one price of moving."""

    optimum: Outcome
    solution: HindsightOptimum
    case: Case
    move_cost: float
    best_member: Outcome
    """The best single member of the committee, picked in hindsight."""
    settings: Mapping[str, str]
    """Which setting was the best one in hindsight, for every rule that was tuned."""


def referee(case: Case, move_cost: float) -> Referee:
    """Return who works out the costs of a case at a price of moving."""
    return Referee(case.losses, case.price(move_cost), case.constant, COUNTED)


class Books:
    """What is the same at every price of moving and worked out once: losses of rules, decisions blind to the price."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._known: dict[int, tuple[Array, Array]] = {}
        self._blind: Array | None = None

    def losses(self, decisions: Array) -> Array:
        """Return the losses of decisions that belong to the case."""
        if id(decisions) not in self._known:
            # The decisions are kept as well, so that nothing else can come to have their id.
            self._known[id(decisions)] = decisions, self.case.losses.policy_losses(decisions)
        return self._known[id(decisions)][1]

    def blind(self, members: ours.Members) -> Array:
        """Return the decisions of a committee that does not know what a move costs."""
        if self._blind is None:
            self._blind = ours.committee("mix")(members, self.case, MoveCost(0.0))
        return self._blind


def hold_contest(case: Case, move_cost: float, books: Books, progress: Callable[[str], None]) -> CaseContest:
    """Let everyone play a case at one price of moving."""
    judge = referee(case, move_cost)
    members = {label: (rows, books.losses(rows)) for label, rows in case.members.items()}
    outcomes, settings = [], {}
    for label, make in ours.LEARNERS.items():
        progress(label)
        outcomes.append(judge.judge(label, OURS, ours.play_out(make, case, judge.price)))
    for label, mix in ours.COMMITTEES.items():
        progress(label)
        outcomes.append(judge.judge(label, OURS, mix(members, case, judge.price)))
    progress(ours.BLIND)
    outcomes.append(judge.judge(ours.BLIND, CAUTION, books.blind(members)))
    outcomes += [judge.judge(label, RULE, rows, books.losses(rows)) for label, rows in case.rules.items()]
    for label, grid in case.tuned.items():
        progress(label)
        best = settings[label] = min(grid, key=lambda name: judge.overall(grid[name], books.losses(grid[name])))
        outcomes.append(judge.judge(label, HINDSIGHT, grid[best], books.losses(grid[best])))
    outcomes += [Outcome(label, RULE, running, np.zeros(len(running))) for label, running in case.free.items()]
    fixed = np.tile(best_fixed(case.losses, case.domain), (len(case.losses), 1))
    outcomes.append(judge.judge(STATIC, HINDSIGHT, fixed))
    best = min(members, key=lambda name: judge.overall(*members[name]))
    progress(OPTIMUM)
    solution = hindsight_optimum(case.losses, case.domain, judge.price)
    return CaseContest(
        outcomes=ranked(outcomes),
        optimum=judge.judge(OPTIMUM, HINDSIGHT, solution.decisions),
        solution=solution,
        case=case,
        move_cost=move_cost,
        best_member=judge.judge(best, HINDSIGHT, *members[best]),
        settings=settings,
    )
