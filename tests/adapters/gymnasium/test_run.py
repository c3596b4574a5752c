"""Any controller on any environment with a Box of actions: what `simulate` does, and nothing by halves."""

import inspect
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.adapters.gymnasium import EnvTrace, run
from driftwise.errors import ArgumentError, DriftwiseError, HorizonError, InputError, OrderError, ParameterError
from tests.adapters.gymnasium.cases import CONTROLLERS, PLANT, SEEN, SINE, linear

COST = control.QuadraticCost(1.0, 1.0)


def plant_for(name: str) -> control.LinearSystem:
    return SEEN if name == "OutputFeedback" else PLANT


def test_every_public_controller_is_tried() -> None:
    named = {name: found for name, found in vars(control).items() if name in control.__all__}
    kinds = {
        name
        for name, found in named.items()
        if inspect.isclass(found) and issubclass(found, control.Controller) and not inspect.isabstract(found)
    }
    assert kinds - {"LearningController"} == set(CONTROLLERS)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_run_is_that_of_simulate_bit_for_bit(name: str) -> None:
    plant = plant_for(name)
    one, other = CONTROLLERS[name](plant), CONTROLLERS[name](plant)
    trace = run(linear(plant=plant), one, seed=3, options={"state": [0.3, -0.2]})
    expected = control.simulate(plant, other, COST, SINE, seed=3, rounds=200, start=[0.3, -0.2])
    for part in ("states", "inputs", "costs", "final_state"):
        np.testing.assert_array_equal(getattr(trace, part), getattr(expected, part))
    np.testing.assert_array_equal(trace.rewards, -expected.costs)
    for x in np.vstack([trace.final_state, 0.5 * trace.final_state, [0.1, 0.1]]):  # and they go on alike
        np.testing.assert_array_equal(one.act(x), other.act(x))
        one.observe(COST)
        other.observe(COST)
    assert (len(trace.costs), trace.terminated, trace.truncated) == (200, False, True)
    assert trace.controller.round == 0
    assert trace.label == name


@pytest.mark.parametrize("name", ["GradientController", "SelfTunedController", "OutputFeedback"])
def test_with_unit_actions_it_is_the_same_but_for_rounding(name: str) -> None:
    plant = plant_for(name)
    trace = run(linear(plant=plant, unit_actions=True), CONTROLLERS[name](plant), seed=3)
    expected = control.simulate(plant, CONTROLLERS[name](plant), COST, SINE, seed=3, rounds=200)
    np.testing.assert_allclose(trace.states, expected.states, rtol=0.0, atol=1e-12)


def test_what_the_actuator_did_is_told() -> None:
    """A limit, a delay and a rate limit that the controller knows nothing about."""
    hidden = control.LinearSystem(PLANT.A, PLANT.B, input_limit=0.1, rate_limit=0.02, delay=1)
    simple = control.LinearSystem(PLANT.A, PLANT.B)
    trace = run(linear(plant=hidden), control.SelfTunedController(simple), seed=3)
    expected = control.simulate(hidden, control.SelfTunedController(simple), COST, SINE, seed=3, rounds=200)
    np.testing.assert_array_equal(trace.inputs, expected.inputs)
    assert np.abs(np.diff(trace.inputs[:, 0])).max() < 0.02 + 1e-12


def test_episodes_go_on_from_a_clone() -> None:
    env, controller = linear(disturbance=control.GaussianDisturbance(0.1)), control.SelfTunedController(PLANT)
    first, again = run(env, controller.clone(), seed=1), run(env, controller.clone(), seed=1)
    np.testing.assert_array_equal(first.states, again.states)
    other = run(env, controller)  # the next episode of the environment
    assert not np.array_equal(first.states, other.states)


UPRIGHT = control.LinearSystem([[1.0375, 0.05], [0.75, 1.0]], [[0.0075], [0.15]])
SWING = control.QuadraticCost([1.0, 0.1], 0.001)


def angle_and_speed(seen: Any) -> list[float]:
    return [float(np.arctan2(seen[1], seen[0])), float(seen[2])]


@pytest.mark.parametrize("name", [name for name in CONTROLLERS if name not in ("OutputFeedback", "ExploreThenCommit")])
def test_the_pendulum_of_gymnasium_is_kept_upright(name: str) -> None:
    env = gym.make("Pendulum-v1")
    start = {"x_init": 0.15, "y_init": 0.1}
    trace = run(env, CONTROLLERS[name](UPRIGHT), seed=0, options=start, state=angle_and_speed, cost=SWING)
    assert (len(trace.costs), trace.truncated) == (200, True)
    assert np.abs(trace.states[-1]).max() < 0.01
    np.testing.assert_allclose(trace.costs, -trace.rewards, atol=1e-4)  # its observations are float32


