"""The same faults where only outputs are measured: they hit y, and an observer has to live with them."""

import functools
import math
import pickle
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.controllers.guard import FALLBACK
from driftwise.errors import InputError
from tests.control.faults.cases import (
    FAULTS,
    OUTPUTS,
    ROUNDS,
    Fault,
    Lost,
    Reversed,
    by_outputs,
    check_way_back,
    play,
    suffer,
)

SEEDS = 1
"""Cases of every controller, plant and fault; ten times as many at full size."""

BOTH = pytest.mark.parametrize("offset_free", [False, True], ids=["plain", "offset-free"])

FIRST, WITHIN, WINDOW, LONGEST = 80, 40, 100, 20
"""When a fault begins; rounds after which the cost is what it would have been; rounds over which that is measured, and
rounds of the longest fault."""

COST = control.QuadraticCost(1.0, 1.0)


def case(offset_free: bool, plant: str, fault: str, seed: int) -> None:
    """Play one case."""
    rng = np.random.default_rng([seed, offset_free, len(plant), len(fault)])
    suffer(by_outputs(offset_free, plant), plant, fault, rng, rounds=ROUNDS + FAULTS[fault][1])


@pytest.mark.parametrize("fault", FAULTS)
@BOTH
def test_every_fault_on_every_plant(offset_free: bool, fault: str) -> None:
    for plant in OUTPUTS:
        for seed in range(SEEDS):
            case(offset_free, plant, fault, seed)


@pytest.mark.full
@pytest.mark.parametrize("fault", FAULTS)
@BOTH
def test_every_fault_on_every_plant_at_full_size(offset_free: bool, fault: str) -> None:
    for plant in OUTPUTS:
        for seed in range(SEEDS, 10 * SEEDS):
            case(offset_free, plant, fault, seed)


