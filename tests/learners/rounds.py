"""Learners for tests of rounds that go wrong: one of each kind."""

from collections.abc import Callable
from typing import Any

import numpy as np

import driftwise as dw
from driftwise._validate import Array

BALL = dw.Ball(2)
PRICES = dw.MoveCost([1.0, 2.0], [0.5, 1.0])
KNOWN: dict[str, Any] = {"gradient_bound": 3.0}


class Mean(dw.Learner):
    """A learner of somebody else, whose constructor knows nothing of rounds that go wrong."""

    state_names = ("point", "drawn")

    def __init__(self, domain: dw.Domain) -> None:
        super().__init__(domain)
        self.point, self.drawn = np.zeros(domain.dim), 0

    def _decide(self) -> Array:
        self.drawn += 1  # not to be called again after a round without feedback
        return self.domain.project(self.point + 0.01 * self.drawn)

    def _learn(self, gradient: Array) -> None:
        self.point = 0.9 * self.point - 0.1 * gradient


MAKE: dict[str, Callable[..., dw.Learner]] = {
    "OGD": lambda **rules: dw.OGD(BALL, step=0.1, **rules),
    "Ader": lambda **rules: dw.Ader(BALL, **KNOWN, **rules),
    "Scream": lambda **rules: dw.Scream(BALL, switching_cost=1.0, **KNOWN, **rules),
    "Scream, prices": lambda **rules: dw.Scream(BALL, switching_cost=PRICES, **KNOWN, **rules),
    "Scream, doubling": lambda **rules: dw.Scream(
        BALL, switching_cost=1.0, horizon_free="doubling", **KNOWN, **rules
    ),
    "LazyScream": lambda **rules: dw.LazyScream(BALL, switching_cost=9.0, horizon=400, **KNOWN, **rules),
    "MirrorDescent": lambda **rules: dw.MirrorDescent(
        dw.Simplex(2), mirror=dw.mirror.NegativeEntropy(), step=0.1, **rules
    ),
    "Hedge": lambda **rules: dw.Hedge(2, loss_bound=1.0, **rules),
    "StronglyAdaptive": lambda **rules: dw.StronglyAdaptive(BALL, switching_cost=1.0, **KNOWN, **rules),
    "SelfTunedScream": lambda **rules: dw.SelfTunedScream(BALL, switching_cost=1.0, **rules),
    "SelfTunedScream, prices": lambda **rules: dw.SelfTunedScream(BALL, switching_cost=PRICES, **rules),
    "SelfTunedLearner": lambda **rules: dw.SelfTunedLearner(BALL, switching_cost=0.5, **rules),
    "rounded": lambda **rules: dw.rounded(dw.OGD(dw.Box([0.0, 0.0], [9.0, 9.0]), step=0.7, **rules)),
    "of somebody else": lambda **rules: Mean(BALL, **rules),
}
"""A learner of each kind; `rules` are on_bad_input and late."""


def gradients(rounds: int, seed: int = 0) -> Array:
    """Return random gradients."""
    return np.random.default_rng(seed).normal(size=(rounds, 2))


def play_on_time(learner: dw.Learner, rows: Array, **given: Any) -> Array:
    """Return the decisions with feedback always on time; `given` goes to every `act`."""
    found = []
    for row in rows:
        found.append(learner.act(**given).copy())
        learner.observe(row)
    return np.array(found)
