"""Tables and panels of a comparison."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from driftwise._validate import Array
from driftwise.experiments.comparison.outcome import Contest, Outcome
from driftwise.experiments.comparison.problem import Problem
from driftwise.experiments.comparison.sheet import listed
from driftwise.experiments.comparison.words import show, times
from driftwise.experiments.findings.curves import marks
from driftwise.experiments.findings.finding import Panel, Series, Table

CURVES = 8
"""Weights that are drawn, at most."""

LAST = "Repeat the last value"
"""A forecast without weights: nothing is learnt, and nothing moved."""

FAR = 3.0
"""A reference is not drawn if it costs more than so many times what the last learner does."""


def cost_table(contest: Contest) -> Table:
    """Return what everything cost, cheapest learner first, and the references below."""
    rows = [
        [
            outcome.label,
            show(outcome.overall),
            show(outcome.loss),
            show(outcome.switching),
            times(contest, outcome),
            show(outcome.error),
            str(outcome.moves),
            show(outcome.distance),
        ]
        for outcome in [*contest.learners, *contest.references]
    ]
    if contest.last is not None:
        rows.append([LAST, "-", "-", "-", "-", show(contest.last), "-", "-"])
    multiple = "times optimum" if contest.optimum else "times best fixed"
    header = ["learner", "overall", "loss", "switching", multiple, "RMSE", "moves", "distance"]
    return Table("What it cost: overall = loss + switching cost", header, rows)


def problem_table(contest: Contest) -> Table:
    """Return the constants of the problem, and where they come from."""
    problem = contest.problem
    setting, steepest = problem.setting, problem.steepest
    row, middle = int(np.argmax(steepest)) + 1, float(np.median(steepest))
    ratio = setting.switching_cost / setting.gradient_bound
    rows = [
        ["Rounds T", str(setting.horizon), f"rows of {problem.sheet.file}, in their order"],
        ["Target", problem.target, "chosen; the loss of a row is (prediction - target)^2 / 2"],
        ["Weights d", str(problem.domain.dim), _weights(problem)],
        ["Radius of the weights", show(problem.domain.radius), problem.radius_from],
        ["Diameter D", show(problem.domain.diameter), "twice the radius"],
        [
            "Gradient bound G",
            show(setting.gradient_bound),
            f"the largest gradient that a row can have, row {row}; in half of them it is at most {show(middle)}",
        ],
        [
            "Switching cost lambda",
            show(setting.switching_cost),
            f"chosen; the price of moving the weights by 1; lambda / G is {show(ratio)}",
        ],
    ]
    return Table("The problem", ["quantity", "value", "where it comes from"], rows)


def panels(contest: Contest) -> list[Panel]:
    """Return the costs so far, and the weights of the cheapest learner."""
    rows = np.array(marks(len(contest.problem.sheet))) - 1
    parts: list[tuple[str, Callable[[Outcome], Array]]] = [
        ("Overall cost so far", lambda outcome: outcome.losses + outcome.switching_cost * outcome.steps),
        ("Loss so far", lambda outcome: outcome.losses),
        ("Switching cost so far", lambda outcome: outcome.switching_cost * outcome.steps),
    ]
    drawn = [
        Panel(title, "row", "cost", [_curve(outcome, costs(outcome), rows) for outcome in _shown(contest)])
        for title, costs in parts
    ]
    best = contest.learners[0]
    largest = np.argsort(-np.abs(best.decisions).max(axis=0), kind="stable")[:CURVES]
    weights = [
        Series(contest.problem.names[i], _list(rows + 1), _list(best.decisions[rows, i])) for i in largest.tolist()
    ]
    title = f"Weights of {best.label}"
    if len(contest.problem.names) > CURVES:
        title += f", the {CURVES} largest of {len(contest.problem.names)}"
    return [*drawn, Panel(title, "row", "weight", weights)]


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


def _shown(contest: Contest) -> list[Outcome]:
    """Return what is drawn: every learner, and the references beside which learners can still be told apart."""
    limit = FAR * contest.learners[-1].overall
    return [*contest.learners, *(outcome for outcome in contest.references if outcome.overall <= limit)]


def _curve(outcome: Outcome, costs: Array, rows: NDArray[np.int64]) -> Series:
    style = "line" if outcome.trace else "dashed"
    return Series(outcome.label, _list(rows + 1), _list(np.cumsum(costs)[rows]), style=style)


def _list(values: NDArray[np.int64] | Array) -> list[float]:
    return [float(value) for value in values]
