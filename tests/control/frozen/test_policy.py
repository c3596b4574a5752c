import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise.control.frozen import FrozenPolicy
from driftwise.control.policies import DisturbanceAction
from driftwise.errors import ArgumentError, FrozenError, InputError, ParameterError
from tests.cases import check_refused
from tests.control.cases import PLANT
from tests.control.frozen.cases import KINDS, Statement, drawn, with_everything

K = control.lqr(PLANT)


def make(**settings: Any) -> FrozenPolicy:
    return FrozenPolicy(PLANT.A, PLANT.B, K, **{"M": [[[-0.2, -0.5]], [[0.1, 0.0]]], **settings})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_law_is_the_one_in_its_documentation(kind: str, seed: int) -> None:
    policy, rng = with_everything(seed, kind), np.random.default_rng(seed)
    statement = Statement(policy)
    for t in range(200):
        sample = None if t % 13 == 5 else rng.standard_normal(policy.law.sides["width"])
        if t % 17 == 11 and sample is not None:
            sample[0] = np.nan
        expected = statement.act(sample)
        np.testing.assert_allclose(policy.act(sample), expected, rtol=1e-9, atol=1e-9)
        if t % 7 == 3:
            statement.u = rng.uniform(-0.5, 0.5, policy.input_dim)
            policy.applied(statement.u)
        assert policy.round == t + 1


def test_it_does_what_the_learning_controller_does() -> None:
    rng = np.random.default_rng(1)
    M, rows = 0.3 * rng.standard_normal((4, 1, 2)), rng.uniform(-1.0, 1.0, (60, 2))
    action = DisturbanceAction(K, M)
    trace = control.simulate(PLANT, control.PolicyController(PLANT, action), control.QuadraticCost(1.0, 1.0), rows)
    policy = FrozenPolicy.from_policy(PLANT, action)
    inputs = [policy.act(x) for x in trace.states]
    np.testing.assert_allclose(inputs, trace.inputs, rtol=1e-9, atol=1e-9)


def test_memory_of_the_actuator_is_predicted_exactly() -> None:
    plant = control.LinearSystem(PLANT.A, PLANT.B, delay=2)
    wide = control.lqr(control.LinearSystem(*plant.augmented))
    policy = FrozenPolicy(*plant.augmented, wide, [[[-0.2, -0.5]]])
    x, on_their_way = np.array([1.0, 0.0]), [np.zeros(1), np.zeros(1)]
    for _ in range(60):
        z = np.concatenate([x, on_their_way[1], on_their_way[0]])
        u = policy.act(x)
        np.testing.assert_allclose(u, -wide @ z, atol=1e-12)  # the model is perfect, so that w = 0
        on_their_way.append(u)
        x = plant.A @ x + plant.B @ on_their_way.pop(0)
    assert np.abs(x).max() < 1e-3


def test_an_observer_finds_the_state_and_the_set_point() -> None:
    rng, policy = np.random.default_rng(2), drawn(3, "observer", origin=None)
    assert policy.C is not None
    rest = rng.standard_normal(policy.input_dim)
    there = np.linalg.solve(np.eye(policy.state_dim) - policy.A, policy.B @ rest)
    policy = drawn(3, "observer", origin=there, rest=rest)
    assert policy.C is not None
    x = rng.standard_normal(policy.state_dim)
    for _ in range(600):
        u = policy.act(policy.C @ x)
        x = policy.A @ x + policy.B @ u
    np.testing.assert_allclose(x, there, atol=1e-9)
    np.testing.assert_allclose(u, rest, atol=1e-9)
    np.testing.assert_allclose(policy.state, there, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e150, -1e300])
def test_whatever_is_measured_the_input_is_finite_and_within_its_limits(kind: str, bad: float) -> None:
    for seed in range(3):
        policy, rng = with_everything(seed, kind), np.random.default_rng(seed)
        last = np.clip(0.0, *policy.limits)
        for _ in range(60):
            sample = np.where(rng.random(policy.law.sides["width"]) < 0.3, bad, rng.standard_normal())
            u = policy.act(sample)
            assert np.isfinite(u).all()
            assert (policy.limits[0] <= u).all()
            assert (u <= policy.limits[1]).all()
            assert (np.abs(u - last) <= policy.rate * (1.0 + 1e-12)).all()
            last = u


