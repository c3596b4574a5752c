"""Pictures: the right data, on the right axes, with words that say what it is."""

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch

import driftwise as dw
from driftwise import _plot
from driftwise._validate import Array
from driftwise.errors import InputError, MissingExtraError, ParameterError
from driftwise.regret import HindsightOptimum, certificate, hindsight_optimum, plots, regret_over_time
from tests.cases import check_refused, squared

T, PRICE = 60, 2.0
LOSSES = dw.streams.drifting_regression(rounds=T, dim=4, segment=20, seed=2)
MOVING = LOSSES.generator
BALL = dw.Ball(4)


@pytest.fixture(autouse=True)
def _figures() -> Iterator[None]:
    mpl.use("Agg")
    yield
    pyplot.close("all")


def _scream(**changed: Any) -> dw.Scream:
    return dw.Scream(BALL, **{"gradient_bound": 2.1, "switching_cost": PRICE, "horizon": T, **changed})


TRACE = dw.play(_scream(), LOSSES, PRICE, record_weights=True)

DRAWN: dict[str, Callable[..., Axes]] = {
    "regret": lambda trace=TRACE, **settings: plots.regret(trace, MOVING, **settings),
    "decisions": lambda trace=TRACE, **settings: plots.decisions(trace, **settings),
    "weights": lambda trace=TRACE, **settings: plots.weights(trace, **settings),
    "costs": lambda trace=TRACE, **settings: plots.costs(trace, **settings),
}


@functools.cache
def _optimum() -> HindsightOptimum:
    return hindsight_optimum(LOSSES, BALL, PRICE)


def _line(ax: Axes, label: str) -> tuple[Array, Array]:
    """Return the data of the line with this label."""
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def _legend(ax: Axes) -> list[str]:
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def _stairs(ax: Axes, label: str) -> Any:
    """Return values, edges and baseline of the stairs with this label."""
    (patch,) = [patch for patch in ax.patches if isinstance(patch, StepPatch) and patch.get_label() == label]
    return patch.get_data()


def _area(ax: Axes, label: str) -> float:
    values, edges, baseline = _stairs(ax, label)
    return float(np.sum((values - baseline) * np.diff(edges)))


@pytest.mark.parametrize("name", DRAWN)
def test_axes_are_those_given_or_new_ones(name: str) -> None:
    figure, (left, right) = pyplot.subplots(1, 2)
    assert DRAWN[name](ax=left) is left
    assert not right.has_data()
    new = DRAWN[name]()
    assert new.figure is not figure
    assert new.has_data()


@pytest.mark.parametrize("name", DRAWN)
def test_titles_say_who_played_and_how_long(name: str) -> None:
    ax = DRAWN[name]()
    assert ax.get_title() == "Scream, 60 rounds"
    assert ax.get_xlabel() == "round"


@pytest.mark.parametrize("name", DRAWN)
def test_every_picture_can_be_drawn_of_a_run_of_one_round(name: str) -> None:
    losses = dw.streams.drifting_regression(rounds=1, dim=4, seed=0)
    trace = dw.play(_scream(horizon=1), losses, PRICE, record_weights=True)
    ax = plots.regret(trace, losses.generator) if name == "regret" else DRAWN[name](trace)
    ax.figure.canvas.draw()
    assert ax.has_data()


@pytest.mark.parametrize("name", DRAWN)
def test_without_matplotlib_the_error_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    check_refused(
        DRAWN[name], f"plots.{name} needs matplotlib", "pip install 'driftwise[plot]'", kind=MissingExtraError
    )


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_no_run_is_refused(name: str) -> None:
    check_refused(lambda: DRAWN[name]("run"), f"plots.{name}: trace", "got 'run'", kind=ParameterError)


