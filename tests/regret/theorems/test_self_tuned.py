"""The theorem about the self-tuned learner: its parts, on streams with glitches, gradients only, and proposals."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.estimators import Smoothing
from driftwise.movers import Follow, Prox
from driftwise.regret import bounds, certificate
from driftwise.regret.theorems import theorem_for
from tests.cases import custom

T, PRICE = 300, 1.5
LOSSES = dw.streams.drifting_regression(rounds=T, dim=3, segment=100, seed=4)


def _learner(**options: Any) -> dw.SelfTunedLearner:
    return dw.SelfTunedLearner(options.pop("domain", dw.Ball(3)), switching_cost=PRICE, **options)


def test_the_bound_is_that_of_scream_inside_and_the_overheads() -> None:
    learner = _learner()
    trace = dw.play(learner, LOSSES, PRICE)
    found = certificate(trace, LOSSES.generator)
    assert found.guaranteed
    assert 0.0 < found.ratio < 1.0
    theorem: Any = theorem_for("test", trace, LOSSES.generator)
    proved = learner.certificate("Scream, follow")
    assert theorem.mixed[-1] == proved.multiple * proved.overhead
    path = dw.regret.path_length(LOSSES.generator)
    scream = bounds.self_tuned_scream(
        horizon=T, path_length=path, gradient_bound=theorem.sizes, diameter=2.0, switching_cost=PRICE
    )
    assert found.bound == pytest.approx(scream + theorem.mixed[-1] + theorem.hidden[-1], rel=1e-12)
    assert theorem.bound(100) < theorem.bound(T) == found.bound
    assert f"mixing cost {theorem.mixed[-1]:.6g}" in str(found)


def test_where_nothing_is_clipped_it_is_told_the_gradients_where_it_stands() -> None:
    losses = dw.TrackingLoss(1.0 + 0.3 * np.sin(0.1 * np.arange(T)[:, None]))
    domain, v = dw.Box([-2.0], [2.0]), np.ones((T, 1))
    theorem: Any = theorem_for("test", dw.play(_learner(domain=domain), losses, PRICE), v)
    alone = dw.play(dw.SelfTunedScream(domain, switching_cost=PRICE), losses, PRICE)
    sizes = np.abs(losses.unary_gradients(alone.decisions)[:, 0])
    np.testing.assert_allclose(theorem.sizes, sizes, rtol=1e-9)
    assert theorem.hidden[-1] <= 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_glitches_are_counted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    level = np.cumsum(0.1 * rng.standard_normal((T, 1)), axis=0)
    targets = level + 0.05 * rng.standard_normal((T, 1))
    targets[rng.random(T) < 0.03] += rng.choice([-40.0, 40.0])
    domain = dw.Box([-3.0], [3.0])
    streams: list[dw.LossStream] = [
        dw.TrackingLoss(targets),
        dw.AbsoluteLoss(np.ones((T, 1)), targets[:, 0]),
        dw.CapacityLoss(np.abs(targets), shortage=3.0, price=1.0),
    ]
    for losses in streams:
        trace = dw.play(_learner(domain=domain), losses, PRICE)
        for v in (domain.project(level), np.zeros((T, 1))):
            found = certificate(trace, v)
            assert found.within, str(found)
            assert found.guaranteed, str(found)
    theorem: Any = theorem_for("test", dw.play(_learner(domain=domain), streams[0], PRICE), domain.project(level))
    assert theorem.hidden[-1] > 0.0


@pytest.mark.parametrize("seed", range(6))
def test_gradients_only(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((T, 4)) * rng.pareto(1.5, (T, 1))
    losses = dw.LinearLoss(rows)
    domain: dw.Domain = [dw.Ball(4), dw.Simplex(4)][seed % 2]
    trace = dw.play(_learner(domain=domain), losses, PRICE)
    found = certificate(trace, dw.regret.best_fixed(losses, domain))
    assert found.within
    assert found.guaranteed


def test_a_run_with_proposals_is_played_again_with_them() -> None:
    proposals = {"mine": LOSSES.generator.copy(), "late": np.full((T, 3), np.nan)}
    proposals["late"][50:] = 0.1
    trace = dw.play(_learner(), LOSSES, PRICE, proposals=proposals)
    found = certificate(trace, LOSSES.generator)
    assert found.within
    plain = certificate(dw.play(_learner(), LOSSES, PRICE), LOSSES.generator)
    assert found.measured < plain.measured


@pytest.mark.parametrize(
    "options", [{"estimators": [Smoothing(0.3)]}, {"movers": [Prox(16)]}], ids=["other estimators", "other movers"]
)
def test_without_scream_followed_nothing_is_proved(options: dict[str, Any]) -> None:
    losses = dw.TrackingLoss(np.sin(np.arange(40.0))[:, None])
    trace = dw.play(_learner(domain=dw.Box([-1.0], [1.0]), **options), losses, PRICE)
    found = certificate(trace, np.zeros((40, 1)))
    assert not found.guaranteed
    assert found.bound == np.inf
    assert "is not one of its pairs" in str(found)


def test_scream_alone_is_enough() -> None:
    alone = [dw.estimators.SelfTunedScream()]
    trace = dw.play(_learner(estimators=alone, movers=[Follow()]), LOSSES, PRICE)
    assert certificate(trace, LOSSES.generator).guaranteed


def test_a_custom_loss_is_looked_at() -> None:
    found = certificate(dw.play(_learner(), custom(3, 50), PRICE), np.zeros((50, 3)))
    assert found.within
    assert "agree with it in every round" in found.assumptions[0].text
    assert found.guaranteed
