"""Order, horizon, input and parameters: what every learner has in common."""

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ArgumentError, HorizonError, InputError, OrderError, ParameterError
from tests.cases import EUCLIDEAN, by_hand, check_refused, knowledge, maker, squared

BALL = dw.Ball(2)
ROUNDS = 30


class Follower(dw.Learner):
    """Follow the average of the gradients: the two methods that a learner of one's own needs."""

    def __init__(self, domain: dw.Domain, horizon: int | None = None) -> None:
        super().__init__(domain, horizon)
        self.total = np.zeros(domain.dim)

    def _decide(self) -> Array:
        return self.domain.project(-self.total)

    def _learn(self, gradient: Array) -> None:
        self.total += gradient


def test_a_subclass_needs_two_methods() -> None:
    learner = Follower(BALL)
    assert learner.act().tolist() == [0.0, 0.0]
    learner.observe([3.0, 4.0])
    np.testing.assert_allclose(learner.act(), [-0.6, -0.8])
    assert learner.round == 1
    assert learner.weights.tolist() == [1.0]
    assert learner.step_sizes.size == 0
    assert repr(learner) == "Follower(Ball(2, radius=1), horizon=None, round=1)"


@pytest.mark.parametrize("make", [lambda: Follower(BALL), lambda: dw.OGD(BALL, step=0.1)], ids=["own", "built-in"])
def test_observe_needs_act_first(make: Callable[[], dw.Learner]) -> None:
    learner = make()
    check_refused(
        lambda: learner.observe([1.0, 0.0]), type(learner).__name__, "round 0", "act() first", kind=OrderError
    )
    learner.act()
    learner.observe([1.0, 0.0])
    check_refused(lambda: learner.observe([1.0, 0.0]), "round 1", kind=OrderError)
    assert learner.round == 1


@pytest.mark.parametrize("kind", [Follower, dw.LazyScream])
def test_the_horizon_is_kept(kind: type[dw.Learner]) -> None:
    settings = {} if kind is Follower else {"switching_cost": 4.0, "gradient_bound": 1.0}
    learner = kind(BALL, horizon=3, **settings)
    for _ in range(3):
        learner.act()
        learner.observe([0.1, 0.1])
    check_refused(learner.act, "all 3 rounds", "horizon=None", kind=HorizonError)
    assert learner.round == 3


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, lambda learner: pickle.loads(pickle.dumps(learner))])
def test_a_copy_taken_after_act_keeps_its_decision_read_only(copier: Callable[[dw.Learner], dw.Learner]) -> None:
    for learner in (Follower(BALL), dw.OGD(BALL, step=0.1)):
        decision = learner.act()
        twin = copier(learner).act()
        assert np.array_equal(twin, decision)
        with pytest.raises(ValueError, match="read-only"):
            twin[0] = 1.0


def test_a_clone_of_a_subclass_shares_nothing_that_changes() -> None:
    class Logged(dw.OGD):
        def __init__(self) -> None:
            super().__init__(BALL, step=0.1)
            self.log: list[int] = []

    learner = Logged()
    twin = learner.clone()
    twin.log.append(1)
    assert learner.log == []
    assert twin.program is learner.program


BAD_GRADIENTS: dict[str, Any] = {
    "nan": [math.nan, 0.0],
    "inf": [0.0, math.inf],
    "too large": [1e200, 0.0],
    "short": [1.0],
    "matrix": [[1.0, 0.0]],
    "text": ["a", "b"],
    "complex": [1j, 0.0],
    "flags": [True, False],
    "ragged": [[1.0], [1.0, 2.0]],
    "huge integer": [10**400, 0],
    "dictionary": {"gradient": 1.0},
}


