"""The kernels of self-tuned control against its NumPy statement."""

import numpy as np
import pytest

from driftwise import control
from driftwise.control.self_tuned.reference import Reference
from tests.control.cases import PLANT, WIDE, costs, roll

WAVES = control.SinusoidDisturbance(0.3, period=25.0, seed=1)
SIZED = {"linear": PLANT, "wide": WIDE}


@pytest.mark.parametrize("name", SIZED)
def test_it_is_what_its_numpy_statement_says(name: str) -> None:
    plant, T, H = SIZED[name], 40, 2
    dx, du = plant.state_dim, plant.input_dim
    rows = WAVES.sample(T, dx) + 0.1 * np.random.default_rng(0).standard_normal((T, dx))
    rows[25] *= 30.0  # a glitch
    sequence, start = costs("stages", dx, du, T), np.linspace(0.4, -0.2, dx)
    mine = control.SelfTunedController(plant, memory=H)
    trace = control.simulate(plant, mine, sequence, rows, start=start, record_weights=True, record_policies=True)
    reference = Reference(plant, mine.K, H, start)
    assert trace.weights is not None
    assert trace.policies is not None
    for t in range(T):
        np.testing.assert_allclose(trace.weights[t], reference.weights, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(trace.policies[t].ravel(), reference.mixture, rtol=1e-6, atol=1e-9)
        cost = sequence[t]
        assert isinstance(cost, control.QuadraticCost)
        reference.observe(rows[:t], cost.Q, cost.R)
    np.testing.assert_allclose(mine._pool_parts["policies"], reference.policies, rtol=1e-6, atol=1e-9)
    assert trace.weights[-1].max() > 2.0 * reference.prior[1:].max()
    states, inputs = roll(plant, mine.K, trace.policies, rows, start)
    np.testing.assert_allclose(trace.states, states[:-1], atol=1e-9)
    np.testing.assert_allclose(trace.inputs, inputs, atol=1e-9)
