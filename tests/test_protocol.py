"""One protocol: settings are fixed, a second act gives the same answer, and a state can be restored."""

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._protocol import Actor
from driftwise._validate import Array
from driftwise.errors import DriftwiseError, FrozenError, HorizonError, OrderError
from tests.cases import check_refused

PLANT = dw.control.double_integrator()
UNIT = dw.control.QuadraticCost(1.0, 1.0)
BALL = dw.Ball(2)

MADE: dict[str, Callable[[], Any]] = {
    "OGD": lambda: dw.OGD(BALL, step=0.1),
    "Ader": lambda: dw.Ader(BALL, gradient_bound=1.0),
    "Scream": lambda: dw.Scream(BALL, switching_cost=1.0, gradient_bound=1.0),
    "LazyScream": lambda: dw.LazyScream(BALL, switching_cost=4.0, gradient_bound=1.0),
    "SelfTunedScream": lambda: dw.SelfTunedScream(BALL, switching_cost=1.0),
    "MirrorDescent": lambda: dw.MirrorDescent(BALL, step=0.1),
    "Hedge": lambda: dw.Hedge(2, rate=0.1),
    "rounded": lambda: dw.rounded(dw.OGD(dw.Box([0.0, 0.0], [3.0, 3.0]), step=0.1), seed=1),
    "Committee": lambda: dw.Committee(2, switching_cost=1.0, mode="follow", seed=3),
    "LinearController": lambda: dw.control.LinearController(PLANT),
    "GradientController": lambda: dw.control.GradientController(PLANT),
    "ScreamController": lambda: dw.control.ScreamController(PLANT, horizon=100),
    "SelfTunedController": lambda: dw.control.SelfTunedController(PLANT),
    "ExploreThenCommit": lambda: dw.control.ExploreThenCommit(
        K=[[0.4, 1.2]], state_dim=2, input_dim=1, exploration=50, seed=1
    ),
}


def act(actor: Any, value: float = 1.0) -> Any:
    if isinstance(actor, dw.Learner):
        return actor.act()
    return actor.act([value, 0.5])


def observe(actor: Any) -> None:
    actor.observe(UNIT if isinstance(actor, dw.control.Controller) else [0.3, -0.2])


def state(actor: Any) -> bytes:
    return pickle.dumps(actor)


@pytest.mark.parametrize("name", MADE)
def test_what_it_was_built_with_cannot_be_assigned(name: str) -> None:
    actor = MADE[name]()
    before = state(actor)
    settings = {
        argument
        for kind in type(actor).__mro__
        if issubclass(kind, Actor) and "__init__" in vars(kind)
        for argument in inspect.signature(kind).parameters
    }
    assert settings
    for setting in settings:
        with pytest.raises(AttributeError) as refused:
            setattr(actor, setting, 5.0)
        if not isinstance(getattr(type(actor), setting), property):  # those have never been assignable
            assert isinstance(refused.value, FrozenError)
            for word in (type(actor).__name__, setting, "build a new one"):
                assert word in str(refused.value)
        with pytest.raises(AttributeError):
            delattr(actor, setting)
    assert state(actor) == before


def test_it_is_refused_by_name() -> None:
    learner = dw.SelfTunedScream(dw.Box([0.0], [1.0]), switching_cost=2.0)
    with pytest.raises(FrozenError, match=r"SelfTunedScream: switching_cost is fixed .* build a new one"):
        learner.switching_cost = 5.0
    assert learner.switching_cost == 2.0
    assert issubclass(FrozenError, AttributeError)
    assert issubclass(FrozenError, DriftwiseError)


@pytest.mark.parametrize("name", MADE)
def test_a_name_that_there_is_none_of_cannot_be_assigned(name: str) -> None:
    actor = MADE[name]()
    before = state(actor)
    check_refused(lambda: setattr(actor, "swiching_cost", 5.0), type(actor).__name__, "swiching_cost", kind=FrozenError)
    assert state(actor) == before


