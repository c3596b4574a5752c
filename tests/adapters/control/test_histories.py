"""A learner as a function: the same question has the same answer, whatever was asked before."""

import copy

import numpy as np

from driftwise import control
from driftwise.adapters.control.histories import RECENT, SPACING, Histories, Told
from tests.adapters.control.loops import COST, FULL, pushes

LENGTH = 3 * SPACING + 5


def fresh() -> control.SelfTunedController:
    return control.SelfTunedController(FULL)


def told(x: np.ndarray) -> Told:
    return Told(x, None)


def by_hand(rows: np.ndarray) -> tuple[list[np.ndarray], control.SelfTunedController]:
    """Return what a controller does for these states, and what becomes of it."""
    controller, inputs = fresh(), []
    for x in rows:
        inputs.append(np.array(controller.act(x)))
        controller.observe(COST)
    return inputs, controller


def walk(histories: Histories, rows: np.ndarray) -> tuple[list[np.ndarray], list[int]]:
    """Return what it does, and the history after each round."""
    at, inputs, places = 0, [], []
    for x in rows:
        inputs.append(histories.input(at, told(x)))
        at = histories.follow(at, told(x), None)
        places.append(at)
    return inputs, places


def test_a_history_is_what_the_controller_does_by_itself() -> None:
    rows = pushes(LENGTH)
    histories = Histories(fresh(), lambda t: COST)
    inputs, places = walk(histories, rows)
    expected, controller = by_hand(rows)
    np.testing.assert_array_equal(inputs, expected)
    assert places == list(range(1, LENGTH + 1))
    assert histories.controller(places[-1]).to_bytes() == controller.to_bytes()
    again = walk(histories, rows)
    np.testing.assert_array_equal(again[0], inputs)
    assert again[1] == places
    assert len(histories) == LENGTH + 1


def test_questions_about_any_round_in_any_order_have_their_answers() -> None:
    rows, other = pushes(LENGTH), pushes(LENGTH, seed=3)
    histories = Histories(fresh(), lambda t: COST)
    _, places = walk(histories, rows)
    rng = np.random.default_rng(0)
    for t in [*rng.integers(1, LENGTH, 12).tolist(), SPACING, SPACING + 1, 1]:
        # What happened up to there, and then something else.
        expected, controller = by_hand(np.vstack([rows[:t], other[t : t + 1]]))
        np.testing.assert_array_equal(histories.input(places[t - 1], told(other[t])), expected[-1])
        branch = histories.follow(places[t - 1], told(other[t]), None)
        assert histories.controller(branch).to_bytes() == controller.to_bytes()
        assert histories.length(branch) == t + 1


def test_another_input_that_was_applied_is_another_history() -> None:
    histories, x = Histories(fresh(), lambda t: COST), np.array([1.0, 0.0])
    own = histories.follow(0, told(x), None)
    u = histories.input(0, told(x))
    assert histories.follow(0, told(x), u.copy()) == own
    less = histories.follow(0, told(x), 0.5 * u)
    assert less != own
    following = told(np.array([0.5, 0.1]))
    assert not np.array_equal(histories.input(own, following), histories.input(less, following))


def test_few_controllers_are_kept_and_copies_are_independent() -> None:
    histories = Histories(fresh(), lambda t: COST)
    walk(histories, pushes(LENGTH))
    assert len(histories._kept) == 1 + LENGTH // SPACING
    assert len(histories._recent) == RECENT
    assert len(histories._acted) <= RECENT
    copied = copy.deepcopy(histories)
    copied.follow(0, told(np.ones(2)), None)
    assert len(copied) == len(histories) + 1
