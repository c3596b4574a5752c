"""`driftwise report`: build the report of a folder again."""

from pathlib import Path
from typing import Annotated

import typer

from driftwise.cli.folders import build_report, check_writable


def report(
    folder: Annotated[
        Path, typer.Argument(help="A folder that `reproduce`, `compare` or `apply` wrote.", metavar="DIR")
    ],
) -> None:
    """Build the report of a folder: one HTML page that needs nothing else, and its figures as PNG and PDF."""
    from rich.console import Console

    if folder.is_dir():
        check_writable(folder)
    build_report(Console(highlight=False), folder)