def test_outputs_of_the_pendulum_are_enough() -> None:
    seen = control.LinearSystem(UPRIGHT.A, UPRIGHT.B, [[1.0, 0.0]])
    env = gym.make("Pendulum-v1")
    controller = control.OutputFeedback(seen, cost=SWING, measurement_noise=1e-4)
    options = {"x_init": 0.05, "y_init": 0.05}
    trace = run(env, controller, seed=0, options=options, state=lambda seen: angle_and_speed(seen)[:1], cost=SWING)
    assert trace.states.shape == (200, 1)
    assert abs(trace.states[-1, 0]) < 0.01
    np.testing.assert_array_equal(trace.costs, -trace.rewards)


def test_a_car_is_held_in_its_valley() -> None:
    """MountainCarContinuous-v0, float32, linearised at the bottom; it wants out, and costs are ours to choose."""
    bottom = control.LinearSystem([[0.9925, 1.0], [-0.0075, 1.0]], [[0.0015], [0.0015]])
    cost = control.QuadraticCost([1.0, 100.0], 1e-4)
    env = gym.make("MountainCarContinuous-v0", max_episode_steps=300)
    controller = control.SelfTunedController(bottom, cost=cost, input_bound=1.0)
    trace = run(env, controller, seed=4, cost=cost, state=lambda seen: [seen[0] + np.pi / 6.0, seen[1]])
    still = run(env, Still(2, 1), seed=4, cost=cost, state=lambda seen: [seen[0] + np.pi / 6.0, seen[1]])
    assert trace.total < 0.6 * still.total
    assert np.abs(trace.states[-1]).max() < 1e-3
    assert np.abs(still.states[-1]).max() > 1e-3


class Still(control.Controller):
    """A controller of one's own that does nothing."""

    state_names = ()

    def _decide(self, x: Array) -> Array:
        return np.zeros(self.input_dim)

    def _learn(self, x: Array, applied: Array, cost: control.Cost) -> None:
        pass


