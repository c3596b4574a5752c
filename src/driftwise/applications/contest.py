"""Everyone on one case at one price of moving: our learners, common rules, and choices made in hindsight."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array
from driftwise.applications import ours
from driftwise.applications.case import Case
from driftwise.experiments.contests.contest import OPTIMUM, Contest, Referee, ranked
from driftwise.experiments.contests.outcome import CAUTION, HINDSIGHT, OURS, RULE, Outcome
from driftwise.movecost import MoveCost
from driftwise.play import play
from driftwise.regret import HindsightOptimum, best_fixed, hindsight_optimum

COUNTED = 1e-3
"""A change of the decision by more than this, in the unit of the decision, is counted as a move."""

STATIC = "Best static level in hindsight"


@dataclass(frozen=True, eq=False)
class CaseContest(Contest):
    """Everyone on a case at one price of moving; the learner to begin with comes first."""

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


def hold_contests(case: Case, move_costs: Sequence[float], progress: Callable[[str], None]) -> list[CaseContest]:
    """Let everyone play a case at every price of moving."""

    def with_losses(rules: Mapping[str, Array]) -> ours.Members:
        return {label: (rows, case.losses.policy_losses(rows)) for label, rows in rules.items()}

    # The same at every price: rules and their losses, a committee that is blind to the price, a level that never moves.
    rules, members = with_losses(case.rules), with_losses(case.members)
    tuned = {label: with_losses(grid) for label, grid in case.tuned.items()}
    progress(ours.BLIND)
    blind = ours.committee("mix")(members, case, MoveCost(0.0))
    static = np.tile(best_fixed(case.losses, case.domain), (len(case.losses), 1))
    contests = []
    for move_cost in move_costs:
        judge = referee(case, move_cost)
        outcomes, settings = [], {}
        for label, make in ours.LEARNERS.items():
            progress(label)
            outcomes.append(judge.judge(label, OURS, play(make(case, judge.price), case.losses).decisions))
        if case.forecasts:
            progress(ours.INFORMED)
            outcomes.append(judge.judge(ours.INFORMED, OURS, ours.informed(case, judge.price)))
        for label, decide in ours.COMMITTEES.items():
            progress(label)
            outcomes.append(judge.judge(label, OURS, decide(members, case, judge.price)))
        outcomes.append(judge.judge(ours.BLIND, CAUTION, blind))
        outcomes += [judge.judge(label, RULE, *played) for label, played in rules.items()]
        for label, grid in tuned.items():
            settings[label] = min(grid, key=lambda name: judge.overall(*grid[name]))
            outcomes.append(judge.judge(label, HINDSIGHT, *grid[settings[label]]))
        outcomes += [Outcome(label, RULE, running, np.zeros(len(running))) for label, running in case.free.items()]
        outcomes.append(judge.judge(STATIC, HINDSIGHT, static))
        best = min(members, key=lambda name: judge.overall(*members[name]))
        progress(OPTIMUM)
        solution = hindsight_optimum(case.losses, case.domain, judge.price)
        contests.append(
            CaseContest(
                outcomes=sorted(ranked(outcomes), key=lambda one: one.label != ours.SELF_TUNED),
                optimum=judge.judge(OPTIMUM, HINDSIGHT, solution.decisions),
                solution=solution,
                case=case,
                move_cost=move_cost,
                best_member=judge.judge(best, HINDSIGHT, *members[best]),
                settings=settings,
            )
        )
    return contests
