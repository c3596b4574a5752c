"""Everyone in order, multiples of the yardstick, and the referee's books."""

import math

import numpy as np
import pytest

from driftwise.experiments.contests.contest import OPTIMUM, Contest, Referee, ranked
from driftwise.experiments.contests.outcome import CAUTION, HINDSIGHT, OURS, RULE, Outcome
from driftwise.losses import TrackingLoss
from driftwise.movecost import MoveCost


def cost(label: str, kind: str, overall: float) -> Outcome:
    return Outcome(label, kind, np.array([overall]), np.zeros(1))


PLAYERS = [
    cost("tuned", HINDSIGHT, 3.0),
    cost("old", RULE, 9.0),
    cost("blind", CAUTION, 8.0),
    cost("b", OURS, 5.0),
    cost("a", OURS, 4.0),
]


def test_players_come_kind_by_kind_and_cheapest_first() -> None:
    held = Contest(ranked(PLAYERS), None, None)
    assert [one.label for one in held.outcomes] == ["a", "b", "blind", "old", "tuned"]
    assert [one.label for one in held.of(OURS)] == ["a", "b"]
    assert held["old"].overall == 9.0


def test_costs_are_multiples_of_the_optimum_or_else_of_the_best_in_hindsight() -> None:
    without = Contest(PLAYERS, None, None)
    assert without.yardstick is PLAYERS[0]
    assert without.multiple(PLAYERS[1]) == 3.0
    beside = Contest(PLAYERS, cost(OPTIMUM, HINDSIGHT, 2.0), None)
    assert beside.multiple(PLAYERS[1]) == 4.5


def test_there_are_no_multiples_of_what_is_zero_but_for_rounding() -> None:
    held = Contest(PLAYERS, cost(OPTIMUM, HINDSIGHT, 1e-12), None)
    assert math.isnan(held.multiple(PLAYERS[1]))


def test_the_referee_books_losses_moves_and_what_every_round_costs() -> None:
    losses = TrackingLoss(np.array([[0.0], [1.0], [0.0]]))
    referee = Referee(losses, MoveCost(up=3.0, down=1.0), constant=0.5, smallest=0.1)
    one = referee.judge("me", OURS, np.array([[0.0], [1.0], [0.0]]))
    assert one.running == pytest.approx([0.5, 0.5, 0.5])
    assert one.charges == pytest.approx([0.0, 3.0, 1.0])
    assert one.moves == 2
    known = referee.judge("me", OURS, np.zeros((3, 1)), np.array([7.0, 7.0, 7.0]))
    assert known.total_running == pytest.approx(22.5)
    assert referee.overall(np.zeros((3, 1)), np.array([7.0, 7.0, 7.0])) == pytest.approx(22.5)


def test_a_single_round_has_no_move() -> None:
    referee = Referee(TrackingLoss(np.zeros((1, 2))), MoveCost(1.0, norm="l2"))
    assert referee.judge("me", OURS, np.ones((1, 2))).total_moving == 0.0
