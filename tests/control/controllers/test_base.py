"""What `Controller` does for every subclass."""

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.plants import read_limits
from driftwise.errors import ArgumentError, DriftwiseError, HorizonError, InputError, OrderError, ParameterError
from tests.cases import check_refused
from tests.control.cases import CONTROLLERS, GUARDED, PLANT, REFUSING, UNIT, WIDE, controller, inputs_to_come, squares


class Leaky(control.Controller):
    """u = -x_0 - 0.5 (sum of what was applied): remembers, so that it can be spoilt."""

    def __init__(self, horizon: int | None = None, input_bound: Any = None, gain: float = 1.0) -> None:
        super().__init__(2, 1, horizon, input_bound)
        self.total, self.seen, self.gain = np.zeros(1), 0.0, gain

    def _decide(self, x: Array) -> Array:
        return -self.gain * x[:1] - 0.5 * self.total

    def _learn(self, x: Array, applied: Array, cost: control.Cost) -> None:
        self.total = self.total + applied
        self.seen += cost.value(x, applied)


def test_a_subclass_needs_two_methods() -> None:
    mine = Leaky()
    u = mine.act([1.0, 2.0])
    np.testing.assert_array_equal(u, [-1.0])
    mine.observe(UNIT)
    assert mine.seen == 1.0 + 4.0 + 1.0
    assert mine.round == 1
    np.testing.assert_array_equal(mine.act([1.0, 2.0]), [-0.5])
    mine.observe(UNIT, applied=[2.0])
    assert mine.total[0] == 1.0
    np.testing.assert_array_equal(mine.weights, [1.0])
    assert repr(mine) == "Leaky(state_dim=2, input_dim=1, horizon=None, round=2)"
    with pytest.raises(TypeError, match="abstract"):
        control.Controller(2, 1)  # type: ignore[abstract]


def test_inputs_are_clipped_to_the_bound_and_the_clipped_one_is_what_was_applied() -> None:
    mine = Leaky(input_bound=0.25)
    np.testing.assert_array_equal(mine.input_bound, [0.25])
    np.testing.assert_array_equal(mine.act([9.0, 0.0]), [-0.25])
    mine.observe(UNIT)
    np.testing.assert_array_equal(mine.total, [-0.25])


def test_an_input_is_read_only_and_stays_what_it_was() -> None:
    mine = Leaky()
    u = mine.act([1.0, 0.0])
    with pytest.raises(ValueError, match="read-only"):
        u[0] = 3.0
    mine.observe(UNIT)
    mine.act([5.0, 0.0])
    np.testing.assert_array_equal(u, [-1.0])


@pytest.mark.parametrize("name", CONTROLLERS)
def test_verbs_out_of_order_are_refused_and_change_nothing(name: str) -> None:
    mine = controller(name, WIDE)
    before = inputs_to_come(mine)
    check_refused(lambda: mine.observe(UNIT), "observe", "call act(x) first", kind=OrderError)
    assert inputs_to_come(mine) == before
    u = mine.act([1.0, 0.0, 0.0]).copy()
    check_refused(lambda: mine.act([2.0, 0.0, 0.0]), "act was called again", "observe(cost)", kind=OrderError)
    other = controller(name, WIDE)
    np.testing.assert_array_equal(other.act([1.0, 0.0, 0.0]), u)
    for one in (mine, other):
        one.observe(UNIT)
    assert inputs_to_come(mine) == inputs_to_come(other)


@pytest.mark.parametrize("make", [lambda: Leaky(horizon=3), lambda: controller("Scream", PLANT, 3)])
def test_the_horizon_is_the_last_round(make: Any) -> None:
    mine = make()
    for _ in range(3):
        mine.act([1.0, 0.0])
        mine.observe(UNIT)
    check_refused(lambda: mine.act([1.0, 0.0]), "all 3 rounds", "horizon=None", kind=HorizonError)
    assert mine.round == 3


BAD_STATES: list[Any] = [
    [math.nan, 0.0],
    np.array([0.0, math.inf]),
    np.array([-math.inf, 0.0]),
    np.array([0.0, 1e101]),
    [1.0],
    np.zeros(3),
    np.zeros((2, 1)),
    0.0,
    [],
    None,
    ["a", "b"],
    np.array([1j, 0.0]),
    [True, False],
    [[1.0], [1.0, 2.0]],
    np.ma.masked_array([1.0, 2.0], mask=[True, False]),
]

SAMPLES: list[Any] = [*BAD_STATES[:4], None]
"""Those that a guarded controller takes for a sample that was lost."""


@pytest.mark.parametrize("make", [Leaky, *(lambda name=name: controller(name) for name in REFUSING)])
def test_bad_states_inputs_and_costs_are_refused_and_change_nothing(make: Any) -> None:
    mine, other = make(), make()
    for t in range(4):
        for bad in BAD_STATES:
            check_refused(lambda bad=bad: mine.act(bad), "act", "finite", kind=InputError)  # type: ignore[misc]
        assert mine.act([0.3 * t, -0.1]).tobytes() == other.act([0.3 * t, -0.1]).tobytes()
        for bad in (*BAD_STATES[:4], [1.0, 2.0], True, [], "a", ["a"], [1j]):
            check_refused(lambda bad=bad: mine.observe(UNIT, applied=bad), "applied", kind=InputError)  # type: ignore[misc]
        for bad in (3.0, "cost", [UNIT], control.QuadraticCost, lambda x, u: 0.0):
            check_refused(lambda bad=bad: mine.observe(bad), "cost", "QuadraticCost(1.0, 1.0)", kind=ParameterError)  # type: ignore[misc]
        for bad in (control.QuadraticCost([1.0] * 3, 1.0), control.AbsoluteCost(1.0, [1.0, 1.0])):
            check_refused(lambda bad=bad: mine.observe(bad), "made for", kind=InputError)  # type: ignore[misc]
        assert mine.round == other.round == t
        for one in (mine, other):
            one.observe(UNIT, applied=[0.1] if one is other else 0.1)  # of a single input a number will do
    assert inputs_to_come(mine) == inputs_to_come(other)


