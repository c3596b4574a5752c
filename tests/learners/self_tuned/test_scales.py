"""What a self-tuned learner is invariant under, and what units, a wide domain and a glitch cost it."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from tests.cases import PRICES, a_third

ROUNDS, DIM = 200, 3


def _regression(seed: int, rounds: int, dim: int = DIM) -> tuple[Array, Array]:
    """Return features and targets of a regression whose weights change three times."""
    rng = np.random.default_rng(seed)
    x, weights = rng.normal(size=(rounds, dim)), np.repeat(0.4 * rng.normal(size=(4, dim)), rounds // 4, axis=0)
    return x, (x * weights).sum(axis=1) + 0.2 * rng.normal(size=rounds)


def _levels(seed: int, rounds: int, dim: int = DIM) -> Array:
    rng = np.random.default_rng(seed)
    walk: Array = np.cumsum(0.1 * rng.normal(size=(rounds, dim)), axis=0)
    return walk + 0.2 * rng.normal(size=(rounds, dim))


def _custom(levels: Array, factor: float) -> dw.CustomLoss:
    def value(t: int, w: Array) -> float:
        return 0.5 * factor * float(((w - levels[t]) ** 2).sum())

    def gradient(t: int, w: Array) -> Array:
        return np.asarray(factor * (w - levels[t]))

    return dw.CustomLoss(value, gradient, len(levels), levels.shape[1], compile="never")


X, Y = _regression(0, ROUNDS)
LEVELS = _levels(1, ROUNDS)

TIMES: dict[str, Callable[[float], dw.LossStream]] = {
    "squared": lambda f: dw.SquaredLoss(f**0.5 * X, f**0.5 * Y),
    "absolute": lambda f: dw.AbsoluteLoss(f * X, f * Y),
    "quantile": lambda f: dw.QuantileLoss(f * X, f * Y, quantile=0.8),
    "huber": lambda f: dw.HuberLoss(f**0.5 * X, f**0.5 * Y, delta=0.2 * f**0.5),
    "capacity": lambda f: dw.CapacityLoss(LEVELS, shortage=4.0 * f, price=0.7 * f),
    "linear": lambda f: dw.LinearLoss(f * X),
    "custom": lambda f: _custom(LEVELS, f),
}
"""Streams whose losses are multiplied by a number, at every decision."""


def _times(cost: float | dw.MoveCost, factor: float) -> float | dw.MoveCost:
    if isinstance(cost, dw.MoveCost):
        return dw.MoveCost(factor * np.asarray(cost.up), factor * np.asarray(cost.down), cost.norm)
    return factor * cost


def _decisions(domain: dw.Domain, cost: float | dw.MoveCost, losses: dw.LossStream) -> Array:
    return dw.play(dw.SelfTunedLearner(domain, switching_cost=cost), losses).decisions


@a_third(kind=TIMES, price=PRICES, factor=[1e6, 1e-6, 3.7])
def test_decisions_do_not_depend_on_the_unit_of_losses_and_prices(kind: str, price: str, factor: float) -> None:
    domain, cost = dw.Box([-2.0] * DIM, [2.0] * DIM), PRICES[price](DIM)
    plain = _decisions(domain, cost, TIMES[kind](1.0))
    other = _decisions(domain, _times(cost, factor), TIMES[kind](factor))
    np.testing.assert_allclose(other[:60], plain[:60], rtol=0.0, atol=1e-9)
    # Where Huber's loss bends more than in the mean, estimators step too far and amplify rounding.
    np.testing.assert_allclose(other, plain, rtol=0.0, atol=1e-3 if kind == "huber" else 1e-9)
    assert np.abs(np.diff(plain, axis=0)).sum() > 1.0


@pytest.mark.parametrize("factor", [1e6, 1e-6, 3.7])
@pytest.mark.parametrize("price", PRICES)
def test_decisions_are_in_the_unit_of_the_domain(price: str, factor: float) -> None:
    """Levels, limits and so decisions in another unit: squared losses are in its square, prices in losses per unit."""
    cost = PRICES[price](DIM)
    plain = _decisions(dw.Box([-2.0] * DIM, [2.0] * DIM), cost, dw.TrackingLoss(LEVELS))
    wide = dw.Box([-2.0 * factor] * DIM, [2.0 * factor] * DIM)
    other = _decisions(wide, _times(cost, factor), dw.TrackingLoss(factor * LEVELS))
    np.testing.assert_allclose(other / factor, plain, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("factor", [1e3, 1e-3])
def test_weights_are_in_the_inverse_unit_of_features(factor: float) -> None:
    plain = _decisions(dw.Ball(DIM), 0.3, dw.SquaredLoss(X, Y))
    other = _decisions(dw.Ball(DIM, radius=factor), 0.3 / factor, dw.SquaredLoss(X / factor, Y))
    np.testing.assert_allclose(other / factor, plain, rtol=0.0, atol=1e-9)


def test_on_a_simplex_a_feature_that_all_share_changes_nothing() -> None:
    """Linear losses with a number added to all of them; scores with a number that their target has as well."""
    rng = np.random.default_rng(1)
    rows, shared, y = rng.uniform(-1.0, 1.0, (ROUNDS, 4)), rng.normal(size=ROUNDS), rng.normal(size=ROUNDS)
    plain, other = (_decisions(dw.Simplex(4), 0.1, dw.LinearLoss(rows + c * shared[:, None])) for c in (0.0, 5.0))
    np.testing.assert_allclose(other, plain, rtol=0.0, atol=1e-9)
    assert np.ptp(plain, axis=0).max() > 0.05
    steady = rows - rows.mean(axis=1, keepdims=True)
    base = _decisions(dw.Simplex(4), 0.1, dw.SquaredLoss(steady, y))
    assert np.ptp(base, axis=0).max() > 0.05


def _cost(domain: dw.Domain, price: float, losses: dw.LossStream, without: int | None = None) -> float:
    """Return what a run costs, losses and moves; without the loss of one round."""
    trace = dw.play(dw.SelfTunedLearner(domain, switching_cost=price), losses, price)
    return trace.total - (0.0 if without is None else float(trace.losses[without]))


STATISTICAL: dict[str, Iterable[Any]] = {"price": [0.1, 1.0, 10.0], "seed": [10, 11, 12]}


@a_third(**STATISTICAL, at=[3, 150, 400])
def test_a_glitch_in_a_target_costs_little_beside_its_own_loss(price: float, seed: int, at: int) -> None:
    (x, y), domain = _regression(seed, 1200, 5), dw.Ball(5, radius=2.0)
    wrong = y.copy()
    wrong[at] = 1e6
    plain = _cost(domain, price, dw.SquaredLoss(x, y), at)
    assert _cost(domain, price, dw.SquaredLoss(x, wrong), at) <= (2.0 if at < 100 else 1.2) * plain


@a_third(**STATISTICAL, at=[3, 150, 400])
def test_a_glitch_in_a_feature_costs_little_beside_its_own_loss(price: float, seed: int, at: int) -> None:
    (x, y), domain = _regression(seed, 1200, 5), dw.Ball(5, radius=2.0)
    wrong = x.copy()
    wrong[at, 2] = 1e6
    plain = _cost(domain, price, dw.SquaredLoss(x, y), at)
    assert _cost(domain, price, dw.SquaredLoss(wrong, y), at) <= (2.0 if at < 100 else 1.2) * plain


@a_third(**STATISTICAL, kind=["tracking", "capacity"])
def test_a_glitch_in_a_level_costs_little_beside_its_own_loss(price: float, seed: int, kind: str) -> None:
    levels, domain = 5.0 + _levels(seed, 600, 1), dw.Box([0.0], [10.0])
    wrong = levels.copy()
    wrong[150] = 1e6

    def losses(rows: Array) -> dw.LossStream:
        return dw.TrackingLoss(rows) if kind == "tracking" else dw.CapacityLoss(rows, shortage=4.0, price=0.5)

    assert _cost(domain, price, losses(wrong), 150) <= 1.1 * _cost(domain, price, losses(levels), 150)


@a_third(**STATISTICAL)
def test_a_feature_in_another_unit_costs_little(price: float, seed: int) -> None:
    (x, y), domain = _regression(seed, 800, 5), dw.Ball(5, radius=2.0)
    plain = _cost(domain, price, dw.SquaredLoss(x, y))
    assert _cost(domain, price, dw.SquaredLoss(x * [1.0, 100.0, 1.0, 1.0, 1.0], y)) <= 1.2 * plain


@a_third(**STATISTICAL)
def test_a_domain_ten_times_too_wide_costs_little(price: float, seed: int) -> None:
    x, y = _regression(seed, 800, 5)
    plain, wide = (_cost(dw.Ball(5, radius=radius), price, dw.SquaredLoss(x, y)) for radius in (2.0, 20.0))
    assert wide <= 1.05 * plain
    levels = dw.TrackingLoss(5.0 + _levels(seed, 600, 1))
    plain, wide = (_cost(dw.Box([0.0], [high]), price, levels) for high in (10.0, 100.0))
    assert wide <= 1.05 * plain
