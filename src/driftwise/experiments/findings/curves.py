"""Curves of a run, thinned out to what a figure can show."""

import numpy as np

from driftwise._validate import Array
from driftwise.experiments.findings.finding import Series

POINTS = 200
"""Points of a curve, at most."""


def marks(rounds: int) -> list[int]:
    """Return the numbers of rounds after which a curve is read off, the last among them."""
    return sorted({int(mark) for mark in np.linspace(0, rounds, POINTS + 1)[1:].round()} - {0})


def cumulative(values: Array) -> Array:
    """Return the sums of the first values, at the marks."""
    return np.asarray(np.cumsum(values)[np.array(marks(len(values))) - 1])


def mean_curve(name: str, curves: list[Array], rounds: int, style: str = "line") -> Series:
    """Return mean and standard deviation over seeds of curves read off at the marks."""
    table = np.array(curves)
    spread = table.std(axis=0, ddof=1).tolist() if len(table) > 1 else None
    return Series(name, marks(rounds), table.mean(axis=0).tolist(), spread, style)
