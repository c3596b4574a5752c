"""Costs as bars for print: running and moving side by side in one bar for everyone, a PNG and a PDF."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from driftwise.report.figures import DOTS, PAGE, STYLE
from driftwise.report.palette import COLOURS
from driftwise.report.saving import save_figure

__all__ = ["Bar", "draw_bars"]

LONGEST = 4.0
"""Length of the longest bar that is drawn whole, in lengths of the median one; longer ones are cut, and say so."""


class Bar(NamedTuple):
    """What one player cost."""

    name: str
    running: float
    moving: float
    label: str
    """The overall cost, as it is written at the end of the bar."""


def draw_bars(bars: Sequence[Bar], title: str, stem: Path) -> list[Path]:
    """Write ``stem.png`` and ``stem.pdf``, and return both paths.

    Parameters
    ----------
    bars : sequence of Bar
        From the top down.
    title : str
        Text above the bars.
    stem : Path
        Path of both files without their endings.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    lengths = [bar.running + bar.moving for bar in bars]
    limit = LONGEST * sorted(lengths)[len(lengths) // 2]
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        figure = Figure(figsize=(PAGE, 0.6 + 0.19 * len(bars)), layout="constrained")
        axes = figure.add_subplot()
        places = range(len(bars))
        running = [min(bar.running, limit) for bar in bars]
        moving = [min(bar.moving, limit - part) for bar, part in zip(bars, running, strict=True)]
        axes.barh(places, running, 0.7, color=COLOURS["blue"], label="running")
        axes.barh(places, moving, 0.7, left=running, color=COLOURS["orange"], label="moving")
        for place, bar, length in zip(places, bars, lengths, strict=True):
            cut = length > limit
            text = f"{bar.label}, cut" if cut else bar.label
            axes.annotate(text, (min(length, limit), place), (3, 0), textcoords="offset points", va="center", size=7)
        axes.set_yticks(list(places), [bar.name.replace("$", r"\$") for bar in bars])
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.invert_yaxis()
        axes.margins(x=0.1, y=0.02)
        axes.set_xlim(left=min(0.0, *running))
        axes.set_title(title.replace("$", r"\$"), loc="left")
        figure.legend(loc="outside lower center", ncols=2)
        return save_figure(figure, stem, DOTS)
