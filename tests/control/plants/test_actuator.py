"""Actuators: limits, rate limits, delay and lag, compiled against plain NumPy, and what is refused."""

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftwise.control.plants import (
    InvertedPendulum,
    LinearSystem,
    System,
    TimeVaryingSystem,
    read_limits,
    shown_limits,
)
from driftwise.control.plants.kernels import PlantData, changes_in, one_actuation, one_move, plant_vector
from driftwise.errors import ArgumentError, FrozenError, InputError, ParameterError
from tests.cases import check_refused
from tests.control.cases import Actuator, advance
from tests.control.plants.cases import A, B, rng

ACTUATORS: dict[str, dict[str, Any]] = {
    "none": {},
    "one side": {"input_limit": [[0.0, 0.4], [-math.inf, 0.1], [-0.3, math.inf]]},
    "away from 0": {"input_limit": [[0.2, 0.4], [-0.5, -0.1], [-0.3, 0.3]], "rate_limit": 0.05},
    "rate": {"rate_limit": [0.1, 0.5, 0.2]},
    "delay": {"delay": 1},
    "long delay": {"delay": 7},
    "lag": {"lag": [0.9, 0.0, 0.3]},
    "delay and lag": {"delay": 3, "lag": 0.5},
    "all": {
        "input_limit": [[-0.2, 0.4], [-1.0, 0.1], [-0.3, 0.5]],
        "rate_limit": 0.3,
        "delay": 2,
        "lag": [0.2, 0.8, 0.0],
    },
}


def plants(options: dict[str, Any]) -> dict[str, System]:
    """Return a plant of every kind with an actuator; a pendulum has a limit of its own, and one input."""
    motor = {name: np.ravel(value)[0] for name, value in options.items() if name != "input_limit"}
    if "delay" in motor:
        motor["delay"] = int(motor["delay"])
    return {
        "linear": LinearSystem(A, B, **options),
        "varying": TimeVaryingSystem(A, B, spread_A=0.1, spread_B=0.1, **options),
        "pendulum": InvertedPendulum(torque_limit=0.4, **motor),
    }


def compiled(plant: PlantData, inputs: Any, rows: Any, push: float) -> tuple[Any, Any, Any]:
    """Return what the actuator accepts, the states, and the disturbances, by kernels."""
    vector, states, accepted = plant_vector(plant), np.zeros((len(rows) + 1, rows.shape[1])), inputs.copy()
    for t in range(len(rows)):
        one_actuation(vector, accepted[t])
        one_move(vector, *changes_in(plant, t), push, states[t], accepted[t], rows[t], states[t + 1])
    return accepted, states, rows


@pytest.mark.parametrize("push", [0.0, 0.1])
@pytest.mark.parametrize("name", ACTUATORS)
def test_compiled_actuators_are_those_of_numpy_bit_for_bit(name: str, push: float) -> None:
    for kind, system in plants(ACTUATORS[name]).items():
        dx, du, T = system.state_dim, system.input_dim, 40
        plant, inputs, rows = (
            system.data(T, rng(1)),
            rng(2).standard_normal((T, du)),
            0.1 * rng(3).standard_normal((T, dx)),
        )
        accepted, states, pushed = compiled(plant, inputs, rows.copy(), push)
        bare, actuator, x = plant._replace(delay=0, lag=np.zeros(du)), Actuator(plant), np.zeros(dx)
        for t in range(T):
            u = actuator.accept(inputs[t])
            assert u.tobytes() == accepted[t].tobytes(), (kind, t)
            w, out = rows[t].copy(), np.zeros(dx)
            advance(bare, t, x, actuator.deliver(u), w, out, push)
            assert (w.tobytes(), out.tobytes()) == (pushed[t].tobytes(), states[t + 1].tobytes()), (kind, t)
            x = out
        again = compiled(plant, inputs, rows.copy(), push)
        assert all(
            one.tobytes() == other.tobytes() for one, other in zip(again, (accepted, states, pushed), strict=True)
        )


@pytest.mark.parametrize("name", ACTUATORS)
def test_inputs_stay_within_limits_and_rates(name: str) -> None:
    system = plants(ACTUATORS[name])["linear"]
    plant, inputs = system.data(60, rng()), 3.0 * rng(4).standard_normal((60, 3))
    accepted, _, _ = compiled(plant, inputs, np.zeros((60, 2)), 0.0)
    assert (accepted >= plant.limits[0]).all()
    assert (accepted <= plant.limits[1]).all()
    first = np.clip(0.0, *plant.limits)
    steps = np.abs(np.diff(accepted, axis=0, prepend=first[None]))
    assert (steps <= plant.rate * (1.0 + 1e-12)).all()
    changed = accepted.tobytes() != inputs.tobytes()
    assert changed == ("input_limit" in ACTUATORS[name] or "rate_limit" in ACTUATORS[name])


