"""The one Hedge: weights and gaps against their formulas, at rates and totals of any size, and what it proves."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

import driftwise as dw
from driftwise._compile import entry
from driftwise._memory import part
from driftwise._validate import Array
from driftwise.engine.hedge import TIE, clock_rate, judge, mean_of, shifted, tuned_rate, weigh
from driftwise.movecost import move_cost_for
from tests.strategies import seeds

INF = math.inf


@entry
def _weigh(rate: float, prior: Array, totals: Array, weights: Array) -> None:
    weigh(prior.size, rate, part(prior, 0), part(totals, 0), part(weights, 0))


@entry
def _judge(rate: float, prior: Array, totals: Array, losses: Array, weights: Array, scale: float, out: Array) -> None:
    out[0], out[1], out[2] = judge(
        prior.size, rate, part(prior, 0), part(totals, 0), part(losses, 0), part(weights, 0), scale
    )


@entry
def _sums(before: Array, after: Array, out: Array) -> None:
    out[0] = shifted(before.size, part(before, 0), part(after, 0))
    out[1] = mean_of(before.size, part(before, 0), part(after, 0))


@entry
def _rates(a: float, b: float, out: Array) -> None:
    out[0], out[1] = tuned_rate(a, b), clock_rate(a, b)


def _weights(rate: float, prior: Array, totals: Array) -> Array:
    weights = np.full(prior.size, np.nan)
    _weigh(rate, prior, totals, weights)
    return weights


def _judged(rate: float, prior: Array, totals: Array, losses: Array, scale: float = 0.0) -> tuple[float, float, float]:
    """Return the least loss, and the mean and the mix loss above it."""
    out = np.full(3, np.nan)
    _judge(rate, prior, totals, losses, _weights(rate, prior, totals), scale, out)
    return float(out[0]), float(out[1]), float(out[2])


def _mix(rate: float, prior: Array, totals: Array, losses: Array) -> float:
    """Return the mix loss above the least loss, from the formula, in the longest floats there are."""
    here = prior > -INF
    long = [np.asarray(row[here], np.longdouble) for row in (prior, totals, losses)]
    powers, above = long[0] - rate * (long[1] - long[1].min()), long[2] - long[2].min()
    shares = np.exp(powers - powers.max())
    fall = np.sum(shares * np.expm1(-rate * above)) / shares.sum()
    if fall > -0.9:
        return float(-np.log1p(fall) / rate)
    later = powers - rate * above
    before, after = (np.max(p) + np.log(np.sum(np.exp(p - np.max(p)))) for p in (powers, later))
    return float((before - after) / rate)


def _experts(seed: int, size: float = 1.0) -> tuple[Array, Array, Array]:
    """Return the log prior, totals and losses of eight experts, some of them not in play."""
    rng = np.random.default_rng(seed)
    prior = np.log(rng.uniform(0.01, 1.0, 8))
    prior[rng.random(8) < 0.3] = -INF
    prior[rng.integers(8)] = 0.0
    return prior, size * rng.normal(size=8), size * rng.normal(size=8)


@given(seeds, st.floats(-300.0, 300.0), st.floats(-300.0, 300.0))
def test_weights_are_a_softmax_at_any_rate(seed: int, rate_power: float, total_power: float) -> None:
    prior, totals, _ = _experts(seed)
    rate, totals = 10.0**rate_power, totals * 10.0**total_power
    here = prior > -INF
    with np.errstate(over="ignore"):
        powers = prior[here] - rate * (totals[here] - totals[here].min())
    found = _weights(rate, prior, totals)
    np.testing.assert_allclose(found[here], softmax(powers), rtol=1e-12, atol=1e-290)
    assert not found[~here].any()
    assert abs(found.sum() - 1.0) < 1e-15 * 8


def test_totals_of_who_is_not_in_play_do_not_matter() -> None:
    prior, totals, losses = np.array([0.0, -INF, -1.0, -INF]), np.array([1.0, 0.0, 2.0, 0.0]), np.array([1.0, 0, 3, 0])
    expected = _weights(2.0, prior, totals), _judged(2.0, prior, totals, losses)
    for other in (-1e300, -5.0, 7.0, 1e300):
        totals[[1, 3]], losses[[1, 3]] = other, -other
        assert np.array_equal(_weights(2.0, prior, totals), expected[0])
        assert _judged(2.0, prior, totals, losses) == expected[1]
        assert np.array_equal(_weights(1e300, prior, totals), [1.0, 0.0, 0.0, 0.0])


@given(seeds, st.floats(-14.0, 4.0))
def test_the_mix_loss_is_the_formula_and_keeps_its_digits(seed: int, rate_power: float) -> None:
    prior, totals, losses = _experts(seed)
    rate, here = 10.0**rate_power, prior > -INF
    least, mean, mix = _judged(rate, prior, totals, losses)
    assert least == losses[here].min()
    assert mean == pytest.approx(float(_weights(rate, prior, totals) @ (losses - least)), rel=1e-13, abs=0.0)
    # -log(sum p exp(-rate l)) / rate, computed as it stands, is off by 1e-16 / rate.
    assert abs(mix - _mix(rate, prior, totals, losses)) <= 1e-14 * np.ptp(losses[here])
    assert 0.0 <= mix <= mean


def test_a_gap_that_is_small_beside_the_losses_is_half_the_rate_times_the_variance() -> None:
    prior, losses = np.full(4, -math.log(4.0)), np.array([0.0, 1.0, 2.0, 3.0])
    for rate in (1e-5, 1e-7, 1e-9):
        _, mean, mix = _judged(rate, prior, np.zeros(4), losses)
        assert mean - mix == pytest.approx(rate * losses.var() / 2.0, rel=1e-4 * (1e-5 / rate) ** 0.5, abs=1e-15)


@pytest.mark.parametrize("size", [1e-250, 1e-90, 1.0, 1e90, 1e150])
def test_a_leader_that_falls_behind_after_weights_have_underflowed_is_noticed(size: float) -> None:
    prior, totals, losses = np.zeros(4), np.array([0.0, 1.0, 1.0, 1.0]), np.array([5.0, 0.0, 5.0, 5.0])
    rate = 1e6 / size
    assert np.array_equal(_weights(rate, prior, totals * size), [1.0, 0.0, 0.0, 0.0])
    least, mean, mix = _judged(rate, prior, totals * size, losses * size)
    # The second comes out ahead: it was behind by 1 and is ahead by 4.
    assert least == 0.0
    assert mean == pytest.approx(5.0 * size, rel=1e-12)
    assert mix == pytest.approx(size, rel=1e-5)


def test_a_leader_that_falls_behind_is_noticed_even_if_totals_times_the_rate_are_infinite() -> None:
    prior, totals, losses = np.zeros(4), np.array([0.0, 1e10, 1e10, 1e10]), np.array([1e20, 0.0, 1e20, 1e20])
    _, mean, mix = _judged(1e300, prior, totals, losses)
    assert mean == 1e20
    assert mix == pytest.approx(1e10, rel=1e-12)


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e90])
def test_losses_that_differ_by_rounding_only_cost_nothing(scale: float) -> None:
    prior, totals = np.zeros(4), np.array([0.0, 1.0, 2.0, 3.0])
    losses = 0.5 + 0.9 * TIE * scale * np.array([0.0, 1.0, 0.5, 0.0])
    assert _judged(3.0, prior, totals, losses, scale) == (losses.min(), 0.0, 0.0)
    if scale:
        losses[1] = losses[0] + 2.0 * TIE * max(scale, 10.0)
        assert _judged(3.0, prior, totals, losses, scale)[1] > 0.0


def test_who_is_alone_is_the_mixture() -> None:
    prior = np.array([-INF, -INF, -3.0, -INF])
    assert np.array_equal(_weights(5.0, prior, np.full(4, 9.0)), [0.0, 0.0, 1.0, 0.0])
    assert _judged(5.0, prior, np.zeros(4), np.array([-1.0, -2.0, 3.0, -4.0])) == (3.0, 0.0, 0.0)


def test_a_rate_of_0_is_no_evidence_yet() -> None:
    prior, losses = np.log([0.5, 0.25, 0.125, 0.125]), np.array([4.0, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(_weights(0.0, prior, np.array([1e300, 0.0, 3.0, 1.0])), np.exp(prior), rtol=1e-15)
    least, mean, mix = _judged(0.0, prior, np.zeros(4), losses)
    assert (least, mix) == (1.0, 0.0)
    assert mean == pytest.approx(0.5 * 3.0 + 0.125 * 1.0 + 0.125 * 2.0, rel=1e-15)


def test_rates_of_the_schedules() -> None:
    out = np.empty(2)
    for overhead, expected in ((0.0, 0.0), (5e-324, 0.0), (1e-300, 0.0), (1e-299, 2e299), (4.0, 0.5), (1e300, 2e-300)):
        _rates(2.0, overhead, out)
        assert out[0] == pytest.approx(expected, rel=1e-15)
    _rates(3.0, 16.0, out)
    assert out[1] == 0.75


def test_what_shifting_weight_amounts_to() -> None:
    before, after, out = (
        np.array([0.1, 0.2, 0.3, 0.4, 0, 0, 0, 0]),
        np.array([0.4, 0.2, 0.3, 0.0, 0.1, 0, 0, 0]),
        np.empty(2),
    )
    _sums(before, after, out)
    np.testing.assert_allclose(out, [0.8, 0.1 * 0.4 + 0.2 * 0.2 + 0.3 * 0.3], rtol=1e-15)


sizes = st.floats(-1e300, 1e300)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, -1.0, -200.0, -INF]), sizes, sizes), min_size=4, max_size=4),
    st.one_of(st.just(0.0), st.floats(5e-324, 1e300)),
    st.floats(0.0, 1e300),
)
@settings(max_examples=100)
def test_numbers_stay_numbers(experts: list[tuple[float, float, float]], rate: float, scale: float) -> None:
    prior, totals, losses = (np.array(row) for row in zip(*experts, strict=True))
    prior[0] = 0.0
    weights = _weights(rate, prior, totals)
    assert np.all((weights >= 0.0) & (weights <= 1.0))
    assert abs(weights.sum() - 1.0) < 1e-14
    least, mean, mix = _judged(rate, prior, totals, losses, scale)
    assert least == losses[prior > -INF].min()
    assert 0.0 <= mix <= mean < INF


def _excess(learner: dw.SelfTunedScream, gradients: Array) -> float:
    """Return how much of its proved bound the mixture uses: at most 1 where the inequality holds.

    All is counted here, from what a learner shows: what the mixture suffered beyond the best of the base-learners that
    were there from the start, and what changes of weights can have cost in moves, over (1 + ln(N) / 2) overhead.
    """
    cost, dim = move_cost_for("", learner.switching_cost), learner.domain.dim
    first, priced = learner.weights.size, cost.largest(dim) * learner.domain.diameter
    totals, mixture, shifts = np.zeros(first), 0.0, 0.0
    last = learner.base_decisions
    for gradient in gradients:
        w = learner.act()
        points, weights = learner.base_decisions, learner.weights
        moves = np.zeros(len(points))
        moves[: len(last)] = cost(points[: len(last)] - last)
        learner.observe(gradient)
        # Counted from the decision, as only differences matter and small numbers keep them better.
        losses = (points - w) @ learner.program.last_gradient(learner.cell) + moves
        totals += losses[:first]
        mixture += float(weights @ losses)
        after = learner.weights[: weights.size]
        # Newcomers join where the mixture is, which moves nothing.
        shifts += priced * float(np.abs(after / after.sum() - weights).sum())
        last = points
    bound = (1.0 + math.log(learner.weights.size) / 2.0) * learner.overhead
    beyond = mixture + shifts - totals.min()
    return beyond / bound if bound > 0.0 else float(beyond > 1e-12 * np.abs(gradients).max())


def _box(dim: int) -> dw.Box:
    return dw.Box(np.full(dim, -1.0), np.full(dim, 1.0))


def test_the_mixture_inequality_where_the_gap_was_measured_with_another_rate() -> None:
    """With the rate that includes what the shift of weights cost, the left side is 1.58 times the bound."""
    gradients = np.array([-100.0, -4.0, -1600.0, 71.0, 4.7])[:, None]
    assert _excess(dw.SelfTunedScream(_box(1), switching_cost=0.054975), gradients) <= 1.0


def _price(seed: int, dim: int) -> float | dw.MoveCost:
    rng = np.random.default_rng(seed)
    prices = 10.0 ** rng.uniform(-3.0, 2.0, dim)
    kinds: list[float | dw.MoveCost] = [
        0.0,
        float(prices[0]),
        dw.MoveCost(up=prices, down=float(prices[0])),
        dw.MoveCost(up=prices, norm="l2"),
    ]
    return kinds[seed % 4]


def _heavy(rng: np.random.Generator, rounds: int, dim: int) -> Array:
    return np.asarray(rng.standard_t(1.0, (rounds, dim)) * 10.0 ** rng.uniform(-2.0, 2.0, (rounds, 1)))


@pytest.mark.parametrize("dim", [1, 2, 3])
@given(seed=seeds)
def test_the_mixture_inequality_on_heavy_tails(dim: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gradients = _heavy(rng, int(rng.integers(2, 40)), dim)
    assert _excess(dw.SelfTunedScream(_box(dim), switching_cost=_price(seed, dim)), gradients) <= 1.0 + 1e-9


def _climb(seed: int, steps: int) -> float:
    """Return the largest part of the bound that a search by small changes of gradients and price finds."""
    rng = np.random.default_rng(seed)
    dim, rounds = int(rng.integers(1, 4)), int(rng.integers(3, 9))
    gradients, price, best = _heavy(rng, rounds, dim), 10.0 ** rng.uniform(-3.0, 1.0), -INF
    for _ in range(steps):
        trial = gradients * np.exp(rng.normal(size=gradients.shape) * rng.choice([0.02, 0.3, 2.0]))
        trial[rng.random(trial.shape) < 0.1] *= -1.0
        other = price * math.exp(0.3 * rng.normal())
        found = _excess(dw.SelfTunedScream(_box(dim), switching_cost=other), trial)
        if found > best:
            gradients, price, best = trial, other, found
    return best


@pytest.mark.parametrize("seed", range(4))
def test_a_search_does_not_find_a_violation_of_the_mixture_inequality(seed: int) -> None:
    assert 0.2 < _climb(seed, 100) <= 1.0 + 1e-9


@pytest.mark.full
@pytest.mark.parametrize("seed", range(4, 24))
def test_a_long_search_does_not_find_a_violation_of_the_mixture_inequality(seed: int) -> None:
    assert 0.2 < _climb(seed, 3000) <= 1.0 + 1e-9
