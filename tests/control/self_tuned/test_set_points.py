"""Set-points: costs around a target, targets that change, and references that are known in advance."""

from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.policies.model import model_of, set_point
from tests.control.cases import PLANT, WIDE, assert_same, by_hand

STABLE = control.LinearSystem([[0.9, 0.2], [-0.1, 0.8]], [[0.0], [0.5]])
SLOW = control.LinearSystem(PLANT.A, PLANT.B, delay=2)
PLANTS = {"linear": PLANT, "stable": STABLE, "wide": WIDE, "delay": SLOW}


def aimed(plant: control.System, size: float = 1.0, aim: float = 0.0) -> control.QuadraticCost:
    target = size * np.linspace(1.0, 0.2, plant.state_dim)
    return control.QuadraticCost(1.0, 1.0, target=target, input_target=np.full(plant.input_dim, aim))


def with_feedforward(plant: control.LinearSystem, cost: control.QuadraticCost, rows: Array) -> float:
    """Return what the best gain costs with the exact constant input that goes with the target, from round 0 on."""
    n, du = plant.state_dim, plant.input_dim
    model = model_of(*plant.augmented, control.LinearController(plant).K, np.eye(n), np.eye(du))
    assert model is not None
    _, best, _ = set_point(model, np.asarray(cost.target), np.asarray(cost.input_target))
    z, total = np.zeros(len(model.A)), 0.0
    for w in rows:
        u = best - model.K @ z
        total += cost.value(z[:n], u)
        z = model.A @ z + model.B @ u
        z[:n] += w
    return total


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("name", PLANTS)
def test_a_constant_target_costs_what_it_must(name: str, noise: float) -> None:
    plant = PLANTS[name]
    for seed, aim in ((0, 0.0), (1, 0.3)):
        rows = noise * np.random.default_rng(seed).standard_normal((600, plant.state_dim))
        cost = aimed(plant, aim=aim)
        mine = control.SelfTunedController(plant, cost=cost)
        assert control.simulate(plant, mine, cost, rows).total <= 1.02 * with_feedforward(plant, cost, rows)


@pytest.mark.parametrize("name", PLANTS)
def test_the_feedforward_is_the_best_constant(name: str) -> None:
    """Any other constant input costs more in the long run."""
    plant = PLANTS[name]
    cost, rows = aimed(plant, aim=0.2), np.zeros((400, plant.state_dim))
    linear = control.LinearController(plant)
    trace = control.simulate(plant, linear, cost, rows)
    best, lead = float(trace.costs[-1]), linear._parts["lead"].copy()
    closed = linear._parts["A"] - linear._parts["B"] @ linear.K
    for push in (*np.eye(plant.input_dim), *-np.eye(plant.input_dim)):
        z = np.linalg.solve(np.eye(len(closed)) - closed, linear._parts["B"] @ (lead + 0.05 * push))
        assert cost.value(z[: plant.state_dim], lead + 0.05 * push - linear.K @ z) > best


@pytest.mark.parametrize("name", PLANTS)
def test_a_target_is_learnt_about_like_the_origin(name: str) -> None:
    """In coordinates that are counted from where the loop rests, everything is as it is around 0."""
    plant = PLANTS[name]
    n = plant.state_dim
    rows = 0.3 * np.sin(0.2 * np.arange(500)[:, None] + np.arange(n))
    cost = aimed(plant)
    away = control.simulate(plant, control.SelfTunedController(plant, cost=cost), cost, rows)
    unit = control.QuadraticCost(1.0, 1.0)
    home = control.simulate(plant, control.SelfTunedController(plant, cost=unit), unit, rows)
    still = control.simulate(plant, control.LinearController(plant), cost, rows)
    settled = with_feedforward(plant, cost, np.zeros((500, n)))
    assert away.total < 0.95 * still.total
    # Beside the cost of the target itself, and up to what getting there costs.
    assert away.total - settled <= 1.1 * home.total + 0.05 * settled


def stages(plant: control.System, rounds: int) -> control.CostSequence:
    return control.CostSequence.stages([aimed(plant, size) for size in (1.0, -1.0, 0.0)], rounds)


