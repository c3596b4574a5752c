"""Self-tuned Scream: what it is invariant under, and what it costs next to Scream."""

import functools
from collections.abc import Callable

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.engine import layout
from driftwise.errors import InputError, OrderError, ParameterError
from driftwise.testing import check_learner
from tests.cases import DOMAINS, by_hand, check_refused, knowledge, squared

PRICES = dw.MoveCost(up=0.5, down=0.2)


@pytest.mark.parametrize("cost", [0.0, 1.5, PRICES], ids=["free", "number", "prices"])
@pytest.mark.parametrize("where", DOMAINS)
def test_it_keeps_the_promises_of_every_learner(where: str, cost: float | dw.MoveCost) -> None:
    check_learner(lambda: dw.SelfTunedScream(DOMAINS[where], switching_cost=cost))


def _scaled(cost: float | dw.MoveCost, factor: float) -> float | dw.MoveCost:
    if isinstance(cost, dw.MoveCost):
        return dw.MoveCost(factor * np.asarray(cost.up), factor * np.asarray(cost.down), cost.norm)
    return factor * cost


@pytest.mark.parametrize("factor", [1e-6, 1e6, 3.7])
@pytest.mark.parametrize("cost", [0.0, 2.0, PRICES, dw.MoveCost(up=[0.3, 0.1, 0.2], norm="l2")], ids=repr)
def test_decisions_do_not_depend_on_the_unit_of_losses(cost: float | dw.MoveCost, factor: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1.0, 1.0, (3000, 3)), rng.uniform(-1.0, 1.0, 3000)
    root = np.sqrt(factor)
    plain = dw.play(dw.SelfTunedScream(dw.Ball(3), switching_cost=cost), dw.SquaredLoss(x, y))
    other = dw.play(
        dw.SelfTunedScream(dw.Ball(3), switching_cost=_scaled(cost, factor)), dw.SquaredLoss(root * x, root * y)
    )
    np.testing.assert_allclose(other.decisions, plain.decisions, rtol=0.0, atol=1e-6)
    assert plain.moves.sum() > 0.1


def test_on_a_simplex_a_loss_that_all_share_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    losses = rng.uniform(-1.0, 1.0, (500, 4))
    shared = losses + 50.0 * rng.standard_normal((500, 1))
    one, other = (
        dw.play(dw.SelfTunedScream(dw.Simplex(4), switching_cost=0.5), dw.LinearLoss(rows)).decisions
        for rows in (losses, shared)
    )
    np.testing.assert_allclose(other, one, rtol=0.0, atol=1e-9)
    assert np.ptp(one, axis=0).max() > 0.05


def test_it_costs_less_than_scream_on_the_paper_s_stream() -> None:
    """At a fifth of the length, against the bounds that hold for the whole of it."""
    for seed in (200, 201):
        losses = dw.streams.drifting_regression(rounds=10_000, dim=10, segment=1000, seed=seed)
        for lambda_, most in ((0.2, 0.45), (2.0, 0.66), (4.0, 0.81)):
            scream = dw.Scream(dw.Ball(10), switching_cost=lambda_, gradient_bound=2.0, horizon=10_000, rate="theorem")
            tuned = dw.SelfTunedScream(dw.Ball(10), switching_cost=lambda_)
            ratio = dw.play(tuned, losses, lambda_).total / dw.play(scream, losses, lambda_).total
            assert ratio <= most, (seed, lambda_, ratio)


def test_prices_are_what_it_minds() -> None:
    """Where going up is dear and down is cheap, it stays lower than where it is the other way round."""
    rng = np.random.default_rng(2)
    losses = dw.TrackingLoss(np.sin(np.arange(2000) / 15.0)[:, None] + 0.1 * rng.standard_normal((2000, 1)))
    for cost in (dw.MoveCost(up=3.0, down=0.01), dw.MoveCost(up=0.01, down=3.0)):
        aware = dw.play(dw.SelfTunedScream(dw.Box([-1.0], [1.0]), switching_cost=cost), losses)
        blind = dw.play(dw.SelfTunedScream(dw.Box([-1.0], [1.0]), switching_cost=0.0), losses)
        paid = [float(np.sum(cost(np.diff(trace.decisions, axis=0)))) for trace in (aware, blind)]
        assert paid[0] + aware.total_loss < 0.8 * (paid[1] + blind.total_loss)


