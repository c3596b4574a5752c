"""Tables and panels of a comparison of decisions."""

import numpy as np

from driftwise.experiments.comparison.decisions.contest import Comparison
from driftwise.experiments.comparison.decisions.problem import Problem
from driftwise.experiments.comparison.options import FORECASTS
from driftwise.experiments.contests import figures
from driftwise.experiments.contests.figures import Column
from driftwise.experiments.contests.outcome import HINDSIGHT, RULE, Outcome
from driftwise.experiments.contests.words import show, times
from driftwise.experiments.findings.finding import Panel, Series, Table

SHOWN = 200
"""Rows of which decisions are drawn, at most: the last ones."""

COSTS = ("Overall cost so far", "Running cost so far", "Cost of moving so far")
"""Titles of the panels of costs, in the words of the table."""

CURVES = 6
"""Number of weights that are drawn, at most."""


def cost_table(contest: Comparison) -> Table:
    """Return what everyone cost, the user first."""
    multiple = "x hindsight" if contest.optimum else "x best in hindsight"
    columns: dict[str, Column] = {
        "overall": lambda one: show(one.overall),
        "running": lambda one: show(one.total_running),
        "moving": lambda one: "-" if one.decisions is None else show(one.total_moving),
        "moves": lambda one: "-" if one.decisions is None else str(one.moves),
        multiple: lambda one: multiple_of(contest, one),
    }
    everyone = [*contest.outcomes, *([contest.optimum] if contest.optimum else [])]
    title = "What it cost: overall = running + moving; tuned, best and hindsight: chosen with the whole file known"
    return figures.cost_table(title, "who", everyone, columns)


def multiple_of(contest: Comparison, one: Outcome) -> str:
    """Return a cost as a multiple of the yardstick's, with three decimals where it is small."""
    multiple = contest.multiple(one)
    return f"{multiple:.3f}" if multiple < 10.0 else times(multiple)


def settings_table(contest: Comparison) -> Table:
    """Return the settings of every rule that has any: the default, and the best in hindsight."""
    rows = [
        [rule.label, rule.default or "-", contest.picked[rule.tuned]]
        for rule in contest.rules
        if rule.tuned in contest.picked
    ]
    return Table("Settings of the simple rules", ["rule", "default", "best in hindsight"], rows)


def problem_table(contest: Comparison) -> Table:
    """Return what is decided and what it costs."""
    problem = contest.problem
    rows = [
        ["Rows", f"{len(problem.values)}, of {problem.sheet.file}, in their order"],
        ["Decided", problem.decided],
        ["A row costs", problem.row],
        ["A move costs", _move(problem)],
        ["Limits", problem.limits],
        ["First decision", problem.began],
    ]
    return Table("The problem", ["what", "which"], rows)


def panels(contest: Comparison) -> list[Panel]:
    """Return what was decided, and the costs so far of the most telling players."""
    decided = _weights(contest) if contest.problem.kind == FORECASTS else [_levels(contest)]
    costs = figures.costs_so_far(telling(contest), "row")
    return [*decided, *(panel._replace(title=title) for title, panel in zip(COSTS, costs, strict=True))]


def telling(contest: Comparison) -> list[Outcome]:
    """Return the user, ours, the cheapest simple rule, the cheapest tuned one, and the best in hindsight."""
    chosen = [contest.mine, contest.ours, contest.of(RULE)[0], *contest.tuned[:1], contest.fixed, contest.optimum]
    return [one for one in chosen if one is not None]


def priced(problem: Problem) -> str:
    """Return what moves cost, in a few words."""
    price = problem.price
    if price.plain is not None:
        return f"moves at {show(price.plain)}"
    up, down = (", ".join(map(show, np.atleast_1d(np.asarray(side)).tolist())) for side in (price.up, price.down))
    return f"moves at {up} up and {down} down"


def _move(problem: Problem) -> str:
    euclidean = problem.kind == FORECASTS and problem.price.norm == "l2"
    unit = "for a Euclidean distance of 1 between weights" if euclidean else "for a unit"
    return f"{priced(problem).removeprefix('moves at ')}, {unit}"


def _levels(contest: Comparison) -> Panel:
    """Return the column and what the user, ours and the optimum decided, over the last rows."""
    problem, rows = contest.problem, len(contest.problem.values)
    first = max(0, rows - SHOWN)
    x = list(range(first + 1, rows + 1))
    series = [Series(problem.target, x, problem.values[first:].tolist(), style="dashed")]
    for one in (contest.mine, contest.ours, contest.optimum):
        if one is not None and one.decisions is not None:
            style = "dashed" if one.kind == HINDSIGHT else "line"
            series.append(Series(one.label, x, one.decisions[first:, 0].tolist(), style=style))
    which = f"the last {SHOWN} of {rows} rows" if first else f"{rows} rows"
    return Panel(f"What was decided, {which}", "row", problem.kind, series)


def _weights(contest: Comparison) -> list[Panel]:
    """Return the weights of ours, and of the optimum if it is there, over the last rows."""
    problem, rows = contest.problem, len(contest.problem.values)
    first, names = max(0, rows - SHOWN), list(problem.forecasts)
    x = list(range(first + 1, rows + 1))
    drawn = []
    for one in (contest.mine, contest.ours, contest.optimum):
        if one is None or one.decisions is None:
            continue
        largest = np.argsort(-one.decisions.max(axis=0), kind="stable")[:CURVES].tolist()
        series = [Series(names[k], x, one.decisions[first:, k].tolist()) for k in sorted(largest)]
        some = f", {CURVES} of {len(names)}" if len(names) > CURVES else ""
        drawn.append(Panel(f"Weights: {one.label}{some}", "row", "weight", series))
    return drawn