@pytest.mark.parametrize("name", PLANTS)
def test_targets_that_change_are_followed(name: str) -> None:
    plant, rounds = PLANTS[name], 300
    rows = 0.02 * np.random.default_rng(0).standard_normal((rounds, plant.state_dim))
    sequence = stages(plant, rounds)
    mine, linear = (
        control.simulate(plant, kind(plant), sequence, rows)
        for kind in (control.SelfTunedController, control.LinearController)
    )
    assert mine.total <= 1.02 * linear.total
    for end, size in ((99, 1.0), (199, -1.0), (299, 0.0)):
        model = model_of(
            *plant.augmented, control.LinearController(plant).K, np.eye(plant.state_dim), np.eye(plant.input_dim)
        )
        assert model is not None
        lead, _, _ = set_point(model, np.asarray(aimed(plant, size).target), np.zeros(plant.input_dim))
        rest = np.linalg.solve(np.eye(len(model.A)) - model.A + model.B @ model.own, model.B @ lead)
        np.testing.assert_allclose(mine.states[end], rest[: plant.state_dim], atol=0.25)


KINDS: dict[str, Any] = {
    "linear": control.LinearController,
    "Scream": lambda plant: control.ScreamController(plant, memory=3),
    "self-tuned": lambda plant: control.SelfTunedController(plant, memory=3),
}


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", KINDS)
def test_targets_that_change_are_the_same_by_hand_bit_for_bit(name: str, plant: str) -> None:
    system, rounds = PLANTS[plant], 60
    rows = 0.1 * np.sin(0.3 * np.arange(rounds)[:, None] + np.arange(system.state_dim))
    sequence = stages(system, rounds)
    trace = control.simulate(system, KINDS[name](system), sequence, rows)
    assert_same(by_hand(system, KINDS[name](system), sequence, rows), trace)


@pytest.mark.parametrize("name", KINDS)
def test_a_reference_is_a_target(name: str) -> None:
    """Given in every round, or once: from the first round on, where a target is known after the first cost only."""
    goal = np.array([0.8, 0.0])
    cost, aimed_at = control.QuadraticCost(1.0, 1.0), control.QuadraticCost(1.0, 1.0, target=goal)
    rows = 0.05 * np.random.default_rng(2).standard_normal((80, 2))

    def run(tell: str) -> tuple[Array, float]:
        mine, x, inputs, total = KINDS[name](PLANT), np.zeros(2), [], 0.0
        for t, w in enumerate(rows):
            told = {"always": True, "once": t == 0, "target": False}[tell]
            u = mine.act(x, reference=goal if told else None)
            mine.observe(aimed_at if tell == "target" else cost)
            inputs.append(u.copy())
            total += aimed_at.value(x, u)
            x = PLANT.A @ x + PLANT.B @ u + w
        return np.array(inputs), total

    always, once, target = run("always"), run("once"), run("target")
    np.testing.assert_allclose(always[0], once[0], rtol=0.0, atol=1e-9)
    assert always[1] < target[1]  # by one round
    np.testing.assert_allclose(always[0][60:], target[0][60:], atol=0.1)


@pytest.mark.parametrize("name", KINDS)
def test_what_is_known_in_advance_helps(name: str) -> None:
    rounds = 200
    goals = np.zeros((rounds, 2))
    goals[:, 0] = np.where(np.arange(rounds) // 40 % 2 == 1, 1.0, 0.0)
    rows = 0.01 * np.random.default_rng(2).standard_normal((rounds, 2))
    cost = control.QuadraticCost([1.0, 0.0], 0.1)

    def total(preview: int) -> float:
        mine = control.SelfTunedController(PLANT, cost=cost) if name == "self-tuned" else KINDS[name](PLANT)
        return control.simulate(PLANT, mine, cost, rows, references=goals, preview=preview).total

    totals = [total(preview) for preview in (1, 3, 15)]
    assert totals[2] < totals[1] < totals[0]
    assert totals[2] < 0.7 * totals[0]


def test_a_reference_in_simulate_is_the_reference_by_hand() -> None:
    goals = np.cumsum(np.full((60, 2), 0.05), axis=0)
    rows = 0.02 * np.random.default_rng(2).standard_normal((60, 2))
    cost, mine, x = control.QuadraticCost(1.0, 1.0), control.SelfTunedController(PLANT, memory=3), np.zeros(2)
    trace = control.simulate(
        PLANT, control.SelfTunedController(PLANT, memory=3), cost, rows, references=goals, preview=5
    )
    for t, w in enumerate(rows):
        u = mine.act(x, reference=goals[t : t + 5])
        mine.observe(cost)
        np.testing.assert_allclose(u, trace.inputs[t], rtol=0.0, atol=1e-12)
        assert trace.costs[t] == pytest.approx(float(np.sum((x - goals[t]) ** 2) + u @ u))
        x = PLANT.A @ x + PLANT.B @ u + w
