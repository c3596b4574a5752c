"""Tables and panels of a case."""

from collections.abc import Sequence

import numpy as np

from driftwise.applications.case import Case
from driftwise.applications.contest import COUNTED, CaseContest
from driftwise.applications.ours import COMMITTEE, SCREAM, SELF_TUNED, SELF_TUNED_SCREAM
from driftwise.experiments.contests import figures
from driftwise.experiments.contests.contest import OPTIMUM
from driftwise.experiments.contests.figures import Column
from driftwise.experiments.contests.outcome import RULE, Outcome
from driftwise.experiments.contests.words import show
from driftwise.experiments.data.files import version
from driftwise.experiments.findings.finding import Panel, Series, Table

SHOWN = 168
"""Rounds of the series that are drawn: the last ones."""

PROBLEM = "The problem"

KNOWN = (
    "the unit, which is a mean; the number of rounds, to Scream and to the gradient descents among the members of the "
    "committee; a bound on gradients, to the same"
)


def cost_table(contest: CaseContest) -> Table:
    """Return what everyone cost at one price, in the unit of the problem and in multiples of the optimum."""
    best, pieces = contest.optimum.overall, max(contest.optimum.moves, 1)
    columns: dict[str, Column] = {
        "running": lambda one: show(one.total_running),
        "moving": lambda one: show(one.total_moving),
        "overall": lambda one: show(one.overall),
        "moves": lambda one: str(one.moves),
        "running x": lambda one: f"{one.total_running / best:.3f}",
        "moving x": lambda one: f"{one.total_moving / best:.3f}",
        "overall x": lambda one: f"{one.overall / best:.3f}",
        "moves x": lambda one: f"{one.moves / pieces:.3g}",
    }
    title = f"Move cost {show(contest.move_cost)}; x: in multiples of the optimum's overall cost, and of its moves"
    return figures.cost_table(title, "who", [*contest.outcomes, contest.optimum], columns)


def problem_table(case: Case) -> Table:
    """Return what is played, what it costs, and where the series comes from."""
    gaps = f", {len(case.data.gaps)} of them filled with the value before" if case.data.gaps else ""
    package = case.data.package
    shipped = "driftwise, which makes it up" if package is None else f"{package}{version(package)}"
    rows = [
        ["What is decided", case.what],
        ["A move cost of 1", case.moving],
        [
            "What counts as a move",
            f"a change by more than {COUNTED:g}: what learners limit is the price of moves, not their number",
        ],
        ["Known from the whole series", KNOWN],
        ["Series", f"{case.data.title}; {len(case.losses)} {case.data.step}s{gaps}"],
        ["Source", case.data.source],
        ["Licence", case.data.licence],
        ["Shipped by", shipped],
    ]
    return Table(PROBLEM, ["what", "which"], rows)


def settings_table(contests: Sequence[CaseContest]) -> Table:
    """Return what is needed to check: settings picked in hindsight, and how sure the optimum is."""
    rows = []
    for contest in contests:
        cost = show(contest.move_cost)
        rows += [[cost, label, setting] for label, setting in contest.settings.items()]
        rows.append([cost, "Best member of the committee", contest.best_member.label])
        rows.append([cost, OPTIMUM, contest.solution.status])
    return Table("Picked in hindsight", ["move cost", "what", "which"], rows, detail=True)


def panels(contests: Sequence[CaseContest]) -> list[Panel]:
    """Return overall cost against the price of moving, and what was decided of late at the middle price."""
    first, middle = contests[0], contests[len(contests) // 2]
    rule = [one.label for one in first.outcomes if one.kind == RULE and one.decisions is not None]
    names = [SELF_TUNED, SELF_TUNED_SCREAM, COMMITTEE, SCREAM, *rule, *first.case.tuned]
    prices = [contest.move_cost for contest in contests]
    costs = [
        Series(name, prices, [contest.multiple(contest[name]) for contest in contests], style="points")
        for name in names
    ]
    title = "Overall cost, in multiples of the hindsight optimum"
    drawn = [Panel(title, "move cost", "multiple", costs, min(prices) > 0.0)] if len(prices) > 1 else []
    if first.case.observed is not None:
        drawn.append(_decisions(middle))
    return drawn


def _decisions(contest: CaseContest) -> Panel:
    """Return the series and the decisions of a few, over the last rounds."""
    case, rounds = contest.case, len(contest.case.losses)
    assert case.observed is not None
    start = max(0, rounds - SHOWN)
    x = np.arange(start, rounds)
    default = [label for label in case.rules if "default" in label][:1]
    shown: list[Outcome] = [contest[name] for name in (SELF_TUNED, COMMITTEE, *default)]
    series = [Series("The series", x.tolist(), case.observed[start:].tolist(), style="dashed")]
    for one in [*shown, contest.optimum]:
        assert one.decisions is not None
        style = "dashed" if one is contest.optimum else "line"
        series.append(Series(one.label, x.tolist(), one.decisions[start:, 0].tolist(), style=style))
    title = f"The last {len(x)} {case.data.step}s, at a move cost of {show(contest.move_cost)}"
    return Panel(title, case.data.step, "decision; series in units of its mean", series)