def test_a_delayed_input_arrives_after_so_many_rounds() -> None:
    for delay in range(4):
        plant = LinearSystem(0.0, 1.0, delay=delay).data(6, rng())
        _, states, _ = compiled(plant, np.arange(1.0, 7.0)[:, None], np.zeros((6, 1)), 0.0)
        np.testing.assert_array_equal(states[1:, 0], [0.0] * delay + list(np.arange(1.0, 7.0 - delay)))


def test_a_lag_approaches_its_input() -> None:
    plant = LinearSystem(0.0, 1.0, lag=0.5).data(4, rng())
    _, states, _ = compiled(plant, np.ones((4, 1)), np.zeros((4, 1)), 0.0)
    np.testing.assert_array_equal(states[1:, 0], [0.5, 0.75, 0.875, 0.9375])


@pytest.mark.parametrize(
    "name", [name for name in ACTUATORS if not {"input_limit", "rate_limit"} & set(ACTUATORS[name])]
)
def test_the_augmented_pair_is_the_plant_with_its_actuator(name: str) -> None:
    options = ACTUATORS[name]
    system, T = LinearSystem(A, B, **options), 30
    inputs, rows = rng(5).standard_normal((T, 3)), rng(6).standard_normal((T, 2))
    _, states, _ = compiled(system.data(T, rng()), inputs, rows.copy(), 0.0)
    wide, entry = system.augmented
    lagged = "lag" in options
    size = 2 + 3 * lagged + 3 * options.get("delay", 0)
    assert (wide.shape, entry.shape) == ((size, size), (size, 3))
    z = np.zeros(size)
    for t in range(T):
        np.testing.assert_allclose(z[:2], states[t], rtol=1e-10, atol=1e-12)
        if options.get("delay", 0) > 1 and t > 1:
            np.testing.assert_array_equal(z[2 + 3 * lagged :][:6], np.concatenate([inputs[t - 1], inputs[t - 2]]))
        z = wide @ z + entry @ inputs[t]
        z[:2] += rows[t]
    for matrix in (wide, entry):
        assert not matrix.flags.writeable
    if name == "none":
        assert wide is system.A
        assert entry is system.B


def test_a_lag_of_zero_is_none() -> None:
    system = LinearSystem(A, B, lag=0.0)
    assert system.linear
    assert system.prompt
    assert system.augmented[0] is system.A
    np.testing.assert_array_equal(system.lag, np.zeros(3))


@pytest.mark.parametrize("name", [name for name in ACTUATORS if name != "none"])
def test_a_plant_with_an_actuator_is_not_linear(name: str) -> None:
    system = LinearSystem(A, B, **ACTUATORS[name])
    assert not system.linear
    assert not system.direct
    assert system.prompt == (not {"delay", "lag"} & set(ACTUATORS[name]))


@pytest.mark.parametrize(
    ("value", "inputs", "lows", "highs", "shown"),
    [
        (None, 2, [-math.inf] * 2, [math.inf] * 2, [math.inf] * 2),
        (3, 2, [-3.0, -3.0], [3.0, 3.0], [3.0, 3.0]),
        ([1.0, 2.0], 2, [-1.0, -2.0], [1.0, 2.0], [1.0, 2.0]),
        ([-1.0, 2.0], 1, [-1.0], [2.0], [[-1.0, 2.0]]),
        ([-1, 1], 1, [-1.0], [1.0], [1.0]),
        ([2.0], 1, [-2.0], [2.0], [2.0]),
        ([[0.0, 5.0], [-1.0, 1.0]], 2, [0.0, -1.0], [5.0, 1.0], [[0.0, 5.0], [-1.0, 1.0]]),
        ([[-1.0, 1.0], [-2.0, 2.0]], 2, [-1.0, -2.0], [1.0, 2.0], [1.0, 2.0]),
        ([0.0, math.inf], 1, [0.0], [math.inf], [[0.0, math.inf]]),
        ([3.0, 4.0], 1, [3.0], [4.0], [[3.0, 4.0]]),
    ],
)
def test_limits_in_every_form(value: Any, inputs: int, lows: Any, highs: Any, shown: Any) -> None:
    limits = read_limits("Someone", "bound", value, inputs)
    np.testing.assert_array_equal(limits, [lows, highs])
    np.testing.assert_array_equal(shown_limits(limits), shown)
    assert not limits.flags.writeable
    assert not shown_limits(limits).flags.writeable


