"""The lines of Python that run our learner live: one to build it, and two for every row that comes."""

import numpy as np

from driftwise.domains import Box
from driftwise.experiments.comparison import ours
from driftwise.experiments.comparison.decisions.problem import Problem
from driftwise.experiments.comparison.options import FORECASTS
from driftwise.experiments.findings.finding import Table
from driftwise.movecost import MoveCost

LIVE = "Run it live, in Python"
"""Title of the table that holds the lines."""


def live_table(problem: Problem) -> Table:
    """Return the lines, and what each of them is for."""
    weigh = problem.kind == FORECASTS
    given = ", ".join(f"{name!r}: [{_variable(k)}]" for k, name in enumerate(problem.forecasts))
    act = f"learner.act(proposal={{{given}}})" if problem.forecasts and not weigh else "learner.act()"
    rows = [["once", f"learner = {build_line(problem)}"], ["before a row: decide", f"w = {act}"]]
    if weigh:
        rows.append(["with the forecasts of the row", "combined = w @ forecasts"])
    rows.append(["after it: learn", f"learner.observe({problem.outcome})"])
    return Table(LIVE, ["when", "line"], rows)


def build_line(problem: Problem) -> str:
    """Return the expression that builds the learner, with `dw` for driftwise."""
    domain = (
        f"dw.Box([{problem.domain.low[0]}], [{problem.domain.high[0]}])"
        if isinstance(problem.domain, Box)
        else f"dw.Simplex({problem.domain.dim})"
    )
    told = [domain, f"switching_cost={_price(problem.price)}"]
    if problem.now is not None:
        told.append(f"start=[{problem.now[0]}]")
    if problem.options.period is not None:
        told.append(f"period={problem.options.period}")
    built = f"dw.{ours.CLASS}({', '.join(told)})"
    return f"dw.rounded({built})" if problem.options.whole else built


def _price(price: MoveCost) -> str:
    """Return a price as it is written.

    >>> _price(MoveCost(2.0, norm="l2")), _price(MoveCost(up=6.0, down=0.0))
    ('2.0', 'dw.MoveCost(up=6.0, down=0.0)')
    """
    if price.plain is not None:
        return str(price.plain)
    norm = "" if price.norm == "l1" else f", norm={price.norm!r}"
    up, down = np.asarray(price.up).tolist(), np.asarray(price.down).tolist()
    return f"dw.MoveCost(up={up}, down={down}{norm})"


def _variable(k: int) -> str:
    return "forecast" if k == 0 else f"forecast_{k + 1}"