def test_without_gradients_it_stays_where_it_is() -> None:
    learner = dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0, start=[0.5, 0.0])
    for _ in range(20):
        np.testing.assert_allclose(learner.act(), [0.5, 0.0], rtol=1e-15)
        learner.observe(np.zeros(2))
    assert np.all(learner.step_sizes == 0.0)
    assert learner.weights.sum() == pytest.approx(1.0)


def test_the_dead_zone_is_never_left_and_shrinks() -> None:
    losses, learner = squared(3, 400), dw.SelfTunedScream(dw.Ball(3), switching_cost=0.5)
    for t in range(400):
        learner.observe(losses.gradient(t, learner.act()))
        distance = np.linalg.norm(learner.act() - learner.weights @ learner.base_decisions)
        usual = np.sqrt(learner._number(layout.SQUARES) / (t + 1))
        assert distance <= 0.5 / np.sqrt(t + 1) * 0.5 / (0.5 + usual) + 1e-12


MAKERS: dict[str, Callable[[], dw.Learner]] = {
    "self-tuned": lambda: dw.SelfTunedScream(dw.Ball(2), switching_cost=0.5),
    "Scream": lambda: dw.Scream(dw.Ball(2), switching_cost=0.5, gradient_bound=2.0),
}


@pytest.mark.parametrize("name", MAKERS)
def test_good_hints_help_and_bad_ones_cost_a_constant_factor(name: str) -> None:
    rng = np.random.default_rng(3)
    gradients = np.sign(np.sin(np.arange(3000) / 20.0))[:, None] * np.array([1.0, 0.0]) + 0.2 * rng.standard_normal(
        (3000, 2)
    )

    def cost(hints: Array | None) -> float:
        learner, total, before = MAKERS[name](), 0.0, np.zeros(2)
        for t, gradient in enumerate(gradients):
            w = learner.act() if hints is None else learner.act(hint=hints[t])
            total += gradient @ w + 0.5 * float(np.linalg.norm(w - before)) + 1.5
            before = w
            learner.observe(gradient)
        return total

    without = cost(None)
    assert cost(gradients) < without
    assert cost(-gradients) < 2.0 * without
    assert cost(5.0 * rng.standard_normal((3000, 2))) < 2.0 * without


def test_a_bad_hint_is_refused_and_changes_nothing() -> None:
    learner = dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0)
    by_hand(learner, squared(2, 20))
    before = knowledge(learner)
    for bad in (np.array([np.nan, 0.0]), np.zeros(3), np.array([1e200, 0.0]), "ab"):
        with pytest.raises(InputError, match="hint"):
            learner.act(hint=bad)
        assert knowledge(learner) == before
    learner.act()
    with pytest.raises(OrderError, match="first act"):
        learner.act(hint=np.zeros(2))


def test_learners_that_make_no_use_of_hints_say_so() -> None:
    for learner in (
        dw.Hedge(2, loss_bound=1.0),
        dw.LazyScream(dw.Ball(2), switching_cost=9.0, gradient_bound=1.0),
        dw.Ader(dw.Ball(2), gradient_bound=1.0, variant="original"),
    ):
        check_refused(functools.partial(learner.act, hint=np.zeros(2)), "hint", kind=ParameterError)


def test_what_it_does_not_take_is_refused() -> None:
    check_refused(lambda: dw.SelfTunedScream(dw.Ball(2), switching_cost=-1.0), "switching_cost")
    check_refused(lambda: dw.SelfTunedScream(dw.Ball(2), switching_cost=dw.MoveCost(up=[1.0] * 3)), "3 coordinates")
    check_refused(lambda: dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0, horizon=5), "horizon")  # type: ignore[call-arg]


