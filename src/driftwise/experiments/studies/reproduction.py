"""From a name to a chapter: run an experiment's studies, conclude, and keep what was found."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from driftwise.experiments.findings.finding import Chapter, Finding
from driftwise.experiments.findings.provenance import provenance
from driftwise.experiments.studies.catalogue import find_experiment
from driftwise.experiments.studies.study import FULL, Size
from driftwise.experiments.sweep.sweep import run_all

if TYPE_CHECKING:
    from rich.console import Console


def reproduce(
    name: str,
    out: Path,
    *,
    size: Size = FULL,
    resume: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    console: "Console | None" = None,
    command: str = "driftwise.experiments.reproduce",
    found: Callable[[Finding], None] = lambda finding: None,
) -> Chapter:
    """Run one experiment of the catalogue, keep its runs and findings in `out`, and return its chapter.

    Parameters
    ----------
    name : str
        "figure1", "figure2", "theory", "selftuned", "decisions", "control" or "late".
    out : Path
        Folder; runs go to ``out/runs/NAME/STUDY``, findings to ``out/findings/NAME.json``.
    size : Size, optional
        How much of it to run; all when left out.
    resume, workers, dask
        As in `sweep`.
    console : rich.console.Console, optional
        Where to show progress, if it is a terminal.
    command : str, default "driftwise.experiments.reproduce"
        The command that the report names as the origin of its numbers.
    found : callable, optional
        Called with every finding as soon as there is one.

    Returns
    -------
    Chapter
        The findings, and where they come from.

    Examples
    --------
    An experiment takes from fifteen seconds, at quick size, to more than half an hour; the command is
    ``driftwise reproduce NAME``.

    >>> from pathlib import Path
    >>> from driftwise.experiments import reproduce
    >>> reproduce("figure3", Path("reports"))
    Traceback (most recent call last):
        ...
    driftwise.errors.ParameterError: reproduce: there is no experiment 'figure3'; did you mean figure2? There are
    figure1, figure2, theory, selftuned, decisions, control, late.
    """
    experiment = find_experiment(name)
    began, runs = time.monotonic(), 0
    findings = []
    for study in experiment.studies:
        results = run_all(
            study.run,
            study.configurations(size),
            title=study.title,
            out=out / "runs" / name / study.name,
            resume=resume,
            workers=workers,
            dask=dask,
            progress=console,
        )
        findings.append(study.conclude(study.tasks(size), results))
        runs += len(results)
        found(findings[-1])
    title = f"{experiment.title} (quick size: not to conclude from)" if size.quick else experiment.title
    chapter = Chapter(name, title, provenance(command, time.monotonic() - began, runs), findings)
    chapter.write(out)
    return chapter
