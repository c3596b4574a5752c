"""What the page and the printed figures share about curves."""

import math
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from driftwise.experiments.findings.finding import Finding, Series
from driftwise.report.palette import Look

__all__ = ["Band", "bands", "dash", "entries"]

REFERENCE = (4.0, 3.0)
"""The dash of references and bounds that have none of their own."""


class Band(NamedTuple):
    """One standard deviation around a piece of a curve."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def bands(series: Series, others: Sequence[Series], log: bool) -> list[Band]:
    """Return the band of a curve in pieces, which end where the curve or its spread is not a number.

    On logarithmic axes, a band that reaches down to zero ends below the lowest of all the curves instead.
    """
    if series.spread is None:
        return []
    floor = -math.inf
    if log:
        floor = 0.5 * min((y for other in others for y in other.y if 0.0 < y < math.inf), default=1.0)
    points = [
        (x, max(y - spread, floor), max(y + spread, floor))
        for x, y, spread in zip(series.x, series.y, series.spread, strict=True)
    ]
    drawn = [all(map(math.isfinite, point)) and not (log and point[0] <= 0.0) for point in points]
    pieces = [
        [point for point, _ in piece]
        for whole, piece in groupby(zip(points, drawn, strict=True), itemgetter(1))
        if whole
    ]
    return [Band(*zip(*piece, strict=True)) for piece in pieces if len(piece) > 1]


def dash(series: Series, look: Look) -> tuple[float, ...]:
    """Return the dash of a curve: references are always dashed."""
    return look.dash or REFERENCE if series.style == "dashed" else look.dash


def entries(finding: Finding) -> dict[str, Series]:
    """Return the entries of the legend: every name once, with the first curve that has it."""
    first: dict[str, Series] = {}
    for panel in finding.panels:
        for series in panel.series:
            first.setdefault(series.name, series)
    return first
