"""The command line: `driftwise`."""

import os
import shlex
import sys
import time
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import driftwise
from driftwise.errors import DriftwiseError, ParameterError, RunError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid

    from driftwise.experiments.findings.finding import Claim, Finding, Table
    from driftwise.report import Report

app = typer.Typer(
    help="Online decisions in a world that drifts, when changing your mind costs something.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 done, 1 a run failed, 2 wrong input, 130 stopped by Ctrl-C.",
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
    figure2 = "figure2"
    theory = "theory"
    selftuned = "selftuned"
    control = "control"


EVERYTHING = (Experiment.figure1, Experiment.figure2, Experiment.theory)
"""What is run when nothing is named: what the paper shows, and not what goes beyond it."""


@app.command(short_help="Run the paper's experiments and build the report.")
def reproduce(
    what: Annotated[
        list[Experiment] | None,
        typer.Argument(
            metavar="WHAT",
            help="One or several; figure1, figure2 and theory when left out.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Figures: how many seeds; 5, or 1 with --quick. Other studies have their own."
        ),
    ] = None,
    first_seed: Annotated[int, typer.Option(min=0, metavar="SEED", help="Figures: the first of the seeds.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller size, in about a minute.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the runs, the figures and the report.")] = Path(
        "reproduction"
    ),
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processes on this machine; one for each core when left out.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster instead, such as tcp://host:8786.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Keep the runs that are finished in the folder.")] = False,
) -> None:
    """Run the paper's experiments, check every claim, and build the report.

    figure1: OGD, Ader, Scream and Lazy Scream on drifting regression, at three prices of moving, beside
    the cheapest decisions in hindsight.

    figure2: OGD, Ader and Scream as controllers of linear systems and of a pendulum, beside LQR and the
    best policies in hindsight.

    theory: every bound on random problems, growth in rounds, path and price, the lower-bound adversaries.

    selftuned: learning without knobs on the paper's stream and on adversarial ones, in other units, with hints,
    and in whole numbers; not run unless named.

    control: identification of plants that are not known, explore-then-commit on 200 of them, and control without
    knobs; it takes longer than all the others together, and is not run unless named.
    """
    from rich.console import Console

    from driftwise import experiments, report
    from driftwise.experiments.studies.study import Size

    report.require()
    _writable(out)
    console = Console(highlight=False)
    _announce(console)
    claims: list[Claim] = []

    def found(finding: "Finding") -> None:
        _show(console, finding)
        claims.extend(finding.claims)

    try:
        for name in dict.fromkeys(what or EVERYTHING):
            experiments.reproduce(
                name.value,
                out,
                size=Size(quick, range(first_seed, first_seed + (seeds or (1 if quick else 5)))),
                resume=resume,
                workers=workers,
                dask=dask,
                console=console,
                command=_command(),
                found=found,
            )
        console.print(_verdicts(claims), soft_wrap=True, markup=False)
        if quick:
            console.print("This was the quick size: run it without --quick before you conclude anything.")
        _report(console, out)
    except KeyboardInterrupt:
        typed = sys.argv[0] if Path(sys.argv[0]).stem == "driftwise" else "driftwise"
        again = shlex.join([typed, *sys.argv[1:], *([] if resume else ["--resume"])])
        typer.echo(f"Stopped. Finished runs are kept in {out}; to go on from there: {again}", err=True)
        raise typer.Exit(130) from None


@app.command(short_help="Build the report of a folder again.")
def report(
    folder: Annotated[
        Path, typer.Argument(help="A folder that `reproduce`, `compare` or `apply` wrote.", metavar="DIR")
    ],
) -> None:
    """Build the report of a folder: one HTML page that needs nothing else, and its figures as PNG and PDF."""
    from rich.console import Console

    if folder.is_dir():
        _writable(folder)
    _report(Console(highlight=False), folder)


LEARNERS = (
    "selftuned",
    "scream",
    "lazy-scream",
    "ader",
    "ogd",
    "ader-original",
    "ogd-switching",
    "ogd-no-horizon",
    "scream-theorem",
    "scream-no-horizon",
    "lazy-scream-theorem",
)
"""The names of `driftwise.experiments.comparison.CONTENDERS`, which are not imported to show the help."""


@app.command(short_help="Play learners on your own CSV or parquet file.")
def compare(
    data: Annotated[Path, typer.Option(metavar="FILE", help="CSV or parquet file: a row for each round.")],
    target: Annotated[str, typer.Option(metavar="COLUMN", help="Column to be predicted.")],
    switching_cost: Annotated[
        float, typer.Option(min=0.0, metavar="PRICE", help="What it costs to move the weights by one unit.")
    ],
    learner: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Who plays, repeat it for several: {', '.join(LEARNERS)}. The first five when left out.",
            show_default=False,
        ),
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column to predict from; repeat it for several. All but the target when left out.",
            show_default=False,
        ),
    ] = None,
    intercept: Annotated[bool, typer.Option("--intercept", help="Add a feature that is always 1.")] = False,
    standardise: Annotated[
        bool, typer.Option("--standardise", help="Scale features to mean 0 and standard deviation 1.")
    ] = False,
    radius: Annotated[
        float | None,
        typer.Option(
            metavar="NORM", help="Largest norm of the weights; twice that of the best fixed ones if left out."
        ),
    ] = None,
    hindsight: Annotated[
        bool, typer.Option(help="Show the cheapest decisions in hindsight, which can take long on many rows.")
    ] = True,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the figures and the report.")] = Path(
        "comparison"
    ),
) -> None:
    """Play learners on your own data, a loss of (w.x - y)^2 / 2 in every row, and build the report."""
    from rich.console import Console

    from driftwise import report
    from driftwise.experiments.comparison import compare as play

    report.require()
    _writable(out)
    console, began = Console(highlight=False), time.monotonic()
    _announce(console)
    with console.status("reading the data") as status:
        finding = play(
            data,
            target,
            learner or LEARNERS[:5],
            switching_cost,
            features=feature,
            intercept=intercept,
            standardise=standardise,
            radius=radius,
            hindsight=hindsight,
            progress=lambda name: status.update(f"playing: {name}"),
        )
    seconds = time.monotonic() - began
    _show(console, finding)
    runs = len(learner or LEARNERS[:5])
    built = report.publish(
        out, finding.title, [finding], name="comparison", command=_command(), seconds=seconds, runs=runs
    )
    _built(console, built)


