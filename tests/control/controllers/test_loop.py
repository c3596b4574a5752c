"""The loop of every controller of policies: its two vectors, what may play in its place, and what a refusal says."""

import copy

import numpy as np
import pytest
from numpy.typing import ArrayLike

from driftwise import control
from driftwise._validate import Array
from driftwise.control.policies.layout import HEAD, ROUND
from driftwise.errors import InputError
from tests.cases import check_refused
from tests.control.cases import CONTROLLERS, PLANT, REFUSING, UNIT, controller, inputs_to_come, squares

STATES = np.random.default_rng(3).standard_normal((8, 2))


def play(mine: control.Controller, states: Array) -> list[Array]:
    inputs = []
    for x in states:
        inputs.append(mine.act(x))
        mine.observe(UNIT)
    return inputs


@pytest.mark.parametrize("name", CONTROLLERS)
def test_a_controller_goes_on_from_copies_of_its_cells(name: str) -> None:
    mine, other = controller(name), controller(name)
    play(mine, STATES)
    loop, decider = mine.cells
    assert loop[ROUND] == len(STATES)
    other.adopt((loop.copy(), decider.copy()))
    assert other.round == mine.round
    np.testing.assert_array_equal(other.policy.M, mine.policy.M)
    np.testing.assert_array_equal(other.disturbances, mine.disturbances)
    assert inputs_to_come(other) == inputs_to_come(mine)


def test_recovered_disturbances_are_newest_first_and_zero_before_the_first() -> None:
    mine = control.LinearController(PLANT)
    rows = np.array([[0.5, -1.0], [2.0, 0.25]])
    x = np.zeros(2)
    for w in (*rows, np.zeros(2)):
        u = mine.act(x)
        mine.observe(UNIT)
        x = PLANT.A @ x + PLANT.B @ u + w
    np.testing.assert_allclose(mine.disturbances, [[2.0, 0.25], [0.5, -1.0], [0.0, 0.0]], rtol=0.0, atol=1e-12)


def test_the_history_is_moved_back_when_it_has_run_through_its_columns() -> None:
    mine = control.LinearController(PLANT)
    states = np.random.default_rng(0).standard_normal((200, 2))
    heads = []
    for x in states[:-1]:
        mine.act(x)
        mine.observe(UNIT)
        heads.append(int(mine._cell[HEAD]))
    assert max(np.diff(heads)) > 1
    mine.act(states[-1])
    expected = states[-1] - PLANT.A @ states[-2] - PLANT.B @ (-mine.K @ states[-2])
    np.testing.assert_allclose(mine.disturbances[0], expected, rtol=0.0, atol=1e-12)


class Watched(control.ScreamController):
    """Has a method of its own that changes nothing."""

    def act(self, x: ArrayLike) -> Array:  # type: ignore[override]
        return super().act(x)


class Renamed(control.ScreamController):
    """Has another attribute, and no method of its own."""

    nickname = "Scream"


class Weighty(control.ScreamController):
    """Shows other weights."""

    @property
    def weights(self) -> Array:
        return 2.0 * super().weights


def test_compiled_loops_play_in_place_of_built_in_methods_only() -> None:
    assert all(controller(name).runs_compiled(with_weights=True) for name in CONTROLLERS)
    assert Renamed(PLANT, memory=3).runs_compiled(with_weights=True)
    assert not Watched(PLANT, memory=3).runs_compiled()
    assert Weighty(PLANT, memory=3).runs_compiled()
    assert not Weighty(PLANT, memory=3).runs_compiled(with_weights=True)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_copies_have_neither_views_nor_room_in_common(name: str) -> None:
    mine = controller(name)
    play(mine, STATES[:3])
    twin = copy.deepcopy(mine)
    for mine_part, twin_part in zip(mine.cells, twin.cells, strict=True):
        assert not np.shares_memory(mine_part, twin_part)
        assert mine_part.size == twin_part.size
    assert [u.tobytes() for u in play(twin, STATES[3:])] == [u.tobytes() for u in play(mine, STATES[3:])]


@pytest.mark.parametrize("name", REFUSING)
def test_a_state_that_is_not_a_number_is_refused_and_forgotten(name: str) -> None:
    mine = controller(name)
    play(mine, STATES[:4])
    before = inputs_to_come(mine)
    for bad in (np.array([np.nan, 0.0]), np.array([0.0, 1e101])):
        check_refused(lambda bad=bad: mine.act(bad), "act", "the controller is unchanged", kind=InputError)  # type: ignore[misc]
    assert inputs_to_come(mine) == before


def test_a_cost_of_ones_own_ends_the_round_of_a_controller_that_does_not_learn() -> None:
    mine = controller("policy")
    mine.act(STATES[0])
    mine.observe(squares(), applied=[7.0])
    assert mine.round == mine.cells[0][ROUND] == 1
    x = PLANT.A @ STATES[0] + PLANT.B @ [7.0]
    mine.act(x)
    np.testing.assert_allclose(mine.disturbances[0], 0.0, rtol=0.0, atol=1e-12)


def test_the_certificate_is_that_of_the_gain() -> None:
    mine = control.LinearController(PLANT, [[0.4, 1.2]])
    assert mine.stability.kappa == control.certify(PLANT, [[0.4, 1.2]]).kappa
    assert mine.stability is mine.stability
