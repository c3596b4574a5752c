"""A comparison of learners of weights as a finding."""

from driftwise.experiments.comparison import ours
from driftwise.experiments.comparison.regression.contest import Comparison
from driftwise.experiments.comparison.regression.figures import cost_table, panels, problem_table
from driftwise.experiments.comparison.regression.words import notes, summarise
from driftwise.experiments.contests.outcome import HINDSIGHT, Outcome
from driftwise.experiments.contests.words import show
from driftwise.experiments.findings.finding import Claim, Finding
from driftwise.regret import certificate
from driftwise.trace import Trace


def conclude(contest: Comparison) -> Finding:
    """Say what came out."""
    problem = contest.problem
    return Finding(
        f"Learners on {problem.sheet.file}: {problem.target}, switching cost {show(problem.setting.switching_cost)}",
        summarise(contest),
        [cost_table(contest), problem_table(contest), notes(contest)],
        _claims(contest),
        panels(contest),
        columns=2,
    )


def _claims(contest: Comparison) -> list[Claim]:
    """Check the regret of every learner against its theorem, and the optimum against its certificate.

    Not of `SelfTunedLearner`: its theorem has to play the run once more, by hand.
    """
    claims = [
        _within_bound(outcome.name, outcome.trace, contest.references)
        for outcome in contest.learners
        if outcome.trace and outcome.label != ours.LABEL
    ]
    if contest.solution:
        claims.append(Claim("The hindsight optimum is certified", contest.solution.optimal, contest.solution.status))
    return claims


def _within_bound(name: str, trace: Trace, references: list[Outcome]) -> Claim:
    """Say whether the regret of a learner is within its theorem's bound, against every reference in hindsight."""
    found = {
        f"the {reference.label.lower()}": certificate(trace, reference.decisions)
        for reference in references
        if reference.kind == HINDSIGHT and reference.decisions is not None
    }
    first = next(iter(found.values()))
    unmet = [assumption.text for assumption in first.assumptions if assumption.holds is not True]
    measured = [f"{show(one.measured)} of {show(one.bound)} against {whom}" for whom, one in found.items()]
    holds = None if unmet else all(one.within for one in found.values())
    moves = ", moves not counted," if "not counted" in first.measure else ""
    text = f"Regret of {name}{moves} within its bound"
    return Claim(text, holds, "; ".join([*measured, first.theorem, *unmet]))
