"""The lower bound: below the cost of every sequence, whatever the multipliers, and equal to it at the right ones."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.losses.base import DataLoss
from driftwise.optimum import duality
from tests.regret.problems import DIM, DOMAINS, GENERAL, QUADRATIC, built_in, cheapest, cost, scores, sequences
from tests.strategies import seeds

ROUNDS = 9


def slopes_for(losses: DataLoss, rng: np.random.Generator, size: float = 1.0) -> Array:
    """Return slopes of the right shape for a stream."""
    each = isinstance(losses, dw.TrackingLoss | dw.CapacityLoss)
    shape = (len(losses), losses.dim) if each else len(losses)
    return size * rng.standard_normal(shape)


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("kind", [*QUADRATIC, *GENERAL, "capacity"])
@settings(max_examples=15)
@given(seeds, st.sampled_from([0.0, 1e-3, 0.4, 3.0, 1e5]), st.sampled_from([1e-3, 1.0, 30.0]))
def test_no_multipliers_put_the_bound_above_the_cost_of_a_sequence(
    kind: str, name: str, seed: int, lambda_: float, size: float
) -> None:
    losses, domain, rng = built_in(kind, ROUNDS), DOMAINS[name], np.random.default_rng(seed)
    slopes = slopes_for(losses, rng, size)
    dual = size * np.cumsum(rng.standard_normal((ROUNDS, DIM)), axis=0)
    bound = duality.lower_bound(losses.data, domain, slopes, dual, lambda_)
    for decisions in sequences(domain, ROUNDS, seed):
        assert bound <= cost(losses, decisions, lambda_) + 1e-12 * (1.0 + abs(bound))


@pytest.mark.parametrize("lambda_", [0.0, 0.05, 100.0])
@pytest.mark.parametrize("rounds", [1, ROUNDS])
@pytest.mark.parametrize("kind", [*QUADRATIC, *GENERAL])
def test_multipliers_that_promise_too_much_are_brought_down_to_the_optimum(
    kind: str, rounds: int, lambda_: float
) -> None:
    # At the slopes of standing still at 0, and an s that takes up all of their pull, the sums would add up to the cost
    # of standing still, which is above the optimum; but such an s is beyond lambda, or is not 0 in the end.
    losses, still = built_in(kind, rounds), np.zeros((rounds, DIM))
    y = losses.data.targets
    at_0: dict[str, Array] = {"absolute": -np.sign(y), "huber": np.clip(-y, -0.3, 0.3), "logistic": -0.5 * y}
    slopes = at_0.get(kind, np.ones(rounds) if kind == "linear" else -y)
    slopes = -losses.data.features if kind == "tracking" else slopes
    assert -duality.conjugates(losses.data, slopes) == pytest.approx(cost(losses, still, lambda_), abs=1e-12)
    optimum = cheapest(losses, DOMAINS["ball"], lambda_)
    assert optimum < cost(losses, still, lambda_) - 1e-4
    dual = np.cumsum(duality.pulls(losses.data, slopes), axis=0)
    assert duality.lower_bound(losses.data, DOMAINS["ball"], slopes, dual, lambda_) <= optimum + 1e-8


def test_the_bound_is_the_optimum_at_multipliers_found_by_hand() -> None:
    # w1^2 / 2 + (w2 - 1)^2 / 2 + |w2 - w1| / 4 is least at 1/4 and 3/4, with slopes 1/4 and -1/4.
    losses = dw.TrackingLoss([0.0, 1.0])
    slopes, dual = np.array([[0.25], [-0.25]]), np.array([[0.25], [0.0]])
    assert duality.lower_bound(losses.data, dw.Ball(1), slopes, dual, 0.25) == pytest.approx(0.1875, abs=1e-15)
    # Any other multipliers bound it less well.
    assert duality.lower_bound(losses.data, dw.Ball(1), slopes, 0.9 * dual, 0.25) < 0.1874
    assert duality.lower_bound(losses.data, dw.Ball(1), slopes, 9.0 * dual, 0.25) < 0.1876


def test_the_bound_at_the_edge_of_the_domain_uses_its_normals() -> None:
    # -w1 + w2 / 2 + lambda |w2 - w1| on [-1, 1]: stay at 1 when lambda is above 1/2, go to -1 when it is below.
    losses, slopes = dw.LinearLoss([-1.0, 0.5]), np.ones(2)
    for lambda_, s, optimum in [(0.8, -0.5, -0.5), (0.1, -0.1, -1.3)]:
        dual = np.array([[s], [0.0]])
        bound = duality.lower_bound(losses.data, dw.Ball(1), slopes, dual, lambda_)
        assert bound == pytest.approx(optimum, abs=1e-14)


def test_duals_beyond_lambda_are_brought_back_and_not_changed_for_the_caller() -> None:
    losses, rng = built_in("squared", ROUNDS), np.random.default_rng(1)
    slopes, dual = slopes_for(losses, rng), rng.standard_normal((ROUNDS, DIM))
    before = dual.copy()
    bound = duality.lower_bound(losses.data, DOMAINS["ball"], slopes, dual, 0.2)
    np.testing.assert_array_equal(dual, before)
    cut = dual * np.minimum(1.0, 0.2 / np.linalg.norm(dual, axis=1))[:, None]
    assert bound >= duality.lower_bound(losses.data, DOMAINS["ball"], slopes, cut, 0.2) - 1e-12


@pytest.mark.parametrize("kind", QUADRATIC + GENERAL)
def test_admissible_slopes_are_left_alone_and_others_brought_in(kind: str) -> None:
    losses, rng = built_in(kind, 50), np.random.default_rng(2)
    once = duality.admissible(losses.data, slopes_for(losses, rng, 3.0))
    np.testing.assert_array_equal(duality.admissible(losses.data, once), once)
    assert np.isfinite(duality.conjugates(losses.data, once))
    limit = {"absolute": 1.0, "huber": 0.3, "linear": 1.0, "logistic": 1.0}.get(kind, np.inf)
    assert np.abs(once).max() <= limit
    if kind == "logistic":
        assert np.all(once * losses.data.targets <= 0.0)


TARGETS = np.array([0.7, -0.4, 1.0])
SIGNS = np.array([1.0, -1.0, 1.0])
SCALAR: dict[str, tuple[DataLoss, Callable[[Array, int], Array]]] = {
    "squared": (dw.SquaredLoss(np.ones(3), TARGETS), lambda z, t: 0.5 * (z - TARGETS[t]) ** 2),
    "absolute": (dw.AbsoluteLoss(np.ones(3), TARGETS), lambda z, t: np.abs(z - TARGETS[t])),
    "logistic": (dw.LogisticLoss(np.ones(3), SIGNS), lambda z, t: np.log1p(np.exp(-SIGNS[t] * z))),
    "tracking": (dw.TrackingLoss(TARGETS), lambda z, t: 0.5 * (z - TARGETS[t]) ** 2),
    "capacity": (dw.CapacityLoss(TARGETS, 0.6, 0.2), lambda z, t: 0.2 * z + 0.6 * np.maximum(TARGETS[t] - z, 0.0)),
    "huber": (
        dw.HuberLoss(np.ones(3), TARGETS, delta=0.5),
        lambda z, t: np.where(
            np.abs(z - TARGETS[t]) < 0.5, 0.5 * (z - TARGETS[t]) ** 2, 0.5 * np.abs(z - TARGETS[t]) - 0.125
        ),
    ),
}
"""Streams in one coordinate with a feature of 1, so that the score is the decision, and their losses."""


@pytest.mark.parametrize("kind", SCALAR)
def test_conjugates_are_the_largest_of_slope_times_score_less_loss(kind: str) -> None:
    losses, of_score = SCALAR[kind]
    slopes = duality.admissible(losses.data, slopes_for(losses, np.random.default_rng(3), 0.4))
    z = np.linspace(-40.0, 40.0, 800_001)
    expected = sum(float((r * z - of_score(z, t)).max()) for t, r in enumerate(slopes.ravel()))
    assert duality.conjugates(losses.data, slopes) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("kind", [*QUADRATIC, "filtered"])
@pytest.mark.parametrize("rounds", [1, 2, 3, 9])
def test_pulls_are_the_transpose_of_what_decisions_do_to_scores(kind: str, rounds: int) -> None:
    losses, rng = built_in(kind, rounds), np.random.default_rng(4)
    slopes, w = slopes_for(losses, rng), rng.standard_normal((rounds, DIM))
    assert float((duality.pulls(losses.data, slopes) * w).sum()) == pytest.approx(
        float((slopes * scores(losses, w)).sum())
    )


@pytest.mark.parametrize("rounds", [2, 3])
def test_pulls_reach_back_no_further_than_the_first_round(rounds: int) -> None:
    rng = np.random.default_rng(5)
    losses = dw.FilteredLoss([1.0, 0.5, -0.25, 0.125, 2.0], rng.standard_normal((rounds, DIM)), np.zeros(rounds))
    slopes, w = slopes_for(losses, rng), rng.standard_normal((rounds, DIM))
    assert float((duality.pulls(losses.data, slopes) * w).sum()) == pytest.approx(
        float((slopes * scores(losses, w)).sum())
    )
