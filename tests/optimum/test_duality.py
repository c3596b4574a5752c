"""The lower bound: below the cost of every sequence, whatever the multipliers, and equal to it at the right ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.losses.base import DataLoss
from driftwise.optimum import duality
from tests.optimum.problems import DIM, DOMAINS, GENERAL, QUADRATIC, built_in, cheapest, cost, sequences
from tests.strategies import seeds

ROUNDS = 9


def slopes_for(losses: DataLoss, rng: np.random.Generator, size: float = 1.0) -> Array:
    """Return slopes of the right shape for a stream."""
    return size * rng.standard_normal(losses.aims.shape)


def priced(lambda_: float) -> dw.MoveCost:
    """Return a price of Euclidean distance as prices."""
    return dw.MoveCost(lambda_, norm="l2")


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
    bound = duality.lower_bound(losses, domain, slopes, dual, priced(lambda_))
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
    at_0: dict[str, Array] = {
        "absolute": -np.sign(y),
        "quantile": np.where(y > 0.0, -0.8, 0.2),
        "huber": np.clip(-y, -0.3, 0.3),
        "logistic": -0.5 * y,
    }
    slopes = at_0.get(kind, np.ones(rounds) if kind == "linear" else -y)
    slopes = -losses.data.features if kind == "tracking" else slopes
    assert -sum(float(addend.sum()) for addend in losses.conjugates(slopes)) == pytest.approx(
        cost(losses, still, lambda_), abs=1e-12
    )
    optimum = cheapest(losses, DOMAINS["ball"], lambda_)
    assert optimum < cost(losses, still, lambda_) - 1e-4
    dual = np.cumsum(losses.pulls(slopes), axis=0)
    assert duality.lower_bound(losses, DOMAINS["ball"], slopes, dual, priced(lambda_)) <= optimum + 1e-8


def test_the_bound_is_the_optimum_at_multipliers_found_by_hand() -> None:
    # w1^2 / 2 + (w2 - 1)^2 / 2 + |w2 - w1| / 4 is least at 1/4 and 3/4, with slopes 1/4 and -1/4.
    losses = dw.TrackingLoss([0.0, 1.0])
    slopes, dual = np.array([[0.25], [-0.25]]), np.array([[0.25], [0.0]])
    assert duality.lower_bound(losses, dw.Ball(1), slopes, dual, priced(0.25)) == pytest.approx(0.1875, abs=1e-15)
    # Any other multipliers bound it less well.
    assert duality.lower_bound(losses, dw.Ball(1), slopes, 0.9 * dual, priced(0.25)) < 0.1874
    assert duality.lower_bound(losses, dw.Ball(1), slopes, 9.0 * dual, priced(0.25)) < 0.1876


def test_the_bound_at_the_edge_of_the_domain_uses_its_normals() -> None:
    # -w1 + w2 / 2 + lambda |w2 - w1| on [-1, 1]: stay at 1 when lambda is above 1/2, go to -1 when it is below.
    losses, slopes = dw.LinearLoss([-1.0, 0.5]), np.ones(2)
    for lambda_, s, optimum in [(0.8, -0.5, -0.5), (0.1, -0.1, -1.3)]:
        dual = np.array([[s], [0.0]])
        bound = duality.lower_bound(losses, dw.Ball(1), slopes, dual, priced(lambda_))
        assert bound == pytest.approx(optimum, abs=1e-14)


def test_duals_beyond_lambda_are_brought_back_and_not_changed_for_the_caller() -> None:
    losses, rng = built_in("squared", ROUNDS), np.random.default_rng(1)
    slopes, dual = slopes_for(losses, rng), rng.standard_normal((ROUNDS, DIM))
    before = dual.copy()
    bound = duality.lower_bound(losses, DOMAINS["ball"], slopes, dual, priced(0.2))
    np.testing.assert_array_equal(dual, before)
    cut = dual * np.minimum(1.0, 0.2 / np.linalg.norm(dual, axis=1))[:, None]
    assert bound >= duality.lower_bound(losses, DOMAINS["ball"], slopes, cut, priced(0.2)) - 1e-12
