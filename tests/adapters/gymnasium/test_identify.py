"""A and B of an environment, found by probing it."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from driftwise import control
from driftwise.adapters.gymnasium import identify, run
from driftwise.errors import DriftwiseError, InputError, ParameterError
from tests.adapters.gymnasium.cases import A, B, linear
from tests.adapters.gymnasium.test_run import SWING, UPRIGHT, Stock, angle_and_speed


@pytest.mark.parametrize(
    ("options", "given", "tolerance"),
    [
        ({}, {}, 0.02),
        ({"unit_actions": True}, {}, 0.02),
        ({"disturbance": control.GaussianDisturbance(0.05)}, {}, 0.03),
        ({"disturbance": control.AutoregressiveDisturbance(0.9, scale=0.05)}, {}, 0.05),
        ({"disturbance": np.zeros((200, 2))}, {"rounds": 300}, 1e-9),
        ({"disturbance": np.zeros((200, 2))}, {"rounds": 300, "method": "ols"}, 1e-9),
        ({"horizon": 2000, "disturbance": control.GaussianDisturbance(0.05)}, {"method": "whitened"}, 0.03),
        ({"horizon": 25, "spread": 0.3}, {}, 0.03),
    ],
)
def test_matrices_are_found(options: dict[str, Any], given: dict[str, Any], tolerance: float) -> None:
    found = identify(linear(**options), **given)
    assert np.abs(found.A - A).max() < tolerance
    assert np.abs(found.B - B).max() < tolerance
    again = identify(linear(**options), **given)
    np.testing.assert_array_equal(found.A, again.A)


def test_an_unstable_plant_needs_a_gain() -> None:
    unstable = control.LinearSystem([[1.1, 0.2], [0.0, 1.05]], np.eye(2), input_limit=2.0)
    found = identify(linear(plant=unstable), K=0.5 * np.eye(2), probe=[0.3, 0.2])
    assert np.abs(found.A - unstable.A).max() < 0.02
    assert np.abs(found.B - unstable.B).max() < 0.02


def test_actions_of_a_wrapper_are_the_inputs() -> None:
    unit = linear(plant=control.LinearSystem(A, B, input_limit=2.0), unit_actions=True)
    wrapped = gym.wrappers.RescaleAction(unit, np.float64(-4.0), np.float64(4.0))
    assert np.abs(identify(wrapped).B - 0.5 * B).max() < 0.02
    assert np.abs(identify(wrapped, scale=0.5).B - B).max() < 0.02


def test_the_pendulum_of_gymnasium_is_learnt_near_upright_and_kept_there() -> None:
    env, start = gym.make("Pendulum-v1"), {"x_init": 0.05, "y_init": 0.05}
    rough = [[8.0, 2.0]]
    found = identify(env, K=rough, probe=0.5, rounds=1000, options=start, state=angle_and_speed)
    assert np.abs(found.A - UPRIGHT.A).max() < 0.01
    assert np.abs(found.B - UPRIGHT.B).max() < 0.01
    controller = control.SelfTunedController(found.system, cost=SWING, input_bound=2.0)
    options = {"x_init": 0.15, "y_init": 0.1}
    trace = run(env, controller, seed=0, options=options, state=angle_and_speed, cost=SWING)
    assert np.abs(trace.states[-1]).max() < 0.01


@pytest.mark.parametrize(
    ("env", "options", "kind", "words"),
    [
        (linear(plant=control.LinearSystem(A, B)), {}, ParameterError, "no limits; give probe="),
        (linear(), {"probe": 0.0}, InputError, "probe must be above 0"),
        (linear(), {"probe": 2.0}, InputError, "within the range"),
        (linear(), {"probe": [0.1, 0.1]}, InputError, "probe"),
        (linear(), {"K": [[1.0]]}, InputError, "K"),
        (linear(), {"rounds": 0}, ParameterError, "rounds"),
        (linear(), {"seed": -1}, DriftwiseError, "seed"),
        (linear(), {"method": "guess"}, DriftwiseError, "method"),
        (linear(), {"method": "whitened"}, DriftwiseError, "whitened"),
        (linear(), {"rounds": 3}, DriftwiseError, "rounds"),
        (gym.make("CartPole-v1"), {}, InputError, "a Box of floats"),
        (Stock(step=lambda t: (np.full(2, np.nan), 0.0)), {}, InputError, "finite"),
    ],
)
def test_what_cannot_be_identified_is_refused(
    env: Any, options: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words) as caught:
        identify(env, **options)
    assert isinstance(caught.value, DriftwiseError)
