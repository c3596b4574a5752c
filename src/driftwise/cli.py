"""The command line: `driftwise`."""

from typing import Annotated

import typer

import driftwise

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


@app.command()
def reproduce(
    seeds: Annotated[int, typer.Option(min=1, help="How many streams to play, each with its own seed.")] = 5,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first stream.")] = 0,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds in a stream; the paper has 50 000.")] = 50_000,
) -> None:
    """Play the paper's drifting-regression stream (Figure 1) and print the table and the claims."""
    from rich import box
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Table

    from driftwise.experiments import figure1

    console = Console(highlight=False)
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
    rows: list[figure1.Row] = []
    console.print(
        f"Drifting regression: {rounds} rounds, 10 dimensions, seeds {first_seed} to {first_seed + seeds - 1}"
    )
    try:
        with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
            total = seeds * len(figure1.ALPHAS) * len(figure1.CONTENDERS)
            task = progress.add_task("compiling (once)", total=total)
            for row in figure1.runs(range(first_seed, first_seed + seeds), rounds):
                rows.append(row)
                progress.update(task, advance=1, description=f"seed {row.seed}, alpha {row.alpha:g}")
    except KeyboardInterrupt:
        typer.echo("Stopped; nothing was kept. Fewer --seeds or --rounds take less time.", err=True)
        raise typer.Exit(130) from None

    table = Table("learner", box=box.SIMPLE_HEAD, padding=(0, 1), title_justify="left")
    table.title = "Overall cost (loss + switching cost), mean over streams; lambda = 2 alpha"
    for alpha in figure1.ALPHAS:
        table.add_column(f"alpha = {alpha:g}", justify="right")
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
