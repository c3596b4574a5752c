"""How runs are drawn on matplotlib axes, from arrays and words alone; see `plots`."""

import itertools
import math
from typing import TYPE_CHECKING, cast

import numpy as np

from driftwise import _plot
from driftwise._extras import optional
from driftwise._plot import POINTS, edges
from driftwise._validate import Array, Indices
from driftwise.control.costs.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WINDOWS = 200
"""Largest number of windows over which the costs of rounds are averaged."""

LINES = 10
"""Largest number of states or inputs that are drawn as separate lines."""


def columns(ax: "Axes", word: str, letter: str, rows: Array) -> None:
    """Draw the columns of an array over time; of many, the norm."""
    count = rows.shape[1]
    if count > LINES:
        lines = {f"norm of all {count}": np.linalg.norm(rows, axis=1)}
    else:
        lines = {f"${letter}_{{{k}}}$": rows[:, k] for k in range(count)}
    for label, values in lines.items():
        shown = _extremes(values)
        ax.plot(shown, values[shown], linewidth=0.9, alpha=0.85, label=label)
    ax.set(xlabel="round", ylabel=word, title=f"{word.capitalize()}s")
    ax.margins(x=0.0)
    if count > 1:
        wide = min(len(lines), LINES // 2)
        low, high = ax.get_ylim()
        room = 0.12 + 0.1 * math.ceil(len(lines) / wide)  # above the lines, for the legend
        ax.set_ylim(low, high + room * (high - low))
        ax.legend(loc="upper right", framealpha=0.8, fontsize="small", ncols=wide, columnspacing=1.0)


def cumulative(ax: "Axes", runs: "list[tuple[str, Run, str]]") -> None:
    """Draw the cumulative costs of runs, given with name and line style, from the most to the least expensive."""
    for name, run, style in sorted(runs, key=lambda item: -item[1].total):
        rounds = len(run.costs)
        shown = np.unique(np.linspace(0, rounds - 1, min(rounds, POINTS)).round().astype(np.int64))
        label = f"{name}: {run.total:,.4g}"
        ax.plot(shown + 1, np.cumsum(run.costs)[shown], linestyle=style, linewidth=1.3, label=label)
    ax.set(xlabel="round", ylabel="cumulative cost", title="Cumulative cost")
    ax.margins(x=0.0)
    ax.legend(loc="upper left", framealpha=0.8, fontsize="small")


def heat_map(ax: "Axes", table: Array, steps: Array | None) -> None:
    """Draw weights, one row a round, as a heat map, with the step sizes of the base-learners if there are any."""
    _plot.heat_map(ax, table)
    if steps is None:
        ax.set_ylabel("base-learner")
    else:
        count = table.shape[1]
        ticks = np.arange(0, count, max(1, math.ceil(count / 10)))
        ax.set_yticks(ticks, [f"{steps[k]:.2g}" for k in ticks])
        ax.set_ylabel("step size of the base-learner")
    ax.set(xlabel="round", title="Weights")


def overview(owner: str, run: Run, weights: Array | None, steps: Array | None) -> "Figure":
    """Draw states, inputs, cumulative cost and weights, or the cost of a round, in one figure."""
    pyplot = optional(owner, "matplotlib.pyplot", "plot")
    figure, grid = pyplot.subplots(2, 2, figsize=(11.0, 7.0), layout="constrained")
    columns(grid[0, 0], "state", "x", run.states)
    columns(grid[0, 1], "input", "u", run.inputs)
    cumulative(grid[1, 0], [(run.label, run, "-")])
    if weights is not None and weights.shape[1] > 1:
        heat_map(grid[1, 1], weights, steps)
    else:
        _cost_of_rounds(grid[1, 1], run.costs)
    figure.suptitle(f"{run.label}, {len(run.costs)} rounds, total cost {run.total:,.5g}")
    return cast("Figure", figure)


def _extremes(values: Array) -> Indices:
    """Return the rounds of a line that jumps up and down: of every window, where it is lowest and highest."""
    if len(values) <= POINTS:
        return np.arange(len(values))
    found = [
        start + place(values[start:stop])
        for start, stop in itertools.pairwise(edges(len(values), POINTS // 2))
        for place in (np.argmin, np.argmax)
    ]
    return np.unique(np.array(found, np.int64))


def _cost_of_rounds(ax: "Axes", costs: Array) -> None:
    """Draw the costs of the rounds, averaged over windows if there are many, with their range."""
    T = len(costs)
    places = edges(T, min(T, WINDOWS))
    middle = 0.5 * (places[:-1] + places[1:] - 1)
    if T > WINDOWS:
        low, high = (reduce.reduceat(costs, places[:-1]) for reduce in (np.minimum, np.maximum))
        ax.fill_between(middle, low, high, alpha=0.25, linewidth=0.0, label="lowest to highest")
    means = np.add.reduceat(costs, places[:-1]) / np.diff(places)
    label = f"mean of {math.ceil(T / WINDOWS)} rounds" if T > WINDOWS else "cost"
    ax.plot(middle, means, linewidth=1.2, label=label)
    top, bottom = 1.3 * float(costs.max()) or 1.0, 1.3 * min(0.0, float(costs.min()))
    ax.set(xlabel="round", ylabel="cost of a round", title="Costs", ylim=(bottom, max(top, 0.0)))
    ax.margins(x=0.0)
    if T > WINDOWS:
        ax.legend(loc="upper right", framealpha=0.8, fontsize="small", ncols=2)
