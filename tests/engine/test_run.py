"""The compiled loop: what it writes down, and where it stops."""

import functools
import math
from collections.abc import Callable

import numba
import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.engine.run import Books, run_own, run_stream
from driftwise.losses.base import DataLoss
from tests.cases import by_hand, custom, maker, squared

ROUNDS = 40


def _run(learner: dw.Ensemble, losses: DataLoss) -> tuple[int, Array, Array, Array, Array]:
    rounds, count = len(losses), learner.program.steps.size
    out = np.zeros((rounds, losses.dim)), np.zeros(rounds), np.zeros(rounds), np.zeros((rounds, count))
    run = run_own if learner._own else run_stream
    return run(learner.cell, *losses._parts, Books(*out), (0, rounds)), *out


@pytest.mark.parametrize("name", ["Scream appendix", "LazyScream appendix", "Ader original"])
@pytest.mark.parametrize("schedule", ["fixed", "time-varying"])
def test_a_run_writes_down_every_round(name: str, schedule: str) -> None:
    losses, make = squared(3, ROUNDS), maker(name, dw.Ball(3), ROUNDS, schedule)
    learner, twin = make(), make()
    played, decisions, values, moves, weights = _run(learner, losses)
    assert played == ROUNDS
    for t in range(ROUNDS):
        w, p = twin.act(), twin.weights
        assert np.array_equal(decisions[t], w)
        assert np.array_equal(weights[t, : p.size], p)
        assert not weights[t, p.size :].any()
        assert values[t] == losses.unary_value(t, w)
        assert moves[t] == pytest.approx(np.linalg.norm(w - decisions[max(t - 1, 0)]), rel=1e-12)
        twin.observe(losses[t])
    assert learner._state.tobytes() == twin._state.tobytes()


@pytest.mark.parametrize("bad", [0, 17, ROUNDS - 1])
@pytest.mark.parametrize("name", ["Scream appendix", "Ader original"])
@pytest.mark.parametrize("radius", [1.0, 1e90], ids=["gradient too large", "loss infinite"])
def test_a_run_stops_at_bad_numbers(name: str, bad: int, radius: float) -> None:
    good = squared(3, ROUNDS)
    features, targets = good.data.features / radius, good.data.targets.copy()
    features[bad], targets[bad] = 1e100, 1e100
    domain = dw.Ball(3, radius=radius, center=np.full(3, radius))
    played, *_, weights = _run(maker(name, domain, ROUNDS)(), dw.SquaredLoss(features, targets))
    assert played == bad
    assert not weights[bad + 1 :].any()


@functools.cache
def _same_sums() -> tuple[dw.SquaredLoss, dw.CustomLoss]:
    """Return squared losses, built in and as a custom stream that adds in the same order."""
    losses = squared(3, ROUNDS)
    x, y = losses.data.features, losses.data.targets

    def score(t: int, w: Array) -> float:
        total = 0.0
        for k in range(w.size):
            total += x[t, k] * w[k]
        return total - float(y[t])

    inner: Callable[[int, Array], float] = numba.njit(score)  # type: ignore[assignment]

    def value(t: int, w: Array) -> float:
        return 0.5 * inner(t, w) * inner(t, w)

    def gradient(t: int, w: Array) -> Array:
        slope: Array = inner(t, w) * x[t]
        return slope

    return losses, dw.CustomLoss(value, gradient, len(losses), losses.dim, compile="always")


@pytest.mark.parametrize("name", ["OGD", "Scream appendix", "LazyScream appendix"])
def test_a_compiled_custom_stream_runs_like_the_built_in_one(name: str) -> None:
    built_in, own = (dw.play(maker(name, dw.Ball(3), ROUNDS, "time-varying")(), losses) for losses in _same_sums())
    for part in ("decisions", "losses", "moves"):
        np.testing.assert_array_equal(getattr(own, part), getattr(built_in, part))


@pytest.mark.parametrize("memory", [0, 2])
def test_a_custom_stream_gets_the_window_with_the_oldest_decision_first(memory: int) -> None:
    def first_coordinate_of_the_oldest(t: int, window: Array) -> float:
        return float(window.ravel()[0])

    centers = custom(2, ROUNDS, memory, compile="never")
    losses = dw.CustomLoss(
        first_coordinate_of_the_oldest, centers._plain_gradient, ROUNDS, 2, memory=memory, compile="always"
    )
    trace = dw.play(dw.OGD(dw.Ball(2), step=0.3), losses)
    expected = trace.decisions[np.maximum(np.arange(ROUNDS) - memory, 0), 0]
    assert losses.compiled
    np.testing.assert_array_equal(trace.losses, expected)
    np.testing.assert_array_equal(trace.decisions, by_hand(dw.OGD(dw.Ball(2), step=0.3), centers))
    assert math.isfinite(trace.total)