def test_regret_is_drawn_over_time_with_its_bound() -> None:
    ax = plots.regret(TRACE, MOVING)
    rounds, measured = _line(ax, "measured")
    np.testing.assert_array_equal(rounds, np.arange(1, T + 1))
    np.testing.assert_allclose(measured, regret_over_time(TRACE, LOSSES, MOVING), rtol=1e-9, atol=1e-12)
    some, bound = _line(ax, "bound")
    found = certificate(TRACE, MOVING)
    assert (measured[-1], some[-1]) == (found.measured, T)
    assert bound[-1] == pytest.approx(found.bound, rel=1e-12)
    assert np.all(bound >= measured[some - 1])
    assert np.all(np.diff(bound) > 0.0)
    assert _legend(ax) == ["measured", "bound"]
    assert ax.get_ylabel() == found.measure
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_the_bound_for_some_of_the_rounds_is_that_of_the_first_ones() -> None:
    """At t: rates made for T, the path of the comparators so far."""
    rounds, bound = _line(plots.regret(TRACE, MOVING), "bound")
    for k in (0, 9, -3):
        t = int(rounds[k])
        expected = dw.regret.bounds.scream(
            horizon=t,
            path_length=dw.regret.path_length(MOVING[:t]),
            gradient_bound=2.1,
            diameter=2.0,
            switching_cost=PRICE,
            tuned_for=T,
        )
        assert bound[k] == pytest.approx(expected, rel=1e-12)


def test_regret_can_be_drawn_without_the_bound() -> None:
    ax = plots.regret(TRACE, MOVING, bound=False)
    assert _legend(ax) == ["measured"]
    assert len(ax.lines) == 1
    untyped: Any = plots.regret
    check_refused(lambda: untyped(TRACE, MOVING, bound="no"), "plots.regret: bound", "'no'", kind=ParameterError)


@pytest.mark.parametrize(
    ("learner", "label"),
    [
        (_scream(gradient_bound=0.01), "bound (no guarantee: gradient bound)"),
        (_scream(gradient_bound=0.01, switching_cost=1.0), "bound (no guarantee: gradient bound, switching cost)"),
    ],
)
def test_the_label_of_the_bound_says_what_is_violated(learner: dw.Learner, label: str) -> None:
    ax = plots.regret(dw.play(learner.clone(), LOSSES, PRICE), MOVING)
    assert _legend(ax) == ["measured", label]


def test_the_label_of_the_bound_says_that_comparators_move() -> None:
    trace = dw.play(dw.Hedge(4, rate=0.1), LOSSES)
    assert _legend(plots.regret(trace, np.eye(4)[np.arange(T) // 30])) == [
        "measured",
        "bound (no guarantee: comparators)",
    ]


def test_regret_of_a_long_run_is_drawn_at_few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "POINTS", 10)
    rounds, measured = _line(plots.regret(TRACE, MOVING), "measured")
    assert len(rounds) <= 10
    assert (rounds[0], rounds[-1]) == (1, T)
    over_time = regret_over_time(TRACE, LOSSES, MOVING)
    np.testing.assert_allclose(measured, over_time[rounds - 1], rtol=1e-9, atol=1e-12)
    rounds, drawn = _line(plots.decisions(TRACE), "coordinate 0")
    assert len(rounds) <= 20
    np.testing.assert_array_equal(drawn, TRACE.decisions[rounds - 1, 0])


@pytest.mark.parametrize(("chosen", "picked"), [(None, [0, 1, 2]), ([3, 1], [3, 1]), ((2,), [2])])
def test_decisions_are_drawn_with_comparators_in_the_same_colours(chosen: Any, picked: list[int]) -> None:
    ax = plots.decisions(TRACE, MOVING, coordinates=chosen)
    for own, other, k in zip(ax.lines[0:-1:2], ax.lines[1:-1:2], picked, strict=True):
        assert own.get_label() == f"coordinate {k}"
        np.testing.assert_array_equal(own.get_xdata(), np.arange(1, T + 1))
        np.testing.assert_array_equal(own.get_ydata(), TRACE.decisions[:, k])
        np.testing.assert_array_equal(other.get_ydata(), MOVING[:, k])
        assert (own.get_linestyle(), other.get_linestyle()) == ("-", "--")
        assert other.get_color() == (own.get_color() if len(picked) > 1 else "black")
    assert len({line.get_color() for line in ax.lines[0:-1:2]}) == len(picked)
    assert _legend(ax) == [*[f"coordinate {k}" for k in picked], "comparators"]
    assert ax.get_ylabel() == "decision"


def test_decisions_are_drawn_alone_and_against_a_fixed_one() -> None:
    assert _legend(plots.decisions(TRACE)) == ["coordinate 0", "coordinate 1", "coordinate 2"]
    ax = plots.decisions(TRACE, [0.1, 0.2, 0.3, 0.4], coordinates=[3])
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), np.full(T, 0.4))
    single = dw.play(dw.OGD(dw.Ball(1), step=0.1), squared(1, 10))
    assert _legend(plots.decisions(single)) == ["decision"]