@pytest.mark.parametrize("lambda_", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("kind", ["drift", "noise", "wave"])
def test_the_mixture_suffers_little_more_than_any_base_learner(kind: str, lambda_: float) -> None:
    """Loss, own moves and the movement of the weights, against each one from the start plus its share of overhead."""
    rng, T, domain = np.random.default_rng(4), 600, dw.Ball(2)
    gradients: dict[str, Array] = {
        "drift": np.repeat(rng.standard_normal((6, 2)), 100, axis=0) + 0.5 * rng.standard_normal((T, 2)),
        "noise": rng.standard_normal((T, 2)) * np.geomspace(1e-2, 10.0, T)[:, None],
        "wave": np.sign(np.sin(np.arange(T) / 7.0))[:, None] * np.array([1.0, 0.2]),
    }
    learner = dw.SelfTunedScream(domain, switching_cost=lambda_)
    count = learner.weights.size
    mixture, each = 0.0, np.zeros(count)
    points, weights = learner.base_decisions, learner.weights
    for gradient in gradients[kind]:
        learner.act()
        size = learner.weights.size
        before = np.vstack([points, np.tile(weights @ points, (size - len(points), 1))])
        losses = learner.base_decisions @ gradient + lambda_ * np.linalg.norm(learner.base_decisions - before, axis=1)
        points, weights = learner.base_decisions, learner.weights
        mixture += float(weights @ losses)
        each += losses[:count]
        learner.observe(gradient)
        mixture += (
            lambda_
            * domain.diameter
            * float(np.abs(learner.weights[:size] - weights).sum())
            * (learner.weights.size == size)
        )
    assert mixture <= each.min() + (1.0 + np.log(learner.weights.size) / 2.0) * learner.overhead + 1e-9
    assert learner.overhead > 0.0


@pytest.mark.parametrize("growth", [1.5, 2.0, 4.0])
def test_a_leader_that_changes_is_noticed_although_all_others_had_underflowed(growth: float) -> None:
    """Losses that grow until weights are 0 or 1, then an adversary: following whoever leads would cost every round."""
    learner, total, sums = dw.SelfTunedScream(dw.Ball(1), switching_cost=0.0), 0.0, 0.0
    for t in range(40):
        w = float(learner.act()[0])
        learner.observe([(-growth) ** t])
    size = growth**39
    for _ in range(1000):
        w = float(learner.act()[0])
        gradient = size if w > 0.0 else -size
        total, sums = total + gradient * w, sums + gradient
        learner.observe([gradient])
    assert (total + abs(sums)) / size <= 120.0  # of 1000 rounds; a root of them is 32


@pytest.mark.parametrize("power", [-20, 7, 40])
def test_clipping_is_the_same_in_units_that_are_powers_of_two_bit_for_bit(power: int) -> None:
    rng = np.random.default_rng(power + 100)
    rows = rng.standard_normal((300, 3))
    rows[[0, 4, 5, 40, 200]] *= np.array([1e6, 30.0, 1e5, 1e8, -1e4])[:, None]
    one, other = (dw.SelfTunedScream(dw.Ball(3), switching_cost=price) for price in (0.5, 0.5 * 2.0**power))
    for row in rows:
        assert one.act().tobytes() == other.act().tobytes()
        one.observe(row)
        other.observe(2.0**power * row)
    assert one.clipping > 1e7
    assert other.clipping == 2.0**power * one.clipping


def test_a_true_change_of_scale_is_let_through_after_one_round() -> None:
    learner = dw.SelfTunedScream(dw.Ball(1), switching_cost=0.1)
    given = []
    for t in range(60):
        learner.act()
        learner.observe([1.0 if t < 50 else 300.0])
        given.append(float(learner.program.last_gradient(learner.cell)[0]))
    assert given[:50] == [1.0] * 50
    assert given[50] == pytest.approx(np.sqrt(50.0) / 2.0)
    assert given[51:] == [300.0] * 9
    assert learner.clipping == pytest.approx(300.0 - np.sqrt(50.0) / 2.0)
