"""What is said of a user's own losses: right constants pass, wrong ones are found in the run and named."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.regret import Assumption, Certificate, bounds, certificate, dynamic_policy_regret, path_length
from driftwise.regret.theorems.checks import convexity_breach, gradient_breach, memory_slopes
from tests.optimum.problems import Still

T, D, M = 120, 2, 2
TAPS = np.array([0.5, 2.0, 1.0])
"""Weights of the decisions of 0, 1 and 2 rounds ago."""

RNG = np.random.default_rng(0)
X = RNG.normal(size=(T, D))
X /= np.linalg.norm(X, axis=1, keepdims=True)
Y = 2.0 * np.sin(np.arange(T) / 15.0)
BALL = dw.Ball(D)
WALK = BALL.project(X * Y[:, None])
PRICE = float(TAPS @ np.arange(3.0))


def value(t: int, window: Array) -> float:
    """Return |sum_k taps_k <x_t, w_{t-k}> - y_t|, whose slope in the decision of k rounds ago is taps_k."""
    return float(abs(TAPS @ (window[::-1] @ X[t]) - Y[t]))


def gradient(t: int, w: Array) -> Array:
    return np.asarray(TAPS.sum() * np.sign(TAPS.sum() * (X[t] @ w) - Y[t]) * X[t])


def losses(**given: Any) -> dw.CustomLoss:
    return dw.CustomLoss(value, gradient, **{"rounds": T, "dim": D, "memory": M, "compile": "never", **given})


RIGHT: dict[str, Any] = {"lipschitz": TAPS, "gradient_bound": 3.5}
LEARNERS: dict[str, Any] = {
    "OGD": lambda: dw.OGD(BALL, gradient_bound=3.5, horizon=T, switching_cost=PRICE),
    "Scream": lambda: dw.Scream(BALL, gradient_bound=3.5, horizon=T, switching_cost=PRICE),
    "LazyScream": lambda: dw.LazyScream(BALL, gradient_bound=3.5, horizon=T, switching_cost=PRICE),
}


def _certified(stream: dw.LossStream, learner: str = "Scream", v: Array = WALK) -> Certificate:
    return certificate(dw.play(LEARNERS[learner](), stream), v)


def _about(found: Certificate, name: str) -> Assumption:
    (assumption,) = [assumption for assumption in found.assumptions if assumption.name == name]
    return assumption


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_loss_of_ones_own_with_right_constants_is_certified(learner: str) -> None:
    stream = losses(**RIGHT)
    assert stream.switching_costs(BALL).tight == PRICE == 4.0
    assert stream.switching_costs(BALL).paper == M**2 * 2.0
    found = _certified(stream, learner)
    assert found.guaranteed
    assert found.ratio <= 1.0
    assert found.measured == pytest.approx(dynamic_policy_regret(dw.play(LEARNERS[learner](), stream), stream, WALK))
    bound = {"OGD": bounds.ogd, "Scream": bounds.scream, "LazyScream": bounds.lazy_scream}[learner]
    usual: dict[str, Any] = {"horizon": T, "gradient_bound": 3.5, "diameter": 2.0, "path_length": path_length(WALK)}
    assert found.bound == pytest.approx(bound(**usual, switching_cost=PRICE, policy=True), rel=1e-9)  # type: ignore[operator]
    assert "all that the theorem uses" in _about(found, "convexity").text
    memory = _about(found, "memory").text
    assert "a switching cost of 4" in memory
    assert "reach 100% of them" in memory


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("age", [0, 1, 2])
def test_a_lipschitz_constant_that_is_too_small_is_found_and_named(age: int, learner: str) -> None:
    wrong = TAPS.copy()
    wrong[age] *= 0.7
    found = _about(_certified(losses(**RIGHT | {"lipschitz": wrong}), learner), "memory")
    assert found.holds is False
    assert f"of {age} rounds ago" in found.text
    assert f"given for it is {wrong[age]:.6g}" in found.text
    t = int(found.text.split("in round ")[1].split()[0])
    slope = float(found.text.split("changes by ")[1].split()[0])
    assert wrong[age] < slope <= TAPS[age] * 1.000001
    assert 0 <= t < T


def test_one_steep_round_is_enough() -> None:
    def uneven(t: int, window: Array) -> float:
        return value(t, window) * (3.0 if t == 77 else 1.0)

    def slope(t: int, w: Array) -> Array:
        return gradient(t, w) * (3.0 if t == 77 else 1.0)

    stream = dw.CustomLoss(uneven, slope, T, D, M, "never", **RIGHT)
    found = _certified(stream)
    assert "in round 77" in _about(found, "memory").text
    assert "round 77 it is 10.5" in _about(found, "gradient bound").text
    assert not found.guaranteed
    assert "an assumption is not met" in str(found)


def test_one_number_is_for_every_age() -> None:
    assert losses(lipschitz=2.0).lipschitz(BALL).tolist() == [2.0, 2.0, 2.0]
    assert _certified(losses(lipschitz=2.0), "OGD").guaranteed
    assert _about(_certified(losses(lipschitz=1.9), "OGD"), "memory").holds is False


def test_a_learner_that_was_built_for_less_than_memory_asks_is_told() -> None:
    learner = dw.Scream(BALL, gradient_bound=3.5, horizon=T, switching_cost=0.9 * PRICE)
    found = certificate(dw.play(learner, losses(**RIGHT)), WALK)
    assert _about(found, "memory").holds
    assert _about(found, "switching cost").holds is False


def test_a_gradient_bound_that_is_too_small_is_found_even_if_the_learner_was_given_a_right_one() -> None:
    found = _about(_certified(losses(**RIGHT | {"gradient_bound": 3.4})), "gradient bound")
    assert found.holds is False
    assert "given one of 3.4" in found.text
    assert "it is 3.5" in found.text


def test_constants_that_are_not_given_are_not_made_up() -> None:
    found = _certified(losses())
    assert _about(found, "memory").holds is None
    assert "give lipschitz=" in _about(found, "memory").text
    assert not found.guaranteed


def wave(t: int, w: Array) -> float:
    return float(np.cos(2.0 * w[0] + t) + w @ w)


def wave_slope(t: int, w: Array) -> Array:
    return np.array([-2.0 * np.sin(2.0 * w[0] + t), 0.0]) + 2.0 * w


def test_a_loss_that_is_not_convex_is_found_and_named() -> None:
    stream = dw.CustomLoss(wave, wave_slope, T, D, compile="never")
    found = _about(certificate(dw.play(LEARNERS["OGD"](), stream), WALK), "convexity")
    assert found.holds is False
    t = int(found.text.split("in round ")[1].split(":")[0])
    w, v = dw.play(LEARNERS["OGD"](), stream).decisions[t], WALK[t]
    forth = wave(t, w) + wave_slope(t, w) @ (v - w) - wave(t, v)
    back = wave(t, v) + wave_slope(t, v) @ (w - v) - wave(t, w)
    assert f"{max(forth, back):.6g} below" in found.text


def test_a_gradient_of_another_loss_is_found() -> None:
    stream = dw.CustomLoss(value, lambda t, w: -gradient(t, w), T, D, M, "never", **RIGHT)
    assert _about(_certified(stream), "convexity").holds is False


def test_points_of_base_learners_are_not_vouched_for() -> None:
    stream = dw.CustomLoss(lambda t, w: float(w @ w), lambda t, w: 2.0 * w, T, D, compile="never")
    ader = dw.Ader(BALL, gradient_bound=2.0, horizon=T, variant="original")
    found = _about(certificate(dw.play(ader, stream), WALK), "convexity")
    assert found.holds is None
    assert "own points were not looked at" in found.text


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_rounding_is_no_breach(offset: float) -> None:
    """A decision that hardly moves, on losses of a large size."""
    stream = dw.CustomLoss(lambda t, w: value(t, w) + offset, gradient, T, D, M, "never", **RIGHT)
    still = dw.play(Still(BALL), stream).decisions
    near = still + 1e-9 * RNG.normal(size=still.shape)
    for first, second in ((still, near), (near, still), (still, still)):
        assert not memory_slopes(stream, TAPS, first, second).breach
        assert not convexity_breach(stream, first, second)
        assert not gradient_breach(stream, BALL, first, second)


@pytest.mark.parametrize("seed", range(5))
def test_slopes_are_those_of_swapping_one_decision_after_the_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    w, v = (BALL.project(rng.normal(size=(T, D))) for _ in range(2))
    stream, steepest = losses(**RIGHT), 0.0
    for t in range(T):
        for start, ends in ((w[t], w), (v[t], v), (w[t], np.tile(v[t], (T, 1)))):
            window = np.tile(start, (M + 1, 1))
            for k in range(M + 1):
                before = stream.value(t, window)
                window[M - k] = ends[max(t - k, 0)]
                apart = float(np.linalg.norm(window[M - k] - start))
                if apart > 0.0:
                    steepest = max(steepest, abs(stream.value(t, window) - before) / apart / TAPS[k])
    found = memory_slopes(stream, TAPS, w, v)
    assert found.used == pytest.approx(steepest, rel=1e-6)
    assert 0.8 < found.used <= 1.0
    assert not found.breach