def test_one_coordinate_may_be_given_by_its_number() -> None:
    assert _legend(plots.decisions(TRACE, coordinates=1)) == ["coordinate 1"]


def test_no_coordinate_at_all_is_refused() -> None:
    check_refused(lambda: plots.decisions(TRACE, coordinates=[]), "at least one")


def test_axes_that_are_none_are_refused() -> None:
    wrong: Any = 3
    check_refused(lambda: plots.decisions(TRACE, ax=wrong), "must be matplotlib axes", "got 3")


@pytest.mark.parametrize("coordinate", [4, -1, 0.5, "x"])
def test_unknown_coordinates_are_refused(coordinate: Any) -> None:
    untyped: Any = functools.partial(plots.decisions, TRACE, coordinates=[0, coordinate])
    check_refused(untyped, "plots.decisions: coordinates", repr(coordinate), kind=ParameterError)


@pytest.mark.parametrize("draw", [plots.decisions, plots.regret])
def test_impossible_comparators_are_refused(draw: Any) -> None:
    name = f"plots.{draw.__name__}: comparators"
    check_refused(lambda: draw(TRACE, MOVING[1:]), name, "(60, 4)", kind=InputError)
    check_refused(lambda: draw(TRACE, np.ones(4)), name, "Ball(4", kind=InputError)


def test_weights_are_a_heat_map_of_step_sizes() -> None:
    ax = plots.weights(TRACE)
    (image,) = ax.images
    assert TRACE.weights is not None
    np.testing.assert_array_equal(np.asarray(image.get_array()), TRACE.weights.T)
    assert image.origin == "lower"
    assert tuple(image.get_extent()) == (0, T, -0.5, TRACE.weights.shape[1] - 0.5)
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"{step:.2g}" for step in _scream().step_sizes]
    assert ax.get_ylabel() == "step size of the base-learner"
    assert image.colorbar is not None
    assert image.colorbar.ax.get_ylabel() == "weight"


def test_weights_of_a_long_run_are_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plot, "POINTS", 20)
    (image,) = plots.weights(TRACE).images
    assert TRACE.weights is not None
    means = TRACE.weights.reshape(20, 3, -1).mean(axis=1)
    np.testing.assert_allclose(np.asarray(image.get_array()), means.T, rtol=1e-12)


def test_weights_of_experts_and_of_a_growing_pool_say_so() -> None:
    hedge = dw.play(dw.Hedge(4, rate=0.1), LOSSES, record_weights=True)
    ax = plots.weights(hedge)
    assert ax.get_ylabel() == "expert"
    assert np.asarray(ax.images[0].get_array()).shape == (4, T)
    learner = _scream(horizon=None)
    ax = plots.weights(dw.play(learner, LOSSES, record_weights=True))
    assert ax.get_ylabel() == "step size of the base-learner at the end"
    last = learner.step_sizes * np.sqrt((T + 1) / T)
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"{step:.2g}" for step in last]


