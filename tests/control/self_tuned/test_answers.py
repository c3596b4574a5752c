"""The policy that is read off the members, against what the controller really does with past disturbances."""

from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.policies.model import model_of
from driftwise.control.self_tuned.answers import forecast_answer
from driftwise.control.self_tuned.pool import AUTOREGRESSIONS, EVERY, LOOKING
from tests.control.cases import PLANT, UNIT, WIDE, Actuator

FREE = control.AbsoluteCost(0.0, 0.0)
"""A cost from which nothing is learnt."""

LAGGED = control.LinearSystem(PLANT.A, PLANT.B, delay=1, lag=0.3)
SETTINGS: dict[str, tuple[control.LinearSystem, dict[str, Any]]] = {
    "linear": (PLANT, {}),
    "own gain": (PLANT, {"K": [[0.3, 1.0]]}),
    "wide": (WIDE, {}),
    "delay and lag": (LAGGED, {}),
    "own cost": (WIDE, {"cost": control.QuadraticCost([1.0, 3.0, 0.2], [0.1, 2.0]), "K": control.lqr(WIDE)}),
    "set-point": (PLANT, {"cost": control.QuadraticCost(1.0, 1.0, target=[0.5, 0.0])}),
}


class Plant:
    """A plant by hand, that can be copied with the inputs on their way."""

    def __init__(self, system: control.LinearSystem) -> None:
        self.system, self.x = system, np.zeros(system.state_dim)
        self.actuator = Actuator(system.data(1, np.random.default_rng(0)))

    def copy(self) -> "Plant":
        twin = Plant(self.system)
        twin.x, twin.actuator.force = self.x.copy(), self.actuator.force.copy()
        twin.actuator.queue = list(self.actuator.queue)
        return twin

    def move(self, u: Array, w: Array) -> None:
        self.x = self.system.A @ self.x + self.system.B @ self.actuator.deliver(u) + w


def trained(name: str, rounds: int = 140) -> tuple[control.SelfTunedController, Plant, np.random.Generator]:
    """Return a controller that has learnt, and learns no more."""
    system, settings = SETTINGS[name]
    cost = settings.get("cost", UNIT)
    mine = control.SelfTunedController(system, memory=4, guard=False, bank=False, **settings)
    plant, rng = Plant(system), np.random.default_rng(1)
    for t in range(rounds):
        u = mine.act(plant.x)
        mine.observe(cost)
        plant.move(u, disturbance(system, t, rng))
    mine._pool_parts["table"][:, EVERY] = 1e9
    mine._pool[LOOKING] = 0.0
    return mine, plant, rng


def disturbance(system: control.System, t: int, rng: np.random.Generator) -> Array:
    wave = 0.3 * np.sin(0.3 * t + np.arange(system.state_dim))
    return np.asarray(wave + rng.uniform(-0.1, 0.1, system.state_dim))


def added(mine: control.SelfTunedController, plant: Plant) -> Array:
    """Play a round from which nothing is learnt, and return what was added to the gain in use."""
    u = mine.act(plant.x)
    extra = mine._parts["extra"].copy()
    aims = {name: mine._parts[name].copy() for name in ("target", "aim", "lead", "centre", "level")}
    mine.observe(FREE)
    for name, part in aims.items():  # a cost without a set-point would take it away
        mine._parts[name][:] = part
    plant.move(u, np.zeros(plant.system.state_dim))
    return np.asarray(extra)


@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "set-point"])
def test_a_disturbance_is_answered_as_the_policy_says(name: str) -> None:
    """The last disturbance is another one; what is added to the gain changes by M[k] times that, k rounds later."""
    mine, plant, rng = trained(name)
    mine._pool_parts["cuts"][:] = 1e3  # forecasts that are cut are not linear
    n, lags = plant.system.state_dim, 6
    weights = mine.weights
    push = 1e-3 * rng.standard_normal(n)
    other, elsewhere = mine.clone(), plant.copy()
    elsewhere.x = plant.x + push
    M, _ = mine._answers(lags)
    for k in range(lags):
        change = added(other, elsewhere) - added(mine, plant)
        np.testing.assert_allclose(change, M[k] @ push, rtol=0.0, atol=1e-9, err_msg=f"lag {k + 1}")
    assert np.abs(M).max() > 0.1
    np.testing.assert_allclose(mine.weights, weights, rtol=1e-12)


@pytest.mark.parametrize("name", ["linear", "wide", "delay and lag"])
def test_all_that_is_added_is_the_policy_and_its_constant(name: str) -> None:
    mine, plant, rng = trained(name)
    system, n = plant.system, plant.system.state_dim
    rows: list[Array] = []
    for t in range(250):
        u = mine.act(plant.x)
        mine.observe(FREE)
        rows.append(disturbance(system, t, rng))
        plant.move(u, rows[-1])
    M, offset = mine._answers(240)
    mine.act(plant.x)
    expected = np.einsum("kun,kn->u", M, np.array(rows[:-241:-1])) + offset
    assert M.shape == (240, system.input_dim, n)
    # Forecasts that are cut are not linear, and the unit of the constants fades.
    np.testing.assert_allclose(mine._parts["extra"], expected, rtol=0.0, atol=2e-2 * np.abs(expected).max())


@pytest.mark.parametrize("name", SETTINGS)
def test_the_policy_is_that_of_the_answers_and_frozen_it_acts_alike(name: str) -> None:
    mine, plant, _ = trained(name, 60)
    M, n = mine._answers(mine.memory)[0], plant.system.state_dim
    np.testing.assert_array_equal(mine.policy.M[:, :, :n], M)
    assert not mine.policy.M[:, :, n:].any()
    frozen = mine.freeze()
    np.testing.assert_allclose(frozen.M[: len(M)], M, atol=1e-12)
    np.testing.assert_array_equal(frozen.K, mine.K)


def test_a_new_controller_answers_by_holding_what_it_sees() -> None:
    """Autoregressions are silent and policies are 0 at first; the weights are the prior."""
    mine = control.SelfTunedController(PLANT, bank=False)
    model = model_of(PLANT.A, PLANT.B, mine.K, np.eye(2), np.eye(1))
    assert model is not None
    M, offset = mine._answers(1)
    holds = mine.weights[1] * 1.0 + mine.weights[2] * 0.1
    np.testing.assert_allclose(M[0], -holds * model.whole @ model.scale, atol=1e-9)
    assert not offset.any()


@pytest.mark.parametrize("one", AUTOREGRESSIONS, ids=lambda one: one.name)
def test_the_answer_to_a_forecast_is_linear_in_what_was_seen(one: Any) -> None:
    model = model_of(WIDE.A, WIDE.B, control.lqr(WIDE), np.eye(3), np.eye(2))
    assert model is not None
    rng = np.random.default_rng(0)
    coefficients = rng.uniform(-0.9, 0.9, (one.size, 3)) / one.order
    cuts, y = np.full(3, 2.0), rng.uniform(-1.0, 1.0, (one.order, 3))
    rows, constant = forecast_answer(model, coefficients, cuts, one.order)
    seen, answer = list(y[::-1]), np.zeros(2)
    for gain in model.preview:
        ahead = np.einsum("jn,jn->n", coefficients[: one.order], np.array(seen[: -one.order - 1 : -1]))
        seen.append(ahead + (coefficients[-1] * cuts if one.each else 0.0))
        answer -= gain @ seen[-1]
    np.testing.assert_allclose(np.einsum("jun,jn->u", rows, y) + constant, answer, atol=1e-12)
    assert constant.any() == one.each
