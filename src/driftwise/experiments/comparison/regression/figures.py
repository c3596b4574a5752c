"""Tables and panels of a comparison."""

import numpy as np

from driftwise.experiments.comparison.regression.contest import Comparison, error
from driftwise.experiments.comparison.regression.problem import Problem
from driftwise.experiments.comparison.sheet import listed
from driftwise.experiments.contests import figures
from driftwise.experiments.contests.figures import Column
from driftwise.experiments.contests.words import show, times
from driftwise.experiments.findings.curves import marks
from driftwise.experiments.findings.finding import Panel, Series, Table

CURVES = 8
"""Number of weights that are drawn, at most."""

LAST = "Repeat the last value"
"""A forecast without weights: nothing is learnt, and nothing moved."""

FAR = 3.0
"""Multiple of the most expensive learner's cost above which a reference is not drawn."""


def cost_table(contest: Comparison) -> Table:
    """Return what everything cost, cheapest learner first, and the references below."""
    multiple = "times optimum" if contest.optimum else "times best fixed"
    columns: dict[str, Column] = {
        "overall": lambda one: show(one.overall),
        "loss": lambda one: show(one.total_running),
        "switching": lambda one: show(one.total_moving),
        multiple: lambda one: times(contest.multiple(one)),
        "RMSE": lambda one: show(error(one)),
        "moves": lambda one: str(one.moves),
        "distance": lambda one: show(one.distance),
    }
    title, everyone = "What it cost: overall = loss + switching cost", [*contest.learners, *contest.references]
    table = figures.cost_table(title, "learner", everyone, columns)
    if contest.last is None:
        return table
    return table._replace(rows=[*table.rows, [LAST, "-", "-", "-", "-", show(contest.last), "-", "-"]])


def problem_table(contest: Comparison) -> Table:
    """Return the constants of the problem, and where they come from."""
    problem = contest.problem
    setting, steepest = problem.setting, problem.steepest
    row, middle = int(np.argmax(steepest)) + 1, float(np.median(steepest))
    ratio = setting.switching_cost / setting.gradient_bound
    steep = f"the largest gradient that a row can have, row {row}; in half of them it is at most {show(middle)}"
    price = f"chosen; the price of moving the weights by 1; lambda / G is {show(ratio)}"
    rows = [
        ["Rounds T", str(setting.horizon), f"rows of {problem.sheet.file}, in their order"],
        ["Target", problem.target, "chosen; the loss of a row is (prediction - target)^2 / 2"],
        ["Weights d", str(problem.domain.dim), _weights(problem)],
        ["Radius of the weights", show(problem.domain.radius), problem.radius_from],
        ["Diameter D", show(problem.domain.diameter), "twice the radius"],
        ["Gradient bound G", show(setting.gradient_bound), steep],
        ["Switching cost lambda", show(setting.switching_cost), price],
    ]
    return Table("The problem", ["quantity", "value", "where it comes from"], rows)


def panels(contest: Comparison) -> list[Panel]:
    """Return the costs so far, and the weights of the cheapest learner."""
    best, names, rows = contest.learners[0], contest.problem.names, marks(len(contest.problem.sheet))
    assert best.decisions is not None
    largest = np.argsort(-np.abs(best.decisions).max(axis=0), kind="stable")[:CURVES]
    drawn = best.decisions[np.array(rows) - 1]
    weights = [Series(names[i], rows, drawn[:, i].tolist()) for i in largest.tolist()]
    title = f"Weights of {best.label}"
    if len(names) > CURVES:
        title += f", the {CURVES} largest of {len(names)}"
    # Beside a reference that costs more than this, learners could not be told apart.
    limit = FAR * contest.learners[-1].overall
    shown = [*contest.learners, *(outcome for outcome in contest.references if outcome.overall <= limit)]
    return [*figures.costs_so_far(shown, "row"), Panel(title, "row", "weight", weights)]


def _weights(problem: Problem) -> str:
    """Say what the weights belong to."""
    options = problem.options
    columns = problem.names[:-1] if options.intercept else problem.names
    notes = []
    if columns:
        chosen = "all other columns" if options.features is None else "chosen columns"
        notes.append(f"{chosen}: {listed(columns, 8)}")
    if columns and options.standardise:
        notes.append("scaled to mean 0 and standard deviation 1 over the whole file")
    if options.intercept:
        notes.append("a constant 1, the intercept")
    return "; ".join(notes)
