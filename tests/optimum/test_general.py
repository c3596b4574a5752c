"""The hindsight optimum of losses that need cvxpy: certified for ours, Clarabel's word for a user's own."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import InputError, MissingExtraError
from driftwise.optimum import general
from driftwise.regret import hindsight_optimum
from tests.cases import check_refused, custom, every_pair
from tests.optimum.problems import (
    DIM,
    DOMAINS,
    GENERAL,
    KINKED,
    QUADRATIC,
    built_in,
    cheapest,
    cost,
    cp,
    inside,
    sequences,
    solve,
)

ROUNDS = 25


@every_pair(kind=GENERAL, name=DOMAINS, lambda_=[0.05, 0.5])
def test_general_losses_agree_with_cvxpy_and_are_certified(kind: str, name: str, lambda_: float) -> None:
    losses, domain = built_in(kind, ROUNDS), DOMAINS[name]
    best, optimum = hindsight_optimum(losses, domain, lambda_), cheapest(losses, domain, lambda_)
    assert domain.contains(best.decisions)
    assert best.total == pytest.approx(cost(losses, best.decisions, lambda_), rel=1e-12)
    assert best.total == pytest.approx(optimum, rel=1e-6)
    assert best.lower_bound <= optimum * (1.0 + 1e-7)
    assert best.optimal
    assert best.gap <= 1e-6
    assert "certified by duality" in best.status
    for decisions in sequences(domain, ROUNDS, seed=0):
        assert best.lower_bound <= cost(losses, decisions, lambda_)


@pytest.mark.parametrize("kind", QUADRATIC)
def test_spectral_balls_go_the_general_way(kind: str) -> None:
    losses, domain = built_in(kind, ROUNDS), DOMAINS["spectral"]
    best, optimum = hindsight_optimum(losses, domain, 0.3), cheapest(losses, domain, 0.3)
    assert best.total == pytest.approx(optimum, rel=1e-6)
    assert best.optimal
    assert "Clarabel ended with" in best.status


@pytest.mark.parametrize("kind", [*QUADRATIC, *KINKED, "capacity"])
@pytest.mark.parametrize("name", ["ball", "box", "product"])
def test_the_general_way_and_the_special_ones_agree(kind: str, name: str) -> None:
    losses, domain = built_in(kind, ROUNDS), DOMAINS[name]
    answer = general.solve(losses, domain, dw.MoveCost(0.3, norm="l2"))
    best = hindsight_optimum(losses, domain, 0.3)
    assert cost(losses, answer.decisions, 0.3) == pytest.approx(best.total, rel=1e-6)
    assert answer.lower_bound == pytest.approx(best.lower_bound, rel=1e-6)


@pytest.mark.parametrize("kind", ["absolute", "huber", "logistic"])
def test_a_single_round(kind: str) -> None:
    losses = built_in(kind, 1)
    best = hindsight_optimum(losses, DOMAINS["simplex"], 1.0)
    assert best.total == pytest.approx(cheapest(losses, DOMAINS["simplex"], 1.0), rel=1e-6, abs=1e-8)
    assert best.total_switching == 0.0


def test_memory_makes_the_optimum_use_the_past_decisions() -> None:
    # Only the last decision but one counts, and the target flips: the optimum is a round ahead of it.
    targets = np.where(np.arange(12) % 4 < 2, 0.5, -0.5)
    losses = dw.FilteredLoss([0.0, 1.0], np.ones(12), targets)
    best = hindsight_optimum(losses, dw.Ball(1), 1e-4)
    np.testing.assert_allclose(best.decisions[1:-1].ravel(), targets[2:], rtol=0.0, atol=1e-3)
    assert best.optimal


@pytest.mark.parametrize("rounds", [2, 3])
def test_memory_may_be_longer_than_the_stream(rounds: int) -> None:
    x = built_in("squared", rounds).data.features
    losses = dw.FilteredLoss([1.0, 0.5, 0.2, 0.1, 0.3], x, np.full(rounds, 5.0))
    assert hindsight_optimum(losses, dw.Ball(DIM), 0.1).optimal


def half_squares(losses: dw.SquaredLoss) -> general.Expression:
    x, y = losses.data.features, losses.data.targets
    return lambda t, w: 0.5 * cp.square(x[t] @ w - y[t])


def own(losses: dw.LossStream) -> dw.CustomLoss:
    """Return a stream as one of a user's own, of which nothing is known."""
    return dw.CustomLoss(losses.unary_value, losses.gradient, len(losses), losses.dim)


def test_an_expression_gives_the_optimum_but_no_certificate() -> None:
    losses = built_in("squared", ROUNDS)
    assert isinstance(losses, dw.SquaredLoss)
    best = hindsight_optimum(own(losses), dw.Ball(DIM), 0.3, expression=half_squares(losses))
    known = hindsight_optimum(losses, dw.Ball(DIM), 0.3)
    assert best.total == pytest.approx(known.total, rel=1e-6)
    assert best.lower_bound == pytest.approx(known.total, rel=1e-6)
    assert best.gap <= 1e-6
    assert not best.optimal
    assert best.status.startswith("Not certified: Clarabel puts the optimum between")
    assert "not checked independently" in best.status


def test_an_expression_of_losses_with_memory_sees_the_window_oldest_first() -> None:
    losses = built_in("filtered", ROUNDS)
    taps, x, y = losses.data.taps, losses.data.features, losses.data.targets
    best = hindsight_optimum(
        losses, dw.Ball(DIM), 0.1, expression=lambda t, W: 0.5 * cp.square(taps[::-1] @ (W @ x[t]) - y[t])
    )
    assert best.total == pytest.approx(cheapest(losses, dw.Ball(DIM), 0.1), rel=1e-6)
    assert not best.optimal


