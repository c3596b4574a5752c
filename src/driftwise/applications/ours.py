"""What this package has to offer for a case: learners that know what a move costs, and committees of the rules."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from driftwise._validate import Array
from driftwise.applications.case import Case
from driftwise.learners import Committee, Learner, Scream, SelfTunedLearner, SelfTunedScream
from driftwise.movecost import MoveCost
from driftwise.play import play

Members = Mapping[str, tuple[Array, Array]]
"""Decisions (T, d) and losses (T,) of every member, by name."""

SELF_TUNED, SELF_TUNED_SCREAM, SCREAM = "SelfTunedLearner", "SelfTunedScream", "Scream"
INFORMED = "SelfTunedLearner with a forecast"
"""The learner to begin with, given the forecasts of a case as proposals."""

COMMITTEE, MOVING = "Committee", "Committee with movers"
FOLLOWING, BLIND = "Committee, one at a time", "Committee, blind to moves"


def self_tuned(case: Case, price: MoveCost) -> SelfTunedLearner:
    """Return the learner that is told what a move costs, and nothing else."""
    return SelfTunedLearner(case.domain, switching_cost=price, start=case.start)


def informed(case: Case, price: MoveCost) -> Array:
    """Return the decisions of the same learner when it is given the forecasts of a case."""
    proposals: Any = case.forecasts
    return play(self_tuned(case, price), case.losses, proposals=proposals).decisions


def self_tuned_scream(case: Case, price: MoveCost) -> Learner:
    """Return the same from gradients alone, with a theorem."""
    return SelfTunedScream(case.domain, switching_cost=price, start=case.start)


def scream(case: Case, price: MoveCost) -> Learner:
    """Return the paper's learner, which is told the number of rounds and a bound on gradients as well.

    It knows one price of distance only: the mean of up and down, which is what a way there and back costs.
    """
    cost = float(np.mean((np.asarray(price.up) + np.asarray(price.down)) / 2.0))
    return Scream(
        case.domain,
        switching_cost=cost,
        gradient_bound=case.gradient_bound,
        horizon=len(case.losses),
        start=case.start,
    )


LEARNERS: dict[str, Callable[[Case, MoveCost], Learner]] = {
    SELF_TUNED: self_tuned,
    SELF_TUNED_SCREAM: self_tuned_scream,
    SCREAM: scream,
}


def committee(mode: str = "mix", movers: bool = False) -> Callable[[Members, Case, MoveCost], Array]:
    """Return a function that gives the decisions of a committee of members on a case, at a price of moving."""

    def decide(members: Members, case: Case, price: MoveCost) -> Array:
        proposals = np.stack([decisions for decisions, _ in members.values()], axis=1)
        known = np.stack([losses for _, losses in members.values()], axis=1)
        mixer = Committee(len(members), switching_cost=price, mode=mode, movers=movers)
        decisions = np.empty((len(proposals), case.domain.dim))
        for t in range(len(proposals)):
            decisions[t] = mixer.act(proposals[t])
            mixer.observe(case.losses[t] if movers else known[t])
        return decisions

    return decide


COMMITTEES = {COMMITTEE: committee(), MOVING: committee(movers=True), FOLLOWING: committee("follow")}
