"""Compiled movers beside their statements: from the same place, with the same to go by, they go equally far."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

import driftwise as dw
from driftwise._validate import Array
from driftwise.estimators import Estimator
from driftwise.learners.self_tuned.own import curvature
from driftwise.losses.base import DataLoss
from driftwise.movers import Mover, Prox, Step
from driftwise.pairs import layout
from driftwise.pairs.pool import Plan


def check_agrees(
    domain: dw.Domain, losses: DataLoss, price: float | dw.MoveCost, one: Estimator, ways: Sequence[Mover]
) -> None:
    """Check that every pair goes as far as its mover says, in every round, and that some go and some stay."""
    learner = dw.SelfTunedLearner(domain, switching_cost=price, estimators=[one], movers=ways)
    went = []
    for t in range(len(losses)):
        before = [] if t == 0 else list(_steps(learner))
        learner.act()
        if t > 0:
            plan, parts = _pool(learner)
            for lane, mover, here, step in before:
                parts_of_it = _parts(plan, parts, mover, step)
                there = parts["points"][lane // 4, :, lane % 4]
                size = max(float(np.abs(here).max()), float(np.abs(step.way).max()))
                np.testing.assert_allclose(there, here + parts_of_it * step.way, rtol=0.0, atol=1e-9 * size)
                went.append(parts_of_it.max())
        learner.observe(losses[t])
    assert 0.0 in went
    assert max(went) > 0.0


def _pool(learner: dw.SelfTunedLearner) -> tuple[Plan, dict[str, Array]]:
    assert learner._plan is not None
    return learner._plan, learner._plan.views(learner._vector)


def _steps(learner: dw.SelfTunedLearner) -> Iterator[tuple[int, Mover, Array, Step]]:
    """Yield the lane, the mover, the place and what there is to see of every pair but the one that stays."""
    plan, parts = _pool(learner)
    lanes = iter(plan.lanes[1:])
    for e, row in enumerate(plan.rows):
        for mover in row.movers:
            lane = int(next(lanes))
            here = parts["points"][lane // 4, :, lane % 4].copy()
            way = parts["proposals"][e] - here
            price, gain = float(np.asarray(plan.cost(way))), curvature(plan, learner._vector, way, e)
            rounds, staying = int(learner._vector[layout.ROUNDS]), float(parts["ski"][lane])
            if way.any():
                step = Step(way, price, gain, staying, rounds, float(parts["horizons"][e]), float(parts["gains"][e]))
                yield lane, mover, here, step


def _parts(plan: Plan, parts: dict[str, Array], mover: Mover, step: Step) -> Array:
    """Return the part of the way that a mover says, for each coordinate: its own if coordinates are problems apart."""
    d = step.way.size
    adds_up = plan.cost.norm == "l1" or d == 1
    share = mover.share(step)
    if plan.kind.form != layout.EACH or not adds_up or not isinstance(mover, Prox):
        return np.full(d, share)
    shares = np.zeros(d)
    for k in range(d):
        alone = np.where(np.arange(d) == k, step.way, 0.0)
        gain = float(parts["curves"][k] * step.way[k] ** 2)
        shares[k] = mover.share(replace(step, way=step.way[[k]], price=float(np.asarray(plan.cost(alone))), gain=gain))
    return shares
