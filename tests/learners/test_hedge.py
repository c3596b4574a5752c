"""Hedge against its closed form."""

import math

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ParameterError
from tests.cases import by_hand, check_refused, stream

T, N = 60, 4
LOSSES = stream("linear", N, T)
PRIOR = np.array([8.0, 4.0, 2.0, 2.0])


def _closed_form(prior: Array, rates: Array) -> Array:
    """Return p_t ~ prior exp(-eps_t sum_{s<t} l_s) for every round."""
    vectors = np.array([LOSSES.gradient(t, np.zeros(N)) for t in range(T)])
    totals = np.vstack([np.zeros(N), np.cumsum(vectors, axis=0)[:-1]])
    weights = prior * np.exp(-rates[:, None] * totals)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("prior", [None, PRIOR], ids=["uniform", "prior"])
@pytest.mark.parametrize("switching_cost", [0.0, 3.0])
@pytest.mark.parametrize("schedule", ["rate", "horizon", "time-varying"])
def test_weights_are_the_closed_form(schedule: str, prior: Array | None, switching_cost: float) -> None:
    start = np.full(N, 1.0 / N) if prior is None else prior / prior.sum()
    C = 1.5
    eps = math.sqrt(math.log(1.0 / start.min()) / (C * (switching_cost + C)))
    # The weights of round t come from update t - 1, and so does their rate.
    clock = {"rate": np.ones(T), "horizon": np.full(T, T), "time-varying": np.maximum(np.arange(T), 1)}[schedule]
    learner = dw.Hedge(
        N,
        prior=prior,
        switching_cost=switching_cost,
        loss_bound=None if schedule == "rate" else C,
        rate=0.3 if schedule == "rate" else None,
        horizon=T if schedule == "horizon" else None,
    )
    rates = (0.3 if schedule == "rate" else eps) / np.sqrt(clock)
    np.testing.assert_allclose(learner.step_sizes, rates[:1], rtol=1e-14)
    np.testing.assert_allclose(by_hand(learner, LOSSES), _closed_form(start, rates), rtol=0.0, atol=1e-13)


def test_weights_are_the_decision_and_a_copy_of_it() -> None:
    learner = dw.Hedge(N, rate=0.5, prior=PRIOR)
    assert np.array_equal(learner.weights, PRIOR / 16.0)
    learner.act()
    learner.observe([1.0, 0.0, 0.0, 0.0])
    weights = learner.weights
    assert np.array_equal(weights, learner.act())
    weights[:] = 0.0
    assert learner.weights.sum() == pytest.approx(1.0)


def test_an_expert_comes_back_from_a_log_gap_of_ten_thousand() -> None:
    learner = dw.Hedge(2, rate=1.0)
    for loss in [[1000.0, 0.0]] * 10 + [[0.0, 1000.0]] * 10 + [[0.0, 10.0]]:
        learner.act()
        learner.observe(loss)
        if learner.round == 10:
            assert learner.weights.tolist() == [0.0, 1.0]
    np.testing.assert_allclose(learner.weights, [1.0 / (1.0 + math.exp(-10.0)), 1.0 / (1.0 + math.exp(10.0))])


@pytest.mark.parametrize("horizon_free", ["time-varying", "doubling"])
def test_play_records_the_weights_of_the_experts(horizon_free: str) -> None:
    trace = dw.play(dw.Hedge(N, loss_bound=1.0, horizon_free=horizon_free), LOSSES, record_weights=True)
    assert trace.weights is not None
    np.testing.assert_array_equal(trace.weights, trace.decisions)


def test_a_rate_or_a_bound_is_needed() -> None:
    check_refused(lambda: dw.Hedge(2, horizon=3), "Hedge: give loss_bound", "rate", kind=ParameterError)


@pytest.mark.parametrize("prior", [None, PRIOR], ids=["uniform", "prior"])
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_shared_weights_are_multiplied_and_then_mixed_with_the_start(scale: float, prior: Array | None) -> None:
    """Hedge, and mirror descent on a larger simplex, against the two lines of fixed share."""
    start = np.full(N, 1.0 / N) if prior is None else prior / prior.sum()
    eta, share = 0.4, 0.03
    learner: dw.Ensemble = dw.Hedge(N, rate=eta, prior=prior, share=share)
    if scale != 1.0:
        mirror = dw.mirror.NegativeEntropy(share)
        learner = dw.MirrorDescent(dw.Simplex(N, scale), mirror=mirror, step=eta, start=scale * start)
    weights, expected = start, []
    for t in range(T):
        expected.append(scale * weights)
        shifted = weights * np.exp(-eta / scale * LOSSES.gradient(t, np.zeros(N)))
        weights = (1.0 - share) * shifted / shifted.sum() + share * start
    np.testing.assert_allclose(by_hand(learner.clone(), LOSSES), expected, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(dw.play(learner, LOSSES).decisions, expected, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("size", [1e-90, 1.0, 1e90])
def test_no_shared_weight_falls_below_its_part_of_the_start(size: float) -> None:
    learner = dw.Hedge(N, rate=1.0, prior=PRIOR, share=0.01)
    for sign in (1.0, 1.0, -1.0, 0.0):
        learner.act()
        learner.observe(sign * size * np.arange(N))
        weights = learner.weights
        assert np.all(weights >= 0.01 * PRIOR / 16.0 * (1.0 - 1e-12))
        assert weights.sum() == pytest.approx(1.0, rel=1e-13)


def test_a_share_needs_rates_that_do_not_shrink() -> None:
    check_refused(
        lambda: dw.Hedge(N, loss_bound=1.0, share=0.1), "Hedge", "horizon= or a constant rate", kind=ParameterError
    )
    mirror = dw.mirror.NegativeEntropy(0.1)
    check_refused(
        lambda: dw.MirrorDescent(dw.Simplex(N), mirror=mirror, gradient_bound=1.0, horizon_free="doubling"),
        "MirrorDescent",
        "share=0.1",
        kind=ParameterError,
    )
