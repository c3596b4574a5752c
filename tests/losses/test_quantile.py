"""The pinball loss: its formula, its best level, its optimum in hindsight, and what cannot be a quantile."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ArgumentError, InputError, ParameterError
from driftwise.testing import check_loss
from tests.cases import by_hand, check_refused
from tests.optimum.problems import CONES, DIM, DOMAINS, cheapest, cheapest_held, cost, held
from tests.strategies import vectors

RNG = np.random.default_rng(4)
QUANTILES = (0.05, 0.5, 0.9)
PRICES: dict[str, float | dw.MoveCost] = {
    "free": 0.0,
    "distance": 0.3,
    "up and down": dw.MoveCost(up=0.4, down=0.1),
    "l2": dw.MoveCost(up=0.4, down=0.1, norm="l2"),
}


def regression(rounds: int, dim: int, quantile: float) -> dw.QuantileLoss:
    rng = np.random.default_rng(dim)
    return dw.QuantileLoss(rng.uniform(-1.0, 1.0, (rounds, dim)), rng.uniform(-1.0, 1.0, rounds), quantile)


@given(vectors((3, 2)), vectors(3), vectors(2), st.floats(0.01, 0.99))
def test_value_and_gradient(x: Array, y: Array, w: Array, q: float) -> None:
    losses = dw.QuantileLoss(x, y, quantile=q)
    for t in range(3):
        gap = y[t] - x[t] @ w
        expected = q * gap if gap > 0.0 else (q - 1.0) * gap
        assert losses.unary_value(t, w) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if abs(gap) > 1e-6:
            slope = -q if gap > 0.0 else 1.0 - q
            np.testing.assert_allclose(losses.gradient(t, w), slope * x[t], rtol=1e-12)


def test_the_kink_has_slope_zero() -> None:
    assert dw.QuantileLoss([[1.0, 1.0]], [2.0], 0.9).gradient(0, [1.0, 1.0]).tolist() == [0.0, 0.0]


def test_the_median_is_half_the_absolute_loss() -> None:
    x, y, points = RNG.standard_normal((6, 3)), RNG.standard_normal(6), RNG.standard_normal((6, 3))
    half, whole = dw.QuantileLoss(x, y), dw.AbsoluteLoss(x, y)
    np.testing.assert_array_equal(half.unary_losses(points), 0.5 * whole.unary_losses(points))
    np.testing.assert_array_equal(half.unary_gradients(points), 0.5 * whole.unary_gradients(points))


@pytest.mark.parametrize("q", QUANTILES)
@pytest.mark.parametrize("name", DOMAINS)
def test_the_shared_checks(name: str, q: float) -> None:
    check_loss(regression(12, DIM, q), DOMAINS[name])


@pytest.mark.parametrize("name", ["ball", "box", "simplex"])
def test_no_gradient_is_longer_than_the_longest_features_allow(name: str) -> None:
    losses = regression(20, DIM, 0.9)
    longest = float(np.linalg.norm(losses.data.features, axis=1).max())
    assert losses.gradient_bound(DOMAINS[name]) <= 0.9 * longest + 1e-12
    np.testing.assert_array_equal(losses.lipschitz(DOMAINS[name]), [losses.gradient_bound(DOMAINS[name])])


@pytest.mark.parametrize("name", ["ball", "box", "simplex"])
def test_whole_runs_and_the_two_verbs_agree_bit_for_bit(name: str) -> None:
    losses, domain = regression(60, DIM, 0.8), DOMAINS[name]
    for variant in ("improved", "original"):
        learner = dw.Ader(domain, gradient_bound=losses.gradient_bound(domain), horizon=60, variant=variant)
        trace = dw.play(learner.clone(), losses)
        np.testing.assert_array_equal(trace.decisions, by_hand(learner, losses))
        np.testing.assert_array_equal(trace.losses, losses.unary_losses(trace.decisions))


@pytest.mark.parametrize("q", QUANTILES)
def test_the_best_level_is_a_quantile_of_the_targets(q: float) -> None:
    y = RNG.permutation(np.arange(101.0))
    losses, box = dw.QuantileLoss(np.ones(101), y, q), dw.Box([0.0], [200.0])
    least = min(held(losses, np.array([level])).sum() for level in y)
    fixed = dw.regret.best_fixed(losses, box)
    assert held(losses, fixed).sum() == pytest.approx(least, rel=1e-6)
    dear = dw.regret.hindsight_optimum(losses, box, 1e6)
    np.testing.assert_allclose(dear.decisions, np.quantile(y, q, method="inverted_cdf"), rtol=1e-12)


@pytest.mark.parametrize("q", QUANTILES)
@pytest.mark.parametrize("name", CONES)
def test_the_best_fixed_decision_agrees_with_cvxpy(name: str, q: float) -> None:
    losses, domain = regression(30, DIM, q), DOMAINS[name]
    found = dw.regret.best_fixed(losses, domain)
    assert domain.contains(found)
    assert held(losses, found).sum() == pytest.approx(cheapest_held(losses, domain), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("q", [0.2, 0.9])
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("name", ["ball", "box", "simplex", "product"])
def test_the_optimum_in_hindsight_is_certified_and_agrees_with_cvxpy(name: str, price: str, q: float) -> None:
    losses, domain = regression(25, DIM, q), DOMAINS[name]
    best = dw.regret.hindsight_optimum(losses, domain, PRICES[price])
    assert best.optimal, best.status
    assert best.total == pytest.approx(cost(losses, best.decisions, PRICES[price]), rel=1e-12)
    assert best.total == pytest.approx(cheapest(losses, domain, PRICES[price]), rel=2e-6, abs=1e-7)


@pytest.mark.parametrize("q", QUANTILES)
@pytest.mark.parametrize("price", PRICES)
def test_one_coordinate_is_solved_exactly(price: str, q: float) -> None:
    losses, interval = regression(80, 1, q), dw.Box([-0.7], [0.9])
    best = dw.regret.hindsight_optimum(losses, interval, PRICES[price])
    assert "every coordinate by itself" in best.status
    assert best.gap <= 1e-12
    assert best.total == pytest.approx(cheapest(losses, interval, PRICES[price]), rel=1e-6)


def test_features_may_be_zero_or_of_either_sign() -> None:
    losses = dw.QuantileLoss([0.0, 0.0, -2.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.25, -1.0], 0.7)
    best = dw.regret.hindsight_optimum(losses, dw.Box([-1.0], [1.0]), 0.05)
    np.testing.assert_allclose(best.decisions.ravel()[2:4], [-0.5, 0.25], rtol=0.0, atol=1e-15)
    assert best.total == pytest.approx(0.7 + 0.3 + 0.05 * 0.75, rel=1e-14)
    assert best.gap <= 1e-12


UNTYPED: Any = dw.QuantileLoss


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.1, 1.5, np.nan, "0.5", True])
def test_a_quantile_lies_between_0_and_1(quantile: Any) -> None:
    check_refused(lambda: UNTYPED([1.0], [1.0], quantile), "QuantileLoss: quantile", kind=ParameterError)


def test_wrong_data_are_refused() -> None:
    check_refused(lambda: UNTYPED([[1.0], [1.0]], [1.0], 0.9), "QuantileLoss: targets", "(2,)", kind=InputError)
    check_refused(lambda: UNTYPED([1.0], [1.0], quantil=0.9), "Did you mean quantile?", kind=ArgumentError)