def test_a_model_that_diverges_alone_stays_finite() -> None:
    policy = FrozenPolicy([[-3.0]], [[2.0]], [[5.0]], [[[7.0]], [[1e90]]])
    policy.act([1e99])
    largest = 0.0
    for t in range(500):
        u = policy.act(None if t % 100 else [-1e100])
        assert np.isfinite(u).all()
        assert np.isfinite(policy.state).all()
        largest = max(largest, abs(u[0]))
    assert largest == 1e100


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_that_is_no_number_counts_as_missing(kind: str) -> None:
    one, other, rng = with_everything(4, kind), with_everything(4, kind), np.random.default_rng(4)
    for t in range(40):
        sample = rng.standard_normal(one.law.sides["width"])
        broken = sample.copy()
        broken[-1] = [np.nan, np.inf, 1e101][t % 3]
        inputs = (one.act(None), other.act(broken)) if t % 4 == 2 else (one.act(sample), other.act(sample.tolist()))
        np.testing.assert_array_equal(*inputs)


def test_the_first_sample_is_not_a_disturbance_even_if_it_comes_late() -> None:
    policy = make()
    assert policy.act(None)[0] == 0.0
    np.testing.assert_allclose(policy.act([4.0, 1.0]), -K @ [4.0, 1.0], rtol=1e-12)


def test_what_was_applied_counts() -> None:
    policy, x = make(rate=0.5), np.array([1.0, 0.0])
    policy.act(x)
    policy.applied([2.0])
    expected = PLANT.A @ x + PLANT.B @ [2.0]
    free = -K @ expected  # w = 0, as the plant did what the model says
    np.testing.assert_allclose(policy.act(expected), np.clip(free, 1.5, 2.5))
    beginning = make(rate=0.5)
    beginning.applied([3.0])
    np.testing.assert_allclose(beginning.act([0.0, 0.0]), [2.5])


def test_the_first_input_is_at_most_the_rate_from_the_limit_that_is_nearest_to_0() -> None:
    assert make(limits=[[2.0], [9.0]], rate=0.5).act([-50.0, 0.0])[0] == 2.5
    assert make(limits=[[-9.0], [9.0]], rate=0.5).act([-50.0, 0.0])[0] == 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_reset_begins_again_and_a_copy_goes_on(kind: str) -> None:
    policy, rng = with_everything(5, kind), np.random.default_rng(5)
    rows = rng.standard_normal((30, policy.law.sides["width"]))
    first = [policy.act(row) for row in rows[:20]]
    copies = [policy.clone(), copy.copy(policy), pickle.loads(pickle.dumps(policy))]
    later = [policy.act(row) for row in rows[20:]]
    for twin in copies:
        assert twin.round == 20
        np.testing.assert_array_equal([twin.act(row) for row in rows[20:]], later)
        assert not twin.K.flags.writeable
    policy.reset()
    assert policy.round == 0
    np.testing.assert_array_equal([policy.act(row) for row in rows[:20]], first)


def test_inputs_and_settings_cannot_be_changed() -> None:
    gain = np.array(K)
    policy = FrozenPolicy(PLANT.A, PLANT.B, gain)
    gain[:] = 9.0
    np.testing.assert_array_equal(policy.K, K)
    assert not policy.act([1.0, 0.0]).flags.writeable
    for name in ("A", "B", "K", "M", "origin", "rest", "offset", "limits", "rate"):
        assert not getattr(policy, name).flags.writeable
    check_refused(lambda: setattr(policy, "M", 1.0), "M is fixed", kind=FrozenError)
    check_refused(lambda: setattr(policy, "Kp", 1.0), "no attribute", kind=FrozenError)
    np.testing.assert_array_equal(policy.M, np.zeros((1, 1, 2)))
    assert policy.C is None
    assert repr(policy) == "FrozenPolicy(states=2, inputs=1, memory=1, round=1)"
    assert (policy.state_dim, policy.input_dim, policy.memory) == (2, 1, 1)


def test_a_share_of_a_policy() -> None:
    policy = make(offset=[0.4], rest=[0.1])
    half = policy.scaled(0.5)
    np.testing.assert_array_equal(half.M, 0.5 * policy.M)
    np.testing.assert_array_equal([half.offset, half.rest], [[0.2], [0.1]])
    assert policy.scaled(0.0).M.max() == 0.0


