"""Compiled estimators beside their statements in NumPy: both see the same rounds, and must propose the same points."""

import copy
import functools
from collections.abc import Iterator

import numpy as np

import driftwise as dw
from driftwise import movers
from driftwise._validate import Array
from driftwise.engine.layout import DECISION_AT
from driftwise.estimators import GRADIENT, Estimator, Seen
from driftwise.learners.self_tuned.own import seen_in
from driftwise.losses.base import DataLoss

SCORES = ("squared", "huber", "logistic", "absolute", "quantile")
LEVELS = ("tracking", "capacity")
DIMS = (1, 3, 70)
"""One weight, a few, and too many for full matrices."""

ROUNDS = 150


@functools.cache
def problem(kind: str, dim: int, rounds: int = ROUNDS) -> tuple[dw.Domain, DataLoss]:
    """Return a domain and drifting losses on it, with a jump and a glitch."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal((rounds, dim)) * np.linspace(0.5, 2.0, dim)
    x[0] = 1.0
    w = (
        np.cumsum(0.1 * rng.standard_normal((rounds, dim)), axis=0)
        + np.where(np.arange(rounds) < 90, 0.5, -0.5)[:, None]
    )
    y = np.einsum("td,td->t", x, w) + 0.3 * rng.standard_normal(rounds)
    phase = 2.0 * np.pi * np.arange(rounds)[:, None] / 12.0 + np.arange(dim)
    levels = 4.0 + np.sin(phase) + 0.2 * rng.standard_normal((rounds, dim))
    y[60], levels[60] = 100.0 * y[60], 50.0 * levels[60]
    ball, box = dw.Ball(dim, radius=3.0), dw.Box(np.zeros(dim), np.full(dim, 10.0))
    losses: dict[str, DataLoss] = {
        "squared": dw.SquaredLoss(x, y),
        "huber": dw.HuberLoss(x, y, delta=0.5),
        "logistic": dw.LogisticLoss(x, np.sign(y)),
        "absolute": dw.AbsoluteLoss(x, y),
        "quantile": dw.QuantileLoss(x, y, quantile=0.8),
        "linear": dw.LinearLoss(x),
        "tracking": dw.TrackingLoss(levels),
        "capacity": dw.CapacityLoss(levels, shortage=5.0),
    }
    return (box if kind in LEVELS else ball), losses[kind]


def rounds_of(
    one: Estimator, domain: dw.Domain, losses: DataLoss, price: float | dw.MoveCost = 0.3
) -> Iterator[tuple[Seen, Array]]:
    """Yield what there is to see of every round, and what the compiled estimator then proposes.

    That is a point of the domain; but the forecast itself, where an offset is added to it.
    """
    learner = dw.SelfTunedLearner(domain, switching_cost=price, estimators=[one], movers=[movers.Follow()])
    for t in range(len(losses)):
        learner.act()
        learner.observe(losses[t])
        plan, vector = learner._plan, learner._vector
        assert plan is not None
        parts, family = plan.views(vector), plan.rows[0].family
        seen = seen_in(plan, vector, None if plan.kind.form == GRADIENT else losses._parts[0])
        if family.beside:
            start = int(learner._cell[DECISION_AT])
            yield seen, learner._cell[start : start + domain.dim].copy()
        else:
            yield seen, parts["levels" if plan.kind.offsets else "proposals"][0].copy()


def check_agrees(
    one: Estimator, domain: dw.Domain, losses: DataLoss, price: float | dw.MoveCost = 0.3, rtol: float = 1e-8
) -> None:
    """Check that an estimator proposes the same compiled and in NumPy, in every round, and moves about."""
    plain = copy.deepcopy(one)
    plain.begin(domain.project(np.zeros(domain.dim)), domain)
    path = []
    for seen, found in rounds_of(one, domain, losses, price):
        plain.learn(seen)
        proposed = plain.propose()
        assert proposed is not None
        expected = proposed if seen.kind.offsets else domain.project(proposed)
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=rtol * max(float(np.abs(expected).max()), 1e-3))
        path.append(found)
    assert np.ptp(path, axis=0).max() > 1e-2
