"""Pictures of simulations: the right data, on the right axes, with words that say what it is."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from driftwise import control
from driftwise._validate import Array
from driftwise.control import plots
from driftwise.control.hindsight import best_linear, best_policies, best_policy, clairvoyant
from driftwise.errors import ArgumentError, InputError, MissingExtraError, ParameterError
from tests.cases import check_refused
from tests.control.cases import DISTURBANCES, PLANT, UNIT, controller, costs

ROWS = DISTURBANCES["array"](2)
TRACE = control.simulate(PLANT, controller("Scream"), UNIT, ROWS, record_weights=True)
LINEAR = control.simulate(PLANT, controller("linear"), UNIT, ROWS)
LONG = control.simulate(PLANT, control.LinearController(PLANT), UNIT, control.GaussianDisturbance(), rounds=5000)

DRAWN: dict[str, Callable[..., Axes]] = {
    "states": plots.states,
    "inputs": plots.inputs,
    "costs": plots.costs,
    "weights": plots.weights,
}


@pytest.fixture(autouse=True)
def _figures() -> Iterator[None]:
    mpl.use("Agg")
    yield
    pyplot.close("all")


def _lines(ax: Axes) -> dict[str, tuple[Array, Array]]:
    """Return the data of every line by its label."""
    return {str(line.get_label()): (np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in ax.lines}


def _legend(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("name", DRAWN)
def test_axes_are_those_given_or_new_ones(name: str) -> None:
    _, (left, right) = pyplot.subplots(1, 2)
    assert DRAWN[name](TRACE, ax=left) is left
    assert not right.has_data()
    assert DRAWN[name](TRACE).figure is not left.figure
    assert left.get_xlabel() == "round"
    assert left.get_ylabel()
    assert left.get_title()


def test_states_and_inputs_are_those_of_the_run() -> None:
    drawn = _lines(plots.states(TRACE))
    assert list(drawn) == ["$x_{0}$", "$x_{1}$"]
    for k, (rounds, values) in enumerate(drawn.values()):
        np.testing.assert_array_equal(rounds, np.arange(30))
        np.testing.assert_array_equal(values, TRACE.states[:, k])
    ((rounds, values),) = _lines(plots.inputs(TRACE)).values()
    np.testing.assert_array_equal(values, TRACE.inputs[:, 0])


def test_comparators_have_states_and_inputs_to_draw() -> None:
    best = clairvoyant(PLANT, UNIT, ROWS)
    np.testing.assert_array_equal(_lines(plots.states(best))["$x_{1}$"][1], best.states[:, 1])
    assert plots.inputs(best).has_data()


def test_of_many_states_the_norm_is_drawn() -> None:
    plant = control.random_system(12, 1, seed=0)
    trace = control.simulate(plant, control.LinearController(plant), UNIT, np.ones((20, 12)))
    ((label, (_, values)),) = _lines(plots.states(trace)).items()
    assert "12" in label
    np.testing.assert_allclose(values, np.linalg.norm(trace.states, axis=1))


@pytest.mark.parametrize("name", ["states", "inputs", "costs"])
def test_a_long_run_is_drawn_with_a_thousand_points_and_its_extremes(name: str) -> None:
    for rounds, values in _lines(DRAWN[name](LONG)).values():
        assert len(rounds) <= 1000
        assert np.all(np.diff(rounds) > 0)
        if name == "costs":
            assert (rounds[-1], values[-1]) == (5000, pytest.approx(LONG.total))
            continue
        rows = LONG.states if name == "states" else LONG.inputs
        columns = [row for row in rows.T if row[rounds].tobytes() == values.tobytes()]
        assert len(columns) == 1
        assert (values.min(), values.max()) == (columns[0].min(), columns[0].max())


def test_cumulative_costs_of_several_runs_stand_side_by_side() -> None:
    runs: list[Any] = [
        TRACE,
        LINEAR,
        LINEAR,
        best_policy(PLANT, UNIT, ROWS, memory=2),
        best_policy(PLANT, UNIT, ROWS, memory=2, segments=3),
        best_policies(PLANT, UNIT, ROWS, switching_cost=0.5, memory=2),
        best_linear(PLANT, UNIT, ROWS),
        clairvoyant(PLANT, UNIT, ROWS),
    ]
    ax = plots.costs(*runs)
    drawn = _lines(ax)
    names = [label.rsplit(":", 1)[0] for label in drawn]
    wanted = ["ScreamController", "LinearController (1)", "LinearController (2)", "best policy", "best 3 policies"]
    assert {*wanted, "best policies, moves at 0.5", "best $u = -Kx$ found", "clairvoyant"} == set(names)
    totals = [values[-1] for _, values in drawn.values()]
    assert totals == sorted(totals, reverse=True)
    assert _legend(ax) == list(drawn)
    order = sorted(runs, key=lambda run: -run.total)
    for (rounds, values), run in zip(drawn.values(), order, strict=True):
        np.testing.assert_array_equal(rounds, np.arange(1, 31))
        np.testing.assert_allclose(values, np.cumsum(run.costs))
    styles = {str(line.get_label()).rsplit(":", 1)[0]: line.get_linestyle() for line in ax.lines}
    assert styles["ScreamController"] == "-"
    assert styles["clairvoyant"] == styles["best policy"] == "--"


def test_weights_are_a_heat_map_with_the_step_sizes() -> None:
    ax = plots.weights(TRACE)
    assert TRACE.weights is not None
    (image,) = ax.images
    np.testing.assert_allclose(np.asarray(image.get_array()), TRACE.weights.T)
    assert len(ax.get_yticklabels()) == TRACE.weights.shape[1]
    assert "step size" in ax.get_ylabel()
    assert len(ax.figure.axes) == 2  # with the colour bar


def test_weights_of_a_controller_without_step_sizes_have_no_step_sizes() -> None:
    trace = control.simulate(PLANT, controller("linear"), UNIT, ROWS, record_weights=True)
    assert plots.weights(trace).get_ylabel() == "base-learner"


def test_weights_of_a_long_run_are_averaged() -> None:
    player = control.ScreamController(PLANT, horizon=2500)
    trace = control.simulate(PLANT, player, UNIT, control.GaussianDisturbance(), rounds=2500, record_weights=True)
    (image,) = plots.weights(trace).images
    assert trace.weights is not None
    cells = np.asarray(image.get_array())
    assert cells.shape == (trace.weights.shape[1], 1000)
    np.testing.assert_allclose(cells.sum(axis=0), 1.0)


@pytest.mark.parametrize("trace", [TRACE, LINEAR, LONG])
def test_an_overview_has_four_pictures(trace: control.ControlTrace) -> None:
    figure = trace.plot()
    assert isinstance(figure, Figure)
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert titles == ["States", "Inputs", "Cumulative cost", "Weights" if trace is TRACE else "Costs"]
    assert type(trace.controller).__name__ in figure.get_suptitle()
    figure.canvas.draw()


def test_costs_of_a_long_run_are_averaged_within_their_range() -> None:
    ax = plots.overview(LONG).axes[3]
    ((label, (rounds, means)),) = _lines(ax).items()
    assert label == "mean of 25 rounds"
    assert len(rounds) == 200
    np.testing.assert_allclose(means, LONG.costs.reshape(200, 25).mean(axis=1))


@pytest.mark.filterwarnings("ignore:.*not convex")
def test_costs_below_zero_are_drawn() -> None:
    trace = control.simulate(PLANT, controller("linear"), control.gradual(200, literal=True), np.ones((200, 2)))
    assert trace.costs.min() < 0.0
    low, high = plots.overview(trace).axes[3].get_ylim()
    assert low <= trace.costs.min() < trace.costs.max() <= high


def test_costs_with_weights_for_every_state_are_drawn() -> None:
    trace = control.simulate(PLANT, controller("linear"), costs("stages", 2, 1), ROWS)
    assert plots.costs(trace).has_data()


def test_bad_arguments_are_refused() -> None:
    bad: Any = 3
    check_refused(lambda: plots.states(bad), "plots.states", "ControlTrace", kind=InputError)
    check_refused(lambda: plots.inputs(bad), "plots.inputs", kind=InputError)
    check_refused(lambda: plots.costs(), "at least one run", kind=InputError)
    check_refused(lambda: plots.costs(TRACE, bad), "plots.costs", kind=InputError)
    check_refused(lambda: plots.weights(LINEAR), "record_weights=True", kind=InputError)
    check_refused(lambda: plots.weights(bad), "ControlTrace", kind=ParameterError)
    check_refused(lambda: plots.overview(bad), "ControlTrace", kind=ParameterError)
    check_refused(lambda: plots.states(TRACE, bad), "axes", kind=ParameterError)
    check_refused(lambda: plots.states(TRACE, axes=None), "axes", kind=ArgumentError)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", DRAWN)
def test_without_matplotlib_the_extra_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    check_refused(lambda: DRAWN[name](TRACE), "pip install 'driftwise[plot]'", kind=MissingExtraError)
