"""`driftwise reproduce`: the paper's experiments, and those that go beyond it."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftwise.cli.folders import build_report, command, prepare
from driftwise.cli.showing import show, verdicts

if TYPE_CHECKING:
    from driftwise.experiments.findings.finding import Claim, Finding

EVERYTHING = ("figure1", "figure2", "theory")
"""What is run when nothing is named: what the paper shows, and not what goes beyond it."""


def _complete(incomplete: str) -> list[str]:
    """Return the experiments that a shell may complete a word to."""
    from driftwise.experiments.studies.catalogue import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]


SEVERAL = "One or several; figure1, figure2 and theory if left out."
What = Annotated[list[str] | None, typer.Argument(metavar="WHAT", help=SEVERAL, autocompletion=_complete)]
Seeds = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Number of seeds of the figures: 5, or 1 with --quick.")
]
FirstSeed = Annotated[int, typer.Option(min=0, metavar="SEED", help="First seed of the figures.")]
Quick = Annotated[bool, typer.Option("--quick", help="A smaller size, in about a minute.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the runs, the figures and the report.")]
Workers = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Processes on this machine; one for each core if left out.")
]
Dask = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster instead, such as tcp://host:8786.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Keep the runs that are finished in the folder.")]


def reproduce(
    what: What = None,
    *,
    seeds: Seeds = None,
    first_seed: FirstSeed = 0,
    quick: Quick = False,
    out: Out = Path("reproduction"),
    workers: Workers = None,
    dask: Dask = None,
    resume: Resume = False,
) -> None:
    """Run the paper's experiments, check every claim, and build the report.

    figure1: OGD, Ader, Scream and Lazy Scream on drifting regression, at three prices of moving, beside
    the cheapest decisions in hindsight.

    figure2: OGD, Ader and Scream as controllers of linear systems and of a pendulum, beside LQR and the
    best policies in hindsight.

    theory: the bounds on random problems, growth in rounds, path and price, the lower-bound adversaries.

    selftuned: learning without knobs on the paper's stream and on adversarial ones, in other units, with hints,
    and in whole numbers; not run unless named.

    decisions: SelfTunedLearner on real streams beside rules tuned in hindsight, with forecasts, in other units, after
    glitches, and on the paper's stream; the streams come with the extra `streams`; not run unless named.

    control: SelfTunedController beside LQR, integral action, observers and forecasts on an engineer's plants, with
    right and wrong models, from outputs, and while they drift; plants that are not known; changing costs. Not run
    unless named.

    late: what learners and a committee pay for feedback that comes up to 64 rounds late; not run unless named.
    """
    from rich.console import Console

    from driftwise import experiments
    from driftwise.experiments.studies.plan import plan
    from driftwise.experiments.studies.study import Size

    console, claims = Console(highlight=False), list["Claim"]()
    names = list(dict.fromkeys(what or EVERYTHING))
    size = Size(quick, range(first_seed, first_seed + (seeds or (1 if quick else 5))))
    prepare(console, out)
    how: dict[str, Any] = {"workers": workers, "dask": dask, "resume": resume}
    console.print(plan(names, size, **how))

    def found(finding: "Finding") -> None:
        show(console, finding)
        claims.extend(finding.claims)

    try:
        for name in names:
            experiments.reproduce(name, out, size=size, console=console, command=command(), found=found, **how)
        console.print(verdicts(claims), soft_wrap=True, markup=False)
        if quick:
            console.print("This was the quick size: run it without --quick before you conclude anything.")
        build_report(console, out)
    except KeyboardInterrupt:
        typed = sys.argv[0] if Path(sys.argv[0]).stem == "driftwise" else "driftwise"
        again = shlex.join([typed, *sys.argv[1:], *([] if resume else ["--resume"])])
        typer.echo(f"Stopped. Finished runs are kept in {out}; to go on from there: {again}", err=True)
        raise typer.Exit(130) from None
