"""Actuators that are slow or limited, for every controller of policies: disturbances are recovered all the same."""

from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.control.policies.disturbance_action import nominal_loop
from driftwise.errors import StabilityError
from tests.control.cases import CONTROLLERS, LEARNING, PLANT, UNIT, WIDE, Actuator, controller

MILD = control.LinearSystem(0.8 * WIDE.A, WIDE.B)
SLOW: dict[str, control.LinearSystem] = {
    "delay": control.LinearSystem(MILD.A, MILD.B, delay=2),
    "lag": control.LinearSystem(MILD.A, MILD.B, lag=[0.5, 0.2]),
    "delay and lag": control.LinearSystem(MILD.A, MILD.B, delay=1, lag=[0.0, 0.4]),
}
ROWS = 0.3 * np.sin(0.4 * np.arange(30)[:, None] + np.arange(3))


def run(system: control.LinearSystem, mine: PolicyLoop, rows: Array, told: bool = True) -> tuple[Array, Array]:
    """Run a plant by hand, and return what was recovered and the inputs as they came from the controller."""
    actuator, x = Actuator(system.data(len(rows), np.random.default_rng(0))), np.zeros(system.state_dim)
    recovered, inputs = [], []
    for w in rows:
        u = mine.act(x)
        recovered.append(mine.disturbances[0])
        inputs.append(u)
        applied = actuator.accept(u)
        mine.observe(UNIT, applied=applied if told else None)
        x = system.A @ x + system.B @ actuator.deliver(applied) + w
    return np.array(recovered), np.array(inputs)


@pytest.mark.parametrize("plant", SLOW)
@pytest.mark.parametrize("name", CONTROLLERS)
def test_disturbances_are_recovered_behind_a_slow_actuator(name: str, plant: str) -> None:
    system = SLOW[plant]
    mine = controller(name, system)
    assert mine.K.shape == (2, nominal_loop(system).state_dim)
    recovered, _ = run(system, mine, ROWS)
    np.testing.assert_allclose(recovered[1:, :3], ROWS[:-1], rtol=0.0, atol=1e-12)
    assert not recovered[:, 3:].any()
    # The memory of the actuator is known, too.
    ahead = mine._parts["A"] @ mine._parts["x"] + mine._parts["B"] @ mine._input
    assert np.isfinite(ahead).all()


@pytest.mark.parametrize("name", [*LEARNING, "self-tuned"])
def test_a_delay_that_is_known_is_worth_knowing(name: str) -> None:
    """On a plant that is too slow to do without: beside the best gain that knows the delay, and itself without."""
    slow = control.LinearSystem(PLANT.A, PLANT.B, delay=2)
    waves = control.SinusoidDisturbance(0.1, period=40.0, seed=1)
    kind: Any = LEARNING.get(name, control.SelfTunedController)
    mine = control.simulate(slow, kind(slow), UNIT, waves, rounds=1000)
    linear = control.simulate(slow, control.LinearController(slow), UNIT, waves, rounds=1000)
    assert mine.total < 0.7 * linear.total


def test_a_gain_for_the_states_alone_leaves_the_memory_aside() -> None:
    gain = [[0.2, 0.7]]
    mine = control.LinearController(control.LinearSystem(PLANT.A, PLANT.B, delay=1), gain)
    np.testing.assert_array_equal(mine.K, [[0.2, 0.7, 0.0]])
    with pytest.raises(StabilityError, match="eigenvalue"):
        control.LinearController(control.LinearSystem(PLANT.A, PLANT.B, delay=4), control.lqr(PLANT))


LIMITS: dict[str, dict[str, Any]] = {
    "one side": {"input_bound": [[0.0, 0.15], [-np.inf, 0.05]]},
    "rate": {"rate_limit": [0.05, 0.02]},
    "both": {"input_bound": [[-0.02, 0.1], [-0.1, 0.05]], "rate_limit": 0.04},
}


