"""What a run, or a reference beside it, cost: row by row and in all."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array
from driftwise.experiments.comparison.learners import Contender
from driftwise.experiments.comparison.problem import Problem
from driftwise.play import play
from driftwise.regret import HindsightOptimum, hindsight_optimum
from driftwise.trace import Trace

FIXED, ZERO, OPTIMUM = "Best fixed weights", "Weights of zero", "Hindsight optimum"
"""The references: the first and the last are known only in hindsight, the second does nothing."""

ROUNDING = 1e-12
"""Part of the largest target up to which an error of the references is but rounding."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Weights over time and what they cost."""

    label: str
    decisions: Array
    """Shape (T, d)."""
    losses: Array
    steps: Array
    """Distance moved into each row, 0 into the first; shape (T,)."""
    switching_cost: float
    trace: Trace | None = None
    """Of a learner; a reference has none."""

    @property
    def loss(self) -> float:
        """Sum of the losses."""
        return float(self.losses.sum())

    @property
    def distance(self) -> float:
        """How far the weights moved in all."""
        return float(self.steps.sum())

    @property
    def switching(self) -> float:
        """Price of moving."""
        return self.switching_cost * self.distance

    @property
    def overall(self) -> float:
        """Loss plus switching cost."""
        return self.loss + self.switching

    @property
    def moves(self) -> int:
        """Rows before which the weights moved; what a solver leaves of a zero is not counted."""
        floor = 0.0 if self.trace else 1e-6 * float(self.steps.max())
        return int(np.count_nonzero(self.steps > floor))

    @property
    def error(self) -> float:
        """Root mean square of prediction minus target, in the unit of the target."""
        return float(np.sqrt(2.0 * self.losses.mean()))


@dataclass(frozen=True, eq=False)
class Contest:
    """Every learner that was chosen, cheapest first, beside the references."""

    problem: Problem
    learners: list[Outcome]
    fixed: Outcome
    zero: Outcome
    optimum: Outcome | None
    solution: HindsightOptimum | None
    """The optimum with its certificate, unless it was left out."""

    @property
    def last(self) -> float | None:
        """Root mean square of the error of someone who repeats the last target; None if there is but one."""
        changes = np.diff(self.problem.targets)
        return float(np.sqrt(np.mean(changes**2))) if changes.size else None

    @property
    def references(self) -> list[Outcome]:
        """What the learners are held against, cheapest first."""
        return [outcome for outcome in (self.optimum, self.fixed, self.zero) if outcome]

    @property
    def yardstick(self) -> Outcome:
        """What costs are shown as multiples of."""
        return self.optimum or self.fixed

    def multiple(self, outcome: Outcome) -> float | None:
        """Return a cost as a multiple of the yardstick's, or None where that is 0 but for rounding."""
        unit = self.yardstick.overall
        return outcome.overall / unit if unit > 1e-9 * self.zero.overall else None


def hold_contest(
    problem: Problem, contenders: list[Contender], hindsight: bool, progress: Callable[[str], None]
) -> Contest:
    """Play every contender on the problem, and work out the references."""
    learners = []
    for contender in contenders:
        progress(contender.label)
        trace = play(contender.make(problem.setting), problem.losses, problem.setting.switching_cost)
        learners.append(
            Outcome(contender.label, trace.decisions, trace.losses, trace.moves, problem.setting.switching_cost, trace)
        )
    solution = optimum = None
    if hindsight:
        progress(OPTIMUM)
        solution = hindsight_optimum(problem.losses, problem.domain, problem.setting.switching_cost)
        optimum = _reference(OPTIMUM, problem, solution.decisions)
    shape = problem.features.shape
    return Contest(
        problem,
        sorted(learners, key=lambda outcome: outcome.overall),
        _reference(FIXED, problem, np.broadcast_to(problem.fixed, shape)),
        _reference(ZERO, problem, np.zeros(shape)),
        optimum,
        solution,
    )


def _reference(label: str, problem: Problem, decisions: Array) -> Outcome:
    errors = np.einsum("ti,ti->t", problem.features, decisions) - problem.targets
    errors[np.abs(errors) <= ROUNDING * np.abs(problem.targets).max()] = 0.0
    steps = np.zeros(len(decisions))
    steps[1:] = np.linalg.norm(np.diff(decisions, axis=0), axis=1)
    return Outcome(label, decisions, 0.5 * errors**2, steps, problem.setting.switching_cost)
