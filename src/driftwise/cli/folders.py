"""Folders that commands write to, and the report that is built from them."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import driftwise
from driftwise.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from driftwise.report import Report


def command() -> str:
    """Return the command that was typed, as the report names it."""
    return shlex.join(["driftwise", *sys.argv[1:]])


def prepare(console: "Console", folder: Path) -> None:
    """Check before the work that the report can be written, and say if it will take longer than usual."""
    from driftwise import report

    report.require()
    check_writable(folder)
    if not any(Path(driftwise.__file__).parent.rglob("*.nbi")) and "NUMBA_CACHE_DIR" not in os.environ:
        console.print("The first run compiles, which takes some seconds more.")


def check_writable(folder: Path) -> None:
    """Raise an error if nothing can be written to a folder, which need not exist."""
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise ParameterError(f"{folder} is not a folder to write to, because of {existing}; give another one.")


def build_report(console: "Console", folder: Path) -> None:
    """Build the report of a folder, and say where it is."""
    from driftwise import applications, report
    from driftwise.experiments.studies.catalogue import CATALOGUE

    with console.status("building the report"):
        built = report.build(folder, order=[*CATALOGUE, *applications.NAMES])
    tell(console, built)


def tell(console: "Console", built: "Report") -> None:
    """Say where a report is."""
    from driftwise.experiments.contests.words import counted

    count = counted(len(built.figures) // 2, "figure")
    shown = f"; {count} as PNG and PDF in {built.figures[0].parent}" if built.figures else ""
    console.print(f"Report: {built.page}{shown}", soft_wrap=True)
