"""What a pool says that everybody has cost, and the same counted anew from where everybody was."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import driftwise as dw
from driftwise._validate import Array
from driftwise.pairs import layout


def parts_of(learner: dw.SelfTunedLearner) -> dict[str, Array]:
    """Return the parts of a learner's pool by name."""
    assert learner._plan is not None
    return learner._plan.views(learner._vector)


def points_of(learner: dw.SelfTunedLearner) -> Array:
    """Return where every pair is, in the order of `members`; before the first round there is only the start."""
    if learner._plan is None:
        return np.array([learner.act()])
    lanes = learner.lanes
    return np.array(parts_of(learner)["points"][lanes // 4, :, lanes % 4])


@dataclass
class Account:
    """What a run has cost, losses and moves."""

    own: float
    """What the decisions have cost."""
    pairs: Array
    """What each pair would have cost."""


def by_account(
    learner: dw.SelfTunedLearner, losses: dw.LossStream, act: Callable[[int], dict[str, Any]] = lambda t: {}
) -> Account:
    """Play by hand, and count what the decisions and all pairs have cost, from their points alone."""
    cost, paths, path = learner._cost, [], []
    for t in range(len(losses)):
        path.append(learner.act(**act(t)).copy())
        paths.append(points_of(learner))
        learner.observe(losses[t])
    paths[0] = np.tile(path[0], (len(learner.members), 1))
    totals = np.zeros(len(learner.members))
    for t, points in enumerate(paths):
        totals += [losses.unary_value(t, point) for point in points]
        totals += np.asarray(cost(points - paths[max(t - 1, 0)]))
    own = sum(losses.unary_value(t, w) for t, w in enumerate(path))
    return Account(own + float(np.sum(cost(np.diff(path, axis=0)))), totals)


def stated(learner: dw.SelfTunedLearner) -> Account:
    """Return what the pool says that the decisions and the pairs have cost, clipped or not."""
    v, parts, lanes = learner._vector, parts_of(learner), learner.lanes
    own = v[layout.PAID] + v[layout.LEVEL] + v[layout.BEYOND]
    return Account(float(own), parts["totals"][lanes] + v[layout.LEVEL] + parts["cut"][lanes])


def excess(learner: dw.SelfTunedLearner) -> float:
    """Return by how much the inequality is broken for the worst pair, relative to its sides; at most 0 if it holds.

    On clipped losses above the least of every round,
    ``cost <= cost of pair i + (1 + ln(1 / prior_i) / factor) overhead``.
    """
    v, parts, lanes = learner._vector, parts_of(learner), learner.lanes
    prior = np.exp(parts["log_prior"][lanes])
    multiple = 1.0 - np.log(prior / prior.sum()) / v[layout.FACTOR]
    bounds = parts["totals"][lanes] + multiple * v[layout.OVERHEAD]
    size = abs(v[layout.PAID]) + np.abs(bounds)
    return float(np.max((v[layout.PAID] - bounds) / np.where(size > 0.0, size, 1.0)))
