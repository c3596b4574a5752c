"""The guard as a state machine: driven by disturbances of a given energy, one round after the other."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from driftwise import control
from driftwise._compile import brief
from driftwise._memory import part
from driftwise._validate import Array
from driftwise.control.controllers.guard import settle_time, sight_of
from driftwise.control.policies import guard as kinds
from driftwise.control.policies import layout as slot
from driftwise.control.policies.guard import (
    CALMED,
    FADE,
    FIRST,
    GLITCH,
    GROWING,
    KICK,
    LOOK,
    PATIENCE,
    RETURN,
    note,
    watch,
)
from driftwise.control.policies.reduction import loop_cell

PLANT = control.double_integrator()
REST = 60
"""Rounds that the loop needs to settle: in a loop that is quicker, what is usual follows quicker, too."""

NAMES = {
    kinds.TRIPPED: "tripped",
    kinds.BOUND: "bound",
    kinds.GUILTY: "guilty",
    kinds.INNOCENT: "innocent",
    kinds.TRUSTED: "trusted",
    kinds.SPIKE: "spike",
}

GROWTH = 1.6
"""Factor by which energies grow in a round, in a loop that feeds on itself."""


@brief
def _watch(cell: Array) -> None:
    watch(part(cell, 0))


@brief
def _note(cell: Array, kind: float, number: float) -> None:
    note(part(cell, 0), kind, number)


class Watched(NamedTuple):
    """A cell that is watched, and its parts."""

    cell: Array
    parts: dict[str, Array]
    unit: Array
    """A disturbance of energy 1."""

    def after(self, *energies: float) -> list[float]:
        """Let rounds with these energies pass, and return the shares of what is learnt."""
        shares = []
        for energy in energies:
            self.parts["heard"][:] = math.sqrt(energy) * self.unit
            _watch(self.cell)
            self.cell[slot.ROUND] += 1.0
            shares.append(float(self.cell[slot.SHARE]))
        return shares

    def at(self, place: int) -> float:
        return float(self.cell[place])

    @property
    def rest(self) -> int:
        return int(self.cell[slot.REST])

    @property
    def events(self) -> list[str]:
        count = int(self.cell[slot.EVENTS])
        return [NAMES[kind] for kind in self.parts["events"][:count, 1]]


def watched(guarded: bool = True) -> Watched:
    K = control.lqr(PLANT)
    cell = loop_cell(PLANT, K, 3, 20)
    closed = PLANT.A - PLANT.B @ K
    parts = slot.views(cell)
    parts["sight"][:] = sight_of(closed, K)
    cell[slot.GUARDED], cell[slot.REST] = guarded, REST
    direction = np.array([1.0, -0.5])
    return Watched(cell, parts, direction / np.linalg.norm(parts["sight"] @ direction))


def used_to(energy: float = 1.0) -> Watched:
    """Return a guard that has seen what is usual."""
    mine = watched()
    assert set(mine.after(*[energy] * (int(FIRST) + 5))) == {1.0}
    assert mine.at(slot.USUAL) == pytest.approx(energy)
    return mine


def grow(mine: Watched, energy: float) -> float:
    """Let energies grow until the guard steps in, and return the last one."""
    before = len(mine.events)
    for _ in range(int(LOOK * (GROWING + 2.0))):
        energy *= GROWTH
        mine.after(energy)
        if mine.events[before:] == ["tripped"]:
            return energy
    raise AssertionError("the guard has not stepped in")


def tripped() -> tuple[Watched, float]:
    """Return a guard that has just stepped in, and the energy at which it did."""
    mine = used_to()
    return mine, grow(mine, 1.0)


def test_the_energy_is_what_a_disturbance_costs_under_the_gain() -> None:
    mine, K = watched(), control.lqr(PLANT)
    closed, x = PLANT.A - PLANT.B @ K, mine.unit
    total = 0.0
    for _ in range(500):
        total += float(x @ x + (K @ x) @ (K @ x))
        x = closed @ x
    assert total == pytest.approx(1.0, rel=1e-9)
    assert mine.after(4.0) == [1.0]
    assert mine.at(slot.RAW) == pytest.approx(4.0)


def test_what_is_usual_is_learnt_first() -> None:
    """In the first rounds nothing is unusual; rounds without a disturbance tell nothing."""
    mine = watched()
    assert set(mine.after(*[0.0] * 100)) == {1.0}
    assert mine.at(slot.WATCHED) == 0.0
    assert set(mine.after(*10.0 ** np.linspace(-8.0, 8.0, int(FIRST)))) == {1.0}
    assert not mine.events


def test_a_guard_that_is_off_does_nothing() -> None:
    mine = watched(guarded=False)
    assert set(mine.after(*[1.0] * 40, *[1e9] * 40)) == {1.0}
    assert not mine.events


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0 * KICK, 100.0 * KICK])
def test_energies_that_jump_are_no_reason_to_step_in_and_it_gets_used_to_them(factor: float) -> None:
    for shift in range(int(LOOK)):
        mine = used_to()
        mine.after(*[1.0] * shift)
        assert set(mine.after(*[factor] * 600)) == {1.0}
        assert not mine.events
        assert mine.at(slot.USUAL) == pytest.approx(max(factor, 1.0), rel=0.05)


def test_energies_that_grow_slowly_are_no_reason_either() -> None:
    mine = used_to()
    assert set(mine.after(*1.1 ** np.arange(200))) == {1.0}
    assert not mine.events


@pytest.mark.parametrize("size", [1.1 * GLITCH, 1e12])
def test_wild_rounds_fade_what_is_learnt_are_noted_once_and_are_no_reason_to_step_in(size: float) -> None:
    mine = used_to()
    shares = mine.after(size, size, *[1.0] * 50)  # a wrong sample makes two wrong disturbances
    np.testing.assert_allclose(shares[:4], [FADE, FADE**2, FADE**2 + RETURN, FADE**2 + 2 * RETURN])
    assert shares[-1] == 1.0
    assert mine.events == ["spike"]
    assert mine.parts["events"][0, 2] == pytest.approx(size)


def test_it_steps_in_fades_and_rests_until_the_loop_has_settled() -> None:
    mine, energy = tripped()
    assert mine.events == ["tripped"]
    fading = [mine.at(slot.SHARE), *mine.after(*[energy] * (mine.rest - 1))]
    expected = [FADE, FADE**2, FADE**3 if FADE**3 >= kinds.GONE else 0.0]
    np.testing.assert_allclose(fading[:3], expected)
    assert fading[3] == 0.0
    assert not any(fading[3:])
    assert mine.at(slot.RESTING) == 1.0


def test_stepping_in_is_noted_with_how_much_it_was() -> None:
    mine, _ = tripped()
    kind, number = mine.parts["events"][0, 1:]
    assert kind == kinds.TRIPPED
    assert number == pytest.approx(mine.at(slot.FAST) / mine.at(slot.USUAL))
    assert number > KICK


def test_if_disturbances_stay_large_the_world_has_changed_and_all_comes_back() -> None:
    mine, energy = tripped()
    mine.after(*[energy] * mine.rest)
    assert mine.events == ["tripped", "innocent"]
    assert mine.at(slot.USUAL) == pytest.approx(mine.at(slot.RAW))
    back = mine.after(*[energy] * 10)
    np.testing.assert_allclose(back, np.minimum(RETURN * np.arange(1, 11), 1.0))
    assert mine.at(slot.STRIKES) == mine.at(slot.AFRESH) == 0.0
    assert mine.at(slot.CAP) == 1.0
    assert set(mine.after(*[energy] * 200)) == {1.0}


def test_if_they_calm_down_what_was_learnt_was_guilty() -> None:
    mine, _ = tripped()
    mine.after(*[1.0] * mine.rest)
    assert mine.events == ["tripped", "guilty"]
    assert (mine.at(slot.CAP), mine.at(slot.STRIKES), mine.at(slot.AFRESH)) == (CALMED, 1.0, 1.0)
    back = np.array(mine.after(*[1.0] * (mine.rest + 5)))
    assert back.max() == CALMED
    assert np.diff(back, prepend=0.0).max() <= 1.0 / mine.rest + 1e-12


def test_trust_comes_back_by_doubling_after_calm_times() -> None:
    mine, _ = tripped()
    mine.after(*[1.0] * mine.rest)
    wait = int(PATIENCE * mine.rest * 2.0 ** mine.at(slot.STRIKES))
    assert max(mine.after(*[1.0] * (wait - 1))) == CALMED
    assert mine.events[-1] == "guilty"
    mine.after(*[1.0] * 3)
    assert mine.events[-1] == "trusted"
    assert mine.at(slot.CAP) == 2.0 * CALMED
    assert np.diff(mine.after(*[1.0] * mine.rest)).max() <= 1.0 / mine.rest + 1e-12
    assert np.diff(mine.after(*[1.0] * wait)).max() <= RETURN + 1e-12
    assert mine.at(slot.CAP) == 1.0
    assert mine.after(*[1.0] * mine.rest)[-1] == 1.0
    assert mine.events == ["tripped", "guilty", "trusted", "trusted"]


def test_a_second_fall_takes_twice_as_long_to_forget() -> None:
    mine, _ = tripped()
    mine.after(*[1.0] * (mine.rest + 30))
    grow(mine, 1.0)
    mine.after(*[1.0] * mine.rest)
    assert mine.events == ["tripped", "guilty", "tripped", "guilty"]
    assert mine.at(slot.CAP) == CALMED**2
    wait = int(PATIENCE * mine.rest * 4.0)
    mine.after(*[1.0] * (wait - mine.rest - 5))
    assert mine.events[-1] == "guilty"
    mine.after(*[1.0] * (mine.rest + 20))
    assert mine.events[-1] == "trusted"


@pytest.mark.parametrize("state", [0, 1])
def test_a_state_beyond_its_bound_takes_what_is_learnt_away_until_the_loop_settles(state: int) -> None:
    mine = used_to()
    mine.parts["bound"][:] = 5.0, 2.0
    mine.parts["x"][:] = 4.9, -1.9
    assert mine.after(1.0) == [1.0]
    outside = mine.parts["x"].copy()
    outside[state] = (-1.0) ** state * 5.1
    mine.parts["x"][:] = outside
    assert mine.after(1.0) == [FADE]
    assert mine.events == ["bound"]
    assert mine.parts["events"][0, 2] == state
    assert not any(mine.after(*[1.0] * 100)[3:])  # rest begins when the state is back
    mine.parts["x"][:] = 0.0
    assert not any(mine.after(*[1.0] * mine.rest))
    assert mine.events == ["bound", "innocent"]
    assert mine.at(slot.CAP) == 1.0
    np.testing.assert_allclose(mine.after(*[1.0] * 5), np.minimum(RETURN * np.arange(1, 6), 1.0))


def test_samples_that_are_lost_fade_what_is_learnt_with_and_without_a_guard() -> None:
    for mine in (used_to(), watched(guarded=False)):
        mine.cell[slot.LOST] = 1.0
        np.testing.assert_allclose(mine.after(*[1.0] * 4), [FADE, FADE**2, FADE**3, 0.0])
        assert not mine.events


def test_the_way_back_after_lost_samples_has_no_jump() -> None:
    mine = used_to()
    mine.cell[slot.LOST] = 1.0
    mine.after(*[0.0] * 5)
    mine.cell[slot.LOST] = 0.0
    np.testing.assert_allclose(mine.after(*[1.0] * 7), np.minimum(RETURN * np.arange(1, 8), 1.0))


def test_margins_that_were_asked_for_cap_the_share() -> None:
    mine = used_to()
    mine.cell[slot.ALLOWED] = 0.3
    assert mine.after(1.0) == [0.3]
    mine.cell[slot.ALLOWED] = 1.0
    np.testing.assert_allclose(mine.after(1.0, 1.0), [0.3 + RETURN, 0.3 + 2 * RETURN])


@pytest.mark.parametrize("energy", [1e-250, 1e-100, 1e150])
def test_only_the_ratio_of_energies_matters(energy: float) -> None:
    (mine, _), other = tripped(), used_to(energy)
    grow(other, energy)
    for one, unit in ((mine, 1.0), (other, energy)):
        one.after(*[unit] * (one.rest + 40))
    assert mine.events == other.events
    assert mine.at(slot.SHARE) == pytest.approx(other.at(slot.SHARE))
    assert mine.at(slot.ROUND) == other.at(slot.ROUND)


def test_the_newest_events_are_kept() -> None:
    mine = watched()
    for number in range(slot.LOGGED + 10):
        mine.cell[slot.ROUND] = number
        _note(mine.cell, kinds.LATE, number / 2.0)
    assert mine.at(slot.EVENTS) == slot.LOGGED + 10
    np.testing.assert_array_equal(np.sort(mine.parts["events"][:, 0]), np.arange(10, slot.LOGGED + 10))
    assert (mine.parts["events"][:, 2] == mine.parts["events"][:, 0] / 2.0).all()


def test_a_loop_settles_when_a_disturbance_is_down_to_a_tenth() -> None:
    assert settle_time(np.diag([0.5, 0.1])) == 10
    assert settle_time(np.diag([0.9, 0.1])) == math.ceil(math.log(0.1) / math.log(0.9))
    assert settle_time(np.diag([0.99])) == 60
