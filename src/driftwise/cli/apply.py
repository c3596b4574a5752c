"""`driftwise apply`: real problems on real data."""

from pathlib import Path
from typing import Annotated

import typer

from driftwise.cli import showing
from driftwise.cli.folders import build_report, command, prepare
from driftwise.cli.names import Application, several

What = Annotated[
    list[Application] | None,
    typer.Argument(metavar="NAME", help="One or several; all four when left out.", show_default=False),
]
Series = Annotated[str | None, several("SERIES", "Play on this series only; --list shows all of them.")]
Prices = Annotated[
    list[float] | None,
    several("PRICE", "What a move by one unit costs; repeat it for several. 0.5, 5 and 20 when left out.", min=0.0),
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the findings, the figures and the report.")]
List = Annotated[bool, typer.Option("--list", help="Show which applications and series there are, and exit.")]


def apply(
    what: What = None,
    *,
    data: Series = None,
    move_cost: Prices = None,
    out: Out = Path("applications"),
    show: List = False,
) -> None:
    """Play real problems on real data, say what everyone cost and where ours loses, and build the report.

    capacity: how much to keep for a demand, at 1 for a unit that is kept and 5 for one that is short.

    forecasts: how to weigh several forecasts when the best of them changes.

    energy: at what level to run a plant when power has a price and ramping up has one, too.

    policies: committees of the rules of all the others, against the best rule in hindsight.

    Series come from packages: pip install 'driftwise[data]' and 'driftwise[prices]'. Where none is installed, a
    synthetic one is used, and the output says so.
    """
    from rich.console import Console

    from driftwise import applications
    from driftwise.experiments.findings.finding import Table

    console = Console(highlight=False)
    if show:
        header = ["application", "series", "what it is", "how to get it"]
        showing.print_table(console, Table("Applications", header, applications.listing()))
        return
    status = console.status("reading the data")
    chosen = applications.Applications(
        move_cost or applications.MOVE_COSTS, data, lambda text: status.update(f"playing: {text}")
    )
    names = [name.value for name in dict.fromkeys(what or Application) if what or chosen.takes(name.value)]
    for name in names:
        chosen.names(name)  # what is wrong is said before anything is played
    prepare(console, out)
    for name in names:
        with status:
            chapter = applications.apply(name, out, applications=chosen, command=command())
        for finding in chapter.findings:
            showing.show(console, finding)
    build_report(console, out)
