"""The command line, `driftwise`: one file for each command, put together here."""

import warnings
from typing import Annotated

import typer

import driftwise
from driftwise.cli import apply, compare, report, reproduce, serve, warmup
from driftwise.errors import DriftwiseError, RunError

__all__ = ["app", "main"]

app = typer.Typer(
    help="Online decisions in a world that drifts, when changing your mind costs something.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 done, 1 a run failed, 2 wrong input, 130 stopped by Ctrl-C.",
)
app.command(short_help="Run the paper's experiments and build the report.")(reproduce.reproduce)
app.command(short_help="Build the report of a folder again.")(report.report)
app.command(short_help="Play learners on your own CSV or parquet file.")(compare.compare)
app.command(short_help="Play real problems on real data, against rules in common use.")(apply.apply)
app.command(short_help="Serve decisions over HTTP, a learner for every key.")(serve.serve)
app.command(short_help="Compile beforehand, so that no first decision has to wait.")(warmup.warmup)


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


def main() -> None:
    """Run the command line; an error is one line, with exit code 1 if a run failed and 2 if the input is wrong."""
    warnings.formatwarning = lambda message, *_: f"driftwise: {message}\n"
    try:
        app()
    except (DriftwiseError, OSError) as error:
        typer.echo(f"driftwise: {error}", err=True)
        raise SystemExit(1 if isinstance(error, RunError | OSError) else 2) from None
