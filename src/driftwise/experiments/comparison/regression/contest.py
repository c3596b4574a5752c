"""Learners on a problem read from a file, beside three references."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from driftwise._validate import Array
from driftwise.experiments.comparison.regression.learners import Contender
from driftwise.experiments.comparison.regression.problem import Problem
from driftwise.experiments.contests.contest import OPTIMUM, Contest, Referee, ranked
from driftwise.experiments.contests.outcome import HINDSIGHT, OURS, RULE, Outcome
from driftwise.movecost import move_cost_for
from driftwise.play import play
from driftwise.regret import hindsight_optimum

FIXED, ZERO = "Best fixed weights", "Weights of zero"
"""Two of the references: one that takes hindsight, and one that does nothing. The third is the optimum."""

ROUNDING = 1e-12
"""Error of a reference, as a part of the largest target, below which it is rounding noise."""

LEFT = 1e-6
"""Step of a reference, as a part of its longest one, below which it is solver noise."""


@dataclass(frozen=True, eq=False)
class Comparison(Contest):
    """Every learner that was chosen and the references, on the problem of a file."""

    problem: Problem

    @property
    def learners(self) -> list[Outcome]:
        """The learners, cheapest first."""
        return self.of(OURS)

    @property
    def references(self) -> list[Outcome]:
        """The optimum, if it was worked out, the best fixed weights, and weights of zero."""
        return [outcome for outcome in (self.optimum, self[FIXED], self[ZERO]) if outcome]

    @property
    def last(self) -> float | None:
        """Root mean square error of repeating the last target; None if there is only one."""
        changes = np.diff(self.problem.targets)
        return float(np.sqrt(np.mean(changes**2))) if changes.size else None


def error(outcome: Outcome) -> float:
    """Return the root mean square of prediction minus target, in the unit of the target."""
    return float(np.sqrt(2.0 * outcome.running.mean()))


def hold_contest(
    problem: Problem, contenders: list[Contender], hindsight: bool, progress: Callable[[str], None]
) -> Comparison:
    """Play every contender on the problem, and work out the references."""
    setting, outcomes = problem.setting, []
    referee = Referee(problem.losses, move_cost_for("compare", setting.switching_cost))

    def reference(label: str, kind: str, decisions: Array) -> Outcome:
        errors = np.einsum("ti,ti->t", problem.features, decisions) - problem.targets
        errors[np.abs(errors) <= ROUNDING * np.abs(problem.targets).max()] = 0.0
        outcome = referee.judge(label, kind, decisions, 0.5 * errors**2)
        return replace(outcome, smallest=LEFT * float(outcome.steps.max()))

    for contender in contenders:
        progress(contender.label)
        trace = play(contender.make(setting), problem.losses, setting.switching_cost)
        outcomes.append(replace(referee.judge(contender.label, OURS, trace.decisions, trace.losses), trace=trace))
    solution = optimum = None
    if hindsight:
        progress(OPTIMUM)
        solution = hindsight_optimum(problem.losses, problem.domain, setting.switching_cost)
        optimum = reference(OPTIMUM, HINDSIGHT, solution.decisions)
    outcomes.append(reference(FIXED, HINDSIGHT, np.broadcast_to(problem.fixed, problem.features.shape)))
    outcomes.append(reference(ZERO, RULE, np.zeros(problem.features.shape)))
    return Comparison(ranked(outcomes), optimum, solution, problem)
