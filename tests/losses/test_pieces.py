"""Parabolas with a kink: what follows from them holds for a loss that has both, as a contributor would write it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._memory import Pointer
from driftwise._validate import Array
from driftwise.losses.forms import RegressionLoss
from driftwise.losses.kernels import link
from driftwise.losses.pieces import Pieces
from driftwise.optimum import general
from driftwise.regret import best_fixed, hindsight_optimum
from driftwise.testing import check_loss
from tests.cases import by_hand
from tests.optimum.problems import CONES, DIM, DOMAINS, cp, inside, solve

LEFT, RIGHT, BEND = -0.6, 0.2, 0.5


@link
def bent(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write a parabola and a kink."""
    gap = z[0] - y[0]
    out[0] = 0.5 * BEND * gap * gap + max(RIGHT * gap, LEFT * gap)
    return 0


@link
def bent_slope(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write the slope, right of the kink where z is on it."""
    gap = z[0] - y[0]
    out[0] = BEND * gap + (RIGHT if gap >= 0.0 else LEFT)
    return 0


class BentLoss(RegressionLoss):
    """``BEND u^2 / 2 + max(RIGHT u, LEFT u)`` of the gap u: everything but the link is left to the base classes."""

    value_of, slope_of = bent, bent_slope
    pieces = Pieces(bend=BEND, right=RIGHT, jump=RIGHT - LEFT)


def stream(rounds: int, dim: int) -> BentLoss:
    rng = np.random.default_rng(dim)
    return BentLoss(rng.uniform(-1.0, 1.0, (rounds, dim)), rng.uniform(-1.0, 1.0, rounds))


def total(losses: BentLoss, W: Any) -> Any:
    """Return the sum of the losses of rows of W, for cvxpy."""
    gap = cp.sum(cp.multiply(losses.data.features, W), axis=1) - losses.data.targets
    return 0.5 * BEND * cp.sum_squares(gap) + cp.sum(cp.maximum(RIGHT * gap, LEFT * gap))


def cheapest(losses: BentLoss, domain: dw.Domain, moves: Callable[[Any], Any]) -> float:
    W = cp.Variable((len(losses), losses.dim))
    return solve(total(losses, W) + moves(W[1:] - W[:-1]), inside(domain, W))


def euclidean(steps: Any) -> Any:
    return 0.3 * cp.sum(cp.norm(steps, axis=1))


@pytest.mark.parametrize("name", DOMAINS)
def test_the_shared_checks(name: str) -> None:
    check_loss(stream(9, DIM), DOMAINS[name])


@pytest.mark.parametrize("name", CONES)
def test_the_optimum_is_certified_without_a_word_about_the_loss(name: str) -> None:
    losses, domain = stream(20, DIM), DOMAINS[name]
    best = hindsight_optimum(losses, domain, 0.3)
    assert best.optimal, best.status
    assert best.total == pytest.approx(cheapest(losses, domain, euclidean), rel=2e-6)
    answer = general.solve(losses, domain, dw.MoveCost(0.3, norm="l2"))
    assert answer.lower_bound == pytest.approx(best.total, rel=2e-6)


@pytest.mark.parametrize("domain", [dw.Box([-0.7], [0.9]), dw.Box([99.5], [100.5])], ids=repr)
def test_one_coordinate_is_solved_exactly(domain: dw.Domain) -> None:
    losses = stream(60, 1)
    best = hindsight_optimum(losses, domain, dw.MoveCost(up=0.3, down=0.1))
    assert "every coordinate by itself" in best.status
    assert best.gap <= 1e-12
    prices = cheapest(losses, domain, lambda steps: cp.sum(0.3 * cp.pos(steps) + 0.1 * cp.neg(steps)))
    assert best.total == pytest.approx(prices, rel=1e-6)


def test_the_best_fixed_decision() -> None:
    losses, w = stream(30, DIM), cp.Variable((1, DIM))
    least = solve(total(losses, np.ones((30, 1)) @ w), inside(dw.Ball(DIM), w))
    fixed: Array = best_fixed(losses, dw.Ball(DIM))
    assert losses.unary_losses(fixed[None]).sum() == pytest.approx(least, rel=1e-6)


def test_whole_runs_and_the_two_verbs_agree_bit_for_bit() -> None:
    losses, learner = stream(50, DIM), dw.SelfTunedScream(dw.Ball(DIM), switching_cost=1.0)
    np.testing.assert_array_equal(dw.play(learner.clone(), losses).decisions, by_hand(learner, losses))


@pytest.mark.parametrize(
    ("pieces", "smooth", "linear"),
    [
        (Pieces(1.0, 0.0, 0.0), True, False),
        (Pieces(0.0, 1.0, 0.0), True, True),
        (Pieces(0.0, 1.0, 2.0), False, False),
        (Pieces(0.0, np.ones(2), np.array([0.0, 1.0])), False, False),
    ],
)
def test_smooth_and_linear(pieces: Pieces, smooth: bool, linear: bool) -> None:
    assert (pieces.smooth, pieces.linear) == (smooth, linear)
