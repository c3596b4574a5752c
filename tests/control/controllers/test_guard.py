"""What a guard is told, what it reports, and what a guarded controller does with samples that are lost or late."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.controllers.guard import (
    FALLBACK,
    LEARNING,
    RETURNING,
    Event,
    Guard,
    health_of,
    read_guard,
    sight_of,
    told,
)
from driftwise.control.policies import guard as kinds
from driftwise.control.policies import layout as slot
from driftwise.control.policies.guard import FADE, RETURN
from driftwise.errors import ArgumentError, DriftwiseError, InputError, ParameterError
from tests.cases import check_refused
from tests.control.cases import PLANT, UNIT, WIDE, inputs_to_come

ROWS = 0.3 * np.sin(np.arange(80)[:, None] / 5.0 + np.array([0.0, 1.0]))

KINDS: dict[str, Callable[..., Any]] = {
    "linear": control.LinearController,
    "policy": lambda plant, **settings: control.PolicyController(
        plant, control.DisturbanceAction(control.lqr(plant), np.full((3, 1, 2), 0.2)), **settings
    ),
    "own learner": lambda plant, **settings: control.DisturbanceActionController(
        plant, dw.OGD(dw.SpectralBalls((3, 1, 2), 1.0), step=0.02), **settings
    ),
    "gradient": control.GradientController,
    "Ader": control.AderController,
    "Scream": control.ScreamController,
    "lazy Scream": control.LazyScreamController,
    "self-tuned": control.SelfTunedController,
}


class Clock:
    """A clock that is told how late it is."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def played(mine: Any, rounds: int = 40, plant: control.LinearSystem = PLANT) -> Array:
    """Play some rounds, and return the state after them."""
    x = np.zeros(2)
    for w in ROWS[:rounds]:
        u = mine.act(x)
        mine.observe(UNIT)
        x = plant.A @ x + plant.B @ u + w
    return x


