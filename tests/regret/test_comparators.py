"""Comparators: the best piecewise-constant decisions by brute force, and the generator."""

import itertools
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ArgumentError, ConvergenceError, InputError, ParameterError
from driftwise.losses.base import DataLoss
from driftwise.optimum import fixed
from driftwise.regret import best_piecewise, generator
from tests.cases import check_refused, custom, squared
from tests.optimum.problems import CONES, DIM, DOMAINS, QUADRATIC, built_in, cheapest_held, held


def part(losses: DataLoss, start: int, stop: int) -> DataLoss:
    """Return some rounds of a stream as a stream."""
    x, y = losses.data.features[start:stop], losses.data.targets[start:stop]
    if isinstance(losses, dw.TrackingLoss):
        return dw.TrackingLoss(x)
    return dw.LinearLoss(x) if isinstance(losses, dw.LinearLoss) else dw.SquaredLoss(x, y)


def total(losses: DataLoss, decisions: Array) -> float:
    return float(sum(held(losses, w)[t] for t, w in enumerate(decisions)))


@pytest.mark.parametrize("name", CONES)
@pytest.mark.parametrize("kind", QUADRATIC)
def test_given_segments_hold_the_best_fixed_decision_of_each(kind: str, name: str) -> None:
    losses, domain = built_in(kind, 30), DOMAINS[name]
    found = best_piecewise(losses, domain, [0, 1, 12, 29])
    for start, stop in [(0, 1), (1, 12), (12, 29), (29, 30)]:
        np.testing.assert_array_equal(found[start:stop], np.tile(found[start], (stop - start, 1)))
        piece = part(losses, start, stop)
        assert held(piece, found[start]).sum() == pytest.approx(cheapest_held(piece, domain), rel=1e-6, abs=1e-7)


def test_round_0_always_begins_a_segment() -> None:
    losses, places = built_in("squared", 30), cast(Any, np.array([0, 7]))
    np.testing.assert_array_equal(
        best_piecewise(losses, dw.Ball(DIM), [7]), best_piecewise(losses, dw.Ball(DIM), places)
    )


