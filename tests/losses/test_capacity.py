"""How much capacity to keep: the formula, its bounds, its best fixed one, and what cannot be one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ArgumentError, InputError, ParameterError
from driftwise.optimum import bundle
from driftwise.regret import best_fixed, best_piecewise
from tests.cases import check_refused
from tests.optimum.problems import DIM, DOMAINS, built_in, cheapest_held, held
from tests.strategies import vectors

RNG = np.random.default_rng(8)
SHORTAGE, PRICE = np.array([5.0, 0.5, 2.0]), np.array([1.0, 2.0, 0.0])


@given(vectors((2, 3)), vectors(3))
def test_value_and_gradient(demands: Array, w: Array) -> None:
    losses = dw.CapacityLoss(demands, SHORTAGE, PRICE)
    for t, demand in enumerate(demands):
        expected = sum(PRICE[k] * w[k] + SHORTAGE[k] * max(demand[k] - w[k], 0.0) for k in range(3))
        assert losses.unary_value(t, w) == pytest.approx(expected, rel=1e-12, abs=1e-9)
        np.testing.assert_array_equal(losses.gradient(t, w), PRICE - SHORTAGE * (demand > w))


def test_a_number_is_the_price_of_every_coordinate_and_a_row_of_numbers_one_coordinate() -> None:
    losses = dw.CapacityLoss([[3.0, 8.0]], shortage=4.0, price=0.5)
    assert losses.unary_value(0, [5.0, 5.0]) == 0.5 * 10.0 + 4.0 * 3.0
    single = dw.CapacityLoss([3.0, 8.0])
    assert (len(single), single.dim, single.memory) == (2, 1, 0)
    assert [single.unary_value(t, [5.0]) for t in range(2)] == [5.0, 20.0]


def test_where_demand_is_just_met_the_gradient_is_that_of_enough() -> None:
    np.testing.assert_array_equal(dw.CapacityLoss([[3.0, 3.0]]).gradient(0, [3.0, 2.9]), [1.0, -4.0])


@pytest.mark.parametrize(
    ("domain", "bound"),
    [
        (dw.Box([0.0, 0.0], [10.0, 10.0]), np.hypot(4.0, 4.0)),  # short of both is possible
        (dw.Box([0.0, 9.0], [10.0, 10.0]), np.hypot(4.0, 1.0)),  # never short of the second
        (dw.Box([6.0, 9.0], [10.0, 10.0]), np.hypot(1.0, 1.0)),  # never short
        (dw.Box([0.0, 0.0], [1.0, 1.0]), np.hypot(4.0, 4.0)),  # always short
        (dw.Ball(2, 1.0, [5.5, 9.0]), np.hypot(4.0, 1.0)),
        (dw.Simplex(2, scale=6.0), np.hypot(4.0, 4.0)),
    ],
    ids=repr,
)
def test_gradient_bound_counts_what_can_happen(domain: dw.Domain, bound: float) -> None:
    losses = dw.CapacityLoss([[5.0, 3.0], [2.0, 7.0]])
    assert losses.gradient_bound(domain) == pytest.approx(bound, rel=1e-14)
    np.testing.assert_allclose(losses.lipschitz(domain), [bound], rtol=1e-14)
    assert losses.switching_costs(domain) == (0.0, 0.0)


def test_the_demands_are_copied() -> None:
    demands, shortage = np.array([[1.0, 2.0]]), np.array([3.0, 4.0])
    losses = dw.CapacityLoss(demands, shortage)
    before = losses.unary_value(0, [0.0, 0.0])
    demands[:], shortage[:] = 9.0, 9.0
    assert losses.unary_value(0, [0.0, 0.0]) == before == 11.0


UNTYPED: Any = dw.CapacityLoss


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: UNTYPED([[[1.0]]]), InputError, ("demands", "finite real numbers")),
        (lambda: UNTYPED([1.0, np.nan]), InputError, ("demands", "nan")),
        (lambda: UNTYPED([]), InputError, ("demands",)),
        (lambda: UNTYPED([1.0], shortage=-1.0), ParameterError, ("shortage", "at least 0", "-1.0")),
        (lambda: UNTYPED([1.0], price=np.inf), ParameterError, ("price", "inf")),
        (lambda: UNTYPED([1.0], price="1"), ParameterError, ("price", "'1'")),
        (lambda: UNTYPED([[1.0, 2.0]], shortage=[1.0]), InputError, ("shortage", "(2,)", "(1,)")),
        (lambda: UNTYPED([[1.0, 2.0]], price=[1.0, -2.0]), ParameterError, ("price", "at least 0 everywhere", "-2")),
        (lambda: UNTYPED([1.0], shortages=3.0), ArgumentError, ("Did you mean shortage?",)),
    ],
)
def test_what_cannot_be_a_capacity_is_refused(
    call: Callable[[], object], kind: type[Exception], words: tuple[str, ...]
) -> None:
    check_refused(call, "CapacityLoss", *words, kind=kind)


def test_learners_play_it() -> None:
    demands = np.where(np.arange(300)[:, None] < 150, [2.0, 6.0], [7.0, 1.0])
    losses, box = dw.CapacityLoss(demands), dw.Box([0.0, 0.0], [10.0, 10.0])
    learner = dw.Scream(box, switching_cost=1.0, gradient_bound=losses.gradient_bound(box), horizon=300)
    trace = dw.play(learner, losses, dw.MoveCost(up=2.0, down=0.5))
    best = dw.regret.hindsight_optimum(losses, box, dw.MoveCost(up=2.0, down=0.5))
    np.testing.assert_array_equal(best.decisions, demands)
    assert best.total == demands.sum() + 2.0 * 5.0 + 0.5 * 5.0
    assert best.total < trace.total < dw.play(dw.OGD(box, step=1e-9), losses).total


@pytest.mark.parametrize("price", [0.0, 0.5, 1.0, 1.7, 5.0, 9.0])
@pytest.mark.parametrize("rounds", [1, 2, 5, 40])
def test_no_capacity_on_a_grid_costs_less(rounds: int, price: float) -> None:
    losses, box = dw.CapacityLoss(RNG.uniform(-1.0, 12.0, (rounds, 1)), 5.0, price), dw.Box([1.0], [10.0])
    fixed = best_fixed(losses, box)
    assert box.contains(fixed)
    candidates = np.concatenate([np.linspace(1.0, 10.0, 200), np.clip(losses.data.features[:, 0], 1.0, 10.0)])
    least = min(held(losses, np.array([w])).sum() for w in candidates)
    assert held(losses, fixed).sum() == pytest.approx(least, rel=1e-12)


def test_every_coordinate_has_its_own_quantile() -> None:
    demands = np.tile(np.arange(1.0, 11.0)[:, None], (1, 4))
    losses = dw.CapacityLoss(RNG.permuted(demands, axis=0), [5.0, 2.0, 0.5, 0.0], [1.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(best_fixed(losses, dw.Box(np.zeros(4), np.full(4, 20.0))), [8.0, 5.0, 0.0, 0.0])
    np.testing.assert_array_equal(best_fixed(losses, dw.Box(np.full(4, 2.0), np.full(4, 6.0))), [6.0, 5.0, 2.0, 2.0])


@pytest.mark.parametrize("name", ["ball", "simplex", "product", "box"])
def test_other_domains_are_solved_by_the_bundle_method(name: str) -> None:
    losses, domain = built_in("capacity", 30), DOMAINS[name]
    found = held(losses, best_fixed(losses, domain)).sum()
    assert found == pytest.approx(cheapest_held(losses, domain), rel=1e-6)
    assert held(losses, bundle.minimise("me", losses, domain)).sum() == pytest.approx(found, rel=1e-6)


def test_segments_have_quantiles_of_their_own() -> None:
    losses, box = built_in("capacity", 30), dw.Box(np.full(DIM, -1.0), np.ones(DIM))
    rows = best_piecewise(losses, box, segments=[0, 12])
    part = dw.CapacityLoss(losses.data.features[12:], losses.data.shape[1], losses.data.shape[0])
    np.testing.assert_array_equal(rows[12:], np.tile(best_fixed(part, box), (18, 1)))
    assert not np.array_equal(rows[0], rows[12])
