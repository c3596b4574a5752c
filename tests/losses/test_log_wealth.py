"""The log-wealth loss: portfolios and nothing else, hindsight included."""

from collections.abc import Callable

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import InputError
from driftwise.testing import check_learner, check_loss
from tests.cases import by_hand

D = 4
SIMPLEX = dw.Simplex(D)


def relatives(rounds: int, dim: int = D, seed: int = 0) -> Array:
    """Return price relatives of assets that drift and wander."""
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(0.001, 0.03, (rounds, dim)))


def best_by_squaring(x: Array) -> Array:
    """Return the best constant portfolio by Cover's multiplicative iteration, which converges by itself."""
    w = np.full(x.shape[1], 1.0 / x.shape[1])
    for _ in range(200_000):
        w = w * (x / (x @ w)[:, None]).mean(axis=0)
    return w


def test_it_keeps_the_promises_of_losses() -> None:
    check_loss(dw.LogWealthLoss(relatives(30)), SIMPLEX)
    check_loss(dw.LogWealthLoss([[1.0, 8.0, 0.1]]), dw.Simplex(3))


def test_values_add_up_to_the_logarithm_of_wealth() -> None:
    x, rng = relatives(50), np.random.default_rng(1)
    rows = rng.dirichlet(np.ones(D), 50)
    losses = dw.LogWealthLoss(x)
    wealth = np.prod([row @ w for row, w in zip(x, rows, strict=True)])
    assert losses.policy_losses(rows).sum() == pytest.approx(-np.log(wealth), rel=1e-12)
    np.testing.assert_allclose(losses.gradient(3, rows[3]), -x[3] / (x[3] @ rows[3]), rtol=1e-14)


def test_constants_are_those_of_the_worst_portfolio() -> None:
    x = np.array([[0.5, 1.2], [1.1, 0.9]])
    losses = dw.LogWealthLoss(x)
    expected = np.linalg.norm([0.5, 1.2]) / 0.5
    assert losses.gradient_bound(dw.Simplex(2)) == pytest.approx(expected)
    assert losses.lipschitz(dw.Simplex(2)) == pytest.approx([expected])


def test_the_best_fixed_decision_is_the_best_constant_portfolio() -> None:
    x = relatives(300, seed=3)
    losses, expected = dw.LogWealthLoss(x), best_by_squaring(x)
    found = dw.regret.best_fixed(losses, SIMPLEX)
    least = float(losses.unary_losses(expected[None]).sum())
    assert float(losses.unary_losses(found[None]).sum()) == pytest.approx(least, abs=1e-7)


@pytest.mark.parametrize("price", [0.0, 0.01, dw.MoveCost(0.01)])
def test_the_optimum_in_hindsight_is_certified(price: float | dw.MoveCost) -> None:
    losses = dw.LogWealthLoss(relatives(25, 3, seed=5))
    found = dw.regret.hindsight_optimum(losses, dw.Simplex(3), switching_cost=price)
    assert found.optimal
    fixed = dw.regret.best_fixed(losses, dw.Simplex(3))
    assert found.total <= float(losses.unary_losses(fixed[None]).sum()) + 1e-9
    if price == 0.0:  # each round's best asset
        assert found.total == pytest.approx(-np.log(losses.data.features.max(axis=1)).sum(), abs=1e-6)


def test_the_slope_goes_on_below_what_a_portfolio_can_have() -> None:
    losses = dw.LogWealthLoss([[0.8, 1.0]])
    floor = 0.5 * 0.8
    below, at, above = floor - 1e-7, floor, floor + 1e-7
    out = np.empty(1)

    def slope(z: float) -> float:
        type(losses).slope_of.function(np.array([z]), losses.data.targets, np.empty(0), 1, out)
        return float(out[0])

    assert slope(at) == -1.0 / floor
    assert slope(above) - slope(at) == pytest.approx(slope(at) - slope(below), rel=1e-4)
    assert np.isfinite(slope(-5.0))


