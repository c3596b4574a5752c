"""Our plants as environments: what Gymnasium checks, and what `simulate` does with the same plant."""

import pickle
import subprocess
import sys
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from driftwise import control
from driftwise.adapters.gymnasium import InvertedPendulumEnv, LinearSystemEnv
from driftwise.errors import ArgumentError, DriftwiseError, InputError, MissingExtraError, OrderError, ParameterError
from tests.adapters.gymnasium.cases import ENVIRONMENTS, PLANT, SINE, A, B, make

EXPECTED = {
    "actions in units of the plant": {"normalized space"},
    "a torque in N m": {"normalized space"},
    "no limit at all": {"normalized space", "minimum value is -infinity", "maximum value is infinity"},
}
"""What Gymnasium warns about, where actions are inputs of the plant because one asked for that: nothing else."""


def test_every_environment_passes_the_check_of_gymnasium() -> None:
    passed = []
    for case in ENVIRONMENTS:
        env = make(case)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            check_env(env.unwrapped)
        texts = [str(warning.message) for warning in caught]
        wanted = EXPECTED.get(case, set())
        assert len(texts) == len(wanted), (case, texts)
        assert all(any(words in text for text in texts) for words in wanted), (case, texts)
        passed.append(type(env.unwrapped))
    assert len(passed) == len(ENVIRONMENTS) == 21
    assert passed.count(LinearSystemEnv) == 18
    assert passed.count(InvertedPendulumEnv) == 3


def test_the_check_would_have_found_something() -> None:
    class Wrong(LinearSystemEnv):
        def _seen(self) -> Any:
            return super()._seen() + np.random.default_rng().standard_normal(2)

    with pytest.raises(AssertionError):
        check_env(Wrong())


