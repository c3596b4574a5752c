"""The changing costs of the paper's experiments."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from driftwise.control.costs import (
    CostSequence,
    abrupt,
    as_costs,
    gradual,
    pendulum,
)
from tests.control.costs.cases import U, X, agree


def test_gradual_costs_of_the_paper() -> None:
    costs = gradual(500, state_dim=3, input_dim=2)
    for t in (0, 17, 499):
        a, b = 1.0 + math.sin(t / (10.0 * math.pi)), 1.0 + math.sin(t / (20.0 * math.pi))
        assert costs[t].value(X, U) == pytest.approx(a * X @ X + b * U @ U, rel=1e-13)
    assert costs.data is not None
    assert costs.data.state.shape == (1, 3, 3)
    assert costs.data.scales.min() >= 0.0
    assert costs.gradient_constant == pytest.approx(4.0, abs=1e-3)


def test_pendulum_costs_of_the_paper() -> None:
    costs = pendulum(500)
    for t in (0, 17, 499):
        a, b = (1.0 + math.sin(t / (10.0 * math.pi))) / 2.0, (1.0 + math.sin(t / (20.0 * math.pi))) / 2.0
        assert costs[t].value([3.0, -2.0], [5.0]) == pytest.approx(9.0 * a + 4.0 * b + 25.0 * b, rel=1e-13)
    agree(costs, list(costs))


@pytest.mark.parametrize("make", [gradual, pendulum])
def test_literal_costs_warn_once_and_are_plain_sines(make: Callable[..., CostSequence]) -> None:
    with pytest.warns(UserWarning, match=f"{make.__name__}: literal=True.*not convex") as caught:
        costs = make(300, literal=True)
    as_costs("simulate", costs, 300, 2, 1)
    assert [warning.filename for warning in caught] == [__file__]
    t = 150
    a, b = math.sin(t / (10.0 * math.pi)), math.sin(t / (20.0 * math.pi))
    assert a < 0.0
    second = a if make is gradual else b
    assert costs[t].value([1.0, 2.0], [3.0]) == pytest.approx(a + 4.0 * second + 9.0 * b, rel=1e-13)


def test_abrupt_costs_change_between_stages_only() -> None:
    costs = abrupt(1003, state_dim=3, input_dim=2, seed=4)
    values = np.array([cost.value(X, U) for cost in costs])
    assert np.flatnonzero(np.diff(values)).tolist() == [200, 401, 602, 802]
    assert costs.data is not None
    assert costs.data.state.shape[0] == 5
    weights = np.concatenate([costs.data.state[:, 0, 0], costs.data.input[:, 0, 0]])
    assert ((weights >= 0.1) & (weights < 2.0)).all()
    assert len(set(weights)) == 10
    assert abrupt(1003, seed=4)[0].value([1.0, 0.0], [0.0]) == weights[0]
    assert abrupt(1003, seed=5)[0].value([1.0, 0.0], [0.0]) != weights[0]
    assert abrupt(7, stages=7, seed=np.random.default_rng(4))[0].value([1.0, 0.0], [0.0]) == weights[0]
