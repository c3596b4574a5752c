"""Pictures of simulations; each function draws on matplotlib axes and returns them (the extra 'plot')."""

import itertools
import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from driftwise._plot import axes
from driftwise._validate import Array, checked, describe, instance
from driftwise.control.hindsight import BestLinear, BestPolicy, Clairvoyant, Comparator
from driftwise.control.plants.kernels import Integers
from driftwise.control.trace import ControlTrace
from driftwise.errors import InputError
from driftwise.learners import Ensemble

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["costs", "inputs", "overview", "states", "weights"]

POINTS = 1000
"""Points along the time axis, at most: more do not show, and make a figure heavy."""

WINDOWS = 200
"""Windows, at most, over which the costs of rounds are averaged."""

LINES = 10
"""States or inputs, at most, that are drawn as lines of their own."""


@checked
def states(trace: "ControlTrace | Comparator", ax: "Axes | None" = None) -> "Axes":
    """Draw the states over time, one line each; of more than ten, the norm.

    Parameters
    ----------
    trace : ControlTrace or a comparator
        A run.
    ax : matplotlib axes, optional
        Where to draw; new axes when left out.
    """
    return _lines("plots.states", "state", "x", _run("plots.states", trace).states, ax)


@checked
def inputs(trace: "ControlTrace | Comparator", ax: "Axes | None" = None) -> "Axes":
    """Draw the inputs over time, as the plant got them, one line each; of more than ten, the norm.

    Parameters
    ----------
    trace : ControlTrace or a comparator
        A run.
    ax : matplotlib axes, optional
        Where to draw; new axes when left out.
    """
    return _lines("plots.inputs", "input", "u", _run("plots.inputs", trace).inputs, ax)


@checked
def costs(*runs: "ControlTrace | Comparator", ax: "Axes | None" = None) -> "Axes":
    """Draw the cumulative costs of runs over time, in the legend from the dearest to the cheapest.

    Parameters
    ----------
    *runs : ControlTrace, BestPolicy, BestLinear or Clairvoyant
        Runs to compare; comparators are dashed.
    ax : matplotlib axes, optional
        Where to draw; new axes when left out.
    """
    owner = "plots.costs"
    if not runs:
        raise InputError(f"{owner}: give at least one run, such as simulate(system, controller, costs, disturbances).")
    given = [_run(owner, run) for run in runs]
    ax = axes(owner, ax)
    names = _names(given)
    for run, name in sorted(zip(given, names, strict=True), key=lambda pair: -pair[0].total):
        shown = _rounds(len(run.costs))
        style = "--" if isinstance(run, Comparator) else "-"
        label = f"{name}: {run.total:,.4g}"
        ax.plot(shown + 1, np.cumsum(run.costs)[shown], linestyle=style, linewidth=1.3, label=label)
    ax.set(xlabel="round", ylabel="cumulative cost", title="Cumulative cost")
    ax.margins(x=0.0)
    ax.legend(loc="upper left", framealpha=0.8, fontsize="small")
    return ax


@checked
def weights(trace: ControlTrace, ax: "Axes | None" = None) -> "Axes":
    """Draw the weights of the base-learners over time as a heat map, smallest step at the bottom.

    Parameters
    ----------
    trace : ControlTrace
        A run of ``simulate(..., record_weights=True)``.
    ax : matplotlib axes, optional
        Where to draw; new axes when left out.
    """
    owner = "plots.weights"
    instance(owner, "trace", trace, ControlTrace, "simulate(system, controller, costs, disturbances)")
    if trace.weights is None:
        raise InputError(f"{owner}: the weights were not recorded; simulate(..., record_weights=True) keeps them.")
    ax = axes(owner, ax)
    rounds, count = trace.weights.shape
    edges = np.linspace(0, rounds, min(rounds, POINTS) + 1).astype(np.int64)
    cells = np.add.reduceat(trace.weights, edges[:-1], axis=0) / np.diff(edges)[:, None]
    image = ax.imshow(
        cells.T,
        aspect="auto",
        interpolation="nearest",
        origin="lower",
        vmin=0.0,
        extent=(0, rounds, -0.5, count - 0.5),
    )
    ax.figure.colorbar(image, ax=ax, label="weight")
    steps = _steps(trace, count)
    if steps is None:
        ax.set_ylabel("base-learner")
    else:
        ticks = np.arange(0, count, max(1, math.ceil(count / 10)))
        ax.set_yticks(ticks, [f"{steps[k]:.2g}" for k in ticks])
        ax.set_ylabel("step size of the base-learner")
    ax.set(xlabel="round", title="Weights")
    return ax