def limited(name: str, system: control.LinearSystem, **limits: Any) -> PolicyLoop:
    made = {
        "linear": control.LinearController,
        "policy": lambda *_, **settings: control.PolicyController(
            system, control.DisturbanceAction(control.lqr(system), np.full((2, 2, 3), 0.3)), **settings
        ),
        "self-tuned": control.SelfTunedController,
        **LEARNING,
    }[name]
    mine: PolicyLoop = made(system, **limits)  # type: ignore[operator]
    return mine


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", ["linear", "policy", *LEARNING, "self-tuned"])
def test_inputs_keep_within_limits_and_rates_of_the_controllers_own(name: str, limit: str) -> None:
    settings = LIMITS[limit]
    mine = limited(name, MILD, **settings)
    recovered, inputs = run(MILD, mine, ROWS, told=False)
    np.testing.assert_allclose(recovered[1:], ROWS[:-1], rtol=0.0, atol=1e-12)
    low, high = mine._bounds
    assert ((low <= inputs) & (inputs <= high)).all()
    steps = np.abs(np.diff(inputs, axis=0, prepend=np.zeros((1, 2))))
    rate = np.inf if mine.rate_limit is None else mine.rate_limit
    assert (steps <= rate + 1e-15).all()
    touched = (inputs == low) | (inputs == high) | (np.abs(steps - rate) < 1e-12)
    assert touched.mean() > 0.1


@pytest.mark.parametrize("name", ["linear", "Scream", "self-tuned"])
def test_the_rate_counts_from_what_was_applied(name: str) -> None:
    mine = limited(name, MILD, rate_limit=0.1)
    mine.act([5.0, -5.0, 5.0])
    mine.observe(UNIT, applied=[2.0, -3.0])
    u = mine.act([5.0, -5.0, 5.0])
    np.testing.assert_allclose(np.abs(u - [2.0, -3.0]), 0.1, atol=1e-12)


@pytest.mark.parametrize("name", ["linear", "Scream", "self-tuned"])
def test_a_limit_overrules_a_rate(name: str) -> None:
    """Somebody else has left the range: it is better to be back at once."""
    mine = limited(name, MILD, rate_limit=0.1, input_bound=1.0)
    mine.act([5.0, -5.0, 5.0])
    mine.observe(UNIT, applied=[9.0, -9.0])
    np.testing.assert_array_equal(mine.act([5.0, -5.0, 5.0]), [1.0, -1.0])


@pytest.mark.parametrize("kind", [control.ScreamController, control.SelfTunedController])
def test_saturation_for_long_is_forgotten_within_some_rounds(kind: Any) -> None:
    """The actuator gives out for 100 rounds; told what was applied, the controller is soon what it would have been."""
    plant, rounds = control.LinearSystem([[0.95, 0.2], [-0.1, 0.9]], [[0.0], [0.5]]), 400
    noise = 0.1 * np.random.default_rng(0).standard_normal((rounds, 2))
    rows = 0.3 * np.sin(0.2 * np.arange(rounds)[:, None] + np.arange(2)) + noise
    weak = Actuator(control.LinearSystem(plant.A, plant.B, input_limit=0.02).data(1, np.random.default_rng(0)))
    costs = {}
    for case in ("never", "told"):
        mine, x, paid = kind(plant), np.zeros(2), []
        for t, w in enumerate(rows):
            u = mine.act(x)
            if t > 0:
                np.testing.assert_allclose(mine.disturbances[0], rows[t - 1], rtol=0.0, atol=1e-9)
            applied = weak.accept(u) if case == "told" and 100 <= t < 200 else u
            mine.observe(UNIT, applied=applied)
            paid.append(UNIT.value(x, applied))
            x = plant.A @ x + plant.B @ applied + w
        costs[case] = np.array(paid)
    assert costs["told"][100:200].sum() > 1.3 * costs["never"][100:200].sum()
    assert costs["told"][220:].sum() <= 1.03 * costs["never"][220:].sum()
