"""A comparison of decisions as a finding."""

from collections.abc import Callable

from driftwise.experiments.comparison.decisions.contest import Comparison
from driftwise.experiments.comparison.decisions.figures import (
    cost_table,
    panels,
    priced,
    problem_table,
    settings_table,
)
from driftwise.experiments.comparison.decisions.levels import read_capacity, read_level
from driftwise.experiments.comparison.decisions.live import live_table
from driftwise.experiments.comparison.decisions.problem import Options, Problem
from driftwise.experiments.comparison.decisions.weights import read_forecasts
from driftwise.experiments.comparison.decisions.words import cheaper, notes, summarise
from driftwise.experiments.comparison.options import CAPACITY, FORECASTS, LEVEL
from driftwise.experiments.comparison.sheet import Sheet
from driftwise.experiments.contests.outcome import RULE
from driftwise.experiments.contests.words import show
from driftwise.experiments.findings.finding import Claim, Finding
from driftwise.movecost import MoveCost

READERS: dict[str, Callable[[Sheet, str, float | MoveCost, Options], Problem]] = {
    LEVEL: read_level,
    CAPACITY: read_capacity,
    FORECASTS: read_forecasts,
}


def conclude(contest: Comparison) -> Finding:
    """Say what came out."""
    problem = contest.problem
    return Finding(
        f"{problem.kind.capitalize()}: {problem.target} of {problem.sheet.file}, {priced(problem)}",
        summarise(contest),
        [
            cost_table(contest),
            settings_table(contest),
            problem_table(contest),
            live_table(problem),
            notes(contest),
        ],
        _claims(contest),
        panels(contest),
        columns=2,
    )


def _claims(contest: Comparison) -> list[Claim]:
    """Hold ours against what the user paid and against the rules, and the optimum against its certificate."""
    ours, mine, rule, claims = contest.ours, contest.mine, contest.of(RULE)[0], list[Claim]()
    if mine is not None:
        text = "Ours would have cost no more than you paid"
        claims.append(Claim(text, not cheaper(contest, [mine]), f"{show(ours.overall)} against {show(mine.overall)}"))
    measured = f"{show(ours.overall)} against {show(rule.overall)} of {rule.name}"
    text = "Ours would have cost no more than any simple rule with its default setting"
    claims.append(Claim(text, not cheaper(contest, contest.of(RULE)), measured))
    if contest.solution:
        claims.append(Claim("The hindsight optimum is certified", contest.solution.optimal, contest.solution.status))
    return claims