class Stock(gym.Env[Any, Any]):
    """An environment with what one asks for: spaces, and what a step returns."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, action_space: Any = None, observation_space: Any = None, step: Any = None) -> None:
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,)) if action_space is None else action_space
        self.observation_space = gym.spaces.Box(-1e3, 1e3, (2,)) if observation_space is None else observation_space
        self.taken: list[Any] = []
        self._answer = step

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.taken = []
        return np.array([0.5, 0.1]), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.taken.append(action)
        t = len(self.taken)
        answer = (np.array([0.5 / t, 0.1]), -1.0) if self._answer is None else self._answer(t)
        return (*answer, False, t == 10, {})


def test_actions_have_the_shape_and_the_type_of_their_space() -> None:
    env = Stock(gym.spaces.Box(np.float32(-0.1), np.float32(0.3), (1, 1), np.float32))
    trace = run(env, CONTROLLERS["LinearController"](PLANT), horizon=20)
    for action, told in zip(env.taken, trace.inputs, strict=True):
        assert (action.shape, action.dtype) == ((1, 1), np.float32)
        assert action in env.action_space
        assert told[0] == np.float64(action[0, 0])
    assert len(trace.costs) == 10  # the environment said so


def test_scale_and_rest_say_what_an_action_is() -> None:
    env = Stock(gym.spaces.Box(0.0, 10.0, (1,), np.float64))
    trace = run(env, CONTROLLERS["LinearController"](PLANT), horizon=20, scale=0.1, rest=5.0)
    taken = np.array(env.taken)
    np.testing.assert_allclose(taken, 5.0 + trace.inputs / 0.1)
    assert np.abs(trace.inputs).max() <= 0.5 + 1e-12
    turned = run(env, CONTROLLERS["LinearController"](PLANT), horizon=20, scale=-0.1, rest=5.0)
    np.testing.assert_allclose(np.array(env.taken), 5.0 - turned.inputs / 0.1)
    np.testing.assert_allclose(turned.inputs, trace.inputs)


def test_a_wrapper_that_changes_actions_changes_what_inputs_are() -> None:
    """Then inputs are actions of the wrapper, and so is what the controller is told."""
    unit = linear(plant=control.LinearSystem(PLANT.A, PLANT.B, input_limit=2.0), unit_actions=True)
    wrapped = gym.wrappers.RescaleAction(unit, np.float64(-4.0), np.float64(4.0))
    half = control.LinearSystem(PLANT.A, 0.5 * PLANT.B)
    trace = run(wrapped, control.SelfTunedController(half), seed=3, cost=COST)
    expected = control.simulate(half, control.SelfTunedController(half), COST, SINE, seed=3, rounds=200)
    np.testing.assert_allclose(trace.inputs, expected.inputs, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(trace.states, expected.states, rtol=0.0, atol=1e-12)


def test_the_environments_own_cost_is_for_its_own_units_only() -> None:
    unit = linear(plant=control.LinearSystem(PLANT.A, PLANT.B, input_limit=2.0), unit_actions=True)
    wide = gym.wrappers.RescaleAction(unit, np.float64(-4.0), np.float64(4.0))
    for env, options in ((wide, {}), (unit, {"state": lambda seen: 100.0 * seen}), (unit, {"scale": 3.0})):
        controller = CONTROLLERS["LinearController"](PLANT)
        before = controller.to_bytes()
        with pytest.raises(ParameterError, match=r"own cost does not fit.*; give cost="):
            run(env, controller, **options)
        assert controller.to_bytes() == before
    again = run(wide, CONTROLLERS["SelfTunedController"](PLANT), seed=3, scale=0.5)  # in the plant's units again
    np.testing.assert_allclose(again.costs, -again.rewards, rtol=1e-12, atol=1e-12)


def test_wrappers_that_leave_actions_alone_change_nothing() -> None:
    env = gym.wrappers.RecordEpisodeStatistics(gym.wrappers.TimeLimit(linear(), 50))
    trace = run(env, CONTROLLERS["SelfTunedController"](PLANT), seed=3)
    plain = run(linear(horizon=400), CONTROLLERS["SelfTunedController"](PLANT), seed=3, horizon=50)
    np.testing.assert_array_equal(trace.states, plain.states)
    assert (trace.truncated, plain.truncated) == (True, False)


def test_a_time_limit_around_an_environment_of_ones_own_says_how_long_an_episode_is() -> None:
    limited = gym.wrappers.ClipAction(gym.wrappers.TimeLimit(Stock(), 7))
    trace = run(limited, CONTROLLERS["LinearController"](PLANT))
    assert (len(trace.costs), trace.truncated) == (7, True)
    with pytest.raises(ParameterError, match="how long an episode is; give horizon="):
        run(Stock(), CONTROLLERS["LinearController"](PLANT))


def test_an_observation_of_any_kind_has_a_state() -> None:
    space = gym.spaces.Dict({"x": gym.spaces.Box(-1e3, 1e3, (2,))})
    env = Stock(observation_space=space, step=lambda t: ({"x": np.array([0.5 / t, 0.1])}, -1.0))
    reset = env.reset
    env.reset = lambda **given: ({"x": reset(**given)[0]}, {})  # type: ignore[method-assign]
    trace = run(env, CONTROLLERS["LinearController"](PLANT), horizon=10, state=lambda seen: seen["x"])
    np.testing.assert_array_equal(trace.final_state, [0.05, 0.1])
    with pytest.raises(InputError, match="state="):
        run(env, CONTROLLERS["LinearController"](PLANT), horizon=10)


def stop() -> None:
    raise KeyboardInterrupt("enough")


BROKEN: dict[str, tuple[Callable[[int], Any], type[BaseException], str]] = {
    "a state is NaN": (lambda t: (np.array([np.nan, 0.0]), -1.0), InputError, "act: "),
    "a state is infinite": (lambda t: (np.array([np.inf, 0.0]), -1.0), InputError, "act: "),
    "a state is text": (lambda t: ("left", -1.0), InputError, "must be numbers"),
    "a state is too short": (lambda t: (np.zeros(1), -1.0), InputError, "shape"),
    "a reward is NaN": (lambda t: (np.zeros(2), np.nan), InputError, "the reward"),
    "a reward is no number": (lambda t: (np.zeros(2), "good"), InputError, "the reward"),
    "a cost is too large": (lambda t: (np.full(2, 1e90), -1.0), InputError, "round 7 the cost"),
    "the environment fails": (lambda t: 1 / 0, ZeroDivisionError, "division"),
    "somebody stops it": (lambda t: stop(), KeyboardInterrupt, "enough"),
}


BLIND = "OutputFeedback"
"""The one that does not see costs, so that they cannot be too large."""


@pytest.mark.parametrize(
    ("case", "name"),
    [
        (case, name)
        for case in BROKEN
        for name in ("LinearController", "ScreamController", "SelfTunedController", BLIND)
        if (case, name) != ("a cost is too large", BLIND)
    ],
)
def test_if_anything_goes_wrong_the_controller_is_as_it_was(case: str, name: str) -> None:
    answer, kind, words = BROKEN[case]
    plant = plant_for(name)
    controller: Any = CONTROLLERS[name](plant)
    if name in ("SelfTunedController", "OutputFeedback"):
        controller = getattr(control, name)(plant, guard=False)
    control.simulate(plant, controller, COST, SINE, rounds=30)
    before = controller.to_bytes()
    env = Stock(step=lambda t: answer(t) if t == 7 else (np.array([0.5 / t, 0.1]), -1.0))
    with pytest.raises(kind, match=words):
        run(env, controller, horizon=10)
    assert controller.to_bytes() == before
    run(Stock(), controller, horizon=10)
    assert controller.round == 40


@pytest.mark.parametrize(
    ("make", "options", "kind", "words"),
    [
        (lambda: gym.make("CartPole-v1"), {}, InputError, "a Box of floats"),
        (lambda: Stock(gym.spaces.Box(0, 5, (1,), np.int64)), {}, InputError, "a Box of floats"),
        (lambda: Stock(gym.spaces.MultiDiscrete([2, 2])), {}, InputError, "a Box of floats"),
        (lambda: Stock(gym.spaces.Box(-1.0, 1.0, (2,))), {"horizon": 5}, InputError, "takes 2 inputs"),
        (lambda: Stock(observation_space=gym.spaces.Discrete(3)), {"horizon": 5}, InputError, "not a Box"),
        (lambda: gym.make("Pendulum-v1"), {}, InputError, "wants 2 numbers of each observation, and there are 3"),
        (lambda: gym.make_vec("Pendulum-v1", num_envs=2, vectorization_mode="sync"), {}, InputError, "one by one"),
        (lambda: "Pendulum-v1", {}, InputError, "must be a gymnasium.Env"),
        (Stock, {}, ParameterError, "give horizon="),
        (Stock, {"horizon": 0}, ParameterError, "horizon"),
        (Stock, {"horizon": 5, "scale": 0.0}, ParameterError, "scale must not be 0"),
        (Stock, {"horizon": 5, "scale": [1.0, 2.0]}, InputError, "scale"),
        (Stock, {"horizon": 5, "rest": np.nan}, InputError, "rest"),
        (Stock, {"horizon": 5, "state": 3}, ParameterError, "state must be a function"),
        (Stock, {"horizon": 5, "cost": 3.0}, DriftwiseError, "cost"),
        (Stock, {"horizon": 5, "cost": [COST]}, InputError, "one a round, 5"),
        (Stock, {"horizon": 5, "cost": control.QuadraticCost([1.0] * 3, 1.0)}, InputError, "state_dim 2"),
        (Stock, {"horizon": 5, "costs": COST}, ArgumentError, "Did you mean cost"),
    ],
)
def test_what_cannot_be_run_is_refused(
    make: Callable[[], Any], options: dict[str, Any], kind: type[Exception], words: str
) -> None:
    controller = CONTROLLERS["SelfTunedController"](PLANT)
    before, loose = controller.to_bytes(), dict[str, Any](options)
    with pytest.raises(kind, match=words) as caught:
        run(make(), controller, **loose)
    assert isinstance(caught.value, DriftwiseError)
    assert controller.to_bytes() == before


def test_horizons_are_kept() -> None:
    controller = control.ScreamController(PLANT, horizon=60)
    assert len(run(linear(), controller, seed=1).costs) == 60
    with pytest.raises(HorizonError, match="60 rounds"):
        run(linear(), controller)
    with pytest.raises(HorizonError, match="70 rounds are more than the 60"):
        run(linear(), control.ScreamController(PLANT, horizon=60), horizon=70)
    begun = control.LinearController(PLANT)
    begun.act([0.0, 0.0])
    with pytest.raises(OrderError, match="observe"):
        run(linear(), begun)
    with pytest.raises(ParameterError, match="SelfTunedController"):
        run(linear(), "LQR")  # type: ignore[arg-type]


def test_an_input_beyond_the_type_of_actions_is_not_sent() -> None:
    env = Stock(gym.spaces.Box(-np.inf, np.inf, (1,), np.float32), step=lambda t: (np.full(2, 1e40), -1.0))
    with pytest.raises(InputError, match="no finite action in float32"):
        run(env, CONTROLLERS["LinearController"](PLANT), horizon=5)
    assert len(env.taken) == 1


def test_an_episode_that_ends_early() -> None:
    unstable = control.LinearSystem(1.2 * PLANT.A, PLANT.B)
    env = linear(plant=unstable, state_limit=0.5)
    trace = run(env, Still(2, 1), seed=1)
    assert trace.terminated
    assert not trace.truncated
    assert np.abs(trace.final_state).max() == 0.5  # what is seen ends there
    assert len(trace.costs) < 200
    assert "terminated=True" in repr(trace)
    assert isinstance(trace, EnvTrace)
