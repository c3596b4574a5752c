"""`driftwise compare`: learners on a user's own file."""

import time
from pathlib import Path
from typing import Annotated

import typer

from driftwise.cli.folders import command, prepare, tell
from driftwise.cli.showing import show

LEARNERS = (
    *("selftuned", "scream", "lazy-scream", "ader", "ogd"),
    *("ader-original", "ogd-switching", "ogd-no-horizon", "scream-theorem", "scream-no-horizon", "lazy-scream-theorem"),
)
"""Names of `driftwise.experiments.comparison.CONTENDERS`, not imported for help; the first five are the default."""

Data = Annotated[Path, typer.Option(metavar="FILE", help="CSV or parquet file: a row for each round.")]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="Column to be predicted.")]
Price = Annotated[float, typer.Option(min=0.0, metavar="PRICE", help="What it costs to move the weights by one unit.")]
Learners = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help=f"Who plays; repeatable: {', '.join(LEARNERS)}. The first five if left out."),
]
Features = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Column to predict from; repeatable. All others if left out.")
]
Intercept = Annotated[bool, typer.Option("--intercept", help="Add a feature that is always 1.")]
Standardise = Annotated[bool, typer.Option("--standardise", help="Scale features to mean 0 and standard deviation 1.")]
Radius = Annotated[
    float | None,
    typer.Option(metavar="NORM", help="Largest norm of the weights; twice that of the best fixed ones."),
]
Hindsight = Annotated[bool, typer.Option(help="Find the cheapest decisions in hindsight; slow on many rows.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the figures and the report.")]


def compare(
    *,
    data: Data,
    target: Target,
    switching_cost: Price,
    learner: Learners = None,
    feature: Features = None,
    intercept: Intercept = False,
    standardise: Standardise = False,
    radius: Radius = None,
    hindsight: Hindsight = True,
    out: Out = Path("comparison"),
) -> None:
    """Play learners on your own data, a loss of (w.x - y)^2 / 2 in every row, and build the report."""
    from rich.console import Console

    from driftwise import report
    from driftwise.experiments.comparison import compare as play

    console, began, chosen = Console(highlight=False), time.monotonic(), learner or LEARNERS[:5]
    prepare(console, out)
    with console.status("reading the data") as status:
        finding = play(
            data,
            target,
            chosen,
            switching_cost,
            features=feature,
            intercept=intercept,
            standardise=standardise,
            radius=radius,
            hindsight=hindsight,
            progress=lambda name: status.update(f"playing: {name}"),
        )
    seconds = time.monotonic() - began
    show(console, finding)
    built = report.publish(
        out, finding.title, [finding], name="comparison", command=command(), seconds=seconds, runs=len(chosen)
    )
    tell(console, built)