@checked
def overview(trace: ControlTrace) -> "Figure":
    """Draw states, inputs, cumulative cost and weights (or, if not recorded, the cost of a round) in one figure.

    Parameters
    ----------
    trace : ControlTrace
        A run.
    """
    owner = "plots.overview"
    instance(owner, "trace", trace, ControlTrace, "simulate(system, controller, costs, disturbances)")
    first = axes(owner, None)
    figure = cast("Figure", first.figure)
    first.remove()
    figure.set_size_inches(11.0, 7.0)
    grid: Any = figure.subplots(2, 2)
    states(trace, grid[0, 0])
    inputs(trace, grid[0, 1])
    costs(trace, ax=grid[1, 0])
    if trace.weights is not None and trace.weights.shape[1] > 1:
        weights(trace, grid[1, 1])
    else:
        _cost_of_rounds(trace, grid[1, 1])
    figure.suptitle(f"{type(trace.controller).__name__}, {len(trace.costs)} rounds, total cost {trace.total:,.5g}")
    return figure


def _run(owner: str, run: Any) -> "ControlTrace | Comparator":
    if isinstance(run, ControlTrace | Comparator):
        return run
    raise InputError(
        f"{owner}: a run must be a ControlTrace, such as simulate(system, controller, costs, disturbances), or a "
        f"result of best_policy, best_linear or clairvoyant, got {describe(run)}."
    )


def _rounds(count: int) -> Integers:
    """Return the rounds of a smooth line to draw, the last one among them."""
    return np.unique(np.linspace(0, count - 1, min(count, POINTS)).round().astype(np.int64))


def _extremes(values: Array) -> Integers:
    """Return the rounds of a line that jumps up and down: of every window, where it is lowest and highest."""
    if len(values) <= POINTS:
        return np.arange(len(values))
    edges = np.linspace(0, len(values), POINTS // 2 + 1).astype(np.int64)
    found = [
        start + place(values[start:stop])
        for start, stop in itertools.pairwise(edges)
        for place in (np.argmin, np.argmax)
    ]
    return np.unique(np.array(found, np.int64))


def _lines(owner: str, word: str, letter: str, rows: Array, ax: "Axes | None") -> "Axes":
    """Draw the columns of an array over time."""
    ax = axes(owner, ax)
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
        columns = min(len(lines), LINES // 2)
        low, high = ax.get_ylim()
        room = 0.12 + 0.1 * math.ceil(len(lines) / columns)  # above the lines, for the legend
        ax.set_ylim(low, high + room * (high - low))
        ax.legend(loc="upper right", framealpha=0.8, fontsize="small", ncols=columns, columnspacing=1.0)
    return ax


def _cost_of_rounds(trace: ControlTrace, ax: "Axes") -> None:
    """Draw the costs of the rounds, averaged over windows if there are many, within what they vary between."""
    T = len(trace.costs)
    edges = np.linspace(0, T, min(T, WINDOWS) + 1).astype(np.int64)
    middle = 0.5 * (edges[:-1] + edges[1:] - 1)
    if T > WINDOWS:
        low, high = (reduce.reduceat(trace.costs, edges[:-1]) for reduce in (np.minimum, np.maximum))
        ax.fill_between(middle, low, high, alpha=0.25, linewidth=0.0, label="lowest to highest")
    means = np.add.reduceat(trace.costs, edges[:-1]) / np.diff(edges)
    label = f"mean of {math.ceil(T / WINDOWS)} rounds" if T > WINDOWS else "cost"
    ax.plot(middle, means, linewidth=1.2, label=label)
    top, bottom = 1.3 * float(trace.costs.max()) or 1.0, 1.3 * min(0.0, float(trace.costs.min()))
    ax.set(xlabel="round", ylabel="cost of a round", title="Costs", ylim=(bottom, max(top, 0.0)))
    ax.margins(x=0.0)
    if T > WINDOWS:
        ax.legend(loc="upper right", framealpha=0.8, fontsize="small", ncols=2)


def _name(run: "ControlTrace | Comparator") -> str:
    match run:
        case ControlTrace():
            return type(run.controller).__name__
        case BestPolicy():
            return "best policy" if len(run.policies) == 1 else f"best {len(run.policies)} policies"
        case BestLinear():
            return "best $u = -Kx$ found"
        case Clairvoyant():
            return "clairvoyant"
    return type(run).__name__


def _names(runs: "list[ControlTrace | Comparator]") -> list[str]:
    """Return a name for every run, with a number where several have the same."""
    names = [_name(run) for run in runs]
    return [f"{name} ({names[:k].count(name) + 1})" if names.count(name) > 1 else name for k, name in enumerate(names)]


def _steps(trace: ControlTrace, count: int) -> Array | None:
    """Return the step sizes of the base-learners at the end of a run, if it has any."""
    learner = getattr(trace.controller, "learner", None)
    if not isinstance(learner, Ensemble) or learner.program.steps.size < max(count, 2):
        return None
    program = learner.program
    played = learner.round + len(trace.costs)
    return np.asarray(program.steps[:count] / np.sqrt(program.clock_at(-(-played // program.epoch))))