def test_from_policy_takes_the_actuator_of_the_plant() -> None:
    plant = control.LinearSystem(PLANT.A, PLANT.B, input_limit=[[-1.0, np.inf]], rate_limit=0.2, delay=1, lag=0.5)
    action = DisturbanceAction(K, np.ones((3, 1, 2)))
    policy = FrozenPolicy.from_policy(plant, action, offset=[0.1])
    np.testing.assert_array_equal(policy.limits, [[-1.0], [np.inf]])
    np.testing.assert_array_equal(policy.rate, [0.2])
    assert len(policy.A) == 4
    assert policy.state_dim == 2
    np.testing.assert_array_equal(policy.K, [[*K[0], 0.0, 0.0]])
    wide = DisturbanceAction(np.ones((1, 4)), np.ones((3, 1, 4)))
    assert FrozenPolicy.from_policy(plant, wide).K.sum() == 4.0


@pytest.mark.parametrize(
    ("call", "words", "kind"),
    [
        (lambda: make(M=np.ones((2, 2, 2))), ("M", "(H, 1, 2)"), InputError),
        (lambda: make(M=[[[np.nan, 0.0]]]), ("M", "nan"), InputError),
        (lambda: FrozenPolicy([[1.0, 0.0]], PLANT.B, K), ("A", "(2, 2)"), InputError),
        (lambda: FrozenPolicy(PLANT.A, PLANT.B, [[1.0]]), ("K", "(1, 2)"), InputError),
        (lambda: make(C=[[1.0, 0.0]]), ("both C and L",), ParameterError),
        (lambda: make(C=[[1.0, 0.0]], L=[[1.0, 1.0]]), ("L", "(2, 1)"), InputError),
        (lambda: make(limits=[[1.0], [-1.0]]), ("limits", "no low above its high"), ParameterError),
        (lambda: make(limits=[[np.nan], [1.0]]), ("limits", "(2, 1)"), InputError),
        (lambda: make(limits=[[np.inf], [np.inf]]), ("limits",), ParameterError),
        (lambda: make(limits=[1.0]), ("limits", "(2, 1)"), InputError),
        (lambda: make(limits=[[-1e200], [1.0]]), ("limits", "1e+100"), InputError),
        (lambda: make(rate=0.0), ("rate", "above 0"), ParameterError),
        (lambda: make(rate="fast"), ("rate",), InputError),
        (lambda: make(origin=[1.0]), ("origin", "(2,)"), InputError),
        (lambda: make(rest=[np.inf]), ("rest", "inf"), InputError),
        (lambda: make(states=3), ("states", "at most 2"), ParameterError),
        (lambda: make(speed=3), ("speed", "unexpected"), ArgumentError),
        (lambda: make().act([1.0]), ("x", "(2,)", "None for a missing sample"), InputError),
        (lambda: make().act("state"), ("x", "unchanged"), InputError),
        (lambda: make().act([1.0, None]), ("x", "unchanged"), InputError),  # type: ignore[arg-type]
        (lambda: make().applied([np.nan]), ("u", "nan"), InputError),
        (lambda: make().applied([1.0, 2.0]), ("u", "(1,)"), InputError),
        (lambda: make().scaled(1.5), ("part", "from 0 to 1"), ParameterError),
        (lambda: FrozenPolicy.from_policy("plant", None), ("system",), ParameterError),  # type: ignore[arg-type]
        (lambda: FrozenPolicy.from_policy(PLANT, K), ("policy", "DisturbanceAction"), ParameterError),  # type: ignore[arg-type]
        (
            lambda: FrozenPolicy.from_policy(PLANT, DisturbanceAction(np.ones((1, 3)), np.ones((1, 1, 3)))),
            ("policy", "(1, 2)"),
            InputError,
        ),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(call, *words, kind=kind)


def test_a_refused_call_changes_nothing() -> None:
    policy, twin = make(rate=0.3), make(rate=0.3)
    for x in ([1.0, 0.5], [0.2, 0.1]):
        for call in (lambda: policy.act([1.0, 2.0, 3.0]), lambda: policy.applied([np.inf])):
            check_refused(call, kind=InputError)
        np.testing.assert_array_equal(policy.act(x), twin.act(x))
