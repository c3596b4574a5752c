"""The kernels of self-tuned control against its NumPy statement."""

from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.policies.disturbance_action import nominal_loop
from driftwise.control.policies.model import model_of
from driftwise.control.policies.scales import gain_size
from driftwise.control.self_tuned.pool import AUTOREGRESSIONS
from driftwise.control.self_tuned.reference import Reference, counted, cuts, fitted, smoothed
from tests.control.cases import PLANT, WIDE, Actuator

WAVES = control.SinusoidDisturbance(0.3, period=25.0, seed=1)
MEMORY = 2
WEIGHTS = {2: ([[2.0, 0.3], [0.3, 1.0]], 0.5), 3: (np.diag([1.0, 0.5, 2.0]), [[1.0, 0.2], [0.2, 0.4]])}
SETTINGS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "own gain": {"K": True},
    "set-point": {"target": True},
    "delay": {"delay": 2},
    "delay, own gain and set-point": {"delay": 2, "K": True, "target": True},
}


def cost_of(plant: control.System, target: float) -> control.QuadraticCost:
    n, du = plant.state_dim, plant.input_dim
    weights: Any = WEIGHTS[n]
    Q, R = weights
    if not target:
        return control.QuadraticCost(Q, R)
    return control.QuadraticCost(Q, R, target=np.linspace(target, -0.2, n), input_target=np.full(du, 0.1))


def own_gain(plant: control.System) -> Array:
    """Return a gain that is good for other weights, and leaves the actuator's memory aside."""
    return control.lqr(plant, 0.01 * np.eye(plant.state_dim), np.eye(plant.input_dim))


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("bare", [PLANT, WIDE], ids=["linear", "wide"])
def test_it_is_what_its_numpy_statement_says(bare: control.LinearSystem, name: str) -> None:
    asked = SETTINGS[name]
    plant = control.LinearSystem(bare.A if bare is PLANT else 0.8 * bare.A, bare.B, delay=asked.get("delay", 0))
    n, T = plant.state_dim, 2 + max(one.silent(plant.state_dim) + one.every for one in AUTOREGRESSIONS)
    rows = WAVES.sample(T, n) + 0.2 * np.random.default_rng(0).standard_normal((T, n))
    rows[25] *= 30.0  # a glitch
    first, later = cost_of(plant, 0.4 * ("target" in asked)), cost_of(plant, -0.3 * ("target" in asked))
    K = own_gain(plant) if "K" in asked else None
    mine = control.SelfTunedController(plant, K, MEMORY, cost=first, guard=False, bank=False)
    model = model_of(*plant.augmented, mine.K, *first_weights(first))
    assert model is not None
    assert np.abs(model.own - model.K).max() < 1e-6 or K is not None
    x = np.linspace(0.4, -0.2, n)
    reference = Reference(model, mine.domain, gain_size(nominal_loop(plant), mine.K), x, first)
    actuator, largest = Actuator(plant.data(T, np.random.default_rng(0))), 0.0
    for t in range(T):
        np.testing.assert_allclose(mine.weights, reference.weights, rtol=1e-6, atol=1e-9)
        u = mine.act(x)
        extra = reference.act(rows[:t])
        np.testing.assert_allclose(mine._parts["extra"], extra, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(u, reference.lead - mine.K @ mine._parts["x"] + extra, rtol=1e-6, atol=1e-7)
        largest = max(largest, float(np.abs(extra).max()))
        cost = first if t < 40 else later
        mine.observe(cost)
        reference.observe(rows[:t], cost)
        x = plant.A @ x + plant.B @ actuator.deliver(u) + rows[t]
    np.testing.assert_allclose(mine._pool_parts["policies"], reference.policies, rtol=1e-6, atol=1e-9)
    moved = reference.added[-1][1:].any(axis=1)
    assert moved.all(), f"{np.array(mine.members)[1:][~moved]} have never answered"
    assert largest > 0.1
    assert np.median(np.abs(reference.weights / reference.prior - 1.0)) > 0.1


def test_a_glitch_counts_for_little_and_a_change_for_what_it_is() -> None:
    y = np.ones((60, 2))
    y[30] = 1e6
    y[40:] = 50.0
    found = counted(y)
    ordinary = np.r_[:30, 31:40, 42:60]
    np.testing.assert_array_equal(found[ordinary], 1.0)
    assert found[30] * 1e6 == pytest.approx(3.0, rel=0.01)
    assert (found[40:42] * 50.0 < 10.0).all()


def first_weights(cost: control.QuadraticCost) -> tuple[Array, Array]:
    return np.asarray(cost.Q), np.asarray(cost.R)


def test_hold_is_the_mean_at_first_and_the_newest_if_it_does_not_smooth() -> None:
    y = np.random.default_rng(0).standard_normal((5, 2))
    np.testing.assert_allclose(smoothed(y, 0.0), y.mean(axis=0))
    np.testing.assert_allclose(smoothed(y, 1.0), y[-1], rtol=1e-14)


@pytest.mark.parametrize("one", AUTOREGRESSIONS, ids=lambda one: one.name)
def test_an_autoregression_finds_the_one_that_made_the_data(one: Any) -> None:
    rng, n = np.random.default_rng(0), 3
    level = np.full(n, 0.2) if one.each else np.zeros(n)
    y = np.zeros((600, n))
    for t in range(2, len(y)):
        y[t] = level + 1.2 * y[t - 1] - 0.7 * y[t - 2] + 0.01 * rng.standard_normal(n)
    found = fitted(one, y)
    if not one.each:
        np.testing.assert_allclose(found[:2].mean(axis=1), [1.2, -0.7], atol=0.15)
    ahead = np.einsum("jn,jn->n", found[: one.order], y[: -one.order - 1 : -1]) + one.each * found[-1] * cuts(y)
    np.testing.assert_allclose(ahead, level + 1.2 * y[-1] - 0.7 * y[-2], atol=0.02)