def test_step_sizes_at_the_end_are_those_of_the_last_epoch() -> None:
    learner = dw.LazyScream(BALL, gradient_bound=2.1, switching_cost=PRICE, epoch=6)
    ax = plots.weights(dw.play(learner, LOSSES, record_weights=True))
    last = learner.step_sizes * np.sqrt((T // 6 + 1) / (T // 6))
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"{step:.2g}" for step in last]


def test_weights_that_were_not_recorded_cannot_be_drawn() -> None:
    trace = dw.play(_scream(), LOSSES)
    check_refused(lambda: plots.weights(trace), "plots.weights", "record_weights=True", kind=InputError)


@pytest.mark.parametrize(
    "windows",
    [1, 12, 60, 100, 7],
)
def test_the_areas_are_what_was_paid(windows: int) -> None:
    ax = plots.costs(TRACE, _optimum(), windows=windows)
    assert _area(ax, "running (loss)") == pytest.approx(TRACE.total_loss, rel=1e-12)
    assert _area(ax, "moving (switching cost)") == pytest.approx(TRACE.total_switching, rel=1e-12)
    values, edges, _ = _stairs(ax, "hindsight optimum, both")
    assert len(values) == min(windows, T)
    assert _legend(ax) == ["running (loss)", "moving (switching cost)", "hindsight optimum, both"]
    assert float(np.sum(values * np.diff(edges))) == pytest.approx(_optimum().total, rel=1e-12)


def test_costs_are_stacked_window_by_window() -> None:
    ax = plots.costs(TRACE, windows=12)
    running, edges, _ = _stairs(ax, "running (loss)")
    np.testing.assert_allclose(running, TRACE.losses.reshape(12, 5).mean(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(edges, np.arange(0, T + 1, 5))
    top, _, bottom = _stairs(ax, "moving (switching cost)")
    np.testing.assert_array_equal(bottom, running)
    np.testing.assert_allclose(top - bottom, PRICE * TRACE.moves.reshape(12, 5).mean(axis=1), rtol=1e-9)
    assert _legend(ax) == ["running (loss)", "moving (switching cost)"]
    assert ax.get_ylabel() == "cost of a round"


def test_windows_that_are_none_and_an_optimum_of_something_else_are_refused() -> None:
    untyped: Any = plots.costs
    check_refused(lambda: untyped(TRACE, windows=0), "plots.costs: windows", "got 0", kind=ParameterError)
    check_refused(lambda: untyped(TRACE, windows=2.5), "plots.costs: windows", "got 2.5", kind=ParameterError)
    check_refused(lambda: untyped(TRACE, MOVING), "plots.costs: optimum", "hindsight_optimum", kind=ParameterError)
    for other in (hindsight_optimum(squared(4, 20), BALL, PRICE), hindsight_optimum(LOSSES, BALL, 2.0 * PRICE)):
        check_refused(functools.partial(untyped, TRACE, other), "of other losses or of another price", kind=InputError)


def test_regret_below_zero_is_drawn_too() -> None:
    trace = dw.play(dw.OGD(dw.Ball(1), step=0.1, start=[1.0]), dw.TrackingLoss(np.ones((20, 1))))
    ax = plots.regret(trace, [-1.0])
    assert ax.get_yscale() == "symlog"
    assert ax.get_lines()[0].get_ydata()[-1] == pytest.approx(-40.0)  # type: ignore[index]


def test_regret_of_any_learner_can_be_drawn_without_a_bound() -> None:
    class Own(dw.OGD):
        """A learner without a theorem."""

    trace = dw.play(Own(BALL, step=0.1), LOSSES, PRICE)
    measured = regret_over_time(trace, LOSSES, MOVING)
    ax = plots.regret(trace, MOVING, bound=False)
    assert ax.get_lines()[0].get_ydata()[-1] == measured[-1]  # type: ignore[index]
    check_refused(lambda: plots.regret(trace, MOVING), "no theorem is known", kind=InputError)


PRICES = dw.MoveCost(up=[3.0, 0.0, 1.0, 1.0], down=2.0)
PRICED = dw.play(_scream(), LOSSES, PRICES)


def test_prices_up_and_down_are_drawn_like_any_other() -> None:
    ax = plots.costs(PRICED, windows=12)
    assert _area(ax, "moving (switching cost)") == pytest.approx(PRICED.total_switching, rel=1e-12)
    assert PRICED.total_switching != pytest.approx(TRACE.total_switching, rel=0.1)
    best = hindsight_optimum(LOSSES, BALL, PRICES)
    values, edges, _ = _stairs(plots.costs(PRICED, best, windows=12), "hindsight optimum, both")
    assert float(np.sum(values * np.diff(edges))) == pytest.approx(best.total, rel=1e-12)
    regret = plots.regret(PRICED, MOVING, bound=False)
    assert regret.get_ylabel() == f"dynamic regret with switching cost {PRICES!r}"
    bounded = plots.regret(PRICED, MOVING)
    assert bounded.get_ylabel() == regret.get_ylabel()
    assert bounded.get_lines()[-1].get_label() == "bound (no guarantee: switching cost)"
    check_refused(lambda: plots.costs(PRICED, _optimum()), f"switching_cost={PRICES!r}", kind=InputError)
