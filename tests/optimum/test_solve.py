"""The hindsight optimum: against cvxpy, in any unit, at the edges, and honest about what it knows."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftwise as dw
from driftwise.errors import ArgumentError, InputError, ParameterError
from driftwise.losses.base import DataLoss
from driftwise.optimum.solve import CERTIFIED
from driftwise.regret import HindsightOptimum, hindsight_optimum
from tests.cases import EUCLIDEAN, check_refused, maker
from tests.optimum.problems import CONES, DIM, DOMAINS, QUADRATIC, built_in, cheapest, cheapest_held, cost, sequences
from tests.strategies import seeds


def check(best: HindsightOptimum, losses: DataLoss, domain: dw.Domain, lambda_: float, optimum: float) -> None:
    """Check that a certified optimum is one, and that it describes itself correctly."""
    still = cost(losses, np.tile(domain.project(np.zeros(domain.dim)), (len(losses), 1)), 0.0)
    unit = max(abs(optimum), 1e-6 * abs(still))
    assert domain.contains(best.decisions)
    assert best.total == pytest.approx(cost(losses, best.decisions, lambda_), rel=1e-12)
    assert best.total == pytest.approx(best.total_loss + best.total_switching, rel=1e-14)
    assert best.total == pytest.approx(optimum, abs=1e-6 * unit)
    assert best.lower_bound <= optimum + 1e-7 * unit
    assert best.optimal
    assert 0.0 <= best.gap <= CERTIFIED
    assert best.gap == pytest.approx(max(best.total - best.lower_bound, 0.0) / unit, rel=1e-3, abs=1e-12)
    assert best.status.startswith("Optimal to a relative gap of")
    assert "no sequence of decisions costs less than" in best.status


@pytest.mark.parametrize("rounds", [400, pytest.param(2000, marks=pytest.mark.full)])
@pytest.mark.parametrize("lambda_", [0.2, 2.0, 4.0])
def test_the_papers_stream_agrees_with_cvxpy(rounds: int, lambda_: float) -> None:
    losses = dw.streams.drifting_regression(rounds=rounds, dim=10, segment=rounds // 4, seed=1)
    best = hindsight_optimum(losses, losses.domain, lambda_)
    check(best, losses, losses.domain, lambda_, cheapest(losses, losses.domain, lambda_))


@pytest.mark.parametrize("lambda_", [0.0, 0.02, 0.3, 3.0])
@pytest.mark.parametrize("name", CONES)
@pytest.mark.parametrize("kind", QUADRATIC)
def test_quadratic_losses_agree_with_cvxpy_on_every_domain(kind: str, name: str, lambda_: float) -> None:
    losses, domain = built_in(kind, 40), DOMAINS[name]
    check(hindsight_optimum(losses, domain, lambda_), losses, domain, lambda_, cheapest(losses, domain, lambda_))


@pytest.mark.parametrize("kind", QUADRATIC)
@pytest.mark.parametrize("lambda_", [0.01, 0.5])
def test_one_coordinate_in_an_interval(kind: str, lambda_: float) -> None:
    losses, domain = built_in(kind, 60, dim=1), dw.Box([-0.3], [0.8])
    check(hindsight_optimum(losses, domain, lambda_), losses, domain, lambda_, cheapest(losses, domain, lambda_))


@pytest.mark.parametrize("kind", QUADRATIC)
@pytest.mark.parametrize("name", CONES)
def test_when_moving_is_too_dear_the_optimum_is_the_best_fixed_decision(kind: str, name: str) -> None:
    losses, domain = built_in(kind, 40), DOMAINS[name]
    best = hindsight_optimum(losses, domain, 1e6)
    check(best, losses, domain, 1e6, cheapest_held(losses, domain))
    fixed = dw.regret.best_fixed(losses, domain)
    np.testing.assert_allclose(best.decisions, np.tile(fixed, (40, 1)), rtol=0.0, atol=1e-4)
    assert best.total_switching == 0.0


@pytest.mark.parametrize("lambda_", [0.0, 1.0])
@pytest.mark.parametrize("name", CONES)
@pytest.mark.parametrize("kind", QUADRATIC)
def test_a_single_round_is_its_own_minimum(kind: str, name: str, lambda_: float) -> None:
    losses, domain = built_in(kind, 1), DOMAINS[name]
    best = hindsight_optimum(losses, domain, lambda_)
    expected = cheapest_held(losses, domain)
    assert best.total_switching == 0.0
    assert best.total == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert best.lower_bound <= expected + 1e-8


@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("name", CONES)
def test_the_unit_of_the_losses_does_not_matter(unit: float, name: str) -> None:
    plain, domain = built_in("squared", 40), DOMAINS[name]
    x, y = plain.data.features, plain.data.targets
    losses = dw.SquaredLoss(math.sqrt(unit) * x, math.sqrt(unit) * y)
    check(
        hindsight_optimum(losses, domain, 0.3 * unit), losses, domain, 0.3 * unit, unit * cheapest(plain, domain, 0.3)
    )


@pytest.mark.parametrize("size", [1e-5, 1e5])
def test_the_unit_of_the_decisions_does_not_matter(size: float) -> None:
    plain = built_in("tracking", 40)
    losses = dw.TrackingLoss(size * plain.data.features)
    optimum = size**2 * cheapest(plain, dw.Ball(DIM), 0.3)
    ball = dw.Ball(DIM, radius=size)
    check(hindsight_optimum(losses, ball, 0.3 * size), losses, ball, 0.3 * size, optimum)


@pytest.mark.parametrize("lambda_", [0.1, 1.0])
def test_a_world_far_from_the_origin_is_as_good_as_one_near_it(lambda_: float) -> None:
    plain, far = built_in("tracking", 40), np.full(DIM, 1e5)
    losses, domain = dw.TrackingLoss(plain.data.features + far), dw.Ball(DIM, center=far)
    best, optimum = hindsight_optimum(losses, domain, lambda_), cheapest(plain, dw.Ball(DIM), lambda_)
    assert best.total == pytest.approx(optimum, rel=1e-6)
    assert best.lower_bound <= optimum * (1.0 + 1e-6)
    assert best.optimal


def test_targets_out_of_reach_leave_the_optimum_at_the_edge() -> None:
    plain = built_in("squared", 40)
    losses = dw.SquaredLoss(plain.data.features, plain.data.targets + 1e5)
    best = hindsight_optimum(losses, dw.Ball(DIM), 1e4)
    check(best, losses, dw.Ball(DIM), 1e4, cheapest(losses, dw.Ball(DIM), 1e4))
    np.testing.assert_allclose(np.linalg.norm(best.decisions, axis=1), 1.0, rtol=0.0, atol=1e-6)


def test_moves_happen_where_lambda_allows_by_hand() -> None:
    # Tracking n zeros, then n ones: each level moves by lambda / n towards the other.
    losses = dw.TrackingLoss(np.repeat([0.0, 1.0], 10))
    best = hindsight_optimum(losses, dw.Ball(1), 2.0)
    np.testing.assert_allclose(best.decisions.ravel(), np.repeat([0.2, 0.8], 10), rtol=0.0, atol=1e-6)
    assert best.total_loss == pytest.approx(20 * 0.5 * 0.04, abs=1e-6)
    assert best.total_switching == pytest.approx(2.0 * 0.6, abs=1e-6)


POINT = [0.3, 0.1, -0.7, 0.2]


@pytest.mark.parametrize("lambda_", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["absolute", *QUADRATIC])
def test_a_domain_of_one_point_leaves_no_choice(kind: str, lambda_: float) -> None:
    losses, domain = built_in(kind, 20), dw.Box(POINT, POINT)
    best = hindsight_optimum(losses, domain, lambda_)
    np.testing.assert_array_equal(best.decisions, np.tile(POINT, (20, 1)))
    check(best, losses, domain, lambda_, cost(losses, best.decisions, lambda_))


def test_a_coordinate_without_choice_is_held() -> None:
    losses, domain = built_in("squared", 40), dw.Box([0.3, -1.0, -0.7, 0.0], [0.3, 1.0, -0.7, 1.0])
    best = hindsight_optimum(losses, domain, 0.3)
    np.testing.assert_array_equal(best.decisions[:, [0, 2]], np.tile([0.3, -0.7], (40, 1)))
    check(best, losses, domain, 0.3, cheapest(losses, domain, 0.3))


NOTHING: dict[str, DataLoss] = {
    "tracking": dw.TrackingLoss(np.full((20, DIM), 0.3)),
    "squared": dw.SquaredLoss(built_in("squared", 20).data.features, built_in("squared", 20).data.features @ POINT),
}


@pytest.mark.parametrize("kind", NOTHING)
def test_an_optimum_of_zero_is_found_and_bounded_closely(kind: str) -> None:
    losses = NOTHING[kind]
    best = hindsight_optimum(losses, dw.Ball(DIM), 1.0)
    still = cost(losses, np.zeros((20, DIM)), 1.0)
    assert 0.0 <= best.total <= 1e-12 * still
    assert -1e-6 * still <= best.lower_bound <= best.total
    assert best.optimal == (best.gap <= CERTIFIED)


@pytest.mark.parametrize("kind", NOTHING)
def test_an_optimum_of_zero_is_certified(kind: str) -> None:
    assert hindsight_optimum(NOTHING[kind], dw.Ball(DIM), 1.0).optimal


def test_an_optimum_of_zero_where_the_learner_would_start_is_certified() -> None:
    losses = dw.SquaredLoss(built_in("squared", 20).data.features, np.zeros(20))
    assert hindsight_optimum(losses, dw.Box(np.full(DIM, -1.0), np.full(DIM, 2.0)), 1.0).optimal


@pytest.mark.parametrize("kind", QUADRATIC)
def test_losses_without_any_size_cost_nothing(kind: str) -> None:
    zeros = np.zeros((10, DIM))
    makers: dict[str, Callable[[], DataLoss]] = {
        "squared": lambda: dw.SquaredLoss(zeros, zeros[:, 0]),
        "linear": lambda: dw.LinearLoss(zeros),
        "tracking": lambda: dw.TrackingLoss(zeros),
    }
    best = hindsight_optimum(makers[kind](), dw.Ball(DIM), 1.0)
    assert best.total == 0.0
    assert best.optimal


@pytest.mark.parametrize("kind", QUADRATIC)
def test_a_search_cut_short_is_not_called_optimal(kind: str) -> None:
    losses, domain = built_in(kind, 40), DOMAINS["ball"]
    best = hindsight_optimum(losses, domain, 0.1, iterations=1)
    optimum = cheapest(losses, domain, 0.1)
    assert not best.optimal
    assert best.gap > CERTIFIED
    assert best.status.startswith("Not certified as optimal: the optimum lies between")
    assert "limit of 1 cone problems was reached" in best.status
    assert best.lower_bound <= optimum <= best.total


@pytest.mark.parametrize("name", CONES)
@settings(max_examples=15)
@given(seeds, st.sampled_from(QUADRATIC), st.sampled_from([0.0, 0.05, 0.4, 5.0]), st.integers(1, 4))
def test_no_sequence_costs_less_than_the_lower_bound(
    name: str, seed: int, kind: str, lambda_: float, iterations: int
) -> None:
    losses, domain = built_in(kind, 25), DOMAINS[name]
    best = hindsight_optimum(losses, domain, lambda_, iterations=iterations)
    assert best.optimal <= (best.gap <= CERTIFIED)
    for decisions in sequences(domain, 25, seed):
        assert best.lower_bound <= cost(losses, decisions, lambda_) + 1e-10


@pytest.mark.parametrize("learner", EUCLIDEAN)
def test_no_learner_does_better_in_foresight(learner: str) -> None:
    losses = dw.streams.drifting_regression(rounds=300, dim=5, segment=60, seed=3)
    best = hindsight_optimum(losses, losses.domain, 0.5)
    assert best.optimal
    assert best.lower_bound <= dw.play(maker(learner, losses.domain, 300)(), losses, 0.5).total


@pytest.mark.parametrize("kind", QUADRATIC)
def test_prices_that_are_a_number_are_solved_as_one(kind: str) -> None:
    losses, domain = built_in(kind, 40), DOMAINS["ball"]
    number, prices = (hindsight_optimum(losses, domain, price) for price in (0.3, dw.MoveCost(0.3, norm="l2")))
    assert prices.switching_cost == 0.3
    assert prices.status == number.status
    np.testing.assert_array_equal(prices.decisions, number.decisions)


def test_no_learner_does_better_in_foresight_at_other_prices() -> None:
    losses, price = dw.CapacityLoss(np.random.default_rng(0).uniform(0.0, 5.0, 300)), dw.MoveCost(up=4.0, down=0.5)
    box = dw.Box([0.0], [8.0])
    best = hindsight_optimum(losses, box, price)
    assert best.optimal
    for step in (0.01, 0.1, 1.0):
        trace = dw.play(dw.OGD(box, step=step), losses, price)
        assert best.lower_bound <= best.total <= trace.total
        assert dw.regret.dynamic_regret(trace, losses, best.decisions) >= best.total_switching


def test_what_it_says_of_itself() -> None:
    losses = dw.TrackingLoss(np.repeat([0.0, 1.0], 10))
    best = hindsight_optimum(losses, dw.Ball(1), 2.0)
    assert repr(best).startswith("HindsightOptimum(total=1.6, gap=")
    lines = best.summary().splitlines()
    assert lines[0] == "Hindsight optimum, 20 rounds, 2 pieces"
    assert [line.split() for line in lines[1:4]] == [["loss", "0.4"], ["switching", "1.2"], ["overall", "1.6"]]
    assert lines[4].strip() == best.status


SQUARED, BALL = built_in("squared", 10), dw.Ball(DIM)
UNTYPED: Any = hindsight_optimum


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: UNTYPED(SQUARED, BALL, math.nan), ParameterError, ("switching_cost", "got nan")),
        (lambda: UNTYPED(SQUARED, BALL, -1.0), ParameterError, ("switching_cost", "at least 0", "got -1.0")),
        (lambda: UNTYPED(SQUARED, BALL, math.inf), ParameterError, ("switching_cost", "got inf")),
        (lambda: UNTYPED(SQUARED, BALL, "1"), ParameterError, ("switching_cost", "got '1'")),
        (
            lambda: UNTYPED(SQUARED, BALL, dw.MoveCost(up=[1.0, 2.0])),
            ParameterError,
            ("switching_cost", "2 coordinates", "decisions have 4"),
        ),
        (lambda: UNTYPED(SQUARED, dw.Ball(3), 1.0), InputError, ("dim 4", "Ball(3")),
        (lambda: UNTYPED(SQUARED, 3, 1.0), ParameterError, ("domain", "got 3")),
        (lambda: UNTYPED([1.0], BALL, 1.0), ParameterError, ("losses", "got [1.0]")),
        (lambda: UNTYPED(SQUARED, BALL, 1.0, iterations=0), ParameterError, ("iterations", "at least 1")),
        (lambda: UNTYPED(SQUARED, BALL, 1.0, iteration=3), ArgumentError, ("iteration", "Did you mean iterations?")),
        (lambda: UNTYPED(SQUARED, BALL), ArgumentError, ("switching_cost",)),
    ],
)
def test_wrong_calls_are_refused_by_name(
    call: Callable[[], object], kind: type[Exception], words: tuple[str, ...]
) -> None:
    check_refused(call, "hindsight_optimum", *words, kind=kind)


@pytest.mark.parametrize(
    ("targets", "width", "lambda_"),
    [
        (np.zeros(100), 1e4, 5.0),
        (np.full(100, 41.3), 1e4, 5.0),
        ([3210.0], 1e4, 1.0),
        ([2200.0, 7100.0, 4300.0], 1e4, 0.1),
        ([1.2e6, 1.3e6, 1.25e6, 9e5, 8e5], 1e7, 1.0),
    ],
    ids=["nothing", "constant", "one round", "three rounds", "millions"],
)
def test_demand_in_large_units_is_certified(targets: Any, width: float, lambda_: float) -> None:
    losses = dw.TrackingLoss(targets)
    best = hindsight_optimum(losses, dw.Box([0.0], [width]), lambda_)
    assert best.optimal, best.status
    assert best.total <= cost(losses, losses.data.features, lambda_) + 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("sizes", "closely"), [([100.0, 1.0, 0.1], 1e-6), ([1e4, 1.0, 1e-3], 1e-3)])
def test_features_of_different_sizes_are_certified_or_said_not_to_be(
    sizes: list[float], closely: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((100, 3)) * sizes
    w = np.cumsum(rng.normal(0.0, 0.05, (100, 3)), axis=0)
    losses = dw.SquaredLoss(x, np.einsum("td,td->t", x, w) + rng.normal(0.0, 0.1, 100))
    best = hindsight_optimum(losses, dw.Ball(3), 1.0)
    assert best.gap == pytest.approx(max(best.total - best.lower_bound, 0.0) / best.total)
    assert best.gap <= closely, best.status
    assert best.optimal == (best.gap <= CERTIFIED)
    assert best.status.startswith("Optimal" if best.optimal else "Not certified")


@pytest.mark.parametrize("lambda_", [1e6, 1e9, 1e12])
def test_where_moving_never_pays_a_fixed_decision_is_certified(lambda_: float) -> None:
    losses = dw.AbsoluteLoss(np.ones(50), 5000.0 + np.arange(50.0))
    best = hindsight_optimum(losses, dw.Box([0.0], [1e4]), lambda_)
    assert best.optimal, best.status
    assert best.total == pytest.approx(625.0, rel=1e-9)
    assert best.total_switching == 0.0
