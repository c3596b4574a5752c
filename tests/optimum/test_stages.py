"""All rounds as one problem: every price, loss and domain against cvxpy, and bounds that hold whatever happens."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.optimum import stages
from driftwise.optimum.duality import lower_bound
from driftwise.regret import hindsight_optimum
from tests.cases import every_pair
from tests.optimum.problems import CONES, DIM, DOMAINS, built_in, cheapest, cost, sequences

UP, DOWN = np.array([0.3, 0.1, 0.5, 0.0]), np.array([0.1, 0.2, 0.05, 0.3])
PRICES: dict[str, dw.MoveCost] = {
    "l1": dw.MoveCost(UP, DOWN),
    "l2": dw.MoveCost(UP, DOWN, "l2"),
    "l2 per coordinate": dw.MoveCost(UP, norm="l2"),
    "l1, one price": dw.MoveCost(0.2),
    "dear": dw.MoveCost(1e5, 1e-3),
}
KINDS = ("squared", "tracking", "linear", "capacity", "absolute", "quantile")


@every_pair(kind=KINDS, name=CONES, price=PRICES)
def test_every_price_agrees_with_cvxpy_on_every_domain(kind: str, name: str, price: str) -> None:
    losses, domain, prices = built_in(kind, 20), DOMAINS[name], PRICES[price]
    best, optimum = hindsight_optimum(losses, domain, prices), cheapest(losses, domain, prices)
    assert best.optimal, best.status
    assert domain.contains(best.decisions)
    assert best.total == pytest.approx(cost(losses, best.decisions, prices), rel=1e-12)
    assert best.total == pytest.approx(optimum, rel=1e-6)
    assert best.lower_bound <= optimum + 1e-7 * abs(optimum)
    for decisions in sequences(domain, 20, seed=4):
        assert best.lower_bound <= cost(losses, decisions, prices) + 1e-10


@pytest.mark.parametrize("name", CONES)
def test_prices_that_are_hard_on_clarabel_give_a_true_bound_if_not_a_close_one(name: str) -> None:
    losses, domain = built_in("capacity", 20), DOMAINS[name]
    best = hindsight_optimum(losses, domain, dw.MoveCost(1e7, 1e-3, "l2"))
    less = hindsight_optimum(losses, domain, dw.MoveCost(1e3, 1e-3, "l2"))
    assert best.optimal == (best.gap <= 1e-6)
    assert best.status.startswith("Optimal" if best.optimal else "Not certified as optimal")
    assert best.total >= less.lower_bound  # nothing is cheaper at higher prices
    for decisions in sequences(domain, 20, seed=4):
        assert best.lower_bound <= cost(losses, decisions, dw.MoveCost(1e7, 1e-3, "l2")) + 1e-10


@pytest.mark.parametrize("name", CONES)
def test_a_capacity_at_a_price_of_euclidean_distance(name: str) -> None:
    losses, domain = built_in("capacity", 20), DOMAINS[name]
    best = hindsight_optimum(losses, domain, 0.3)
    assert best.optimal
    assert best.total == pytest.approx(cheapest(losses, domain, 0.3), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_where_coordinates_come_apart_both_ways_agree(kind: str) -> None:
    losses, domain = built_in(kind, 30, dim=1), dw.Box([-0.5], [0.9])
    exact = hindsight_optimum(losses, domain, dw.MoveCost(0.3, 0.1))
    for norm in ("l1", "l2"):
        answer = stages.solve(losses, domain, dw.MoveCost(0.3, 0.1, norm), 1e-7, 0.0)
        assert cost(losses, answer.decisions, dw.MoveCost(0.3, 0.1)) == pytest.approx(exact.total, rel=1e-6)
        assert answer.lower_bound == pytest.approx(exact.total, rel=1e-6)
        assert answer.lower_bound <= exact.total + 1e-12 * abs(exact.total)


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["ball", "simplex", "box"])
def test_no_multipliers_put_the_bound_above_the_cost_of_a_sequence(kind: str, name: str, price: str) -> None:
    losses, domain, rng = built_in(kind, 9), DOMAINS[name], np.random.default_rng(5)
    best = hindsight_optimum(losses, domain, PRICES[price]).decisions
    for size in (1e-3, 0.1, 1.0, 30.0):
        slopes = size * rng.standard_normal((9, DIM) if kind in ("tracking", "capacity") else 9)
        dual = size * rng.standard_normal((9, DIM))
        before = dual.copy()
        bound = lower_bound(losses, domain, slopes, dual, PRICES[price])
        np.testing.assert_array_equal(dual, before)
        for decisions in (*sequences(domain, 9, seed=6), best):
            assert bound <= cost(losses, decisions, PRICES[price]) + 1e-12 * (1.0 + abs(bound))


@pytest.mark.parametrize("price", ["l1", "l2"])
def test_multipliers_beyond_the_prices_do_not_count(price: str) -> None:
    # Half of the stream pulls one way and half the other. Were the multipliers not brought within the prices, those
    # that take up all of the pull would say that moving never pays, and that nothing costs less than 0.
    pull = np.array([1.0, -2.0, 0.5, 1.5])
    losses, domain = dw.LinearLoss([pull, pull, -pull, -pull]), DOMAINS["ball"]
    dual = np.array([pull, 2.0 * pull, pull, np.zeros(DIM)])
    best = hindsight_optimum(losses, domain, PRICES[price])
    assert best.optimal
    assert best.total < -1.0
    for factor in (0.01, 1.0, 1e3):
        assert lower_bound(losses, domain, np.ones(4), factor * dual, PRICES[price]) <= best.total + 1e-9
    dear = dw.MoveCost(100.0 * UP + 100.0, 100.0 * DOWN + 100.0, PRICES[price].norm)
    assert lower_bound(losses, domain, np.ones(4), dual, dear) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["ball", "simplex"])
def test_the_unit_of_costs_does_not_matter(name: str, unit: float) -> None:
    plain, domain = built_in("capacity", 20), DOMAINS[name]
    price, shortage = plain.data.shape * unit
    losses = dw.CapacityLoss(plain.data.features, shortage, price)
    best = hindsight_optimum(losses, domain, dw.MoveCost(unit * UP, unit * DOWN, "l2"))
    expected = hindsight_optimum(plain, domain, PRICES["l2"])
    assert best.optimal
    assert best.total == pytest.approx(unit * expected.total, rel=1e-6)
    assert best.lower_bound <= unit * expected.total * (1.0 + 1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_domain_of_one_point_leaves_no_choice(kind: str) -> None:
    point = [0.3, 0.1, -0.7, 0.2]
    best = hindsight_optimum(built_in(kind, 8), dw.Box(point, point), PRICES["l2"])
    np.testing.assert_array_equal(best.decisions, np.tile(point, (8, 1)))
    assert best.optimal


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_single_round_is_its_own_minimum(kind: str, price: str) -> None:
    best = hindsight_optimum(built_in(kind, 1), DOMAINS["ball"], PRICES[price])
    expected = cheapest(built_in(kind, 1), DOMAINS["ball"], 0.0)
    assert best.total_switching == 0.0
    assert best.total == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert best.lower_bound <= expected + 1e-8


@pytest.mark.parametrize(
    ("kind", "name"), [("huber", "ball"), ("filtered", "box"), ("capacity", "spectral"), ("quantile", "spectral")]
)
@pytest.mark.parametrize("price", ["l1", "l2"])
def test_what_is_left_goes_through_cvxpy(kind: str, name: str, price: str) -> None:
    losses, domain = built_in(kind, 15), DOMAINS[name]
    best = hindsight_optimum(losses, domain, PRICES[price])
    assert best.optimal, best.status
    assert "Clarabel ended with" in best.status
    assert best.total == pytest.approx(cost(losses, best.decisions, PRICES[price]), rel=1e-12)
    assert best.total == pytest.approx(cheapest(losses, domain, PRICES[price]), rel=2e-6)


@pytest.mark.full
@pytest.mark.parametrize("price", ["l1", "l2"])
def test_50_000_rounds_of_two_coordinates_in_a_ball_are_certified(price: str) -> None:
    losses = dw.streams.drifting_regression(rounds=50_000, dim=2, segment=5_000, seed=1)
    assert hindsight_optimum(losses, losses.domain, dw.MoveCost(3.0, 1.0, price)).optimal