@pytest.mark.parametrize("bad", BAD_GRADIENTS)
@pytest.mark.parametrize("make", [lambda: Follower(BALL), lambda: dw.OGD(BALL, step=0.1)], ids=["own", "built-in"])
def test_bad_gradients_are_refused_by_name(make: Callable[[], dw.Learner], bad: str) -> None:
    learner = make()
    learner.act()
    before = pickle.dumps(learner)
    expected = f"{type(learner).__name__}.observe: gradient must be"
    check_refused(lambda: learner.observe(BAD_GRADIENTS[bad]), expected, kind=InputError)
    as_array = np.asarray(BAD_GRADIENTS[bad], dtype=object if bad in {"ragged", "huge integer"} else None)
    check_refused(lambda: learner.observe(as_array), f"{type(learner).__name__}.observe: gradient", kind=InputError)
    assert pickle.dumps(learner) == before


@given(
    name=st.sampled_from(sorted(EUCLIDEAN)),
    at=st.integers(0, ROUNDS - 1),
    coordinate=st.integers(0, 2),
    bad=st.sampled_from([math.nan, math.inf, -math.inf, 1.0000001e100, -1e300]),
)
@settings(max_examples=30, deadline=None)
def test_one_bad_number_at_any_round_changes_nothing(name: str, at: int, coordinate: int, bad: float) -> None:
    losses, make = squared(3, ROUNDS), maker(name, dw.Ball(3), ROUNDS)
    learner, decisions = make(), by_hand(make(), losses)
    gradient = np.ones(3)
    gradient[coordinate] = bad
    for t in range(ROUNDS):
        assert np.array_equal(learner.act(), decisions[t])
        if t == at:
            before = knowledge(learner)
            with pytest.raises(InputError):
                learner.observe(gradient)
            assert knowledge(learner) == before
        learner.observe(losses)


def test_a_stream_is_read_at_the_learners_round_and_no_further() -> None:
    learner, losses = dw.OGD(BALL, step=1.0), dw.LinearLoss([[1.0, 0.0], [0.0, 1.0]])
    for expected in ([-1.0, 0.0], [-math.sqrt(0.5), -math.sqrt(0.5)]):
        learner.act()
        learner.observe(losses)
        np.testing.assert_allclose(learner.act(), expected, rtol=1e-15)
    check_refused(lambda: learner.observe(losses), "own round, 2, and this one has 2", "stream[0]", kind=InputError)
    check_refused(lambda: learner.observe(dw.LinearLoss([[1.0]] * 3)), "the losses have dim 1", kind=InputError)


def test_a_shallow_copy_is_independent_too() -> None:
    learner = dw.OGD(BALL, step=1.0)
    twin = copy.copy(learner)
    twin.act()
    twin.observe([1.0, 0.0])
    assert (learner.round, twin.round) == (0, 1)
    np.testing.assert_array_equal(learner.act(), [0.0, 0.0])


def test_a_learner_may_decide_on_a_list_or_on_memory_that_it_changes() -> None:
    class Listing(dw.Learner):
        def __init__(self) -> None:
            super().__init__(BALL)
            self.point = np.zeros(2)

        def _decide(self) -> Any:
            return self.point if self.round else self.point.tolist()

        def _learn(self, gradient: Array) -> None:
            self.point -= 0.1 * gradient

    learner, decisions = Listing(), []
    for _ in range(3):
        decisions.append(learner.act())
        learner.observe([1.0, 0.0])
    np.testing.assert_allclose(np.array(decisions)[:, 0], [0.0, -0.1, -0.2])
    assert not any(decision.flags.writeable for decision in decisions)


def test_an_error_in_a_users_loss_is_passed_on_and_changes_nothing() -> None:
    class Broken:
        def gradient(self, w: Array) -> Array:
            raise ZeroDivisionError("mine")

    learner = dw.OGD(BALL, step=0.1)
    learner.act()
    before = knowledge(learner)
    with pytest.raises(ZeroDivisionError, match="mine"):
        learner.observe(Broken())  # type: ignore[arg-type]
    assert knowledge(learner) == before


