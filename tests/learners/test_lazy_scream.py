"""Lazy Scream: Scream on epochs."""

import math

import numpy as np
import pytest

import driftwise as dw
from tests.cases import by_hand, squared

G = 2.0


def _lazy(lambda_: float, T: int | None, epoch: int | None = None, rate: str = "appendix") -> dw.LazyScream:
    return dw.LazyScream(dw.Ball(3), switching_cost=lambda_, gradient_bound=G, horizon=T, epoch=epoch, rate=rate)


@pytest.mark.parametrize(
    ("lambda_", "epoch"), [(0.0, 1), (0.5, 1), (1.0, 1), (1.1, 2), (4.0, 2), (4.1, 3), (9.0, 3), (100.0, 10)]
)
def test_the_default_epoch_is_the_root_of_the_switching_cost(lambda_: float, epoch: int) -> None:
    assert _lazy(lambda_, 50).epoch == epoch


@pytest.mark.parametrize("horizon", [48, 47, 41, None])
@pytest.mark.parametrize("epoch", [3, 5])
def test_decisions_are_held_for_an_epoch_and_are_those_of_scream_on_the_sums(epoch: int, horizon: int | None) -> None:
    T = horizon or 40
    losses = squared(3, T)
    learner = _lazy(6.0, horizon, epoch)
    decisions = by_hand(learner, losses)
    updates = None if horizon is None else math.ceil(T / epoch)
    scream = dw.Scream(dw.Ball(3), switching_cost=6.0, gradient_bound=epoch * G, horizon=updates)
    for first in range(0, T, epoch):
        w = scream.act()
        rounds = range(first, min(first + epoch, T))
        for t in rounds:
            np.testing.assert_allclose(decisions[t], w, rtol=0.0, atol=1e-13)
            assert np.array_equal(decisions[t], decisions[first])
        scream.observe(np.sum([losses.gradient(t, w) for t in rounds], axis=0))
    assert np.count_nonzero(np.diff(decisions, axis=0).any(axis=1)) == math.ceil(T / epoch) - 1
    assert learner.round == T


@pytest.mark.parametrize("rate", ["appendix", "theorem"])
@pytest.mark.parametrize("T", [100, 101])
def test_constants_are_screams_for_the_epochs(T: int, rate: str) -> None:
    lazy = _lazy(9.0, T, rate=rate)
    scream = dw.Scream(dw.Ball(3), switching_cost=9.0, gradient_bound=3 * G, horizon=math.ceil(T / 3), rate=rate)
    np.testing.assert_array_equal(lazy.step_sizes, scream.step_sizes)
    np.testing.assert_array_equal(lazy.weights, scream.weights)
    assert lazy.program.rate == scream.program.rate
    assert lazy.program.clock == scream.program.clock == math.ceil(T / 3)


def test_with_epochs_of_one_round_it_is_scream() -> None:
    losses = squared(3, 40)
    scream = dw.Scream(dw.Ball(3), switching_cost=6.0, gradient_bound=G, horizon=40)
    np.testing.assert_array_equal(by_hand(_lazy(6.0, 40, epoch=1), losses), by_hand(scream, losses))