def test_what_was_given_can_be_read_and_not_changed() -> None:
    system = LinearSystem(A, B, **ACTUATORS["all"])
    np.testing.assert_array_equal(system.input_limit, ACTUATORS["all"]["input_limit"])
    np.testing.assert_array_equal(system.rate_limit, [0.3, 0.3, 0.3])
    np.testing.assert_array_equal(system.lag, [0.2, 0.8, 0.0])
    assert system.delay == 2
    assert repr(system) == "LinearSystem(state_dim=2, input_dim=3, input_limit=..., rate_limit=..., lag=..., delay=2)"
    assert repr(InvertedPendulum(delay=2)).endswith("length=1, delay=2)")
    assert LinearSystem(1.0, 1.0).rate_limit is None
    assert LinearSystem(1.0, 1.0).lag is None
    with pytest.raises(FrozenError, match="delay is fixed"):
        system.delay = 3
    for twin in (copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        for name in ("input_limit", "rate_limit", "lag", "A", "B"):
            np.testing.assert_array_equal(getattr(twin, name), getattr(system, name))
            assert not getattr(twin, name).flags.writeable
        assert twin.delay == 2
        mine, other = (plant_vector(each.data(5, rng())) for each in (system, twin))
        assert mine.tobytes() == other.tobytes()


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], tuple[str, ...]]] = {
    "low above high": (lambda: LinearSystem(1.0, 1.0, input_limit=[2.0, 1.0]), ParameterError, ("low", "[2, 1]")),
    "low at high": (lambda: LinearSystem(1.0, 1.0, input_limit=[1.0, 1.0]), ParameterError, ("low below high",)),
    "endless low": (lambda: LinearSystem(1.0, 1.0, input_limit=[math.inf, math.inf]), ParameterError, ("inf",)),
    "two rows": (lambda: LinearSystem(A, B, input_limit=[[0.0, 1.0]] * 2), InputError, ("(3, 2)",)),
    "NaN in a row": (lambda: LinearSystem(1.0, 1.0, input_limit=[0.0, math.nan]), InputError, ("nan",)),
    "three sides": (lambda: LinearSystem(1.0, 1.0, input_limit=np.ones((1, 1, 2))), InputError, ("input_limit",)),
    "words": (lambda: LinearSystem(1.0, 1.0, input_limit=[["a", "b"]]), InputError, ("input_limit",)),
    "endless size": (lambda: LinearSystem(1.0, 1.0, input_limit=math.inf), InputError, ("input_limit", "finite")),
    "rate zero": (lambda: LinearSystem(1.0, 1.0, rate_limit=0.0), ParameterError, ("rate_limit", "above 0")),
    "rate pairs": (lambda: LinearSystem(1.0, 1.0, rate_limit=[-1.0, 1.0]), InputError, ("rate_limit", "(1,)")),
    "delay negative": (lambda: LinearSystem(1.0, 1.0, delay=-1), ParameterError, ("delay", "at least 0")),
    "delay a half": (lambda: LinearSystem(1.0, 1.0, delay=0.5), ParameterError, ("delay", "0.5")),  # type: ignore[arg-type]
    "delay endless": (lambda: LinearSystem(1.0, 1.0, delay=10**9), ParameterError, ("delay", "at most")),
    "lag one": (lambda: LinearSystem(1.0, 1.0, lag=1.0), ParameterError, ("lag", "below 1", "exp(-dt / tau)")),
    "lag negative": (lambda: LinearSystem(A, B, lag=[0.1, 0.1, -0.1]), ParameterError, ("-0.1 for input 2",)),
    "lag NaN": (lambda: LinearSystem(1.0, 1.0, lag=math.nan), InputError, ("lag", "nan")),
    "varying": (lambda: TimeVaryingSystem(A, B, lag=2.0), ParameterError, ("TimeVaryingSystem: lag",)),
    "pendulum": (lambda: InvertedPendulum(delay=-1), ParameterError, ("InvertedPendulum: delay",)),
    "pendulum limit": (lambda: InvertedPendulum(input_limit=1.0), ArgumentError, ("input_limit",)),  # type: ignore[call-arg]
    "keyword": (lambda: LinearSystem(1.0, 1.0, delays=1), ArgumentError, ("Did you mean delay?",)),  # type: ignore[call-arg]
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_actuators_are_refused_with_a_sentence(name: str) -> None:
    call, kind, words = REFUSED[name]
    check_refused(call, *words, kind=kind)
