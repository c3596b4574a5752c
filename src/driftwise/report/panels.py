"""Panels as data for plotly.js; their layout is up to page.js, which knows how wide the window is."""

import html
import math
from collections.abc import Iterable, Mapping
from typing import Any

from driftwise.experiments.findings.finding import Finding, Panel, Series
from driftwise.report.curves import bands, dash
from driftwise.report.palette import Look

__all__ = ["figure"]

DIGITS = 7
"""Significant digits that are kept: more than a screen shows, and half the size."""

MARKERS = 8
"""Markers along a line."""


def figure(finding: Finding, looks: Mapping[str, Look]) -> dict[str, Any]:
    """Return the figure of a finding: its traces, and what its panels are called."""
    return {
        "columns": finding.columns,
        "panels": [
            {"title": panel.title, "x": panel.x_label, "y": panel.y_label, "log": panel.log} for panel in finding.panels
        ],
        "traces": [
            trace
            for number, panel in enumerate(finding.panels, 1)
            # Bands come first, so that no band covers a curve.
            for trace in [*_bands(panel, number, looks), *_curves(panel, number, looks)]
        ],
    }


def _bands(panel: Panel, number: int, looks: Mapping[str, Look]) -> Iterable[dict[str, Any]]:
    for series in panel.series:
        pieces = bands(series, panel.series, panel.log)
        if pieces:
            red, green, blue = (int(looks[series.name].colour[k : k + 2], 16) for k in (1, 3, 5))
            # Around each piece: along the top, and back along the bottom.
            x = [value for piece in pieces for value in (*piece.x, *reversed(piece.x), math.nan)]
            y = [value for piece in pieces for value in (*piece.high, *reversed(piece.low), math.nan)]
            yield _trace(series, number) | {
                "x": _numbers(x[:-1]),
                "y": _numbers(y[:-1]),
                "mode": "lines",
                "line": {"width": 0},
                "fill": "toself",
                "fillcolor": f"rgba({red}, {green}, {blue}, 0.18)",
                "hoverinfo": "skip",
            }


def _curves(panel: Panel, number: int, looks: Mapping[str, Look]) -> Iterable[dict[str, Any]]:
    for series in panel.series:
        look, points = looks[series.name], series.style == "points"
        value = "%{y:.5~g}" if series.spread is None else "%{y:.5~g} ± %{customdata:.2~g}"
        pattern = ",".join(f"{length:g}px" for length in dash(series, look))
        yield _trace(series, number) | {
            "x": _numbers(series.x),
            "y": _numbers(series.y),
            **({} if series.spread is None else {"customdata": _numbers(series.spread)}),
            "mode": "lines" if series.style == "dashed" else "lines+markers",
            "line": {"color": look.colour, "width": 1.2 if points else 1.8, "dash": pattern or "solid"},
            "marker": {
                "color": look.colour,
                "symbol": look.marker + ("-open" if look.hollow else ""),
                "size": 7,
                "maxdisplayed": 0 if points else MARKERS,
                "line": {"width": 1.4 if look.hollow else 0},
            },
            "hovertemplate": value,
        }


def _trace(series: Series, number: int) -> dict[str, Any]:
    """Return what a curve and its band have in common; plotly reads names as HTML."""
    axis = "" if number == 1 else str(number)
    return {
        "type": "scatter",
        "name": html.escape(series.name, quote=False),
        "legendgroup": series.name,
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
    }


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Round, and replace by None what JSON cannot express."""
    return [_short(float(f"{value:.{DIGITS}g}")) if math.isfinite(value) else None for value in values]


def _short(value: float) -> float:
    return int(value) if value.is_integer() and abs(value) < 1e15 else value
