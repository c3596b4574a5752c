"""Figures for print: one PNG and one PDF a finding, as wide as a column or a page of a journal."""

import math
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftwise.experiments.findings.finding import Finding, Panel, Series
from driftwise.report.curves import bands, dash, entries
from driftwise.report.palette import MARKERS, Look
from driftwise.report.saving import save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]

COLUMN, PAGE = 3.4, 7.0
"""Widths of one column and of both, in inches."""

LETTER = 0.055
"""Width of an average letter, in inches."""

DOTS = 300
"""Dots per inch of the PNG."""

STYLE: Any = {
    # Both fonts come with matplotlib, so a figure is the same everywhere; the second has letters that the first lacks.
    "font.family": ["STIXGeneral", "DejaVu Sans"],
    "mathtext.fontset": "stix",
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.titlepad": 4.0,
    "axes.labelsize": 8.0,
    "axes.labelpad": 2.5,
    "axes.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-4, 6),
    "grid.linewidth": 0.35,
    "grid.color": "#e3e3e3",
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.6,
    "lines.scale_dashes": False,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.minor.width": 0.35,
    "ytick.minor.width": 0.35,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "pdf.fonttype": 42,
}


def draw(finding: Finding, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Write ``stem.png`` and ``stem.pdf``, and return both paths.

    The same finding gives the same bytes. The user's settings of matplotlib are neither used nor changed.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    count = len(finding.panels)
    columns = max(1, min(finding.columns, count))
    rows = math.ceil(count / columns)
    width = COLUMN if columns == 1 else PAGE
    panel_width = width / columns
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        labels = _legend_rows(finding, width)
        height = rows * max(1.75, 0.68 * panel_width) + 0.17 * labels + 0.1
        figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.04, hspace=0.04))
        grid = figure.add_gridspec(rows, columns)
        handles: dict[str, Any] = {}
        for place, panel in enumerate(finding.panels):
            axes = figure.add_subplot(grid[divmod(place, columns)])
            letter = f"({_letter(place)}) " if count > 1 else ""
            room = int((panel_width - 0.45) / LETTER)
            axes.set_title(_literal(textwrap.fill(letter + panel.title, room)), loc="left")
            # A label that the panel below, or to the left, shows as well is left out.
            below, left = place + columns, place - 1
            if below >= count or finding.panels[below].x_label != panel.x_label:
                axes.set_xlabel(_literal(textwrap.fill(panel.x_label, room)))
            if place % columns == 0 or finding.panels[left].y_label != panel.y_label:
                axes.set_ylabel(_literal(textwrap.fill(panel.y_label, 34)))
            _plot(axes, panel, looks, handles)
        figure.align_ylabels()
        names = [name for name in entries(finding) if name in handles]
        if names:
            figure.legend(
                [handles[name] for name in names],
                [_literal(name) for name in names],
                loc="outside lower center",
                ncols=math.ceil(len(names) / labels),
            )
        # Lay out once, so that both files have the same layout.
        figure.draw_without_rendering()
        figure.set_layout_engine(None)
        return save_figure(figure, stem, DOTS)


def _plot(axes: "Axes", panel: Panel, looks: Mapping[str, Look], handles: dict[str, Any]) -> None:
    """Draw the curves of a panel, and remember the first line of every name."""
    if panel.log:
        axes.set_xscale("log")
        axes.set_yscale("log")
    for rank, series in enumerate(panel.series):
        look = looks[series.name]
        for piece in bands(series, panel.series, panel.log):
            axes.fill_between(piece.x, piece.low, piece.high, color=look.colour, alpha=0.16, linewidth=0.0)
        (line,) = axes.plot(
            series.x,
            series.y,
            color=look.colour,
            linewidth=0.8 if series.style != "line" else 1.0,
            linestyle=(0, dash(series, look)) if dash(series, look) else "-",
            marker=None if series.style == "dashed" else MARKERS[look.marker][0],
            markevery=_every(series, rank),
            markersize=4.2 if look.marker == "star" else 3.2,
            markerfacecolor="white" if look.hollow else look.colour,
            markeredgewidth=0.7 if look.hollow else 0.0,
        )
        handles.setdefault(series.name, line)
    axes.margins(x=0.03)
    if panel.log:
        _label_logarithmic(axes)


def _label_logarithmic(axes: "Axes") -> None:
    """Label powers of ten, and where an axis has few of them 1, 2 and 5 times each, as plain numbers."""
    from matplotlib.ticker import LogLocator

    for axis in (axes.xaxis, axes.yaxis):
        low, high = axis.get_view_interval()
        if high < 100.0 * low:
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")


def _every(series: Series, rank: int) -> tuple[int, int]:
    """Return which points have a marker: all of a measurement, about eight of a line, staggered between lines."""
    if series.style == "points":
        return 0, 1
    step = max(1, len(series.x) // 8)
    return (rank * step) // 5 % step, step


def _legend_rows(finding: Finding, width: float) -> int:
    """Return the fewest rows that hold the legend, from the lengths of names in inches; matplotlib fills by columns."""
    lengths = [LETTER * len(name) + 0.58 for name in entries(finding)]
    for rows in range(1, len(lengths)):
        if sum(max(lengths[k : k + rows]) for k in range(0, len(lengths), rows)) < width:
            return rows
    return max(1, len(lengths))


def _letter(place: int) -> str:
    return chr(ord("a") + place) if place < 26 else str(place + 1)


def _literal(text: str) -> str:
    """Keep matplotlib from reading formulas between dollar signs."""
    return text.replace("$", r"\$")