@BOTH
def test_faults_one_after_the_other(offset_free: bool) -> None:
    """Losses of all lengths, every few rounds, for a long time."""

    class Often(Lost):
        def on(self, t: int) -> bool:
            return t > 10 and bool(np.random.default_rng([t // 7, self.first]).uniform() < 0.5)

    for plant in OUTPUTS:
        mine = by_outputs(offset_free, plant)
        story = play(mine, plant, Often(np.random.default_rng(0), 3, 0), 300, np.random.default_rng(1))
        assert story.logged[-1] > 50
        check_way_back(story.shares, plant)


def paid(offset_free: bool, plant: str, make: type[Fault], rounds: int, seed: int) -> Array:
    """Return what a run costs, round by round."""
    rng = np.random.default_rng(seed)
    fault = make(rng, FIRST, FIRST + rounds - 1)
    return play(by_outputs(offset_free, plant), plant, fault, FIRST + LONGEST + WITHIN + WINDOW, rng).costs


@functools.cache
def paid_without(offset_free: bool, plant: str, seed: int) -> Array:
    """Return the same where nothing goes wrong."""
    return paid(offset_free, plant, Fault, 1, seed)


@pytest.mark.parametrize(("burst", "most"), [(1, 1.1), (3, 1.2), (LONGEST, 1.5)])
@BOTH
def test_after_lost_outputs_the_cost_comes_back(offset_free: bool, burst: int, most: float) -> None:
    """On unstable plants; elsewhere to 1.15 after any of them. An observer has to catch up first, unlike a sensor."""
    for plant in OUTPUTS:
        late = slice(FIRST + burst + WITHIN, FIRST + burst + WITHIN + WINDOW)
        costs = paid(offset_free, plant, Lost, burst, 0)[late], paid_without(offset_free, plant, 0)[late]
        runaway = np.abs(np.linalg.eigvals(OUTPUTS[plant].A)).max() > 1.0
        assert costs[0].sum() <= (most if runaway else 1.15) * costs[1].sum(), plant


@pytest.mark.parametrize("fault", ["saturation, told", "somebody else", "frozen sensor", "late", "huge sample", "jump"])
@BOTH
def test_after_other_faults_the_cost_comes_back(offset_free: bool, fault: str) -> None:
    make, rounds = FAULTS[fault]
    late = slice(FIRST + rounds + WITHIN, FIRST + rounds + WITHIN + WINDOW)
    for plant in ("stable, half", "unstable, half", "delay, half"):
        costs = paid(offset_free, plant, make, rounds, 5)[late], paid_without(offset_free, plant, 5)[late]
        assert costs[0].sum() <= 1.15 * costs[1].sum(), plant


@BOTH
def test_a_plant_that_diverges_is_reported_when_its_estimate_leaves_the_bounds(offset_free: bool) -> None:
    """The input has the wrong sign from round 30 on, until outputs are beyond all numbers."""
    plant = "limits, half" if offset_free else "unstable, half"
    mine, seen = by_outputs(offset_free, plant, state_bound=2.0), []

    class Watched(Reversed):
        def sample(self, t: int, x: Array) -> Array:
            if np.abs(mine.estimate).max() > 2.0:
                seen.append(t)
            return x

    rng = np.random.default_rng(0)
    story = play(mine, plant, Watched(rng, 30, 30), 4000, rng)
    assert seen, plant
    assert story.logged[seen[0]] == story.logged[seen[0] - 1] + 1  # in the very round
    assert mine.health.status == FALLBACK
    assert mine.health.share == 0.0
    assert story.costs[-1] > 1e100


def test_a_bound_on_states_is_none_on_disturbances_that_stay() -> None:
    """They are estimated beside the states, and may be of another size."""
    plant, guard = OUTPUTS["stable, half"], control.Guard(state_bound=[3.0, 2.0])
    mine, x = control.OutputFeedback(plant, offset_free=True, guard=guard), np.zeros(2)
    assert plant.C is not None
    for t in range(400):
        u = mine.act(plant.C @ x)
        mine.observe(COST)
        x = plant.A @ x + plant.B @ (u + min(0.05 * t, 8.0))
    assert mine._estimate[2] > 7.0
    assert mine.health.good
    with pytest.raises(InputError, match="state_bound"):
        control.OutputFeedback(plant, offset_free=True, guard=control.Guard(state_bound=[5.0, 2.0, 9.0]))


@BOTH
def test_a_lost_output_is_logged_once_and_in_its_round(offset_free: bool) -> None:
    """What is learnt fades in the round after, as an input is decided by what was known before its output."""
    for value, word in ((None, "missing"), (math.nan, "missing"), (math.inf, "out of range"), (1e60, "out of range")):
        mine = by_outputs(offset_free, "stable, half")
        rng, fault = np.random.default_rng(3), type("Value", (Lost,), {"value": value})
        story = play(mine, "stable, half", fault(rng, 40, 40), 60, rng)
        assert [(event.round, event.status) for event in mine.log] == [(40, FALLBACK)]
        assert word in mine.log[0].text
        np.testing.assert_allclose(story.shares[39:47], [1.0, 1.0, 0.25, 0.25, 0.45, 0.65, 0.85, 1.0])


def test_a_jump_is_taken_for_a_mistake_once_and_then_believed() -> None:
    class Kicked(Fault):
        def state(self, t: int, x: Array) -> Array:
            return x + 60.0 if t == self.first else x

    mine, rng = by_outputs(False, "stable, half"), np.random.default_rng(0)
    estimates: list[Array] = []

    class Watched(Kicked):
        def sample(self, t: int, x: Array) -> Array:
            estimates.append(mine.estimate)
            return x

    story = play(mine, "stable, half", Watched(rng, 40, 40), 120, rng)
    assert mine.log[0].round == 40
    assert mine.log[-1].round <= 60  # that a burst is over is said three calm rounds after it
    assert np.abs(estimates[41]).max() < 1.0  # doubted
    assert np.abs(estimates[42]).max() > 20.0  # believed
    assert story.costs[100:].max() < 1.0


@pytest.mark.parametrize("bad", [None, [math.nan], [-math.inf], [1e200]])
def test_without_a_guard_an_output_is_refused_and_leaves_no_trace(bad: Any) -> None:
    mine, twin = (control.OutputFeedback(OUTPUTS["delay, half"], guard=False) for _ in range(2))
    rng = np.random.default_rng(0)
    for t in range(60):
        y = rng.normal(size=1)
        if t % 20 == 7:
            before = pickle.dumps(mine)
            with pytest.raises(InputError):
                mine.act(bad)
            assert pickle.dumps(mine) == before
        np.testing.assert_array_equal(mine.act(y), twin.act(y))
        mine.observe(COST)
        twin.observe(COST)


def test_without_a_guard_an_output_that_the_observer_cannot_follow_is_refused() -> None:
    plant = control.double_integrator()
    mine = control.OutputFeedback(control.LinearSystem(plant.A, plant.B, [[1.0, 0.0]]), guard=False)
    for y in (0.1, -9e99, 9e99, 0.1, 0.2):
        if abs(y) > 1.0:
            with pytest.raises(InputError, match="unchanged"):
                mine.act([y])
        else:
            mine.act([y])
            mine.observe(COST)
    assert mine.round == 3


@BOTH
def test_outputs_at_the_end_of_the_range_are_survived_without_limits(offset_free: bool) -> None:
    """Inputs are at most 1e100 in size, so that they can be given back as what was applied."""
    mine, rng = control.OutputFeedback(OUTPUTS["delay, mixed"], offset_free=offset_free), np.random.default_rng(1)
    for t in range(80):
        y = rng.normal(size=2) if t % 3 else 9.9e99 * rng.choice([-1.0, 1.0], 2)
        u = mine.act(y)
        assert np.abs(u).max() <= 1e100
        mine.observe(COST)
