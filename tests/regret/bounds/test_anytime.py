"""The bounds for rates that shrink: against a second statement of the formula, and on streams made to break them."""

import math
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.engine.program import pool_size
from driftwise.regret import adversaries, bounds, certificate, path_length


def _literally(T: int, P: float, G: float, D: float, lambda_: float, step: float, rate: float, growth: float) -> float:
    """Return the bound, round by round, as the proof has it."""
    sizes = [pool_size(float(t), growth) for t in range(1, T + 1)]
    births = [next(t for t in range(1, T + 1) if sizes[t - 1] > i) for i in range(sizes[-1])]
    eps = [rate / math.sqrt(max(t - 1, 1)) for t in range(1, T + 2)]
    move = [0.0] + [min(D, G * step * 2.0 ** (sizes[t - 2] - 1) / math.sqrt(t - 1)) for t in range(2, T + 1)]
    s = [G * D + lambda_ * each for each in move]

    def best(last: int) -> float:
        if last == 0:
            return 0.0
        ways = [sum(s[:last])]
        gaps = sum(eps[t] * s[t] ** 2 / 8.0 for t in range(last))
        for i, first in enumerate(births):
            if first <= last:
                c = step * 2.0**i
                walk = sum((G**2 / 2 + lambda_ * G) * c / math.sqrt(t) for t in range(first, last + 1))
                settle = (D**2 + 2 * D * min(P, D * (last - 1))) / (2 * c / math.sqrt(last))
                log = math.log((i + 1) * (i + 2)) / eps[last - 1]
                ways.append(best(first - 1) + walk + settle + log + gaps)
        return min(ways)

    shift = 0.0
    for t in range(1, T):
        by_totals = (eps[t - 1] - eps[t]) * sum(s[:t]) / 4.0
        by_entropy = (2 * math.log(max(sizes[t - 1], 2)) + 1 / math.e) * math.log(eps[t - 1] / eps[t])
        shift += min(1.0, math.tanh(eps[t - 1] * s[t - 1] / 4.0) + min(by_totals, by_entropy))
    return best(T) + lambda_ * (D * shift + sum(move[first - 1] for first in set(births)))


@pytest.mark.parametrize("T", [1, 2, 5, 17, 70])
@pytest.mark.parametrize("lambda_", [0.0, 0.3, 40.0])
def test_the_formula_is_that_of_the_proof(T: int, lambda_: float) -> None:
    G, D = 1.7, 0.9
    P = 0.3 * D * (T - 1)
    usual: dict[str, Any] = {"horizon": T, "path_length": P, "gradient_bound": G, "diameter": D}
    c = D / math.sqrt(lambda_ * G + G**2)
    G_meta = G * D * (1.0 + 2.0 * lambda_ / math.sqrt(lambda_ * G + G**2))
    eps = math.sqrt(2.0 / (G_meta * (lambda_ * D + G_meta)))
    expected = _literally(T, P, G, D, lambda_, c, eps, 1.0)
    assert bounds.scream(**usual, switching_cost=lambda_, anytime=True) == pytest.approx(expected, rel=1e-12)
    policy = bounds.scream(**usual, switching_cost=lambda_, anytime=True, policy=True)
    assert policy == pytest.approx(expected + lambda_ * P, rel=1e-12)
    own = _literally(T, P, G, D, 0.0, (D / G) * math.sqrt(3.5), math.sqrt(2.0) / (G * D), 4.0 / 7.0)
    assert bounds.ader(**usual, anytime=True) == pytest.approx(own, rel=1e-12)


def test_lazy_epochs_are_rounds_with_longer_gradients() -> None:
    usual: dict[str, Any] = {"path_length": 3.0, "diameter": 2.0, "switching_cost": 9.0, "anytime": True}
    lazy = bounds.lazy_scream(horizon=301, gradient_bound=0.5, **usual)
    held = bounds.scream(horizon=101, gradient_bound=1.5, **usual)
    assert lazy == pytest.approx(held + 0.5 * 2 * 3.0, rel=1e-12)


@pytest.mark.parametrize(("T", "lambda_"), [(10, 0.0), (1000, 3.0), (100_000, 1.0)])
def test_hedge_without_a_horizon_is_a_small_factor_above_hedge_with_one(T: int, lambda_: float) -> None:
    usual: dict[str, Any] = {"horizon": T, "experts": 8, "loss_bound": 1.0, "switching_cost": lambda_}
    ratio = bounds.hedge(**usual, anytime=True) / bounds.hedge(**usual)
    assert 0.5 < ratio < 2.0


@pytest.mark.parametrize("lambda_", [0.5, 20.0])
def test_regret_grows_like_the_root_of_rounds_and_path(lambda_: float) -> None:
    def bound(T: int, P: float) -> float:
        return bounds.scream(
            horizon=T, path_length=P, gradient_bound=1.0, diameter=2.0, switching_cost=lambda_, anytime=True
        )

    assert bound(400_000, 10.0) / bound(100_000, 10.0) == pytest.approx(2.0, abs=0.08)
    assert 1.7 < bound(100_000, 4000.0) / bound(100_000, 1000.0) < 2.1  # a part does not depend on the path


def _adversarial(seed: int) -> tuple[dw.LossStream, dw.Domain, Array, float]:
    rng = np.random.default_rng(seed)
    price, T = float(10.0 ** rng.uniform(-2.0, 2.0)), int(rng.integers(20, 1500))
    kind = seed % 4
    if kind == 0:
        made = adversaries.random_signs(T, 2, seed=seed)
        return made, made.domain, made.comparators, price
    if kind == 1:
        price = min(price, T / 8.0)
        made = adversaries.moving_blocks(T, 4.0, 3, switching_cost=price, diameter=2.0, seed=seed)
        return made, made.domain, made.comparators, price
    half = int(rng.integers(1, 60))
    signs = np.where((np.arange(T) // half) % 2, 1.0, -1.0) if kind == 2 else rng.choice([-1.0, 1.0], T)
    losses = dw.LinearLoss(signs[:, None] * np.array([[0.6, 0.8]]))
    ahead = -np.repeat([losses.data.features[t : t + half].sum(axis=0) for t in range(0, T, half)], half, axis=0)[:T]
    return losses, dw.Ball(2), dw.Ball(2).project(10.0 * ahead), price


@pytest.mark.parametrize("seed", range(24))
def test_no_default_learner_is_above_its_bound(seed: int) -> None:
    losses, domain, comparators, price = _adversarial(seed)
    usual: dict[str, Any] = {"gradient_bound": 1.0, "switching_cost": price}
    learners: list[dw.Learner] = [
        dw.Scream(domain, **usual),
        dw.LazyScream(domain, **usual),
        dw.Ader(domain, gradient_bound=1.0),
        dw.OGD(domain, **usual),
        dw.SelfTunedScream(domain, switching_cost=price),
    ]
    for learner in learners:
        found = certificate(dw.play(learner, losses, price), comparators)
        assert found.guaranteed, str(found)
        assert found.within, str(found)
    assert path_length(comparators) <= domain.diameter * len(losses)


@pytest.mark.parametrize("seed", range(6))
def test_hedge_without_a_horizon_is_below_its_bound(seed: int) -> None:
    losses = adversaries.expert_blocks(1500, 5, switching_cost=4.0, seed=seed)
    learner = dw.Hedge(5, loss_bound=1.0, switching_cost=4.0)
    found = certificate(dw.play(learner, losses, 4.0), losses.comparators)
    assert found.guaranteed
    assert 0.05 < found.ratio < 1.0