@pytest.mark.parametrize("name", ["LinearSystem", "InvertedPendulum"])
def test_it_is_registered_by_the_module_in_front_of_its_name(name: str) -> None:
    """In a process that has imported nothing of driftwise."""
    program = (
        "import sys, gymnasium as gym\n"
        f"env = gym.make('driftwise.adapters.gymnasium:driftwise/{name}-v0')\n"
        "print(type(env.unwrapped).__name__, env.spec.id, env.reset(seed=1)[0].shape)\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"{name}Env", f"driftwise/{name}-v0", "(2,)"]


def episode(env: Any, seed: int, rounds: int = 40) -> list[Any]:
    """Return all that there is to see of an episode with random actions."""
    rng, seen = np.random.default_rng(7), [env.reset(seed=seed)[0]]
    for _ in range(rounds):
        observation, reward, terminated, truncated, info = env.step(rng.uniform(-1.0, 1.0, env.action_space.shape))
        seen += [observation, reward, terminated, truncated, *info.values()]
        if terminated or truncated:
            break
    return seen


@pytest.mark.parametrize("case", ENVIRONMENTS)
def test_the_same_seed_is_the_same_episode(case: str) -> None:
    env = make(case)
    first, other, again = (episode(env, seed) for seed in (3, 4, 3))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    for one, two in zip(first, episode(make(case), 3), strict=True):
        np.testing.assert_array_equal(one, two)
    if case in ("noise", "a random start", "matrices that change", "a strong pendulum"):
        assert any(not np.array_equal(one, two) for one, two in zip(first, other, strict=True))


PLAYED = {
    "direct": control.LinearSystem(A, B),
    "limits": PLANT,
    "one-sided": control.LinearSystem(A, B, input_limit=[-0.05, 1.0]),
    "rate": control.LinearSystem(A, B, rate_limit=0.1),
    "late": control.LinearSystem(A, B, delay=2, lag=0.3),
    "changing": control.TimeVaryingSystem(A, B, spread_A=0.02),
}
NOISE = control.AutoregressiveDisturbance(0.9, scale=0.2)


@pytest.mark.parametrize(
    "push", [SINE, NOISE, control.AdversarialDisturbance(0.1)], ids=lambda push: type(push).__name__
)
@pytest.mark.parametrize("name", PLAYED)
def test_an_episode_is_that_of_simulate_bit_for_bit(name: str, push: control.Disturbance) -> None:
    plant, cost = PLAYED[name], control.HuberCost(0.5, 1.0)
    expected = control.simulate(plant, control.LinearController(plant), cost, push, seed=5, rounds=60, start=[0.5, 0.0])
    env: Any = LinearSystemEnv(
        plant=plant, disturbance=push, cost=cost, horizon=60, start=[0.5, 0.0], unit_actions=False
    )
    controller, (x, _) = control.LinearController(plant), env.reset(seed=5)
    for t in range(60):
        np.testing.assert_array_equal(x, expected.states[t])
        u = controller.act(x)
        controller.observe(cost)
        x, reward, terminated, truncated, info = env.step(u)
        assert -reward == info["cost"] == expected.costs[t]
        np.testing.assert_array_equal(info["input"], expected.inputs[t])
        np.testing.assert_array_equal(info["disturbance"], expected.disturbances[t])
        np.testing.assert_array_equal(info["state"], x)
        assert (terminated, truncated) == (False, t == 59)
    np.testing.assert_array_equal(x, expected.final_state)


def test_the_pendulum_is_that_of_simulate_even_when_it_falls() -> None:
    plant, push = control.InvertedPendulum(), control.GaussianDisturbance(0.1)
    cost = control.QuadraticCost([1.0, 0.1], 0.001)
    lqr = control.LinearController(plant)
    expected = control.simulate(plant, lqr, cost, push, seed=2, rounds=200)
    assert np.abs(expected.states[:, 0]).max() > 2.0
    env: Any = InvertedPendulumEnv(disturbance=push, unit_actions=False)
    x, _ = env.reset(seed=2)
    for t in range(200):
        np.testing.assert_array_equal(x, expected.states[t])
        x, reward, *_ = env.step(-lqr.K @ x)
        np.testing.assert_allclose(-reward, expected.costs[t], rtol=1e-12)


def test_actions_are_shares_of_what_an_input_can_be() -> None:
    env = make("limits on one side")
    env.reset(seed=0)
    for action, u in ((-1.0, 0.0), (0.0, 1.5), (1.0, 3.0), (0.5, 2.25)):
        np.testing.assert_allclose(env.step(np.array([action]))[4]["input"], [u])
    env = make("one limit missing")
    env.reset(seed=0)
    np.testing.assert_allclose(env.step(np.array([-1.0]))[4]["input"], [-2.0])
    assert env.action_space == gym.spaces.Box(-1.0, 1.0, (1,), np.float64)
    raw = make("no limit at all")
    raw.reset(seed=0)
    np.testing.assert_array_equal(raw.step(np.array([1e5]))[4]["input"], [1e5])


def test_outputs_are_what_is_seen_and_the_state_is_told_besides() -> None:
    env = make("an output")
    seen, info = env.reset(seed=0, options={"state": [2.0, 1.0]})
    np.testing.assert_array_equal(seen, [2.0])
    np.testing.assert_array_equal(info["state"], [2.0, 1.0])
    seen, *_, info = env.step(np.array([0.0]))
    np.testing.assert_array_equal(seen, info["state"][:1])


def test_an_episode_ends_where_a_state_is_too_large() -> None:
    env = make("an early end").unwrapped
    env.reset(seed=0, options={"state": [0.29, 0.1]})
    observation, _, terminated, truncated, info = env.step([1.0])
    assert (terminated, truncated) == (True, False)
    assert np.abs(info["state"]).max() > 0.3
    assert observation in env.observation_space
    with pytest.raises(OrderError, match="reset"):
        env.step([0.0])
    env.reset()
    env.step([0.0])


def test_starts_are_drawn_within_their_spread() -> None:
    env = make("a random start")
    starts = np.array([env.reset(seed=seed)[0] for seed in range(50)])
    assert starts[:, 0].min() >= 0.5
    assert starts[:, 0].max() <= 1.5
    assert np.ptp(starts[:, 0]) > 0.8
    assert np.ptp(starts[:, 1]) == 0.0


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda env: env.step([np.nan]), InputError, "action"),
        (lambda env: env.step([0.0, 0.0]), InputError, "shape"),
        (lambda env: env.step("left"), InputError, "action"),
        (lambda env: env.reset(options={"start": [1.0, 0.0]}), ParameterError, "only option is 'state'"),
        (lambda env: env.reset(options={"state": [1.0]}), InputError, "state"),
        (lambda env: env.reset(options={"state": [np.inf, 0.0]}), InputError, "state"),
    ],
)
def test_what_is_refused_changes_nothing(call: Any, kind: type[Exception], words: str) -> None:
    env = LinearSystemEnv(A, B, disturbance=NOISE)
    env.reset(seed=1)
    env.step([0.5])
    before = pickle.dumps(env.__dict__)
    with pytest.raises(kind, match=words):
        call(env)
    assert pickle.dumps(env.__dict__) == before


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"A": A}, ParameterError, "A and B"),
        ({"A": A, "B": B, "plant": PLANT}, ParameterError, "A and B"),
        ({"plant": control.InvertedPendulum()}, ParameterError, "LinearSystem"),
        ({"plant": control.LinearSystem(A, B, [[1.0, 0.0]], [[1.0]])}, ParameterError, "D must be 0"),
        ({"horizon": 0}, ParameterError, "horizon"),
        ({"horizon": 40, "disturbance": np.zeros((30, 2))}, InputError, "30"),
        ({"disturbance": np.zeros((30, 3))}, InputError, "disturbance"),
        ({"cost": control.QuadraticCost([1.0, 1.0, 1.0], 1.0)}, InputError, "state_dim"),
        ({"cost": [control.QuadraticCost(1.0, 1.0)]}, InputError, "200"),
        ({"input_limit": -1.0}, ParameterError, "input_limit"),
        ({"input_limit": [1.0, 2.0]}, InputError, "input_limit"),
        ({"start": [0.0]}, InputError, "start"),
        ({"spread": np.nan}, InputError, "spread"),
        ({"state_limit": 0.0}, ParameterError, "state_limit"),
        ({"unit_actions": 1}, ParameterError, "unit_actions"),
        ({"horizons": 5}, ArgumentError, "Did you mean horizon"),
    ],
)
def test_what_cannot_be_an_environment_is_refused(options: dict[str, Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        gym.make("driftwise/LinearSystem-v0", **options)
    assert isinstance(caught.value, DriftwiseError)


def test_many_environments_in_one_process() -> None:
    """Every lane is the environment by itself, and begins anew where its episode ends."""
    many: Any = gym.make_vec("driftwise/LinearSystem-v0", num_envs=3, horizon=20, disturbance=NOISE)
    seen, _ = many.reset(seed=[4, 5, 6])
    rng = np.random.default_rng(0)
    alone = [LinearSystemEnv(horizon=20, disturbance=NOISE) for _ in range(3)]
    for i, env in enumerate(alone):
        np.testing.assert_array_equal(seen[i], env.reset(seed=4 + i)[0])
    for t in range(20):
        actions = rng.uniform(-1.0, 1.0, (3, 1))
        seen, rewards, _, truncated, info = many.step(actions)
        for i, env in enumerate(alone):
            x, reward, *_ = env.step(actions[i])
            np.testing.assert_array_equal(seen[i], x)
            assert rewards[i] == reward == -info["cost"][i]
        assert truncated.tolist() == [t == 19] * 3
    assert np.abs(seen).min() > 0.0
    np.testing.assert_array_equal(many.step(np.zeros((3, 1)))[0], np.zeros((3, 2)))
    many.close()


def test_many_environments_in_processes_of_their_own() -> None:
    makers = [lambda: gym.make("driftwise.adapters.gymnasium:driftwise/InvertedPendulum-v0", disturbance=NOISE)] * 2
    many = gym.vector.AsyncVectorEnv(makers, context="spawn")
    one = gym.vector.SyncVectorEnv(makers)
    try:
        np.testing.assert_array_equal(many.reset(seed=1)[0], one.reset(seed=1)[0])
        for t in range(30):
            actions = np.full((2, 1), np.sin(t))
            for mine, theirs in zip(many.step(actions)[:4], one.step(actions)[:4], strict=True):
                np.testing.assert_array_equal(mine, theirs)
    finally:
        many.close()


def test_without_gymnasium_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("driftwise.adapters.gymnasium")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingExtraError, match=r"driftwise\[gymnasium\]"):
        import driftwise.adapters.gymnasium  # noqa: F401
