"""Plots of a run; each function draws on matplotlib axes and returns them (with the extra 'plot')."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._plot import POINTS, averages, axes, edges, heat_map
from driftwise._validate import Array, checked, instance, whole
from driftwise.errors import InputError
from driftwise.learners import Committee, Ensemble, Hedge
from driftwise.movecost import move_cost_for
from driftwise.optimum.solve import HindsightOptimum
from driftwise.optimum.values import read_comparators, read_run
from driftwise.regret.measures import regret_over_time
from driftwise.regret.theorems import theorem_for
from driftwise.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@checked
def regret(trace: Trace, comparators: ArrayLike, *, bound: bool = True, ax: "Axes | None" = None) -> "Axes":
    """Draw the regret over time, with the theorem's bound for the same number of rounds.

    Both axes are logarithmic; where the regret is 0 or below, the vertical one is linear around 0.

    Parameters
    ----------
    trace : Trace
        A run; for a bound, of one of the named learners.
    comparators : array of shape (T, d) or (d,)
        v_1, ..., v_T in the learner's domain.
    bound : bool, default True
        Draw the bound; its label says if an assumption of the theorem is not met in this run.
    ax : matplotlib axes, optional
        Where to draw; new axes when left out.

    Examples
    --------
    >>> import driftwise as dw
    >>> from matplotlib.figure import Figure
    >>> losses = dw.streams.drifting_regression(rounds=200, dim=2, segment=50, seed=0)
    >>> learner = dw.Scream(losses.domain, switching_cost=1.0, gradient_bound=2.1, horizon=200)
    >>> trace = dw.play(learner, losses, switching_cost=1.0)
    >>> ax = dw.regret.plots.regret(trace, losses.generator, ax=Figure().subplots())
    >>> [line.get_label() for line in ax.lines]
    ['measured', 'bound']
    """
    run = None
    if instance("plots.regret", "bound", bound, bool, "False"):
        run = theorem_for("plots.regret", trace, comparators)
        measured, label = run.regret(), run.measure
    else:
        measured = regret_over_time(trace, trace.stream, comparators)
        label = f"dynamic regret with switching cost {trace.price}"
    ax = axes("plots.regret", ax)
    T = len(measured)
    rounds = np.unique(np.geomspace(1, T, POINTS).astype(int))
    ax.plot(rounds, measured[rounds - 1], color="C0", label="measured")
    ax.set(xscale="log", xlabel="round", ylabel=label, title=_title(trace))
    if run is not None:
        broken = [assumption.name for assumption in run.assumptions() if assumption.holds is False]
        label = f"bound (no guarantee: {', '.join(broken)})" if broken else "bound"
        some = np.unique(np.geomspace(1, T, 60).astype(int))
        ax.plot(some, [run.bound(int(t)) for t in some], color="black", linestyle="--", linewidth=1.0, label=label)
    if measured.min() > 0.0:
        ax.set_yscale("log")
    else:  # logarithmic on both sides of 0
        ax.set_yscale("symlog", linthresh=max(1e-3 * float(np.abs(measured).max()), 1e-12))
    ax.legend(loc="upper left", framealpha=0.8)
    return ax


@checked
def decisions(
    trace: Trace,
    comparators: ArrayLike | None = None,
    *,
    coordinates: int | Sequence[int] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw coordinates of the decisions over time, with the comparators dashed in the same colours.

    Parameters
    ----------
    trace : Trace
        A run.
    comparators : array of shape (T, d) or (d,), optional
        v_1, ..., v_T in the learner's domain, such as the decisions of `hindsight_optimum`.
    coordinates : int or sequence of int, optional
        Coordinates to draw; the first three when left out.
    ax : matplotlib axes, optional
        Where to draw; new axes when left out.

    Examples
    --------
    >>> import driftwise as dw
    >>> from matplotlib.figure import Figure
    >>> targets = [[1.0], [1.0], [-1.0]]
    >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), dw.TrackingLoss(targets))
    >>> ax = dw.regret.plots.decisions(trace, targets, ax=Figure().subplots())
    >>> ax.lines[0].get_ydata()
    array([0.  , 0.5 , 0.75])
    """
    owner = "plots.decisions"
    losses = read_run(owner, trace, None)
    chosen: Any = range(min(losses.dim, 3)) if coordinates is None else coordinates
    picked = [
        whole(owner, "coordinates", k, low=0, high=losses.dim - 1)
        for k in (chosen if np.iterable(chosen) else [chosen])
    ]
    if not picked:
        raise InputError(f"{owner}: coordinates must name at least one of 0 to {losses.dim - 1}, got {coordinates!r}.")
    v = None if comparators is None else read_comparators(owner, comparators, len(losses), trace.domain or losses.dim)
    ax = axes(owner, ax)
    rounds = np.unique(np.linspace(1, len(losses), 2 * POINTS).astype(int))
    for color, k in enumerate(picked):
        name = "decision" if losses.dim == 1 else f"coordinate {k}"
        ax.plot(rounds, trace.decisions[rounds - 1, k], color=f"C{color}", linewidth=1.2, label=name)
        if v is not None:
            shade = "black" if len(picked) == 1 else f"C{color}"
            ax.plot(rounds, v[rounds - 1, k], color=shade, linestyle="--", linewidth=1.3)
    if v is not None:
        ax.plot([], [], color="grey", linestyle="--", linewidth=1.0, label="comparators")
    ax.set(xlabel="round", ylabel="decision", title=_title(trace))
    ax.margins(x=0.0)
    ax.legend(loc="best", framealpha=0.8)
    return ax