class Application(StrEnum):
    """What can be applied: the names of `driftwise.applications`, which is not imported to show the help."""

    capacity = "capacity"
    forecasts = "forecasts"
    energy = "energy"
    policies = "policies"


@app.command(short_help="Play real problems on real data, against the rules of today.")
def apply(
    what: Annotated[
        list[Application] | None,
        typer.Argument(metavar="NAME", help="One or several; all four when left out.", show_default=False),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="SERIES", help="Play on this series only; --list shows all of them.", show_default=False),
    ] = None,
    move_cost: Annotated[
        list[float] | None,
        typer.Option(
            min=0.0,
            metavar="PRICE",
            help="What a move by one unit costs; repeat it for several. 0.5, 5 and 20 when left out.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the findings, the figures and the report.")
    ] = Path("applications"),
    show: Annotated[
        bool, typer.Option("--list", help="Show which applications and series there are, and exit.")
    ] = False,
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

    from driftwise import applications, report
    from driftwise.experiments.findings.finding import Table

    console = Console(highlight=False)
    if show:
        _print_table(
            console,
            Table("Applications", ["application", "series", "what it is", "how to get it"], applications.listing()),
        )
        return
    report.require()
    status = console.status("reading the data")
    chosen = applications.Applications(
        move_cost or applications.MOVE_COSTS, data, lambda text: status.update(f"playing: {text}")
    )
    names = [name.value for name in dict.fromkeys(what or Application) if what or chosen.takes(name.value)]
    for name in names:
        chosen.names(name)  # what is wrong is said before anything is played
    _writable(out)
    _announce(console)
    for name in names:
        with status:
            chapter = applications.apply(name, out, applications=chosen, command=_command())
        for finding in chapter.findings:
            _show(console, finding)
    _report(console, out)


FAMILIES = (
    "learners",
    "self-tuned",
    "domains",
    "prices",
    "hints",
    "committee",
    "losses",
    "control",
    "self-tuned-control",
    "regret",
    "hindsight-control",
)
"""The names of `driftwise.warmup.FAMILIES`, which are not imported to show the help."""


