"""Curves of a run, thinned out to what a figure can show."""

import numpy as np

from driftwise._validate import Array
from driftwise.experiments.findings.finding import Series

POINTS = 200
"""Largest number of points of a curve."""


def marks(rounds: int) -> list[int]:
    """Return the rounds after which a curve is sampled, the last one included."""
    return sorted({int(mark) for mark in np.linspace(0, rounds, POINTS + 1)[1:].round()} - {0})


def cumulative(values: Array) -> Array:
    """Return the cumulative sums at the marks."""
    return np.asarray(np.cumsum(values)[np.array(marks(len(values))) - 1])


def mean_curve(name: str, curves: list[Array], rounds: int, style: str = "line") -> Series:
    """Return the mean and the standard deviation over seeds of curves sampled at the marks."""
    table = np.array(curves)
    spread = table.std(axis=0, ddof=1).tolist() if len(table) > 1 else None
    return Series(name, marks(rounds), table.mean(axis=0).tolist(), spread, style)