@checked
def weights(trace: Trace, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the weights of the base-learners over time as a heat map, smallest step at the bottom.

    Parameters
    ----------
    trace : Trace
        A run played with ``play(..., record_weights=True)``.
    ax : matplotlib axes, optional
        Where to draw; new axes when left out.

    Examples
    --------
    >>> import driftwise as dw
    >>> from matplotlib.figure import Figure
    >>> losses = dw.streams.drifting_regression(rounds=200, dim=2, segment=50, seed=0)
    >>> learner = dw.Scream(losses.domain, switching_cost=1.0, gradient_bound=2.1, horizon=200)
    >>> trace = dw.play(learner, losses, switching_cost=1.0, record_weights=True)
    >>> ax = dw.regret.plots.weights(trace, ax=Figure().subplots())
    >>> ax.get_ylabel(), len(ax.get_yticks()) == trace.weights.shape[1]
    ('step size of the base-learner', True)
    """
    instance("plots.weights", "trace", trace, Trace, "play(learner, losses, record_weights=True)")
    if trace.weights is None:
        raise InputError("plots.weights: the weights were not recorded; play(..., record_weights=True) keeps them.")
    ax = axes("plots.weights", ax)
    rounds, count = trace.weights.shape
    heat_map(ax, trace.weights)
    learner = vars(trace).get("learner")
    if isinstance(learner, Ensemble) and learner.program.steps.size > 1:
        program = learner.program
        played = learner.round + rounds
        steps = program.steps[:count] / np.sqrt(program.clock_at(-(-played // program.epoch)))
        ax.set_yticks(range(count), [f"{step:.2g}" for step in steps])
        ax.set_ylabel("step size of the base-learner" + ("" if program.schedule == "fixed" else " at the end"))
    else:
        names: dict[type, str] = {Hedge: "expert", Committee: "member"}
        ax.set_ylabel(names.get(type(learner), "base-learner"))
    ax.set(xlabel="round", title=_title(trace))
    return ax


@checked
def costs(
    trace: Trace, optimum: HindsightOptimum | None = None, *, windows: int = 100, ax: "Axes | None" = None
) -> "Axes":
    """Draw the cost of a round, running and moving cost stacked, averaged over windows of time.

    Parameters
    ----------
    trace : Trace
        A run.
    optimum : HindsightOptimum, optional
        Draw its cost as a line.
    windows : int, default 100
        Number of windows; fewer if there are fewer rounds.
    ax : matplotlib axes, optional
        Where to draw; new axes when left out.

    Examples
    --------
    >>> import driftwise as dw
    >>> from matplotlib.figure import Figure
    >>> losses = dw.TrackingLoss([[1.0], [1.0], [-1.0]])
    >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, switching_cost=2.0)
    >>> best = dw.regret.hindsight_optimum(losses, dw.Ball(1), switching_cost=2.0)
    >>> ax = dw.regret.plots.costs(trace, best, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['running (loss)', 'moving (switching cost)', 'hindsight optimum, both']
    """
    owner = "plots.costs"
    instance(owner, "trace", trace, Trace, "play(learner, losses)")
    rounds = len(trace.losses)
    count = min(whole(owner, "windows", windows), rounds)
    of_rounds = [trace.losses, trace.move_costs]
    if optimum is not None:
        of_rounds.append(_cost_of(owner, trace, optimum))
    ax = axes(owner, ax)
    places = edges(rounds, count)
    running, moving, *best = averages(np.column_stack(of_rounds), count).T
    ax.stairs(running, places, fill=True, alpha=0.55, label="running (loss)")
    ax.stairs(running + moving, places, baseline=running, fill=True, alpha=0.55, label="moving (switching cost)")
    for line in best:
        ax.stairs(line, places, baseline=None, color="black", linewidth=1.2, label="hindsight optimum, both")
    ax.set(xlabel="round", ylabel="cost of a round", title=_title(trace))
    ax.margins(x=0.0)
    ax.legend(loc="upper right", framealpha=0.8)
    return ax


def _cost_of(owner: str, trace: Trace, optimum: HindsightOptimum) -> Array:
    """Return what every round of an optimum costs, if it is the optimum of this run's losses at this run's price."""
    instance(owner, "optimum", optimum, HindsightOptimum, "hindsight_optimum(...)")
    rounds = np.full(len(trace.losses), np.nan)
    if optimum.decisions.shape == trace.decisions.shape and trace.price == optimum.switching_cost:
        rounds = trace.stream.policy_losses(optimum.decisions)
        rounds += trace.price.along(optimum.decisions)
    if not abs(rounds.sum() - optimum.total) <= 1e-9 * abs(optimum.total) + 1e-12:
        price = move_cost_for(owner, optimum.switching_cost)
        raise InputError(
            f"{owner}: the optimum is one of other losses or of another price, {price}; "
            f"give hindsight_optimum(trace.stream, domain, switching_cost={trace.price})."
        )
    return rounds


def _title(trace: Trace) -> str:
    return f"{trace.label}, {len(trace.losses)} rounds"