@pytest.mark.parametrize("name", GUARDED)
def test_a_guarded_controller_survives_samples_and_refuses_what_is_none(name: str) -> None:
    """Numbers that are wrong may come from a sensor; a wrong shape or a wrong type is a mistake in the program."""
    mine, other = controller(name), controller(name)
    for t, lost in enumerate(SAMPLES):
        for bad in [bad for bad in BAD_STATES if not any(bad is one for one in SAMPLES)]:
            check_refused(lambda bad=bad: mine.act(bad), "act: x must be", kind=InputError)  # type: ignore[misc]
        u = mine.act(lost)
        assert np.isfinite(u).all()
        assert mine.act(lost) is u
        check_refused(lambda: mine.act([0.0, 0.0]), "act was called again", kind=OrderError)
        assert u.tobytes() == other.act(lost).tobytes()
        for one in (mine, other):
            one.observe(UNIT)
            assert one.health.events == len(one.log) == t + 1
    assert inputs_to_come(mine) == inputs_to_come(other)


def test_custom_costs_are_tried_before_they_are_trusted() -> None:
    bowl = control.CustomCost(lambda x, u: -float(x @ x), lambda x, u: (-2.0 * x, 0.0 * u))
    wrong = control.CustomCost(lambda x, u: float(x @ x), lambda x, u: (x, 0.0 * u))
    for mine in (Leaky(), controller("Scream")):
        mine.act([1.0, 0.0])
        check_refused(lambda mine=mine: mine.observe(bowl), "not convex", kind=ParameterError)  # type: ignore[misc]
        check_refused(lambda mine=mine: mine.observe(wrong), "gradient", kind=InputError)  # type: ignore[misc]
        mine.observe(squares())
        assert mine.round == 1


@pytest.mark.parametrize("name", ["Leaky", *CONTROLLERS])
@pytest.mark.parametrize(
    "way", [copy.copy, copy.deepcopy, lambda c: c.clone(), lambda c: pickle.loads(pickle.dumps(c))]
)
def test_copies_are_deep_and_go_on_alike(name: str, way: Any) -> None:
    mine = Leaky() if name == "Leaky" else controller(name)
    for t in range(5):
        mine.act([0.1 * t, 0.2])
        mine.observe(UNIT, applied=[0.05 * t])
    before = inputs_to_come(mine)
    twin = way(mine)
    twin.act([4.0, 4.0])
    twin.observe(UNIT)
    assert inputs_to_come(mine) == before
    assert inputs_to_come(way(mine)) == before
    mine.act([1.0, 1.0])
    late = way(mine)
    check_refused(lambda: late.act([1.0, 2.0]), "act was called again", kind=OrderError)
    assert np.array_equal(late.act([1.0, 1.0]), mine.act([1.0, 1.0]))
    assert not late.act([1.0, 1.0]).flags.writeable
    for one in (mine, late):
        one.observe(UNIT)
    assert inputs_to_come(mine) == inputs_to_come(late)


def test_what_is_read_only_stays_so_in_copies() -> None:
    mine = controller("Scream")
    for array in (mine.K, mine.input_bound, mine.system.A, mine.system.B):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    ("value", "words", "kind"),
    [
        (0.0, ("above 0",), ParameterError),
        ([1.0, -1.0], ("above 0",), ParameterError),
        ([1.0], ("(2,)",), InputError),
        (math.nan, ("finite",), InputError),
        ("large", ("input_bound",), InputError),
    ],
)
def test_bad_bounds_are_refused(value: Any, words: tuple[str, ...], kind: type[DriftwiseError]) -> None:
    check_refused(lambda: read_limits("Someone", "input_bound", value, 2), "Someone", "input_bound", *words, kind=kind)


def test_a_bound_may_have_two_sides() -> None:
    mine = Leaky(input_bound=[-0.5, 0.1])
    np.testing.assert_array_equal(mine.input_bound, [[-0.5, 0.1]])
    np.testing.assert_array_equal(mine.act([-9.0, 0.0]), [0.1])


def test_wrong_calls_show_the_signature() -> None:
    check_refused(lambda: Leaky(bound=1.0), "bound", "Leaky(horizon=None", kind=ArgumentError)  # type: ignore[call-arg]
    check_refused(lambda: Leaky(horizon=0), "Leaky", "horizon", kind=ParameterError)


def test_what_a_subclass_decides_is_checked() -> None:
    class Wrong(Leaky):
        def _decide(self, x: Array) -> Array:
            return np.array([x[0], math.nan]) if x[1] else np.array([math.nan])

    for x in ([1.0, 1.0], [1.0, 0.0]):
        check_refused(lambda x=x: Wrong().act(x), "what _decide returns", kind=InputError)  # type: ignore[misc]