@app.command(short_help="Compile beforehand, so that no first decision has to wait.")
def warmup(
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"What to compile, repeat it for several: {', '.join(FAMILIES)}. Everything when left out.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Compile what learners and controllers need, and keep the machine code on disk.

    Every kernel is compiled when it is first used, which takes seconds, and read from disk in later processes. That is
    all that most people need. Run this command beforehand where the first decision must not wait, or where what is
    compiled is lost: in the image of a container, in a serverless function, on a machine that cannot write to its disk,
    before a plant is switched on.

    The machine code is kept beside the installed package; set DRIFTWISE_CACHE_DIR to keep it in a folder of your own,
    now and when it is used. It is made for this processor; NUMBA_CPU_NAME=generic makes it for all of its kind.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from driftwise import _compile
    from driftwise.warmup import chosen_families, machine_code_folder, warm_up

    names, folder = chosen_families(family), machine_code_folder()
    if _compile.PLAIN:
        raise ParameterError("warmup: NUMBA_DISABLE_JIT is set, so there is nothing to compile; unset it.")
    if folder is None:
        raise RunError(
            "warmup: what is compiled could not be kept; set DRIFTWISE_CACHE_DIR to a folder that can be written to."
        )
    _compile.say_nothing()
    console, began = Console(highlight=False), time.monotonic()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    compiled, cpu_seconds = 0, 0.0
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            bar = progress.add_task("compiling", total=len(names))
            for name in names:
                progress.update(bar, description=f"compiling: {name}")
                (done,) = warm_up([name])
                compiled, cpu_seconds = compiled + done.compiled, cpu_seconds + done.cpu_seconds
                console.print(f"{name:<20}{done.compiled:>4} compiled{done.cpu_seconds:>8.1f} CPU s")
                progress.advance(bar)
    except KeyboardInterrupt:
        typer.echo(f"Stopped. What has been compiled is kept in {folder}.", err=True)
        raise typer.Exit(130) from None
    if _compile.lost():
        raise RunError(
            f"warmup: {len(_compile.lost())} of {compiled} kernels could not be kept in {folder}; set "
            "DRIFTWISE_CACHE_DIR to a folder that can be written to."
        )
    took = f"{time.monotonic() - began:.1f} s ({cpu_seconds:.1f} CPU s)"
    console.print(f"Ready: {compiled} kernels compiled in {took}, kept in {folder}", soft_wrap=True)


def _writable(folder: Path) -> None:
    """Find out before the work, and not after it, that nothing can be written."""
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise ParameterError(f"{folder} is not a folder to write to, because of {existing}; give another one.")


def _announce(console: "Console") -> None:
    """Say so if the machine code is not there yet."""
    if not any(Path(driftwise.__file__).parent.rglob("*.nbi")) and "NUMBA_CACHE_DIR" not in os.environ:
        console.print("The first run compiles, which takes some seconds more.")


def _command() -> str:
    return shlex.join(["driftwise", *sys.argv[1:]])


def _report(console: "Console", folder: Path) -> None:
    from driftwise import report

    with console.status("building the report"):
        built = report.build(folder, order=[name.value for name in (*Experiment, *Application)])
    _built(console, built)


def _built(console: "Console", built: "Report") -> None:
    count = len(built.figures) // 2
    what = "1 figure" if count == 1 else f"{count} figures"
    shown = f"; {what} as PNG and PDF in {built.figures[0].parent}" if count else ""
    console.print(f"Report: {built.page}{shown}", soft_wrap=True)


def _show(console: "Console", finding: "Finding") -> None:
    """Print what was found."""
    from rich.markup import escape

    console.rule(f"[bold]{escape(finding.title)}[/bold]", align="left")
    for table in finding.tables:
        if not table.detail:
            _print_table(console, table)
    for claim in finding.claims:
        console.print(f"- {claim}", soft_wrap=True, markup=False)
    console.print(f"\n{finding.summary}\n", markup=False)


def _print_table(console: "Console", table: "Table") -> None:
    from rich.console import Console
    from rich.measure import Measurement

    console.print(f"\n{table.title}", markup=False)
    grid = _table(table)
    # A number that is cut is another number: rather wider than the screen.
    width = Measurement.get(console, console.options.update(max_width=1000), grid).maximum
    Console(file=console.file, width=max(width, console.width)).print(grid)


def _table(table: "Table") -> "Grid":
    from rich import box
    from rich.markup import escape
    from rich.table import Table as Grid

    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1))
    for k, name in enumerate(table.header):
        # Numbers are kept whole; sentences are wrapped.
        short = all(len(row[k]) <= 30 for row in table.rows)
        grid.add_column(
            escape(name), justify="right" if k and short else "left", no_wrap=short, max_width=None if short else 40
        )
    for row in table.rows:
        grid.add_row(*map(escape, row))
    return grid


def _verdicts(claims: "list[Claim]") -> str:
    def count(of: "list[Claim]") -> str:
        words = {True: "hold", False: "do not hold", None: "not checked"}
        verdicts = [claim.holds for claim in of]
        return ", ".join(f"{verdicts.count(value)} {text}" for value, text in words.items() if value in verdicts)

    paper = [claim for claim in claims if claim.paper]
    own = f" Of the paper's own {len(paper)}: {count(paper)}." if paper else ""
    failed = [f"\n- {claim}" for claim in claims if claim.holds is False]
    return f"Of {len(claims)} claims: {count(claims)}.{own}{''.join(failed)}"


def main() -> None:
    """Run the command line; what is wrong is said in one line, with an exit code that tells whose fault it is."""
    warnings.formatwarning = lambda message, *_: f"driftwise: {message}\n"
    try:
        app()
    except RunError as error:
        _fail(error, 1)
    except DriftwiseError as error:
        _fail(error, 2)
    except OSError as error:
        _fail(error, 1)


def _fail(error: Exception, code: int) -> None:
    typer.echo(f"driftwise: {error}", err=True)
    raise SystemExit(code) from None
