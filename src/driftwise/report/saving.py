"""A figure as two files, each whole or not at all."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftwise._files import make_folder, write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: "Figure", stem: Path, dots: int) -> list[Path]:
    """Write a figure as PNG and PDF, without dates and versions in them, and return the files.

    Parameters
    ----------
    figure : matplotlib figure
        What is drawn.
    stem : path
        The files without their endings; it may contain a dot. Folders are made.
    dots : int
        Dots to the inch of the PNG.
    """
    make_folder("report", stem.parent)
    made = []
    kinds: dict[str, dict[str, Any]] = {
        ".png": {"dpi": dots, "metadata": {"Software": None}},
        ".pdf": {"metadata": {"CreationDate": None}},
    }
    for ending, options in kinds.items():
        file, path = io.BytesIO(), stem.parent / f"{stem.name}{ending}"
        figure.savefig(file, format=ending[1:], **options)
        write_atomically("report", path, file.getbuffer())
        made.append(path)
    return made