def test_a_misspelt_name_is_answered_with_the_right_one() -> None:
    learner = dw.SelfTunedScream(BALL, switching_cost=2.0)
    with pytest.raises(FrozenError, match=r"no attribute 'swiching_cost', .* Did you mean switching_cost\?$"):
        learner.swiching_cost = 5.0  # type: ignore[attr-defined]
    with pytest.raises(FrozenError, match=r"cannot be given one\.$"):
        learner.zzz = 5.0  # type: ignore[attr-defined]


def test_a_class_of_ones_own_may_be_given_any_attribute() -> None:
    class Noted(dw.OGD):
        pass

    class Careful(dw.OGD):
        def __setattr__(self, name: str, value: Any) -> None:
            raise TypeError(name)

    class MoreCareful(Careful):
        pass

    learner = Noted(BALL, step=0.1)
    learner.swiching_cost = 5.0  # type: ignore[attr-defined]
    assert learner.clone().swiching_cost == 5.0  # type: ignore[attr-defined]
    with pytest.raises(FrozenError, match="horizon"):
        learner.horizon = 3
    assert Noted.__setattr__ is object.__setattr__, "its assignments cost no more than those of any object"
    for kind in (Careful, MoreCareful):
        with pytest.raises(TypeError):
            kind(BALL, step=0.1)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_are_as_fixed_as_the_original(way: Callable[[Any], Any]) -> None:
    for make in MADE.values():
        with pytest.raises(FrozenError):
            way(make()).horizon = 3


def test_a_learner_of_ones_own_may_change_what_is_its_own() -> None:
    class Slowing(dw.Learner):
        def __init__(self, domain: dw.Domain, step: float) -> None:
            super().__init__(domain)
            self.step = step
            self.w = np.zeros(domain.dim)

        def _decide(self) -> Array:
            return self.w

        def _learn(self, gradient: Array) -> None:
            self.w = self.domain.project(self.w - self.step * gradient)
            self.step *= 0.5

    learner = Slowing(BALL, 0.5)
    for _ in range(2):
        learner.act()
        learner.observe([1.0, 0.0])
    assert learner.w.tolist() == [-0.75, 0.0]
    with pytest.raises(FrozenError, match="domain"):
        learner.domain = dw.Ball(3)


@pytest.mark.parametrize("name", MADE)
def test_a_second_act_gives_the_same_answer(name: str) -> None:
    actor, other = MADE[name](), MADE[name]()
    for _ in range(3):
        first = act(actor)
        before = state(actor)
        assert np.array_equal(first, act(actor))
        assert state(actor) == before
        assert np.array_equal(first, act(other))
        observe(actor)
        observe(other)
    assert np.array_equal(act(actor), act(other))


@pytest.mark.parametrize("name", [name for name in MADE if not isinstance(MADE[name](), dw.Learner)])
def test_a_second_act_with_something_else_is_out_of_order(name: str) -> None:
    actor = MADE[name]()
    act(actor)
    before = state(actor)
    check_refused(lambda: act(actor, 2.0), type(actor).__name__, "again before observe in round 0", kind=OrderError)
    assert state(actor) == before


@pytest.mark.parametrize("name", MADE)
def test_observe_comes_after_act(name: str) -> None:
    actor = MADE[name]()
    for t in range(2):
        check_refused(lambda: observe(actor), f"before act in round {t}", "first, once a round", kind=OrderError)
        act(actor)
        observe(actor)
    assert actor.round == 2


@pytest.mark.parametrize("name", MADE)
def test_a_state_can_be_restored_any_number_of_times(name: str) -> None:
    actor = MADE[name]()
    act(actor)
    observe(actor)
    saved = actor.clone()
    ways: list[list[Any]] = []
    for _ in range(2):
        ways.append([])
        for _ in range(5):
            ways[-1].append(np.copy(act(actor)))
            observe(actor)
        actor._note = "added since"
        actor.restore(saved)
        assert actor.round == 1
        assert not hasattr(actor, "_note")
    np.testing.assert_array_equal(ways[0], ways[1])


def test_a_run_is_expected_to_begin_with_act() -> None:
    learner = dw.OGD(BALL, step=0.1, horizon=1)
    learner.expect_act()
    learner.act()
    check_refused(learner.expect_act, "again before observe", kind=OrderError)
    learner.observe([0.0, 1.0])
    check_refused(learner.expect_act, "all 1 rounds", kind=HorizonError)