@pytest.mark.parametrize("name", KINDS)
def test_a_lost_sample_is_replaced_by_the_model_and_logged(name: str) -> None:
    mine = KINDS[name](PLANT, guard=True)
    x = played(mine)
    mine.act(x)
    mine.observe(UNIT)
    expected = PLANT.A @ x + PLANT.B @ mine._input
    extra = mine._parts["extra"].copy()
    u = mine.act(None)
    np.testing.assert_allclose(mine._parts["x"][:2], expected, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(u, -mine.K @ expected + FADE * extra, rtol=0.0, atol=1e-12)
    assert mine.log[-1].round == 41
    assert mine.log[-1].status == FALLBACK
    assert "missing" in mine.log[-1].text
    assert (mine.health.status, mine.health.share, mine.health.lost) == (FALLBACK, FADE, 1)


@pytest.mark.parametrize("name", KINDS)
def test_nothing_is_learnt_in_rounds_that_are_lost(name: str) -> None:
    mine = KINDS[name](PLANT, guard=True)
    played(mine)
    policy, weights = mine.policy.M, mine.weights
    for _ in range(5):
        mine.act(None)
        mine.observe(UNIT)
    np.testing.assert_array_equal(mine.policy.M, policy)
    np.testing.assert_array_equal(mine.weights, weights)
    assert mine.round == 45
    assert mine.health.share == 0.0


@pytest.mark.parametrize("name", KINDS)
def test_what_is_learnt_comes_back_without_a_jump(name: str) -> None:
    mine = KINDS[name](PLANT, guard=True)
    x = played(mine)
    shares = []
    for t in range(20):
        u = mine.act(None if t < 6 else x)
        mine.observe(UNIT)
        shares.append(mine.health.share)
        x = PLANT.A @ x + PLANT.B @ u + ROWS[40 + t]
    np.testing.assert_allclose(shares[:4], [FADE, FADE**2, FADE**3, 0.0])
    assert not any(shares[3:6])
    back = np.diff(shares[5:])
    assert back.min() >= 0.0
    assert back.max() <= RETURN + 1e-12
    assert shares[-1] == 1.0
    assert mine.health.good


@pytest.mark.parametrize("bad", [[math.inf, 0.0], [0.0, -1e101], [math.nan, 0.0], [10**200, 0]])
def test_what_is_no_sample_says_so(bad: list[float]) -> None:
    mine = control.LinearController(PLANT, guard=True)
    played(mine, 5)
    if isinstance(bad[0], int):  # no number that a sensor could give
        check_refused(lambda: mine.act(bad), "act", kind=InputError)
        return
    mine.act(np.array(bad))
    assert mine.log[-1].text.startswith("the sample is " + ("missing" if math.isnan(bad[0]) else "out of range"))


@pytest.mark.parametrize("name", KINDS)
def test_a_late_sample_is_used_and_teaches_nothing(name: str) -> None:
    clock = Clock()
    mine = KINDS[name](PLANT, guard=Guard(deadline=0.01, clock=clock))
    x = np.zeros(2)
    for t in range(40):
        clock.now += 0.009
        u = mine.act(x)
        mine.observe(UNIT)
        x = PLANT.A @ x + PLANT.B @ u + ROWS[t]
    assert not mine.log
    policy, extra = mine.policy.M, mine._parts["extra"].copy()
    clock.now += 0.5
    u = mine.act(x)
    np.testing.assert_allclose(u, -mine.K @ x + FADE * extra, rtol=0.0, atol=1e-12)
    mine.observe(UNIT)
    np.testing.assert_array_equal(mine.policy.M, policy)
    assert mine.log[-1] == Event(40, FALLBACK, "the sample is late, after 0.5 s: nothing is learnt from it")
    clock.now += 0.009
    mine.act(PLANT.A @ x + PLANT.B @ u)
    assert len(mine.log) == 1
    assert mine.health.lost == 0


def test_the_first_sample_cannot_be_late() -> None:
    clock = Clock()
    mine = control.LinearController(PLANT, guard=Guard(deadline=1e-9, clock=clock))
    mine.act([1.0, 0.0])
    assert not mine.log


def test_a_controller_with_a_deadline_is_simulated_by_hand() -> None:
    mine = control.ScreamController(PLANT, guard=Guard(deadline=10.0, clock=lambda: 0.0))
    assert not mine.runs_compiled()
    other = control.ScreamController(PLANT, guard=True)
    assert other.runs_compiled()
    one, two = (control.simulate(PLANT, which, UNIT, ROWS) for which in (mine, other))
    assert one.inputs.tobytes() == two.inputs.tobytes()


@pytest.mark.parametrize("name", KINDS)
def test_a_state_beyond_its_bound_takes_what_is_learnt_away(name: str) -> None:
    mine = KINDS[name](PLANT, guard=Guard(state_bound=[5.0, 2.0]))
    played(mine)
    assert not mine.log
    extra = None
    mine.act([5.1, 0.0])
    extra = mine._parts["extra"]
    np.testing.assert_allclose(mine._input, -mine.K @ [5.1, 0.0] + FADE * extra, rtol=0.0, atol=1e-9)
    assert mine.log[-1].text.startswith("state 0 is beyond its bound")


@pytest.mark.parametrize("name", KINDS)
def test_the_very_first_sample_may_be_lost(name: str) -> None:
    mine = KINDS[name](PLANT, guard=True)
    np.testing.assert_array_equal(mine.act(None), [0.0])
    mine.observe(UNIT)
    assert played(mine).shape == (2,)
    assert mine.health.good
    assert len(mine.log) == 1


def test_members_are_made_for_the_first_cost_also_if_the_first_sample_was_lost() -> None:
    cost = control.QuadraticCost([[3.0, 0.0], [0.0, 0.5]], 0.1)
    mine, other = control.SelfTunedController(PLANT), control.SelfTunedController(PLANT)
    mine.act(None)
    mine.observe(cost)
    for one in (mine, other):
        one.act([1.0, 0.0])
        one.observe(cost)
    np.testing.assert_array_equal(mine._best.K, other._best.K)
    assert np.abs(mine._best.K - mine.K).max() > 0.1


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("size", [1e60, 1e99])
def test_costs_beyond_all_numbers_are_logged_and_forgotten(name: str, size: float) -> None:
    mine = KINDS[name](PLANT, guard=True)
    x = played(mine)
    for now in (size * np.array([1.0, -1.0]), *[x] * 60):
        u = mine.act(now)
        mine.observe(UNIT)
        assert np.isfinite(u).all()
    assert mine.round == 101
    assert np.isfinite(mine.policy.M).all()
    assert any("times as energetic as usual" in event.text for event in mine.log)
    assert mine.health.good
    assert np.isfinite(np.frombuffer(inputs_to_come(mine))).all()


def test_a_model_that_runs_away_while_samples_are_lost_is_left_behind() -> None:
    """The actuator is too weak for where the plant is, so the model diverges; a good sample must bring it back."""
    plant = control.LinearSystem([[1.5, 0.0], [0.0, 0.5]], [[1.0], [1.0]])
    for name in ("linear", "self-tuned"):
        mine = KINDS[name](plant, guard=True, input_bound=0.1)
        mine.act([9.0, 0.0])
        mine.observe(UNIT)
        for _ in range(2000):
            assert np.abs(mine.act(None)).max() <= 0.1
            mine.observe(UNIT)
        for _ in range(10):
            u = mine.act([0.01, 0.0])
            mine.observe(UNIT, applied=[-0.005])
        np.testing.assert_allclose(u, -mine.K @ [0.01, 0.0], atol=0.05)
        assert mine.health.lost == 0


def row(kind: float, value: float) -> Array:
    return np.array([7.0, kind, value])


@pytest.mark.parametrize("value", [-1.0, 0.25, 3.0, 1e300, math.inf])
def test_every_event_has_words_whatever_its_number(value: float) -> None:
    def name(number: int) -> str:
        assert number == 3
        return "a delay of 2 samples"

    found = {kind: told(row(kind, 3.0 if kind == kinds.ADOPTED else value), name) for kind in map(float, range(11))}
    assert {event.round for event in found.values()} == {7}
    assert len({event.text for event in found.values()}) == len(found)
    assert {event.status for event in found.values()} == {LEARNING, FALLBACK, RETURNING}
    assert found[kinds.ADOPTED].text.endswith("from now on: a delay of 2 samples")
    assert ("within their bounds" in found[kinds.INNOCENT].text) == (value < 0.0)


def cell_with(**numbers: float) -> Array:
    cell = slot.new_cell(2, 1, 3, 20)
    for name, number in numbers.items():
        cell[getattr(slot, name)] = number
    return cell


@pytest.mark.parametrize(
    ("numbers", "status", "words"),
    [
        ({}, LEARNING, "learning: 100% of what is learnt is in use"),
        ({"SHARE": 0.4}, RETURNING, "returning: 40% of what is learnt is in use"),
        ({"SHARE": 0.25, "CAP": 0.25}, LEARNING, "learning: 25% of what is learnt is in use, at most 25% is allowed"),
        ({"SHARE": 0.3, "ALLOWED": 0.3}, LEARNING, "learning: 30% of what is learnt is in use, at most 30% is allowed"),
        ({"SHARE": 0.0}, FALLBACK, "fallback: 0% of what is learnt is in use"),
        ({"RESTING": 3.0, "SHARE": 0.25}, FALLBACK, "fallback: 25% of what is learnt is in use"),
        ({"LOST": 2.0, "SHARE": 0.0}, FALLBACK, "fallback: 0% of what is learnt is in use, 2 samples lost"),
    ],
)
def test_health_is_read_off_the_cell(numbers: dict[str, float], status: str, words: str) -> None:
    found = health_of(cell_with(**numbers), "none")
    assert found.status == status
    assert str(found) == words
    assert found.good == (not numbers)
    assert str(health_of(cell_with(**numbers), "a lag of 0.5")) == f"{words}, actuator: a lag of 0.5"


def test_settings_are_read() -> None:
    assert read_guard("me", False) is None
    assert read_guard("me", True) is not None
    mine = Guard(state_bound=3, deadline=0.5)
    assert read_guard("me", mine) is mine
    assert mine.state_bound == 3.0
    bound = Guard(state_bound=[1.0, 2.0]).state_bound
    assert bound is not None
    assert not bound.flags.writeable
    both = control.LinearController(PLANT, guard=Guard(state_bound=3.0))
    np.testing.assert_array_equal(both._parts["bound"], [3.0, 3.0])


@pytest.mark.parametrize(
    ("call", "words", "kind"),
    [
        (lambda: Guard(state_bound=0.0), ("state_bound", "above 0"), ParameterError),
        (lambda: Guard(state_bound=[1.0, -1.0]), ("state_bound", "above 0"), ParameterError),
        (lambda: Guard(state_bound="far"), ("state_bound",), InputError),
        (lambda: Guard(state_bound=[[1.0]]), ("state_bound",), InputError),
        (lambda: Guard(deadline=0.0), ("deadline", "above 0"), ParameterError),
        (lambda: Guard(deadline=math.nan), ("deadline",), ParameterError),
        (lambda: Guard(clock=3.0), ("clock", "time in seconds"), ParameterError),  # type: ignore[arg-type]
        (lambda: Guard(bound=3.0), ("bound",), ArgumentError),  # type: ignore[call-arg]
        (lambda: control.LinearController(PLANT, guard=1), ("guard", "Guard(deadline=0.01)"), ParameterError),  # type: ignore[arg-type]
        (
            lambda: control.LinearController(WIDE, guard=Guard(state_bound=[1.0, 2.0])),
            ("guard.state_bound", "(3,)"),
            InputError,
        ),
    ],
)
def test_bad_settings_are_refused(call: Any, words: tuple[str, ...], kind: type[DriftwiseError]) -> None:
    check_refused(call, *words, kind=kind)


def test_sight_is_the_root_of_what_a_disturbance_costs() -> None:
    K = control.lqr(WIDE)
    closed = WIDE.A - WIDE.B @ K
    S = sight_of(closed, K)
    P = S.T @ S
    np.testing.assert_allclose(P, np.eye(3) + K.T @ K + closed.T @ P @ closed, atol=1e-9)
