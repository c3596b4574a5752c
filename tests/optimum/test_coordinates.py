"""Where coordinates are problems of their own: told from where they are not, and solved to the last digits."""

import time
import tracemalloc

import numpy as np
import pytest

import driftwise as dw
from driftwise.losses.base import DataLoss
from driftwise.movecost import move_cost_for
from driftwise.optimum import coordinates
from driftwise.regret import hindsight_optimum
from tests.optimum.problems import DIM, built_in, cheapest, cost, sequences

LOW, HIGH = np.array([-1.0, 0.0, 0.2, -0.3]), np.array([1.0, 0.5, 0.9, 0.1])
BOX = dw.Box(LOW, HIGH)
L1 = dw.MoveCost(up=[0.3, 0.1, 0.5, 0.0], down=[0.1, 0.2, 0.05, 0.3])
ONE = dw.MoveCost(up=0.3, down=0.1, norm="l2")


@pytest.mark.parametrize("rounds", [1, 2, 40])
@pytest.mark.parametrize("price", [L1, dw.MoveCost(0.2), dw.MoveCost(0.0), dw.MoveCost(1e9, 0.01)], ids=repr)
@pytest.mark.parametrize("kind", ["tracking", "linear", "capacity"])
def test_boxes_and_prices_that_add_up_are_solved_exactly(kind: str, price: dw.MoveCost, rounds: int) -> None:
    losses = built_in(kind, rounds)
    best = hindsight_optimum(losses, BOX, price)
    assert "every coordinate by itself" in best.status
    assert best.optimal
    assert best.gap <= 1e-12
    assert BOX.contains(best.decisions)
    assert best.total == pytest.approx(cost(losses, best.decisions, price), rel=1e-12)
    assert best.total <= cheapest(losses, BOX, price) + 1e-6 * abs(best.total)
    for decisions in sequences(BOX, rounds, seed=3):
        assert best.lower_bound <= cost(losses, decisions, price) + 1e-10


@pytest.mark.parametrize("domain", [dw.Box([-0.3], [0.8]), dw.Ball(1, 0.5, [0.2]), dw.Product(dw.Box([0.0], [1.0]))])
@pytest.mark.parametrize("kind", ["squared", "tracking", "linear", "capacity", "absolute", "quantile"])
def test_one_coordinate_in_any_interval(kind: str, domain: dw.Domain) -> None:
    losses = built_in(kind, 60, dim=1)
    for price in (ONE, dw.MoveCost(0.4), dw.MoveCost(0.0, 0.3)):
        best = hindsight_optimum(losses, domain, price)
        assert "every coordinate by itself" in best.status
        assert best.gap <= 1e-12
        assert best.total == pytest.approx(cost(losses, best.decisions, price), rel=1e-12)
        assert best.total == pytest.approx(cheapest(losses, domain, price), rel=1e-6)


@pytest.mark.parametrize("kind", ["squared", "tracking", "linear"])
def test_equal_prices_in_one_coordinate_are_the_number(kind: str) -> None:
    losses, domain = built_in(kind, 60, dim=1), dw.Box([-0.3], [0.8])
    number, prices = (hindsight_optimum(losses, domain, price) for price in (0.4, dw.MoveCost(0.4)))
    assert "cone problems" in number.status
    assert prices.total == pytest.approx(number.total, rel=1e-6)
    assert prices.gap <= number.gap + 1e-15


