"""Everyone on one case at one price of moving: what each cost, split into running and moving."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array
from driftwise.applications import ours
from driftwise.applications.case import Case
from driftwise.movecost import as_move_cost
from driftwise.optimum.values import policy_losses
from driftwise.regret import HindsightOptimum, best_fixed, hindsight_optimum

COUNTED = 1e-3
"""A change of the decision by more than this, in the unit of the decision, is counted as a move."""

OPTIMUM = "Hindsight optimum"
STATIC = "Best static level in hindsight"

OURS, CAUTION, RULE, HINDSIGHT = "ours", "caution", "rule", "hindsight"
"""Who someone is: one of ours, a caution against using it blindly, a rule of today, or who knows the whole series."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one of them cost, round by round."""

    label: str
    kind: str
    running: Array
    charges: Array
    """What the moves cost."""
    decisions: Array | None
    """None for a forecast that decides nothing."""

    @property
    def total_running(self) -> float:
        """Sum of the running cost."""
        return float(self.running.sum())

    @property
    def total_moving(self) -> float:
        """Sum of the cost of moving."""
        return float(self.charges.sum())

    @property
    def overall(self) -> float:
        """Running and moving."""
        return self.total_running + self.total_moving

    @property
    def moves(self) -> int:
        """Rounds in which the decision changed by more than `COUNTED`."""
        if self.decisions is None:
            return 0
        return int(np.count_nonzero(np.linalg.norm(np.diff(self.decisions, axis=0), axis=1) > COUNTED))


@dataclass(frozen=True, eq=False)
class Contest:
    """Everyone at one price of moving, cheapest first within each kind."""

    case: Case
    move_cost: float
    outcomes: list[Outcome]
    optimum: Outcome
    solution: HindsightOptimum
    best_member: Outcome
    """The best single member of the committee, picked in hindsight."""
    settings: Mapping[str, str]
    """Which setting was the best one in hindsight, for every rule that was tuned."""

    def __getitem__(self, label: str) -> Outcome:
        return next(outcome for outcome in self.outcomes if outcome.label == label)

    def multiple(self, outcome: Outcome) -> float:
        """Return an overall cost in multiples of the optimum's."""
        return outcome.overall / self.optimum.overall


class Referee:
    """Keeps the books of one case at one price."""

    def __init__(self, case: Case, move_cost: float) -> None:
        self.case, self.move_cost = case, move_cost
        self.price = case.price(move_cost)

    def judge(self, label: str, kind: str, decisions: Array, losses: Array | None = None) -> Outcome:
        """Return what decisions cost; their losses may be known already."""
        values = policy_losses(self.case.losses, decisions) if losses is None else losses
        charges = np.zeros(len(decisions))
        charges[1:] = as_move_cost(self.price)(np.diff(decisions, axis=0))
        return Outcome(label, kind, values + self.case.constant, charges, decisions)

    def overall(self, decisions: Array, losses: Array) -> float:
        """Return the overall cost of decisions whose losses are known."""
        return self.judge("", RULE, decisions, losses).overall


class Books:
    """What is the same at every price of moving, and worked out once: losses of the rules, and who is blind to it."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._known: dict[int, tuple[Array, Array]] = {}
        self._blind: Array | None = None

    def losses(self, decisions: Array) -> Array:
        """Return the losses of decisions that belong to the case."""
        if id(decisions) not in self._known:
            # The decisions are kept as well, so that nothing else can come to have their id.
            self._known[id(decisions)] = decisions, policy_losses(self.case.losses, decisions)
        return self._known[id(decisions)][1]

    def blind(self, members: ours.Members) -> Array:
        """Return the decisions of a committee that does not know what a move costs."""
        if self._blind is None:
            self._blind = ours.committee("mix")(members, self.case, 0.0)
        return self._blind


def hold_contest(case: Case, move_cost: float, books: Books, progress: Callable[[str], None]) -> Contest:
    """Let everyone play a case at one price of moving."""
    referee = Referee(case, move_cost)
    outcomes = []
    for label, make in ours.LEARNERS.items():
        progress(label)
        outcomes.append(referee.judge(label, OURS, ours.play_out(make, case, referee.price)))
    members = {label: (rows, books.losses(rows)) for label, rows in case.members.items()}
    for label, mix in ours.COMMITTEES.items():
        progress(label)
        outcomes.append(referee.judge(label, OURS, mix(members, case, referee.price)))
    progress(ours.BLIND)
    outcomes.append(referee.judge(ours.BLIND, CAUTION, books.blind(members)))
    outcomes += [referee.judge(label, RULE, rows, books.losses(rows)) for label, rows in case.rules.items()]
    settings = {}
    for label, grid in case.tuned.items():
        progress(label)
        setting = min(grid, key=lambda name: referee.overall(grid[name], books.losses(grid[name])))
        settings[label] = setting
        outcomes.append(referee.judge(label, HINDSIGHT, grid[setting], books.losses(grid[setting])))
    for label, running in case.free.items():
        outcomes.append(Outcome(label, RULE, running, np.zeros(len(running)), None))
    fixed = np.tile(best_fixed(case.losses, case.domain), (len(case.losses), 1))
    outcomes.append(referee.judge(STATIC, HINDSIGHT, fixed))
    best = min(members, key=lambda name: referee.overall(*members[name]))
    progress(OPTIMUM)
    solution = hindsight_optimum(case.losses, case.domain, switching_cost=referee.price)
    optimum = referee.judge(OPTIMUM, HINDSIGHT, solution.decisions)
    order = (OURS, CAUTION, RULE, HINDSIGHT)
    return Contest(
        case,
        move_cost,
        sorted(outcomes, key=lambda outcome: (order.index(outcome.kind), outcome.overall)),
        optimum,
        solution,
        referee.judge(best, HINDSIGHT, *members[best]),
        settings,
    )