NEEDED: dict[type[dw.Learner], dict[str, Any]] = {
    dw.OGD: {"domain": BALL, "gradient_bound": 1.0},
    dw.MirrorDescent: {"domain": BALL, "gradient_bound": 1.0},
    dw.Ader: {"domain": BALL, "gradient_bound": 1.0},
    dw.Scream: {"domain": BALL, "gradient_bound": 1.0, "switching_cost": 1.0},
    dw.LazyScream: {"domain": BALL, "gradient_bound": 1.0, "switching_cost": 1.0},
    dw.Hedge: {"n": 3, "loss_bound": 1.0},
}

BAD: list[tuple[str, Any, str]] = [
    ("domain", 3, "got 3"),
    ("domain", None, "got None"),
    ("domain", dw.Box([1.0, 2.0], [1.0, 2.0]), "single point"),
    ("n", 1, "got 1"),
    ("n", 2.5, "got 2.5"),
    ("horizon", 0, "got 0"),
    ("horizon", -5, "got -5"),
    ("horizon", 10.5, "got 10.5"),
    ("horizon", True, "got True"),
    ("horizon", "long", "got 'long'"),
    *[
        (name, value, f"got {value!r}")
        for name in ("gradient_bound", "loss_bound", "step", "rate")
        for value in (0.0, -1.0, math.nan, math.inf, 1e101, True, "2")
    ],
    ("gradient_bound", 1e-200, "got 1e-200"),
    ("loss_bound", 1e-200, "got 1e-200"),
    *[("switching_cost", value, f"got {value!r}") for value in (-0.1, math.nan, math.inf, True, "2", [1.0])],
    ("horizon_free", "never", "got 'never'"),
    ("start", [2.0, 0.0], "got [2. 0.]"),
    ("start", [0.0], "shape (1,)"),
    ("start", [math.nan, 0.0], "got nan"),
    ("start", "here", "got 'here'"),
    ("variant", "best", "got 'best'"),
    ("rate", "fast", "got 'fast'"),
    ("epoch", 0, "got 0"),
    ("epoch", 1.5, "got 1.5"),
    ("epoch", True, "got True"),
    ("mirror", "entropy", "got 'entropy'"),
    ("mirror", 0, "got 0"),
    ("prior", [1.0, 1.0], "shape (2,)"),
    ("prior", [1.0, 1.0, 0.0], "got a smallest weight of 0"),
    ("prior", [1.0, 1.0, -1.0], "got a smallest weight of -1"),
    ("prior", [1e100, 1.0, 1e-300], "got 0"),
    ("n_experts", 3, "unexpected keyword"),
]


def _accepts(kind: type[dw.Learner], name: str) -> bool:
    return name in kind.__signature__.parameters or name == "n_experts"


@pytest.mark.parametrize(
    ("kind", "name", "value", "given"),
    [(kind, *case) for kind in NEEDED for case in BAD if _accepts(kind, case[0])],
)
def test_a_bad_parameter_is_refused_by_name(kind: type[dw.Learner], name: str, value: Any, given: str) -> None:
    expected = ArgumentError if name == "n_experts" else (ParameterError, InputError)
    check_refused(
        lambda: kind(**{**NEEDED[kind], name: value}),
        kind.__name__,
        name,
        given,
        kind=expected,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("kind", NEEDED)
def test_what_is_missing_is_said(kind: type[dw.Learner]) -> None:
    for name in NEEDED[kind]:
        rest = {key: value for key, value in NEEDED[kind].items() if key != name}
        check_refused(lambda rest=rest: kind(**rest), kind.__name__, name)  # type: ignore[misc]


@pytest.mark.parametrize("kind", NEEDED)
@pytest.mark.parametrize("size", [1e-100, 1e-40, 1e60])
def test_bounds_of_any_size_give_a_learner_or_a_typed_error(kind: type[dw.Learner], size: float) -> None:
    settings = dict(NEEDED[kind])
    if "domain" in settings:
        settings["domain"] = dw.Ball(2, radius=size)
    settings["loss_bound" if kind is dw.Hedge else "gradient_bound"] = size
    try:
        learner = kind(**settings)
    except (ParameterError, InputError):
        assert size == 1e-100
        return
    learner.act()
    learner.observe(np.ones(learner.domain.dim))
    assert learner.domain.contains(learner.act())
