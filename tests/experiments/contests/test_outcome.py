"""What one player cost, and how far it moved."""

import numpy as np
import pytest

from driftwise.experiments.contests.outcome import OURS, RULE, Outcome

DECISIONS = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0], [3.0, 4.001]])


def test_costs_add_up() -> None:
    one = Outcome("Scream, appendix", OURS, np.array([1.0, 2.0]), np.array([0.0, 0.5]))
    assert (one.total_running, one.total_moving, one.overall) == (3.0, 0.5, 3.5)
    assert one.name == "Scream (appendix)"


def test_moves_and_distance_are_those_of_the_decisions() -> None:
    one = Outcome("", OURS, np.zeros(4), np.zeros(4), DECISIONS)
    assert one.steps == pytest.approx([0.0, 5.0, 0.0, 0.001])
    assert one.distance == pytest.approx(5.001)
    assert one.moves == 2
    assert Outcome("", OURS, np.zeros(4), np.zeros(4), DECISIONS, smallest=0.01).moves == 1


def test_who_decides_nothing_never_moves() -> None:
    one = Outcome("", RULE, np.ones(4), np.zeros(4))
    assert one.decisions is None
    assert (one.moves, one.distance) == (0, 0.0)