LEARNERS: dict[str, Callable[[], dw.Learner]] = {
    "OGD": lambda: dw.OGD(SIMPLEX, step=0.05),
    "Scream": lambda: dw.SelfTunedScream(SIMPLEX, switching_cost=0.01),
    "self-tuned": lambda: dw.SelfTunedLearner(SIMPLEX, switching_cost=dw.MoveCost(0.001)),
    "MirrorDescent": lambda: dw.MirrorDescent(SIMPLEX, mirror=dw.mirror.NegativeEntropy(), step=0.05),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_compiled_run_is_the_same_as_by_hand(name: str) -> None:
    losses = dw.LogWealthLoss(relatives(60))
    trace = dw.play(LEARNERS[name](), losses)
    np.testing.assert_array_equal(trace.decisions, by_hand(LEARNERS[name](), losses))
    assert np.ptp(trace.decisions, axis=0).max() > 0.0


@pytest.mark.parametrize("domain", [dw.Ball(D), dw.Box([0.0] * D, [1.0] * D), dw.Simplex(D, scale=0.1)])
def test_domains_in_which_wealth_may_vanish_are_refused(domain: dw.Domain) -> None:
    losses = dw.LogWealthLoss(relatives(5))
    for ask in (losses.lipschitz, losses.gradient_bound):
        with pytest.raises(InputError, match=r"some of it is always left.*Use Simplex\(4\)"):
            ask(domain)


def test_decisions_that_are_no_portfolios_are_refused() -> None:
    losses = dw.LogWealthLoss(relatives(5))
    for ask in (losses.unary_value, losses.gradient, losses.value):
        with pytest.raises(InputError, match="that of round 2 leaves -"):
            ask(2, [0.0, -1.0, 0.0, 0.0])
    learner = dw.SelfTunedLearner(dw.Ball(D), switching_cost=0.1)
    before = learner.act()
    with pytest.raises(InputError):
        learner.observe(losses[0])
    assert learner.round == 0
    assert learner.act() is before


def test_a_round_alone_is_the_round_in_a_stream() -> None:
    x = relatives(40)
    losses = dw.LogWealthLoss(x)
    one, other = (dw.SelfTunedLearner(SIMPLEX, switching_cost=0.001) for _ in range(2))
    for t in range(40):
        np.testing.assert_array_equal(one.act(), other.act())
        one.observe(losses[t])
        other.observe(dw.LogWealthLoss(x[t : t + 1])[0])


def test_a_loss_that_comes_late_can_be_saved() -> None:
    losses = dw.LogWealthLoss(relatives(6))
    learner = dw.SelfTunedLearner(SIMPLEX, switching_cost=0.001, late=2)
    learner.act()
    learner.observe(losses[0])
    learner.act()
    learner.skip()
    learner.act()
    learner.observe(losses[1], round=1)
    again = dw.from_bytes(learner.to_bytes())
    for one in (learner, again):
        one.observe(losses[2])
    np.testing.assert_array_equal(again.act(), learner.act())


@pytest.mark.parametrize("bad", [0.0, -0.2, np.nan, np.inf])
def test_relatives_are_above_zero(bad: float) -> None:
    x = relatives(5)
    x[3, 1] = bad
    with pytest.raises(InputError):
        dw.LogWealthLoss(x)


@pytest.mark.parametrize("spread", [0.01, 1.0, 10.0])
def test_learners_survive_crashes(spread: float) -> None:
    x = np.exp(np.random.default_rng(2).normal(0.0, spread, (40, D))).clip(1e-30, 1e30)
    learner = dw.SelfTunedLearner(SIMPLEX, switching_cost=dw.MoveCost(0.01))
    losses = dw.LogWealthLoss(x)
    for t in range(40):
        assert SIMPLEX.contains(learner.act())
        learner.observe(losses[t], held=dw.Growth(x[t]))
    assert all(learner.certificate(pair).within for pair in learner.members)


def test_learners_keep_their_promises_on_it() -> None:
    check_learner(lambda: dw.SelfTunedLearner(SIMPLEX, switching_cost=0.01), dw.LogWealthLoss(relatives(18)))
