"""What a case says: a table for every price of moving, what was claimed, and words."""

from collections.abc import Sequence

from driftwise.applications.contest import CaseContest
from driftwise.applications.figures import cost_table, panels, problem_table, settings_table
from driftwise.applications.ours import SELF_TUNED
from driftwise.applications.words import losses_table, setting, summarise
from driftwise.experiments.contests.words import show
from driftwise.experiments.findings.finding import Claim, Finding


def conclude(contests: Sequence[CaseContest]) -> Finding:
    """Say what came out of a case: a table for every price, what was claimed, and words."""
    case = contests[0].case
    return Finding(
        setting(case),
        summarise(contests),
        [
            *(cost_table(contest) for contest in contests),
            problem_table(case),
            settings_table(contests),
            losses_table(contests),
        ],
        _claims(contests),
        panels(contests),
        columns=2,
    )


def _claims(contests: Sequence[CaseContest]) -> list[Claim]:
    """Hold ours against the rule with default settings, and the optimum against its certificate."""
    default = next(label for label in contests[0].case.rules if "default" in label)
    ratios = [contest[SELF_TUNED].overall / contest[default].overall for contest in contests]
    measured = ", ".join(
        f"{ratio:.3f} at {show(contest.move_cost)}" for ratio, contest in zip(ratios, contests, strict=True)
    )
    series = f"{contests[0].case.application} on {contests[0].case.data.name}"
    gaps = max(contest.solution.gap for contest in contests)
    return [
        Claim(
            f"{SELF_TUNED} costs less than {_settings(default)}, {series}", max(ratios) < 1.0, f"{measured}, as a ratio"
        ),
        Claim(
            f"The hindsight optimum is certified, {series}",
            all(contest.solution.optimal for contest in contests),
            f"relative gap at most {gaps:.1e}",
        ),
    ]


def _settings(default: str) -> str:
    return "the " + default.replace(", default", " with default settings").lower()
