"""Prox: the part of the way that is cheapest, found by trying all of them."""

import numpy as np
import pytest

from driftwise.errors import ParameterError
from driftwise.movers import Prox, Step
from tests.cases import check_refused

STEP = Step(np.array([3.0, 4.0]), price=6.0, gain=4.0, staying=0.0, rounds=5, horizon=7.0)


@pytest.mark.parametrize("horizon", [None, 0.1, 1.0, 1.5, 3.0, 100.0])
def test_it_is_the_cheapest_part_of_the_way(horizon: float | None) -> None:
    shares, rounds = np.linspace(0.0, 1.0, 10_001), 7.0 if horizon is None else horizon
    costs = rounds * STEP.gain * (1.0 - shares) ** 2 / 2.0 + shares * STEP.price
    assert Prox(horizon).share(STEP) == pytest.approx(shares[costs.argmin()], abs=1e-4)


def test_where_moves_are_free_it_goes_and_where_they_bring_nothing_it_stays() -> None:
    way = np.ones(1)
    assert Prox(3.0).share(Step(way, price=0.0, gain=0.0, staying=0.0, rounds=1, horizon=2.0)) == 1.0
    assert Prox(3.0).share(Step(way, price=1.0, gain=0.0, staying=0.0, rounds=1, horizon=2.0)) == 0.0


def test_it_waits_while_the_estimator_still_learns_more_than_being_there_is_worth() -> None:
    """Going costs 6 for a distance of 5, and is worth 2 a round: as much as a distance of 5 / 3."""
    for nearer, share in ((1.0, 1.0 - 6.0 / 28.0), (2.0, 0.0)):
        step = Step(STEP.way, STEP.price, STEP.gain, 0.0, 5, 7.0, nearer)
        assert Prox(waits=True).share(step) == pytest.approx(share)
        assert Prox().share(step) == pytest.approx(1.0 - 6.0 / 28.0)


def test_names_and_numbers() -> None:
    assert [Prox().name, Prox(64.0).name, Prox(waits=True).name] == ["prox", "prox 64", "prox after waiting"]
    check_refused(lambda: Prox(0.0), "Prox: horizon must be a number that is above 0", kind=ParameterError)
