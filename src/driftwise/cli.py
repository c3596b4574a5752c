"""The command line: `driftwise`."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

import driftwise

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from driftwise.experiments.study import Study

app = typer.Typer(
    help="Online decisions in a world that drifts, when changing your mind costs something.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"driftwise {driftwise.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Take the options that go before any command."""


class Experiment(StrEnum):
    """What can be reproduced."""

    figure1 = "figure1"
    theory = "theory"
    control = "control"


@app.command()
def reproduce(
    what: Annotated[
        list[Experiment] | None,
        typer.Argument(help="figure1 (the default), theory, control, or several of them.", show_default=False),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="figure1: how many streams to play, each with its own seed.")] = 5,
    first_seed: Annotated[int, typer.Option(min=0, help="figure1: seed of the first stream.")] = 0,
    rounds: Annotated[int, typer.Option(min=1, help="figure1: rounds in a stream; the paper has 50 000.")] = 50_000,
    quick: Annotated[
        bool, typer.Option("--quick", help="figure1: one stream only. theory, control: the same at a smaller size.")
    ] = False,
) -> None:
    """Run the paper's experiments and print their tables, with every claim checked.

    figure1: OGD, Ader and Scream on the paper's drifting-regression stream, at three prices of moving.

    theory: every bound on random problems, growth in rounds and prices, the lower-bound adversaries, and the hindsight
    optimum with its certificate.

    control: identification of plants that are not known, and explore-then-commit on 200 of them.
    """
    from rich.console import Console

    console = Console(highlight=False)
    try:
        for name in dict.fromkeys(what or [Experiment.figure1]):
            if name is Experiment.figure1:
                _figure1(console, 1 if quick else seeds, first_seed, rounds)
            elif name is Experiment.theory:
                from driftwise.experiments import theory

                _studies(console, theory.STUDIES, quick)
            else:
                from driftwise.experiments import control

                _studies(console, control.STUDIES, quick)
    except KeyboardInterrupt:
        typer.echo("Stopped; nothing was kept. Fewer --seeds or --rounds, or --quick, take less time.", err=True)
        raise typer.Exit(130) from None


def _progress(console: "Console") -> "Progress":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:<24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs,"),
        TimeElapsedColumn(),
        TextColumn("so far,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


def _table(header: list[str]) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for name in header:
        table.add_column(name, justify="left" if name == header[0] else "right", no_wrap=True)
    return table


def _studies(console: "Console", studies: "tuple[Study, ...]", quick: bool) -> None:
    """Run every study and print what it found."""
    from driftwise.experiments.study import conclude

    verdicts: list[bool | None] = []
    for study in studies:
        with _progress(console) as progress:
            task = progress.add_task(study.title[:40], total=len(study.tasks(quick)))
            finding = conclude(study, quick, lambda task=task: progress.advance(task))  # type: ignore[misc]
        console.print(f"[bold]{study.title}[/bold]")
        table = _table(finding.header)
        for row in finding.rows:
            table.add_row(*row)
        console.print(table)
        for claim in finding.claims:
            console.print(f"- {claim}", soft_wrap=True)
            verdicts.append(claim.holds)
        console.print()
    counts = {True: "hold", False: "do not hold", None: "not checked"}
    shown = [f"{verdicts.count(value)} {words}" for value, words in counts.items() if value in verdicts]
    console.print(f"Of {len(verdicts)} claims: {', '.join(shown)}.")


def _figure1(console: "Console", seeds: int, first_seed: int, rounds: int) -> None:
    """Play the streams of Figure 1 and print the table and the claims."""
    from driftwise.experiments import figure1

    rows: list[figure1.Row] = []
    console.print(
        f"Drifting regression: {rounds} rounds, 10 dimensions, seeds {first_seed} to {first_seed + seeds - 1}"
    )
    with _progress(console) as progress:
        total = seeds * len(figure1.ALPHAS) * len(figure1.CONTENDERS)
        task = progress.add_task("compiling (once)", total=total)
        for row in figure1.runs(range(first_seed, first_seed + seeds), rounds):
            rows.append(row)
            progress.update(task, advance=1, description=f"seed {row.seed}, alpha {row.alpha:g}")
    console.print("Overall cost (loss + switching cost), mean over streams; lambda = 2 alpha")
    table = _table(["learner", *(f"alpha = {alpha:g}" for alpha in figure1.ALPHAS)])
    best = {a: min(figure1.mean(rows, name, a) for name in figure1.CONTENDERS) for a in figure1.ALPHAS}
    for name in figure1.CONTENDERS:
        cells = []
        for alpha in figure1.ALPHAS:
            overall, loss, switching = (
                figure1.mean(rows, name, alpha, field) for field in ("overall", "loss", "switching")
            )
            shown = f"[bold]{overall:.0f}[/bold]" if overall == best[alpha] else f"{overall:.0f}"
            cells.append(f"{shown} ({loss:.0f} + {switching:.0f})")
        table.add_row(name, *cells)
    console.print(table)
    console.print(f"What the paper claims for {figure1.ROUNDS} rounds, checked on each stream by itself:")
    for claim in figure1.claims(rows):
        console.print(f"- {claim}")
        for ratio in claim.ratios:
            console.print(f"    {ratio}")


def main() -> None:
    """Run the command line; what is wrong with the input is said in one line, with exit code 2."""
    try:
        app()
    except driftwise.errors.DriftwiseError as error:
        typer.echo(f"driftwise: {error}", err=True)
        raise SystemExit(2) from None
