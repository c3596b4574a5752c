"""Ski rental: when it goes, and what that costs at most."""

import numpy as np
import pytest

import driftwise as dw
from driftwise import movers
from driftwise.errors import ParameterError
from driftwise.estimators import Smoothing
from driftwise.pairs import layout
from tests.cases import by_hand, check_refused


@pytest.mark.parametrize("price", [0.5, 3.0, 20.0, 1e3])
def test_it_costs_at_most_twice_what_the_better_of_two_would_have_cost(price: float) -> None:
    """A level that jumps once by 2, after which being wrong about it costs 2 a round."""
    rounds, learner = 60, _followed_by(movers.SkiRental(), price)
    by_hand(learner, dw.TrackingLoss(np.full((rounds, 1), 2.0)))
    assert learner._plan is not None
    lane = learner.lanes[1]
    parts = learner._plan.views(learner._vector)
    assert parts["tau"][lane] == -1.0
    stays, goes = 2.0 * rounds, 2.0 * price + 2.0  # the first decision is the start, whatever is done later
    paid = float(parts["totals"][lane] + learner._vector[layout.LEVEL])
    assert paid <= 2.0 * min(stays, goes) + 2.0


def _followed_by(mover: movers.Mover, price: float) -> dw.SelfTunedLearner:
    return dw.SelfTunedLearner(dw.Box([0.0], [9.0]), switching_cost=price, estimators=[Smoothing(1.0)], movers=[mover])


def test_a_factor_waits_longer() -> None:
    step = movers.Step(np.ones(1), price=4.0, gain=1.0, staying=6.0, rounds=3, horizon=5.0)
    assert [movers.SkiRental(factor).share(step) for factor in (1.0, 1.5, 1.6)] == [1.0, 1.0, 0.0]
    assert [movers.SkiRental().name, movers.SkiRental(2.0).name] == ["ski rental", "ski rental x 2"]
    check_refused(lambda: movers.SkiRental(-1.0), "SkiRental: factor must be", kind=ParameterError)
