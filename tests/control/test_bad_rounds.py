"""Rounds without a cost, and what is refused: the disturbance is recovered all the same, and nothing else is learnt."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import taken_apart
from driftwise.control.controllers.loop import PolicyLoop
from driftwise.errors import DriftwiseError, InputError, OrderError, ParameterError
from tests.control.cases import PLANT, UNIT
from tests.control.savers import (
    BALLS,
    GAIN,
    HALF,
    MAKERS,
    OWN,
    Integral,
    Mean,
    began,
    controller,
    disturbance,
    drive,
    measured,
)

SKIPPING: dict[str, Callable[..., control.Controller]] = {
    "linear": lambda **rules: control.LinearController(PLANT, **rules),
    "Scream": lambda **rules: control.ScreamController(PLANT, memory=3, input_bound=3.0, **rules),
    "guarded Scream": lambda **rules: control.ScreamController(PLANT, memory=3, guard=True, **rules),
    "own learner": lambda **rules: control.DisturbanceActionController(PLANT, Mean(BALLS), **rules),
    "self-tuned": lambda **rules: control.SelfTunedController(PLANT, memory=3, **rules),
    "self-tuned, no guard": lambda **rules: control.SelfTunedController(PLANT, memory=3, guard=False, **rules),
    "outputs": lambda **rules: control.OutputFeedback(HALF, offset_free=True, **rules),
    "outputs, no guard": lambda **rules: control.OutputFeedback(HALF, guard=False, **rules),
    "adaptive": lambda **rules: control.AdaptiveController(PLANT, **rules),
    "adaptive, around one's own": lambda **rules: control.AdaptiveController(
        PLANT, controller=lambda system, **_: Integral(GAIN), **rules
    ),
    "explore": lambda **rules: control.ExploreThenCommit(
        K=GAIN, state_dim=2, input_dim=1, exploration=100, probe=1.0, seed=1, memory=3, **rules
    ),
    "own": lambda **rules: Integral(GAIN, **rules),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_round_without_a_cost_is_counted_and_can_be_ended_in_two_ways(name: str) -> None:
    one = controller(name)
    with pytest.raises(OrderError, match="skip was called before act"):
        one.skip()
    loop, _ = drive(one, began(one), 30)
    one.act(measured(one, loop.x))
    one, other = one.clone(), one.clone()
    one.skip(applied=0.5 * np.ones(one.input_dim))
    other.observe(None, applied=0.5 * np.ones(one.input_dim))
    assert one.to_bytes() == other.to_bytes()
    assert (one.round, one.skipped, one.refused) == (31, 1, 0)
    again = dw.from_bytes(one.to_bytes(), classes=OWN)
    assert (again.round, again.skipped, again.refused) == (31, 1, 0)
    loop = loop._replace(t=31)
    assert drive(again, loop, 20)[1] == drive(one, loop, 20)[1]


@pytest.mark.parametrize("name", [name for name in MAKERS if isinstance(controller(name), PolicyLoop)])
def test_disturbances_are_recovered_in_rounds_without_a_cost(name: str) -> None:
    one: Any = controller(name)
    loop, _ = drive(one, began(one), 40)
    known, x, rows = one.clone(), loop.x, []
    for t in range(40, 44):
        u = 0.7 * one.act(x)
        known.act(x)
        one.skip(applied=u)
        known.observe(UNIT, applied=u)
        rows.append(disturbance(t, x.size))
        x = one.system.A @ x + one.system.B @ u + rows[-1]
    if not one.system.delay:
        one.act(x)
        np.testing.assert_allclose(one.disturbances[:3], rows[:0:-1], atol=1e-9)
    assert one.skipped == 4


@pytest.mark.parametrize("name", ["gradient", "Scream", "OGD", "own learner", "rounded", "SelfTunedLearner"])
def test_nothing_is_learnt_in_a_round_without_a_cost(name: str) -> None:
    one: Any = controller(name)
    loop, _ = drive(one, began(one), 30)
    one.act(loop.x)
    before = one.policy.M.tobytes(), one.learner.round
    one.skip()
    assert (one.policy.M.tobytes(), one.learner.round) == before
    one.act(loop.x)
    assert one.policy.M.tobytes() == before[0]


def test_a_pool_explains_the_state_after_a_round_without_a_cost_by_that_round() -> None:
    plain, missing = controller("self-tuned"), controller("self-tuned")
    loop, _ = drive(plain, began(plain), 80)
    drive(missing, began(missing), 80)
    x = loop.x
    for t in range(80, 120):
        for one in (plain, missing):
            one.act(x)
        u = plain.act(x)
        plain.observe(UNIT, applied=u)
        if t % 2:
            missing.skip(applied=u)
        else:
            missing.observe(UNIT, applied=u)
        x = PLANT.A @ x + PLANT.B @ u + disturbance(t, 2)
    seen = ("recent", "held", "regressions", "errors", "sums", "story", "filters", "queue")
    for name in seen:  # what forecasts and the bank go by are states and inputs, not costs
        np.testing.assert_array_equal(plain._pool_parts[name], missing._pool_parts[name])  # type: ignore[attr-defined]
    assert missing.log == plain.log  # type: ignore[attr-defined]


@pytest.mark.parametrize(("name", "kept"), [("explore", "_past"), ("adaptive", "_rounds")])
def test_the_last_cost_known_stands_in_for_a_missing_one_where_rounds_are_kept(name: str, kept: str) -> None:
    one, cost = controller(name), control.QuadraticCost(3.0, 0.5)
    for given in (None, cost, None):
        one.act([0.1, 0.0])
        one.observe(given)
    assert [each.cost for each in getattr(one, kept)] == [cost, cost]


def test_no_bound_is_proved_where_costs_are_not_known() -> None:
    one = control.ScreamController(PLANT, horizon=300, memory="log", scale="certified")
    assert one.guarantee.startswith("Theorem 7")
    one.act([0.0, 0.0])
    one.skip()
    assert one.guarantee.startswith("None any more: the cost of 1 rounds is not known")


def test_the_rule_is_one_of_two_and_fixed() -> None:
    with pytest.raises(ParameterError, match="on_bad_input"):
        control.LinearController(PLANT, on_bad_input="ignore")
    one = control.SelfTunedController(PLANT, on_bad_input="skip")
    assert one.on_bad_input == "skip"
    with pytest.raises(DriftwiseError):
        one.on_bad_input = "raise"
    with pytest.raises(AttributeError):
        one.refused = 3  # type: ignore[misc]


def test_the_rule_is_declared_by_every_constructor_and_taken_for_those_of_others() -> None:
    kinds = [kind for kind in vars(control).values() if isinstance(kind, type) and issubclass(kind, control.Controller)]
    assert len(kinds) >= 11
    assert not [kind.__name__ for kind in kinds if taken_apart(kind)]  # what is taken apart no type checker knows of
    assert taken_apart(Integral) == ("on_bad_input",)


@pytest.mark.parametrize("name", SKIPPING)
def test_a_rule_changes_nothing_as_long_as_nothing_is_refused(name: str) -> None:
    raising, skipping = SKIPPING[name](), SKIPPING[name](on_bad_input="skip")
    assert drive(raising, began(raising), 120)[1] == drive(skipping, began(skipping), 120)[1]
    assert (skipping.skipped, skipping.refused) == (0, 0)


@pytest.mark.parametrize("name", SKIPPING)
def test_whatever_is_refused_is_passed_over_and_counted(name: str) -> None:
    raising, one = SKIPPING[name](), SKIPPING[name](on_bad_input="skip")
    loop, refused, size = began(one), 0, len(measured(one, np.zeros(2)))
    lost = [None, np.full(size, np.nan), np.full(size, np.inf)]
    bad_states: list[Any] = [*lost, "left", np.ones(size + 1), object(), [[1], [2, 3]]]
    no_cost = control.CustomCost(lambda x, u: np.nan, lambda x, u: 0)
    bad_costs: list[Any] = ["a cost", control.QuadraticCost(np.ones(7), 1.0), no_cost]
    low, high = one._bounds
    for k, bad in enumerate([*bad_states, *bad_costs, "applied"]):
        loop, _ = drive(one, loop, 12)
        is_state, is_cost = k < len(bad_states), len(bad_states) <= k < len(bad_states) + len(bad_costs)
        before = one.refused, one.skipped
        u = one.act(bad if is_state else measured(one, loop.x))
        assert np.isfinite(u).all()
        assert not u.flags.writeable
        assert ((low <= u) & (u <= high)).all()
        one.observe(bad if is_cost else UNIT, applied=None if is_state or is_cost else ["x"])
        counted = one.refused - before[0]
        guarded = raising._may_miss and is_state and k < len(lost)
        assert counted == (0 if guarded else 1)
        assert one.skipped - before[1] == (1 if counted and (is_state or is_cost) else 0)
        refused += counted
        again = dw.from_bytes(one.to_bytes(), classes=OWN) if "around" not in name else one.clone()
        x = PLANT.A @ loop.x + PLANT.B @ u
        loop = loop._replace(x=x, t=loop.t + 1)
        assert drive(again, loop, 15)[1] == drive(one.clone(), loop, 15)[1]
    assert one.refused == refused
    assert one.round == loop.t


@pytest.mark.parametrize("name", [name for name in SKIPPING if name != "own"])
def test_what_is_passed_over_for_a_while_does_no_harm(name: str) -> None:
    one, other = SKIPPING[name](on_bad_input="skip"), SKIPPING[name](on_bad_input="skip")
    paid = [0.0, 0.0]
    for k, each in enumerate((one, other)):
        x = np.zeros(2)
        for t in range(500):
            u = each.act("lost" if k and 200 <= t < 203 else measured(each, x))
            if t >= 400:
                paid[k] += UNIT.value(x, u)
            each.observe(None if k and t % 5 == 0 else UNIT)
            x = PLANT.A @ x + PLANT.B @ u + disturbance(t, 2)
    assert paid[1] < 1.5 * paid[0]
    assert other.refused == 3


def test_in_a_round_without_a_state_act_gives_the_same_input_again() -> None:
    one = control.ScreamController(PLANT, memory=3, on_bad_input="skip")
    drive(one, began(one), 5)
    u = one.act(None)
    assert one.act("lost") is u
    assert one.refused == 1
    with pytest.raises(OrderError):
        one.act([0.0, 0.0])


def test_a_controller_that_raises_still_does() -> None:
    one = control.ScreamController(PLANT, memory=3)
    with pytest.raises(InputError):
        one.act(None)
    one.act([0.0, 0.0])
    with pytest.raises(InputError):
        one.skip(applied=[np.nan])
    assert one.round == 0


def test_simulate_is_the_two_verbs_where_something_is_passed_over() -> None:
    rows = np.array([disturbance(t, 2) for t in range(60)])
    compiled = control.simulate(PLANT, control.ScreamController(PLANT, memory=3), UNIT, rows)
    by_hand = control.simulate(PLANT, control.ScreamController(PLANT, memory=3, on_bad_input="skip"), UNIT, rows)
    np.testing.assert_array_equal(compiled.inputs, by_hand.inputs)
