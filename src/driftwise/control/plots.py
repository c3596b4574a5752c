"""Pictures of simulations; each function draws on matplotlib axes and returns them (the extra 'plot')."""

from typing import TYPE_CHECKING, Any

from driftwise._docs import documented, section
from driftwise._plot import axes
from driftwise._validate import checked, describe, instance
from driftwise.control import drawing
from driftwise.control.costs.run import Run
from driftwise.control.hindsight import Comparator
from driftwise.control.trace import ControlTrace
from driftwise.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["costs", "inputs", "overview", "states", "weights"]

_TRACE_HINT = "simulate(system, controller, costs, disturbances)"


@checked
def states(trace: "ControlTrace | Comparator", ax: "Axes | None" = None) -> "Axes":
    """Draw the states over time, one line each; of more than ten, the norm.

    Parameters
    ----------
    trace : ControlTrace or a comparator
        A run.
    ax : matplotlib axes, optional
        Where to draw; new axes when left out.

    Examples
    --------
    >>> import driftwise as dw
    >>> from matplotlib.figure import Figure
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> controller = dw.control.LinearController(plant)
    >>> trace = dw.control.simulate(plant, controller, cost, dw.control.ConstantDisturbance(0.1), rounds=20)
    >>> ax = dw.control.plots.states(trace, Figure().subplots())
    >>> [line.get_label() for line in ax.lines]
    ['$x_{0}$', '$x_{1}$']
    """
    ax, run = axes("plots.states", ax), _run("plots.states", trace)
    drawing.columns(ax, "state", "x", run.states)
    return ax


@documented(parameters=section(states, "Parameters"))
@checked
def inputs(trace: "ControlTrace | Comparator", ax: "Axes | None" = None) -> "Axes":
    """Draw the inputs over time, as the plant got them, one line each; of more than ten, the norm.

    {parameters}

    Examples
    --------
    >>> import driftwise as dw
    >>> from matplotlib.figure import Figure
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> controller = dw.control.LinearController(plant)
    >>> trace = dw.control.simulate(plant, controller, cost, dw.control.ConstantDisturbance(0.1), rounds=20)
    >>> ax = dw.control.plots.inputs(trace, Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('round', 'input')
    """
    ax, run = axes("plots.inputs", ax), _run("plots.inputs", trace)
    drawing.columns(ax, "input", "u", run.inputs)
    return ax


@checked
def costs(*runs: "ControlTrace | Comparator", ax: "Axes | None" = None) -> "Axes":
    """Draw the cumulative costs of runs over time, in the legend from the most to the least expensive.

    Parameters
    ----------
    *runs : ControlTrace, BestPolicy, BestPolicies, BestLinear or Clairvoyant
        Runs to compare; comparators are dashed.
    ax : matplotlib axes, optional
        Where to draw; new axes when left out.

    Examples
    --------
    >>> import driftwise as dw
    >>> from matplotlib.figure import Figure
    >>> plant, cost = dw.control.LinearSystem(0.5, 1.0), dw.control.QuadraticCost(1.0, 1.0)
    >>> trace = dw.control.simulate(plant, dw.control.LinearController(plant, K=[[0.5]]), cost, [1.0, -1.0, 1.0])
    >>> best = dw.control.clairvoyant(plant, cost, trace.disturbances)
    >>> ax = dw.control.plots.costs(trace, best, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['LinearController: 2.5', 'clairvoyant: 0.7647']
    """
    owner = "plots.costs"
    if not runs:
        raise InputError(f"{owner}: give at least one run, such as {_TRACE_HINT}.")
    labels = [_run(owner, run).label for run in runs]
    ax = axes(owner, ax)
    # Where several runs have the same name, they get numbers.
    counts = [f" ({labels[:k].count(name) + 1})" if labels.count(name) > 1 else "" for k, name in enumerate(labels)]
    names = [name + count for name, count in zip(labels, counts, strict=True)]
    styles = ["--" if isinstance(run, Comparator) else "-" for run in runs]
    drawing.cumulative(ax, list(zip(names, runs, styles, strict=True)))
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

    Examples
    --------
    >>> import driftwise as dw
    >>> from matplotlib.figure import Figure
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> trace = dw.control.simulate(
    ...     plant,
    ...     dw.control.ScreamController(plant),
    ...     cost,
    ...     dw.control.ConstantDisturbance(0.1),
    ...     rounds=20,
    ...     record_weights=True,
    ... )
    >>> ax = dw.control.plots.weights(trace, Figure().subplots())
    >>> len(ax.get_yticks()) == trace.weights.shape[1]
    True
    """
    owner = "plots.weights"
    instance(owner, "trace", trace, ControlTrace, _TRACE_HINT)
    if trace.weights is None:
        raise InputError(f"{owner}: the weights were not recorded; simulate(..., record_weights=True) keeps them.")
    ax = axes(owner, ax)
    drawing.heat_map(ax, trace.weights, trace.last_steps)
    return ax


@checked
def overview(trace: ControlTrace) -> "Figure":
    """Draw states, inputs, cumulative cost and weights (or, if not recorded, the cost of a round) in one figure.

    Parameters
    ----------
    trace : ControlTrace
        A run.

    Examples
    --------
    >>> import driftwise as dw
    >>> from matplotlib import pyplot
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> controller = dw.control.LinearController(plant)
    >>> trace = dw.control.simulate(plant, controller, cost, dw.control.ConstantDisturbance(0.1), rounds=20)
    >>> figure = dw.control.plots.overview(trace)
    >>> len(figure.axes)
    4
    >>> pyplot.close(figure)
    """
    return instance("plots.overview", "trace", trace, ControlTrace, _TRACE_HINT).plot()


def _run(owner: str, run: Any) -> Run:
    if isinstance(run, Run):
        return run
    raise InputError(
        f"{owner}: a run must be a ControlTrace, such as {_TRACE_HINT}, or a result of best_policy, best_policies, "
        f"best_linear or clairvoyant, got {describe(run)}."
    )