def test_an_expression_may_be_any_convex_function() -> None:
    losses = custom(2, 8, compile="never")
    centers = np.array([-losses.gradient(t, np.zeros(2)) for t in range(8)])
    best = hindsight_optimum(losses, dw.Simplex(2), 0.2, expression=lambda t, w: 0.5 * cp.sum_squares(w - centers[t]))
    W = cp.Variable((8, 2))
    moves = cp.sum(cp.norm(W[1:] - W[:-1], axis=1))
    expected = solve(0.5 * cp.sum_squares(W - centers) + 0.2 * moves, inside(dw.Simplex(2), W))
    assert best.total == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (lambda t, w: -cp.sum_squares(w), ("expression(0, w)", "not convex")),
        (lambda t, w: cp.sqrt(w[0]) if t == 3 else w[0], ("expression(3, w)", "not convex")),
        (lambda t, w: w, ("expression(0, w)", "scalar", "(4,)")),
        (lambda t, w: 1.0, ("expression(0, w)", "scalar", "got 1.0")),
        (lambda t, w: None, ("expression(0, w)", "scalar", "got None")),
    ],
)
def test_expressions_that_cannot_be_minimised_are_refused(
    expression: Callable[[int, Any], Any], words: tuple[str, ...]
) -> None:
    losses = own(built_in("squared", 5))
    check_refused(lambda: hindsight_optimum(losses, dw.Ball(DIM), 0.3, expression=expression), *words, kind=InputError)


@pytest.mark.parametrize("expression", ["w", 3])
def test_an_expression_that_is_no_function_is_refused(expression: Any) -> None:
    check_refused(
        lambda: hindsight_optimum(built_in("squared", 5), dw.Ball(DIM), 0.3, expression=expression), "expression"
    )


def test_expressions_without_a_point_in_the_domain_are_refused_as_such() -> None:
    losses, domain = own(built_in("squared", 5)), dw.Box(np.full(DIM, -2.0), np.full(DIM, -1.0))
    check_refused(
        lambda: hindsight_optimum(losses, domain, 0.3, expression=lambda t, w: -cp.log(w[0])), "hindsight_optimum"
    )


def test_expressions_of_other_losses_are_refused() -> None:
    losses = built_in("squared", 5)
    assert isinstance(losses, dw.SquaredLoss)
    right = half_squares(losses)
    check_refused(
        lambda: hindsight_optimum(own(losses), dw.Ball(DIM), 0.3, expression=lambda t, w: 1.0 + right(t, w)),
        "expressions add up to",
        "must be the loss of round t",
        kind=InputError,
    )


def test_own_losses_without_an_expression_are_refused() -> None:
    check_refused(
        lambda: hindsight_optimum(own(built_in("squared", 5)), dw.Ball(DIM), 0.3),
        "hindsight_optimum",
        "expression=",
        kind=InputError,
    )


def test_without_cvxpy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    check_refused(
        lambda: hindsight_optimum(built_in("huber", 5), dw.Ball(DIM), 0.3),
        "cvxpy",
        "pip install 'driftwise[convex]'",
        kind=MissingExtraError,
    )
    for kind in ("squared", "absolute", "quantile"):
        assert hindsight_optimum(built_in(kind, 5), dw.Ball(DIM), 0.3).optimal


@pytest.mark.parametrize("unit", [1e-4, 1e6, *(pytest.param(unit, marks=pytest.mark.full) for unit in (1e2, 1e4))])
@pytest.mark.parametrize("kind", ["logistic", "absolute", "quantile", "huber", "filtered"])
def test_the_unit_of_the_decisions_does_not_matter(kind: str, unit: float) -> None:
    data = built_in(kind, 30).data
    makers: dict[str, Callable[[Array], dw.LossStream]] = {
        "logistic": lambda x: dw.LogisticLoss(x, data.targets),
        "absolute": lambda x: dw.AbsoluteLoss(x, data.targets),
        "quantile": lambda x: dw.QuantileLoss(x, data.targets, quantile=0.8),
        "huber": lambda x: dw.HuberLoss(x, data.targets, delta=0.3),
        "filtered": lambda x: dw.FilteredLoss(data.taps, x, data.targets),
    }
    plain = hindsight_optimum(makers[kind](data.features), dw.Ball(DIM), 0.1)
    scaled = hindsight_optimum(makers[kind](data.features / unit), dw.Ball(DIM, unit), 0.1 / unit)
    assert scaled.optimal, scaled.status
    assert scaled.total == pytest.approx(plain.total, rel=1e-6)


def test_it_is_never_worse_than_the_best_fixed_decision() -> None:
    losses = dw.LogisticLoss(np.full(30, 25.0), np.ones(30))
    fixed = np.tile(dw.regret.best_fixed(losses, dw.Ball(1)), (30, 1))
    best = hindsight_optimum(losses, dw.Ball(1), 1.0)
    assert best.total <= cost(losses, fixed, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_far_from_the_origin_the_bound_is_still_below_the_cost(seed: int) -> None:
    z = 1e6 + 1e-3 * np.random.default_rng(seed).uniform(-1.0, 1.0, 30)
    best = hindsight_optimum(dw.AbsoluteLoss(np.ones(30), z), dw.Box([1e6 - 6e-4], [1e6 + 6e-4]), 3.0)
    assert best.lower_bound <= best.total
