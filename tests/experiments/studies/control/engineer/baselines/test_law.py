"""A law and its plant as one linear system give what a simulation gives round by round."""

import math

import numpy as np

from driftwise.experiments.studies.control.engineer.baselines.law import Law, total_cost, trajectory

RNG = np.random.default_rng(5)


def test_a_run_is_that_of_the_equations() -> None:
    A, B, C = 0.4 * RNG.normal(size=(3, 3)), RNG.normal(size=(3, 2)), RNG.normal(size=(2, 3))
    law = Law(*(0.2 * RNG.normal(size=shape) for shape in ((4, 4), (4, 2), (2, 4), (2, 2))))
    rows, noise = RNG.normal(size=(60, 3)), RNG.normal(size=(60, 2))
    states, inputs = trajectory(A, B, law, rows, C, noise)
    x, s, total = np.zeros(3), np.zeros(4), 0.0
    for t in range(60):
        y = C @ x + noise[t]
        u = law.C @ s + law.D @ y
        np.testing.assert_allclose(states[t], x, atol=1e-12)
        np.testing.assert_allclose(inputs[t], u, atol=1e-12)
        total += x @ x + u @ u
        s, x = law.F @ s + law.G @ y, A @ x + B @ u + rows[t]
    np.testing.assert_allclose(total_cost(states, inputs, 3), total)


def test_a_run_that_diverges_costs_infinitely_much() -> None:
    nothing = Law(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.zeros((1, 1)))
    states, inputs = trajectory(np.array([[2.0]]), np.ones((1, 1)), nothing, np.ones((2000, 1)))
    assert total_cost(states, inputs, 1) == math.inf


def test_only_the_states_of_the_plant_are_paid_for() -> None:
    states, inputs = np.array([[3.0, 100.0]]), np.array([[4.0]])
    assert total_cost(states, inputs, 1) == 25.0
