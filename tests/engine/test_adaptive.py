"""The strongly adaptive round: the kernel against NumPy, and every step of its proof against hostile gradients."""

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.engine.adaptive_reference import AdaptiveReference
from driftwise.learners.strongly_adaptive import adaptive_lanes
from tests.cases import DOMAINS, PRICES, every_pair, squared

ROUNDS = 250


@every_pair(where=DOMAINS, price=PRICES, horizon=[ROUNDS, None])
def test_every_round_is_the_reference_round(where: str, price: str, horizon: int | None) -> None:
    domain, losses = DOMAINS[where], squared(DOMAINS[where].dim, ROUNDS)
    learner = dw.StronglyAdaptive(domain, switching_cost=PRICES[price](domain.dim), gradient_bound=0.5, horizon=horizon)
    reference = AdaptiveReference(learner.program, learner.act())
    for t in range(ROUNDS):
        np.testing.assert_allclose(learner.act(), reference.decision, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(learner.weights, reference.weights, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(learner.base_decisions, reference.points, rtol=0.0, atol=1e-12)
        reference.observe(losses.gradient(t, reference.decision))
        learner.observe(losses[t])
    assert np.ptp(reference.points, axis=0).max() > 1e-3
    assert reference.credits.max() > 0.0


def hostile(kind: str, t: int, state: AdaptiveReference, rng: np.random.Generator) -> Array:
    """Return a direction: random, flips on blocks, against the leader, outwards, or what tells base-learners apart."""
    dim, points = state.decision.size, state.points
    directions: dict[str, Array] = {
        "random": rng.normal(size=dim),
        "flips": np.full(dim, 1.0 if (t // 7) % 2 else -1.0),
        "against the leader": points[np.argmax(state.weights)] - points[np.argmin(state.weights)],
        "outwards": state.decision,
        "apart": points[0] - points[-1],
    }
    return directions[kind] + 1e-9 * rng.normal(size=dim)


@every_pair(
    kind=["random", "flips", "against the leader", "outwards", "apart"],
    lambda_=[0.0, 0.02, 1.0, 30.0],
    horizon=[300, 20_000, None],
)
def test_every_step_of_the_proof_holds(kind: str, lambda_: float, horizon: int | None) -> None:
    G, domain, rng = 0.7, dw.Ball(2, 3.0), np.random.default_rng(len(kind))
    D, lanes = domain.diameter, adaptive_lanes(lambda_ / G, horizon)
    learner = dw.StronglyAdaptive(domain, switching_cost=lambda_, gradient_bound=G, horizon=horizon)
    state = AdaptiveReference(learner.program, learner.act())
    for t in range(300):
        direction = hostile(kind, t, state, rng)
        weights, count = state.weights, state.totals.size
        potential = float(np.sum(np.exp(state.credits) / state.rates))
        state.observe(direction * (G / np.linalg.norm(direction)))
        # Surrogate losses differ by at most S, and regrets with surcharges are within R.
        assert np.abs(state.regrets).max() <= lanes.spread * G * D * (1.0 + 1e-12)
        assert np.abs(state.charged).max() <= lanes.regret * G * D * (1.0 + 1e-12)
        assert np.abs(state.rates[:count] * state.charged).max() <= 0.5 * (1.0 + 1e-12)
        assert weights @ state.charged == pytest.approx(0.0, abs=1e-12 * G * D)
        # The surcharges pay for the shift of the weights; newcomers are where the mixture is.
        after = state.weights[:count] / state.weights[:count].sum()
        paid = float(weights @ state.surcharges)
        assert lambda_ * D * 0.5 * np.abs(after - weights).sum() <= paid + 1e-12 * (1.0 + lambda_) * D
        assert paid <= lanes.paid * G * D * (1.0 + 1e-12)
        # The potential grows by no more than R for every base-learner.
        grown = float(np.sum(np.exp(state.credits[:count]) / state.rates[:count]))
        assert grown <= potential * (1.0 + 1e-12) + count * lanes.regret * G * D


def test_an_outlier_beyond_the_gradient_bound_counts_as_the_largest_regret() -> None:
    learner = dw.StronglyAdaptive(dw.Box([-1.0], [1.0]), switching_cost=0.1, gradient_bound=1e-3, horizon=1000)
    for t in range(200):
        learner.act()
        learner.observe([1e90 * (-1.0) ** (t // 3)])
    assert np.isfinite(learner.act()).all()
    assert np.isfinite(learner.weights).all()
    assert learner.weights.sum() == pytest.approx(1.0)
