"""`driftwise compare`: everyone on a user's own file."""

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftwise.cli.folders import command, prepare, tell
from driftwise.cli.showing import show
from driftwise.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from driftwise.experiments.findings.finding import Finding
    from driftwise.movecost import MoveCost

PROBLEMS = ("regression", "level", "capacity", "forecasts")
LEARNERS = (
    *("learner", "selftuned", "scream", "lazy-scream", "ader", "ogd"),
    *("ader-original", "ogd-switching", "ogd-no-horizon", "scream-theorem", "scream-no-horizon", "lazy-scream-theorem"),
)
"""Names of `driftwise.experiments.comparison`, not imported for help; of the learners the first six are the default."""

BOTH, NUMBERS, DEMAND = "level, capacity, forecasts", "level, capacity", "capacity"
"""Problems that an option is for, as the help shows them."""


def _option(metavar: str, about: str, problems: str = "", low: float | None = None) -> typer.models.OptionInfo:
    """Return an option with the problems that it is for."""
    option: typer.models.OptionInfo = typer.Option(
        metavar=metavar, help=f"[{problems}] {about}" if problems else about, min=low
    )
    return option


Data = Annotated[Path, _option("FILE", "CSV or parquet file: a row for each round.")]
Target = Annotated[str, _option("COLUMN", "Column to be predicted, followed or met.")]
Kind = Annotated[str, _option("PROBLEM", f"What is decided: {', '.join(PROBLEMS)}; see above.")]
Price = Annotated[float | None, _option("PRICE", "What it costs to move the decision by one unit.", low=0.0)]
Up = Annotated[float | None, _option("PRICE", "What a unit up costs, with --down for --switching-cost.", BOTH, 0.0)]
Down = Annotated[float | None, _option("PRICE", "What a unit down costs.", BOTH, 0.0)]
Mine = Annotated[
    str | None,
    _option(
        "COLUMN", "What you really did; of forecasts the name of the one you followed, or the number you used.", BOTH
    ),
]
Forecasts = Annotated[
    list[str] | None,
    _option("COLUMN", "A forecast, known before its row; repeatable. To be weighed, or to be heeded by ours.", BOTH),
]
Shortage = Annotated[float | None, _option("PRICE", "What a unit of demand costs that is not met.", DEMAND, 0.0)]
Idle = Annotated[float | None, _option("PRICE", "What a unit costs that is held; 1 if left out.", DEMAND, 0.0)]
Low = Annotated[float | None, _option("NUMBER", "Least decision; from the file, with room, if left out.", NUMBERS)]
High = Annotated[float | None, _option("NUMBER", "Largest decision; from the file, with room, if left out.", NUMBERS)]
Start = Annotated[
    float | None, _option("NUMBER", "First decision; where you began, or the first value, if left out.", NUMBERS)
]
Period = Annotated[int | None, _option("ROWS", "Rows in a season, such as 24 or 7.", NUMBERS)]
Whole = Annotated[bool, typer.Option("--whole", help=f"[{NUMBERS}] Decide on whole numbers.")]
Learners = Annotated[
    list[str] | None,
    _option(
        "NAME", f"Who plays; repeatable: {', '.join(LEARNERS)}. The first six if left out; [{BOTH}] the first two."
    ),
]
Features = Annotated[
    list[str] | None,
    _option("COLUMN", "Column to predict from; repeatable. All others if left out.", "regression"),
]
Intercept = Annotated[bool, typer.Option("--intercept", help="[regression] Add a feature that is always 1.")]
Standardise = Annotated[
    bool, typer.Option("--standardise", help="[regression] Scale features to mean 0 and standard deviation 1.")
]
Radius = Annotated[
    float | None,
    _option("NORM", "Largest norm of the weights; twice that of the best fixed ones.", "regression"),
]
Hindsight = Annotated[bool, typer.Option(help="Find the cheapest decisions in hindsight; slow on many rows.")]
MaxBytes = Annotated[int, _option("BYTES", "Largest file that is read, unpacked.", low=1)]
Out = Annotated[Path, _option("DIR", "Folder for the figures and the report.")]


