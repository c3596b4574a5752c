"""Our learner, and the decisions of any."""

import numpy as np

import driftwise as dw
from driftwise.experiments.comparison import ours


def test_it_is_built_from_a_price_and_begins_where_it_is_told() -> None:
    learner = ours.build(dw.Box([0.0], [9.0]), dw.MoveCost(up=2.0, down=1.0), np.array([4.0]), 3)
    assert isinstance(learner, getattr(dw, ours.CLASS))
    assert learner.act().tolist() == [4.0]


def test_decisions_are_those_of_a_run() -> None:
    losses, domain = dw.TrackingLoss([1.0, 2.0, 3.0]), dw.Box([0.0], [9.0])
    made = [ours.build(domain, 0.1, np.array([4.0])) for _ in range(2)]
    assert np.array_equal(ours.decide(made[0], losses, {}), dw.play(made[1], losses).decisions)
    heeding = ours.decide(ours.build(domain, 0.1, np.array([4.0])), losses, {"plan": np.array([[1.0], [2.0], [3.0]])})
    assert heeding.shape == (3, 1)
