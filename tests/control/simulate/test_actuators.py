"""`simulate` on plants with actuators: in compiled code and by hand the same, for every combination."""

import itertools
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from tests.control.cases import (
    DISTURBANCES,
    PLANT,
    ROUNDS,
    UNIT,
    WIDE,
    Actuator,
    assert_same,
    by_hand,
    controller,
    costs,
)
from tests.control.simulate.players import Hand, HandLinear

STABLE = control.LinearSystem(0.7 * WIDE.A, WIDE.B)

PARTS: dict[str, list[dict[str, Any]]] = {
    "limit": [{}, {"input_limit": [0.1, 0.2]}, {"input_limit": [[0.0, 0.2], [-0.3, 0.05]]}],
    "rate": [{}, {"rate_limit": [0.05, 0.2]}],
    "delay": [{}, {"delay": 1}, {"delay": 3}],
    "lag": [{}, {"lag": [0.6, 0.0]}],
}

COMBINATIONS: list[dict[str, Any]] = [
    {name: value for part in parts for name, value in part.items()} for parts in itertools.product(*PARTS.values())
]


def named(options: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in options.items()) or "none"


@pytest.mark.parametrize("options", COMBINATIONS, ids=named)
def test_every_combination_is_the_run_by_hand_bit_for_bit(options: dict[str, Any]) -> None:
    systems = (
        control.LinearSystem(STABLE.A, STABLE.B, **options),
        control.TimeVaryingSystem(STABLE.A, STABLE.B, **options),
    )
    for system, (noise, make) in itertools.product(systems, DISTURBANCES.items()):
        for name, kind in (("linear", "soft"), ("Scream", "targets")):
            sequence = costs(kind, 3, 2)
            trace = control.simulate(
                system, controller(name, STABLE), sequence, make(3), seed=7, start=[0.3, 0.0, -0.2]
            )
            run = by_hand(system, controller(name, STABLE), sequence, make(3), seed=7, start=[0.3, 0.0, -0.2])
            assert_same(run, trace)
            assert np.isfinite(trace.costs).all(), (noise, name)
            follows(system, trace, options)


def follows(system: control.System, trace: control.ControlTrace, options: dict[str, Any]) -> None:
    """Check that inputs are within the limits, and that the plant got them as NumPy says."""
    rng = np.random.default_rng(7)
    low, high = system._limits
    assert (trace.inputs >= low).all()
    assert (trace.inputs <= high).all()
    if system.rate_limit is not None:
        before = np.clip(np.zeros(2), low, high)
        assert (np.abs(np.diff(trace.inputs, axis=0, prepend=before[None])) <= system.rate_limit + 1e-15).all()
    if isinstance(system, control.LinearSystem):
        actuator = Actuator(system.data(ROUNDS, rng))
        forces = np.array([actuator.deliver(u) for u in trace.inputs])
        following = trace.states @ system.A.T + forces @ system.B.T + trace.disturbances
        led_to = np.vstack([trace.states[1:], trace.final_state])
        np.testing.assert_allclose(led_to, following, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["array", "adversarial"])
def test_python_and_compiled_rounds_agree_on_the_pendulum(kind: str) -> None:
    system = control.InvertedPendulum(rate_limit=0.8, delay=1, lag=0.2)
    rows = DISTURBANCES[kind](2) if kind == "adversarial" else 0.02 * DISTURBANCES[kind](2)
    for own, name in ((HandLinear, "linear"), (Hand, "Scream")):
        settings: dict[str, Any] = {"horizon": ROUNDS, "memory": 3} if own is Hand else {}
        slow = control.simulate(system, own(system, **settings), UNIT, rows, seed=3, rounds=ROUNDS)
        quick = control.simulate(system, controller(name, system), UNIT, rows, seed=3, rounds=ROUNDS)
        for part in ("states", "inputs", "costs", "final_state"):
            assert getattr(slow, part).tobytes() == getattr(quick, part).tobytes(), (name, part)


def test_every_run_begins_with_its_actuator_at_rest() -> None:
    system = control.LinearSystem(STABLE.A, STABLE.B, delay=3, lag=0.5, rate_limit=0.1)
    first, second = (
        control.simulate(system, controller("linear", STABLE), UNIT, DISTURBANCES["array"](3)) for _ in range(2)
    )
    assert first.states.tobytes() == second.states.tobytes()
    assert np.abs(first.inputs[3:]).max() > 0.05


def test_controllers_are_told_what_the_actuator_accepted() -> None:
    class Told(control.Controller):
        """u = -10 x_0, and a list of what was applied."""

        def __init__(self) -> None:
            super().__init__(2, 1)
            self.heard: list[Array] = []

        def _decide(self, x: Array) -> Array:
            return -10.0 * x[:1]

        def _learn(self, x: Array, applied: Array, cost: control.Cost) -> None:
            self.heard.append(applied.copy())

    system = control.LinearSystem(0.5 * PLANT.A, PLANT.B, input_limit=[-0.4, 0.1], rate_limit=0.3, delay=2)
    mine = Told()
    trace = control.simulate(system, mine, UNIT, DISTURBANCES["array"](2))
    np.testing.assert_array_equal(trace.inputs, mine.heard)
    assert (trace.inputs.min(), trace.inputs.max()) == (-0.4, 0.1)


def test_the_augmented_plant_has_the_same_run() -> None:
    """Delay and lag as a part of the state: the first states are the same."""
    system = control.LinearSystem(STABLE.A, STABLE.B, delay=2, lag=[0.3, 0.0])
    wide = control.LinearSystem(*system.augmented)
    rows = DISTURBANCES["array"](3)
    K = control.lqr(wide)
    padded = np.hstack([rows, np.zeros((ROUNDS, wide.state_dim - 3))])
    cost = control.QuadraticCost(np.diag([1.0] * 3 + [0.0] * (wide.state_dim - 3)), 1.0)
    expected = control.simulate(wide, control.LinearController(wide, K), cost, padded)
    actuator, x = Actuator(system.data(ROUNDS, np.random.default_rng(0))), np.zeros(3)
    for t in range(ROUNDS):
        np.testing.assert_allclose(x, expected.states[t, :3], rtol=0.0, atol=1e-12)
        x = system.A @ x + system.B @ actuator.deliver(expected.inputs[t]) + rows[t]
