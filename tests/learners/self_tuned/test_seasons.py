"""A season is found while playing, and is worth nearly as much as one that is given."""

import numpy as np
import pytest

import driftwise as dw
from driftwise import estimators
from driftwise._validate import Array
from tests.cases import a_third

WITHOUT = [one for one in estimators.default() if not isinstance(one, estimators.Season)]


def _demand(period: int, seed: int) -> Array:
    """Return a wave with an overtone and noise."""
    rounds, rng = (400 if period == 7 else 480), np.random.default_rng(seed)
    phase = 2.0 * np.pi * np.arange(rounds) / period
    wave: Array = 3.0 + np.sin(phase) + 0.5 * np.cos(2.0 * phase) + 0.1 * rng.normal(size=rounds)
    return wave[:, None]


def _cost(kind: str, rows: Array, price: float, **settings: object) -> float:
    """Return losses and moves, above what must be paid for the demand itself."""
    losses = dw.TrackingLoss(rows) if kind == "tracking" else dw.CapacityLoss(rows, shortage=3.0)
    learner = dw.SelfTunedLearner(dw.Box([0.0], [8.0]), switching_cost=price, **settings)  # type: ignore[arg-type]
    return dw.play(learner, losses, price).total - (0.0 if kind == "tracking" else float(rows.sum()))


@a_third(kind=["tracking", "capacity"], period=[7, 24], price=[0.02, 0.3], seed=[20, 21])
def test_a_season_is_found(kind: str, period: int, price: float, seed: int) -> None:
    rows = _demand(period, seed)
    found, given = _cost(kind, rows, price), _cost(kind, rows, price, period=period)
    without = _cost(kind, rows, price, estimators=WITHOUT)
    assert found <= 1.3 * given
    assert found <= 0.8 * without


def test_a_period_that_is_wrong_costs_little_beside_none() -> None:
    rows = _demand(7, 22)
    assert _cost("tracking", rows, 0.3, period=5) <= 1.1 * _cost("tracking", rows, 0.3, estimators=WITHOUT)


def test_without_a_season_looking_for_one_costs_little() -> None:
    rng = np.random.default_rng(23)
    walk = 4.0 + np.cumsum(0.05 * rng.normal(size=(400, 1)), axis=0) + 0.1 * rng.normal(size=(400, 1))
    assert _cost("tracking", walk, 0.3) <= 1.05 * _cost("tracking", walk, 0.3, estimators=WITHOUT)


@pytest.mark.parametrize("dim", [2, 5])
def test_all_coordinates_share_a_season(dim: int) -> None:
    rng, phase = np.random.default_rng(24), 2.0 * np.pi * np.arange(300)[:, None] / 7.0
    rows = 3.0 + np.sin(phase + np.arange(dim)) + 0.1 * rng.normal(size=(300, dim))
    domain, price = dw.Box([0.0] * dim, [8.0] * dim), 0.1
    costs = [
        dw.play(dw.SelfTunedLearner(domain, switching_cost=price, estimators=pool), dw.TrackingLoss(rows), price).total
        for pool in (None, WITHOUT)
    ]
    assert costs[0] <= 0.8 * costs[1]