@pytest.mark.parametrize(
    ("losses", "domain", "price", "expected"),
    [
        (built_in("tracking", 5), BOX, L1, True),
        (built_in("tracking", 5), BOX, dw.MoveCost(1.0, 2.0, "l2"), False),  # coordinates count together
        (built_in("tracking", 5), dw.Ball(DIM), L1, False),
        (built_in("tracking", 5), dw.Simplex(DIM), L1, False),
        (built_in("squared", 5), BOX, L1, False),  # a score of all coordinates
        (built_in("squared", 5, dim=1), dw.Ball(1), ONE, True),
        (built_in("filtered", 5, dim=1), dw.Ball(1), ONE, False),
        (built_in("absolute", 5, dim=1), dw.Ball(1), ONE, True),
        (built_in("quantile", 5, dim=1), dw.Ball(1), 1.0, True),
        (built_in("quantile", 5), BOX, L1, False),
        (built_in("huber", 5, dim=1), dw.Ball(1), ONE, False),
        (built_in("capacity", 5), BOX, 1.0, False),
        (built_in("capacity", 5), BOX, 0.0, True),
        (built_in("capacity", 5, dim=1), dw.Ball(1), 1.0, True),
        (built_in("capacity", 5), dw.Product(dw.Ball(1), dw.Box([0.0] * 3, [1.0] * 3)), L1, True),
    ],
)
def test_what_can_be_taken_apart(
    losses: DataLoss, domain: dw.Domain, price: float | dw.MoveCost, expected: bool
) -> None:
    assert coordinates.separable(losses, domain, move_cost_for("", price)) == expected


def test_steps_up_and_down_by_hand() -> None:
    # Tracking ten zeros, ten ones, ten zeros: the first level is pulled up by 2 / 10, the next down by (2 + 1) / 10,
    # and the last up by 1 / 10.
    losses = dw.TrackingLoss(np.repeat([0.0, 1.0, 0.0], 10))
    best = hindsight_optimum(losses, dw.Ball(1), dw.MoveCost(up=2.0, down=1.0))
    np.testing.assert_allclose(best.decisions.ravel(), np.repeat([0.2, 0.7, 0.1], 10), rtol=0.0, atol=1e-14)
    assert best.total_switching == pytest.approx(2.0 * 0.5 + 1.0 * 0.6, rel=1e-13)
    assert isinstance(best.switching_cost, dw.MoveCost)


@pytest.mark.parametrize("far", [0.0, 1e3])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_neither_the_unit_of_decisions_nor_where_they_are_matters_to_parabolas(unit: float, far: float) -> None:
    plain = built_in("tracking", 40)
    losses = dw.TrackingLoss(unit * (plain.data.features + far))
    prices = dw.MoveCost(unit * np.asarray(L1.up), unit * np.asarray(L1.down))
    best = hindsight_optimum(losses, dw.Box(unit * (LOW + far), unit * (HIGH + far)), prices)
    assert best.optimal
    assert best.total == pytest.approx(unit**2 * hindsight_optimum(plain, BOX, L1).total, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_a_capacity_does_not_matter(unit: float) -> None:
    plain = built_in("capacity", 40)
    price, shortage = plain.data.shape
    losses = dw.CapacityLoss(unit * plain.data.features, shortage, price)
    best = hindsight_optimum(losses, dw.Box(unit * LOW, unit * HIGH), L1)
    assert best.optimal
    assert best.total == pytest.approx(unit * hindsight_optimum(plain, BOX, L1).total, rel=1e-9)


def _demand(rounds: int) -> dw.CapacityLoss:
    rng = np.random.default_rng(0)
    return dw.CapacityLoss(100.0 * np.abs(np.sin(np.arange(rounds) / 500.0)) + 10.0 * rng.standard_normal(rounds))


def test_48_000_rounds_of_a_capacity_take_seconds_and_memory_linear_in_them() -> None:
    box, price, peaks = dw.Box([0.0], [200.0]), dw.MoveCost(up=20.0, down=3.0), []
    hindsight_optimum(_demand(10), box, price)
    for rounds in (12_000, 48_000):
        losses, start = _demand(rounds), time.perf_counter()
        best = hindsight_optimum(losses, box, price)
        assert time.perf_counter() - start <= 5.0
        assert best.gap <= 1e-12
        tracemalloc.start()
        hindsight_optimum(losses, box, price)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] <= 4.4 * peaks[0]
