"""Online gradient descent against its one-line update and its step sizes."""

import math

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import ParameterError
from tests.cases import DOMAINS, by_hand, check_refused, squared

T, G, LAMBDA = 60, 2.0, 5.0


@pytest.mark.parametrize("where", DOMAINS)
@pytest.mark.parametrize("switching_cost", [0.0, LAMBDA])
def test_decisions_follow_the_projected_gradient(where: str, switching_cost: float) -> None:
    domain, losses = DOMAINS[where], squared(DOMAINS[where].dim, T)
    learner = dw.OGD(domain, gradient_bound=G, horizon=T, switching_cost=switching_cost)
    eta = math.sqrt(domain.diameter**2 / ((G**2 + switching_cost * G) * T))
    np.testing.assert_allclose(learner.step_sizes, [eta], rtol=1e-15)
    w = domain.project(np.zeros(domain.dim))
    for t, decision in enumerate(by_hand(learner, losses)):
        np.testing.assert_allclose(decision, w, rtol=0.0, atol=1e-13)
        w = domain.project(w - eta * losses.gradient(t, w))


@pytest.mark.parametrize(
    ("horizon_free", "clocks"),
    [("time-varying", [1, 2, 3, 4, 5, 6, 7, 8]), ("doubling", [1, 2, 2, 4, 4, 4, 4, 8])],
)
def test_without_a_horizon_the_step_shrinks(horizon_free: str, clocks: list[int]) -> None:
    learner = dw.OGD(dw.Ball(2), gradient_bound=G, horizon_free=horizon_free)
    steps = []
    for _ in clocks:
        steps.append(float(learner.step_sizes[0]))
        learner.act()
        learner.observe([0.1, 0.0])
    np.testing.assert_allclose(steps, 2.0 / G / np.sqrt(clocks), rtol=1e-15)


@pytest.mark.parametrize("horizon", [None, 7])
def test_a_given_step_stays_as_it_is(horizon: int | None) -> None:
    learner = dw.OGD(dw.Ball(1, radius=10.0), step=0.25, horizon=horizon)
    for t in range(7):
        assert learner.act() == [-0.25 * t]
        assert learner.step_sizes == [0.25]
        learner.observe([1.0])


def test_the_start_is_played_first() -> None:
    assert dw.OGD(dw.Ball(2), step=0.1, start=[0.6, 0.0]).act().tolist() == [0.6, 0.0]


def test_a_step_or_a_bound_is_needed() -> None:
    check_refused(lambda: dw.OGD(dw.Ball(2), horizon=3), "OGD: give gradient_bound", "step", kind=ParameterError)