def compare(
    *,
    data: Data,
    target: Target,
    problem: Kind = "regression",
    switching_cost: Price = None,
    up: Up = None,
    down: Down = None,
    mine: Mine = None,
    forecast: Forecasts = None,
    shortage: Shortage = None,
    idle: Idle = None,
    low: Low = None,
    high: High = None,
    start: Start = None,
    period: Period = None,
    whole: Whole = False,
    learner: Learners = None,
    feature: Features = None,
    intercept: Intercept = False,
    standardise: Standardise = False,
    radius: Radius = None,
    hindsight: Hindsight = True,
    max_bytes: MaxBytes = 2**29,
    out: Out = Path("comparison"),
) -> None:
    """Play a file of yours: what you paid, what ours, simple rules and hindsight would have cost, and a report.

    Four problems, each with a price for moving the decision:

    level: follow a column; a row costs half the square of the distance.

    capacity: keep enough for a column of demand; --idle for a unit held, --shortage for one that is missing.

    forecasts: weigh columns of forecasts of the target; half the square of the error.

    regression: weigh features; learners with a loss of (w.x - y)^2 / 2 in every row. The default.

    For example: driftwise compare --data orders.csv --problem capacity --target demand --shortage 5 --up 6 --down 0
    --mine booked
    """
    from rich.console import Console

    from driftwise import report
    from driftwise.experiments.comparison import compare as play

    console, began, price = Console(highlight=False), time.monotonic(), read_price(switching_cost, up, down)
    prepare(console, out)
    with console.status("reading the data") as status:
        finding = play(
            data,
            target,
            learner or None,
            price,
            problem=problem,
            mine=mine,
            forecasts=forecast or None,
            shortage=shortage,
            idle=idle,
            low=low,
            high=high,
            start=start,
            period=period,
            whole=whole,
            features=feature,
            intercept=intercept,
            standardise=standardise,
            radius=radius,
            hindsight=hindsight,
            max_bytes=max_bytes,
            progress=lambda name: status.update(f"playing: {name}"),
        )
    seconds = time.monotonic() - began
    _print(console, finding)
    built = report.publish(
        out,
        finding.title,
        [finding],
        name="comparison",
        command=command(),
        seconds=seconds,
        runs=len(learner or LEARNERS[:6]) if problem == "regression" else len(finding.tables[0].rows),
    )
    if problem != "regression":
        built.figures.extend(_draw_costs(finding, out / "figures" / "costs"))
    tell(console, built)


def read_price(price: float | None, up: float | None, down: float | None) -> "float | MoveCost":
    """Return what a move costs: one price, or prices up and down."""
    if up is None and down is None:
        if price is None:
            raise ParameterError(
                "compare: say what a move costs, with --switching-cost PRICE, or with --up PRICE and --down PRICE."
            )
        return price
    if price is not None:
        raise ParameterError("compare: give --switching-cost, or --up and --down, but not both.")
    if up is None or down is None:
        raise ParameterError("compare: --up and --down go together; give 0 for a side that is free.")
    from driftwise.movecost import MoveCost

    return MoveCost(up=up, down=down)


def _print(console: "Console", finding: "Finding") -> None:
    """Print what was found, and lines of Python as they can be copied."""
    from driftwise.experiments.comparison.decisions.live import LIVE

    lines = [table for table in finding.tables if table.title == LIVE]
    show(console, replace(finding, tables=[table for table in finding.tables if table.title != LIVE]))
    for table in lines:
        console.print(table.title, markup=False)
        code = [("import driftwise as dw", ""), *((line, f"  # {when}") for when, line in table.rows)]
        console.print("\n".join(f"    {line}{when}" for line, when in code), markup=False, soft_wrap=True)
        console.print()


def _draw_costs(finding: "Finding", stem: Path) -> list[Path]:
    """Draw the main table as bars of running and moving, and return the files."""
    from driftwise.report.bars import Bar, draw_bars

    table = finding.tables[0]
    overall, running, moving = (table.header.index(name) for name in ("overall", "running", "moving"))
    bars = [
        Bar(row[0], float(row[running]), 0.0 if row[moving] == "-" else float(row[moving]), row[overall])
        for row in table.rows
    ]
    return draw_bars(bars, finding.title, stem)
