"""The one place where driftwise meets matplotlib, which is optional."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from driftwise._extras import optional
from driftwise.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 1000
"""Points along the time axis, at most: more do not show, and make a figure heavy."""


def axes(owner: str, ax: "Axes | None") -> "Axes":
    """Return the axes given, or new ones in a new figure."""
    optional(owner, "matplotlib", "plot")
    from matplotlib import pyplot
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise ParameterError(f"{owner}: ax must be matplotlib axes, such as plt.subplots()[1], got {ax!r}.")
    return pyplot.subplots(layout="constrained")[1] if ax is None else ax


def edges(rounds: int, count: int) -> NDArray[np.int64]:
    """Return where `count` windows of (almost) equal length begin, and where the last one ends."""
    return np.linspace(0, rounds, count + 1).astype(np.int64)


def averages(rows: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the mean of the rows in each of `count` windows of (almost) equal length."""
    places = edges(len(rows), count)
    return np.asarray(np.add.reduceat(rows, places[:-1], axis=0) / np.diff(places)[:, None])


def heat_map(ax: "Axes", weights: NDArray[np.float64]) -> None:
    """Draw weights over time, (T, N), as a heat map with one row for each of N."""
    rounds, count = weights.shape
    extent = (0.0, float(rounds), -0.5, count - 0.5)
    cells = averages(weights, min(rounds, POINTS)).T
    image = ax.imshow(cells, aspect="auto", interpolation="nearest", origin="lower", vmin=0.0, extent=extent)
    ax.figure.colorbar(image, ax=ax, label="weight")
