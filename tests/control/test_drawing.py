"""How runs are drawn from arrays: which points are kept of a long line, windows of costs, ticks, order of lines."""

from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

from driftwise._plot import POINTS
from driftwise._validate import Array
from driftwise.control import drawing
from driftwise.control.costs.run import Run


@pytest.fixture(autouse=True)
def _figures() -> Iterator[None]:
    mpl.use("Agg")
    yield
    pyplot.close("all")


def axes() -> Axes:
    _, ax = pyplot.subplots()
    assert isinstance(ax, Axes)
    return ax


def run(costs: Array) -> Run:
    return Run(np.zeros((len(costs), 1)), np.zeros((len(costs), 1)), costs)


@pytest.mark.parametrize("rounds", [POINTS, POINTS + 1, 12_345])
def test_extremes_keep_every_peak_in_order_and_few_points(rounds: int) -> None:
    values = np.random.default_rng(rounds).standard_normal(rounds)
    values[rounds // 3], values[rounds // 2] = 50.0, -50.0
    kept = drawing._extremes(values)
    assert len(kept) <= POINTS
    assert (np.diff(kept) > 0).all()
    assert {rounds // 3, rounds // 2} <= set(kept.tolist())
    assert 0 <= kept[0] <= kept[-1] < rounds


@pytest.mark.parametrize("count", [1, 2, drawing.LINES, drawing.LINES + 1])
def test_columns_are_lines_of_their_own_up_to_a_number(count: int) -> None:
    ax, rows = axes(), np.random.default_rng(0).standard_normal((20, count))
    drawing.columns(ax, "state", "x", rows)
    assert len(ax.lines) == (count if count <= drawing.LINES else 1)
    assert (ax.get_legend() is None) == (count == 1)
    assert ax.get_title() == "States"
    if count > drawing.LINES:
        np.testing.assert_allclose(np.asarray(ax.lines[0].get_ydata()), np.sqrt((rows**2).sum(axis=1)), rtol=1e-14)


def test_the_legend_of_columns_does_not_cover_the_lines() -> None:
    few, many = axes(), axes()
    rows = np.random.default_rng(1).standard_normal((20, drawing.LINES))
    drawing.columns(few, "input", "u", rows[:, :1])
    drawing.columns(many, "input", "u", rows)
    assert many.get_ylim()[1] > rows.max() + 0.2 * np.ptp(rows)
    assert few.get_ylim()[1] < rows[:, 0].max() + 0.1 * np.ptp(rows[:, 0])


def test_cumulative_costs_come_from_the_most_to_the_least_expensive() -> None:
    ax = axes()
    runs = [("cheap", run(np.full(5, 0.1)), "-"), ("dear", run(np.arange(5.0)), "--"), ("fair", run(np.ones(5)), "-")]
    drawing.cumulative(ax, runs)
    assert [str(line.get_label()) for line in ax.lines] == ["dear: 10", "fair: 5", "cheap: 0.5"]
    assert ax.lines[0].get_linestyle() == "--"
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [0.0, 1.0, 3.0, 6.0, 10.0])
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [1, 2, 3, 4, 5])


def test_cumulative_costs_of_a_long_run_end_at_its_total() -> None:
    ax, long = axes(), run(np.random.default_rng(2).uniform(size=7_777))
    drawing.cumulative(ax, [("long", long, "-")])
    assert len(ax.lines[0].get_xdata()) == POINTS  # type: ignore[arg-type]
    assert np.asarray(ax.lines[0].get_ydata())[-1] == pytest.approx(long.total, rel=1e-12)


def test_weights_have_a_tick_for_each_learner_or_for_every_few() -> None:
    for count, ticks in ((3, 3), (10, 10), (25, 9)):
        ax, steps = axes(), np.logspace(0, count - 1, count, base=2.0)
        drawing.heat_map(ax, np.full((6, count), 1.0 / count), steps)
        labels = [label.get_text() for label in ax.get_yticklabels()]
        assert len(labels) == ticks
        assert labels[0] == "1"
        assert ax.get_ylabel() == "step size of the base-learner"
    ax = axes()
    drawing.heat_map(ax, np.full((6, 3), 1.0 / 3.0), None)
    assert ax.get_ylabel() == "base-learner"


@pytest.mark.parametrize("rounds", [1, drawing.WINDOWS, drawing.WINDOWS + 1, 5_000])
def test_costs_of_rounds_are_means_of_windows_within_their_range(rounds: int) -> None:
    ax, costs = axes(), np.random.default_rng(rounds).uniform(1.0, 2.0, rounds)
    drawing._cost_of_rounds(ax, costs)
    (line,) = ax.lines
    means = np.asarray(line.get_ydata())
    assert len(means) == min(rounds, drawing.WINDOWS)
    if rounds <= drawing.WINDOWS:
        np.testing.assert_array_equal(means, costs)
        assert not ax.collections
    else:
        edges = np.linspace(0, rounds, drawing.WINDOWS + 1).astype(int)
        np.testing.assert_allclose(means[:3], [costs[edges[k] : edges[k + 1]].mean() for k in range(3)], rtol=1e-12)
        assert len(ax.collections) == 1
    assert ax.get_ylim()[0] == 0.0
    assert ax.get_ylim()[1] >= costs.max()


def test_an_overview_shows_costs_where_there_is_only_one_weight() -> None:
    plain = run(np.ones(4))
    alone = drawing.overview("someone", plain, np.ones((4, 1)), None)
    mixed = drawing.overview("someone", plain, np.full((4, 2), 0.5), np.array([0.1, 0.2]))
    assert [ax.get_title() for ax in alone.axes] == ["States", "Inputs", "Cumulative cost", "Costs"]
    assert "Weights" in [ax.get_title() for ax in mixed.axes]
    assert alone.get_suptitle() == "Run, 4 rounds, total cost 4"