@pytest.mark.parametrize("kind", QUADRATIC)
@pytest.mark.parametrize("name", ["ball", "box"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_placed_segments_are_the_best_of_all_placements(kind: str, name: str, count: int) -> None:
    losses, domain = built_in(kind, 9), DOMAINS[name]
    placements = itertools.combinations(range(1, 9), count - 1)
    least = min(total(losses, best_piecewise(losses, domain, [0, *places])) for places in placements)
    found = best_piecewise(losses, domain, count)
    assert total(losses, found) == pytest.approx(least, rel=1e-9, abs=1e-10)
    assert np.count_nonzero(np.any(np.diff(found, axis=0) != 0.0, axis=1)) <= count - 1


def test_more_segments_than_needed_do_no_harm() -> None:
    losses = dw.TrackingLoss([0.0, 0.0, 0.5, 0.5, 0.5, -1.0])
    for count in (3, 4, 6, 100):
        found = best_piecewise(losses, dw.Ball(1), count)
        np.testing.assert_allclose(found.ravel(), [0.0, 0.0, 0.5, 0.5, 0.5, -1.0], rtol=0.0, atol=1e-12)


def test_segments_begin_on_the_grid_only() -> None:
    losses = dw.TrackingLoss(np.repeat([0.0, 1.0, -1.0], [5, 4, 6]))
    found = best_piecewise(losses, dw.Ball(1), 3, grid=[3, 6, 9, 12]).ravel()
    places = itertools.combinations([3, 6, 9, 12], 2)
    least = min(total(losses, best_piecewise(losses, dw.Ball(1), [0, *pair])) for pair in places)
    assert set(np.flatnonzero(np.diff(found)) + 1) <= {3, 6, 9, 12}
    assert total(losses, found[:, None]) == pytest.approx(least, rel=1e-12)


def test_the_grid_of_a_long_stream_has_200_places() -> None:
    few = best_piecewise(dw.TrackingLoss([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), dw.Ball(1), 2).ravel()
    assert few.tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    many = dw.TrackingLoss(np.where(np.arange(50_000) < 25_100, 1.0, -1.0))
    found = best_piecewise(many, dw.Ball(1), 3).ravel()
    assert (np.flatnonzero(np.diff(found)) + 1).tolist() == [25_000, 25_250]


def test_breaks_of_a_long_stream_are_found() -> None:
    losses = dw.streams.drifting_regression(rounds=2000, dim=3, segment=500, noise=0.01, seed=5)
    found = best_piecewise(losses, losses.domain, 4)
    np.testing.assert_allclose(found, generator(losses), rtol=0.0, atol=0.05)


def test_a_domain_of_one_point_leaves_no_choice() -> None:
    point = [0.3, 0.1, -0.7, 0.2]
    found = best_piecewise(built_in("squared", 20), dw.Box(point, point), 3)
    np.testing.assert_array_equal(found, np.tile(point, (20, 1)))


def test_a_minimum_that_is_not_certain_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixed, "minimise", lambda problem, domain: np.zeros((len(problem.b), DIM)))
    losses = built_in("squared", 9)
    check_refused(lambda: best_piecewise(losses, dw.Ball(DIM), 2), "best_piecewise", "gap", kind=ConvergenceError)


def test_the_generator_is_that_of_the_stream() -> None:
    losses = squared(3, 30)
    assert isinstance(losses, dw.streams.DriftingRegression)
    np.testing.assert_array_equal(generator(losses), losses.generator)
    check_refused(lambda: generator(built_in("squared", 5)), "does not know what generated it", kind=InputError)


SQUARED, BALL = built_in("squared", 10), dw.Ball(DIM)
PIECEWISE: Any = best_piecewise


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: PIECEWISE(SQUARED, BALL, [0, 5, 3]), InputError, ("segments", "rising order", "[0, 5, 3]")),
        (lambda: PIECEWISE(SQUARED, BALL, [0, 5, 5]), InputError, ("segments", "rising order")),
        (lambda: PIECEWISE(SQUARED, BALL, [0, 10]), InputError, ("segments", "0 to 9")),
        (lambda: PIECEWISE(SQUARED, BALL, [-1, 3]), InputError, ("segments", "0 to 9")),
        (lambda: PIECEWISE(SQUARED, BALL, []), InputError, ("segments", "whole numbers")),
        (lambda: PIECEWISE(SQUARED, BALL, [0.0, 3.5]), InputError, ("segments", "whole numbers")),
        (lambda: PIECEWISE(SQUARED, BALL, [[0, 3]]), InputError, ("segments", "whole numbers")),
        (lambda: PIECEWISE(SQUARED, BALL, 2.5), InputError, ("segments", "got 2.5")),
        (lambda: PIECEWISE(SQUARED, BALL, 0), ParameterError, ("segments", "at least 1")),
        (lambda: PIECEWISE(SQUARED, BALL, True), ParameterError, ("segments", "got True")),
        (lambda: PIECEWISE(SQUARED, BALL, 2, grid=[0, 99]), InputError, ("grid", "0 to 9")),
        (lambda: PIECEWISE(SQUARED, BALL, 2, grid=[5, 2]), InputError, ("grid", "rising order")),
        (lambda: PIECEWISE(SQUARED, BALL, [0, 3], grid=[0, 3]), ParameterError, ("grid", "number of segments")),
        (
            lambda: PIECEWISE(built_in("absolute", 10), BALL, 2),
            InputError,
            ("squared, tracking and linear", "Absolute"),
        ),
        (lambda: PIECEWISE(custom(DIM, 10, compile="never"), BALL, 2), InputError, ("squared, tracking and linear",)),
        (lambda: PIECEWISE(SQUARED, dw.Ball(3), 2), InputError, ("dim 4", "Ball(3")),
        (lambda: PIECEWISE(SQUARED, BALL), ArgumentError, ("segments",)),
        (lambda: generator("me"), ParameterError, ("generator", "losses")),  # type: ignore[arg-type]
    ],
)
def test_wrong_calls_are_refused_by_name(
    call: Callable[[], object], kind: type[Exception], words: tuple[str, ...]
) -> None:
    check_refused(call, *words, kind=kind)


def test_given_places_work_for_any_losses() -> None:
    losses = dw.AbsoluteLoss(np.ones(6), [1.0, 2.0, 9.0, 5.0, 6.0, 6.5])
    held = best_piecewise(losses, dw.Box([0.0], [10.0]), [0, 3])
    np.testing.assert_allclose(held.ravel(), [2.0, 2.0, 2.0, 6.0, 6.0, 6.0], atol=1e-6)
