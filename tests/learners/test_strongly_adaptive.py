"""The strongly adaptive learner: its constants, its promises, and what it is for."""

import math
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.engine.adaptive import LIMIT
from driftwise.errors import ParameterError
from driftwise.learners.strongly_adaptive import SHIFT, adaptive_lanes, second_order
from driftwise.testing import check_learner
from tests.cases import DOMAINS, PRICES, STREAMS, by_hand, check_refused, every_pair, squared, stream

ROUNDS = 40


@every_pair(where=DOMAINS, price=PRICES, horizon=[18, None])
def test_it_keeps_the_promises_of_a_learner(where: str, price: str, horizon: int | None) -> None:
    domain = DOMAINS[where]
    settings: dict[str, Any] = {"switching_cost": PRICES[price](domain.dim), "gradient_bound": 2.0, "horizon": horizon}
    check_learner(lambda: dw.StronglyAdaptive(domain, **settings), squared(domain.dim, 18))


@pytest.mark.parametrize("kind", STREAMS)
def test_by_hand_and_in_one_go_it_decides_the_same(kind: str) -> None:
    losses = stream(kind, 3, ROUNDS)
    one, other = (dw.StronglyAdaptive(dw.Ball(3), switching_cost=0.3, gradient_bound=0.1) for _ in range(2))
    np.testing.assert_array_equal(dw.play(one, losses).decisions, by_hand(other, losses))


@pytest.mark.parametrize("horizon", [10, 1000, 10**7, None])
@pytest.mark.parametrize("price", [0.0, 1e-6, 0.1, 1.0, 50.0, 1e6])
def test_the_constants_are_what_the_proof_needs(price: float, horizon: int | None) -> None:
    lanes = adaptive_lanes(price, horizon)
    assert np.all(np.diff(lanes.rates) <= 0.0)
    assert np.all(np.diff(lanes.steps) < 0.0)
    np.testing.assert_allclose(lanes.lengths[1:] / lanes.lengths[:-1], 4.0)
    assert lanes.lengths[-1] >= (horizon or 2**53)
    assert lanes.rates[0] * lanes.regret <= LIMIT * (1.0 + 1e-12)
    assert lanes.rates[0] * price <= SHIFT * (1.0 + 1e-12)
    assert lanes.regret == pytest.approx(lanes.spread + lanes.paid)
    assert lanes.regret == pytest.approx(lanes.spread / (1.0 - lanes.rates[0] * price))
    assert lanes.spread == pytest.approx(1.0 + price * lanes.steps[0])


@pytest.mark.parametrize("z", [1e-9, 1e-5, 0.01, 0.2, 0.5])
def test_the_logarithm_is_above_its_parabola(z: float) -> None:
    b, x = second_order(z), np.linspace(-z, z, 1001)
    assert 0.5 <= b <= 0.78
    assert np.all(np.log1p(x) >= x - b * x**2 - 1e-15)
    if z > 1e-3:
        assert math.log1p(-z) == pytest.approx(-z - b * z**2)


@pytest.mark.parametrize("unit", [1e-30, 1e-3, 1e4, 1e30])
def test_units_do_not_matter(unit: float) -> None:
    x = np.sin(np.arange(300.0))[:, None] + np.repeat([0.5, -0.5, 0.5], 100)[:, None]
    plain = dw.StronglyAdaptive(dw.Ball(1), switching_cost=0.7, gradient_bound=2.0)
    scaled = dw.StronglyAdaptive(dw.Ball(1), switching_cost=0.7 * unit, gradient_bound=2.0 * unit)
    one, other = dw.play(plain, dw.LinearLoss(x)), dw.play(scaled, dw.LinearLoss(unit * x))
    np.testing.assert_allclose(one.decisions, other.decisions, rtol=0.0, atol=1e-9)


def test_base_learners_for_longer_intervals_join_where_the_mixture_is() -> None:
    learner = dw.StronglyAdaptive(dw.Ball(1), switching_cost=0.0, gradient_bound=1.0)
    counts = []
    for t in range(2000):
        before = learner.weights.size
        learner.act()
        learner.observe([math.sin(t)])
        counts.append(learner.weights.size)
        if counts[-1] > before:
            np.testing.assert_allclose(learner.base_decisions[before:], learner.act()[None], atol=1e-12)
    assert counts[0] < counts[-1]
    assert counts[-1] <= 8
    lanes = adaptive_lanes(0.0, None)
    assert lanes.lengths[counts[-1] - 1] >= 2000


def test_after_a_change_it_is_faster_than_a_learner_for_the_whole_run() -> None:
    rng, T = np.random.default_rng(5), 6000
    targets = np.repeat([1.0, -1.0, 1.0, -1.0, 1.0, -1.0], T // 6)
    losses = dw.LinearLoss((-0.5 * targets + rng.choice([-0.5, 0.5], T))[:, None])
    usual: dict[str, Any] = {"switching_cost": 1.0, "gradient_bound": 1.0, "horizon": T}
    ours, theirs = (
        dw.play(kind(dw.Box([-1.0], [1.0]), **usual), losses, 1.0).total for kind in (dw.StronglyAdaptive, dw.Scream)
    )
    assert ours < theirs < 0.0


def test_it_takes_no_hints() -> None:
    learner = dw.StronglyAdaptive(dw.Ball(1), switching_cost=1.0, gradient_bound=1.0)
    check_refused(lambda: learner.act(hint=[1.0]), "StronglyAdaptive", "hints", kind=ParameterError)
    assert learner.act().tolist() == [0.0]


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"switching_cost": -1.0, "gradient_bound": 1.0}, "switching_cost"),
        ({"switching_cost": 1.0, "gradient_bound": 0.0}, "gradient_bound"),
        ({"switching_cost": 1.0, "gradient_bound": 1.0, "horizon": 0}, "horizon"),
        ({"switching_cost": 1.0, "gradient_bound": 1.0, "start": [2.0]}, "start"),
    ],
)
def test_bad_settings_are_refused_by_name(settings: dict[str, Any], word: str) -> None:
    check_refused(lambda: dw.StronglyAdaptive(dw.Ball(1), **settings), "StronglyAdaptive", word, kind=ParameterError)


def test_the_start_is_the_first_decision_and_settings_can_be_read() -> None:
    learner = dw.StronglyAdaptive(dw.Ball(2), switching_cost=1.5, gradient_bound=3.0, start=[0.5, 0.0])
    assert learner.act().tolist() == [0.5, 0.0]
    assert (learner.switching_cost, learner.gradient_bound, learner.horizon) == (1.5, 3.0, None)


def test_a_price_whose_square_is_no_number_is_refused() -> None:
    with pytest.raises(dw.errors.ParameterError, match="switching_cost must be at most 1e\\+150 times gradient_bound"):
        dw.StronglyAdaptive(dw.Ball(1), switching_cost=1e100, gradient_bound=1e-53)
