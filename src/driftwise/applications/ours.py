"""What this package has to offer for a case: learners that know what a move costs, and committees of the rules."""

from collections.abc import Callable, Mapping

import numpy as np

from driftwise._validate import Array
from driftwise.applications.case import Case
from driftwise.learners import Committee, Learner, Scream, SelfTunedScream
from driftwise.movecost import MoveCost

Members = Mapping[str, tuple[Array, Array]]
"""Decisions (T, d) and losses (T,) of every member, by name."""

SELF_TUNED, SCREAM = "SelfTunedScream", "Scream"
COMMITTEE, FOLLOWING, BLIND = "Committee", "Committee, one at a time", "Committee, blind to moves"


def self_tuned(case: Case, price: MoveCost) -> Learner:
    """Return the learner that is told what a move costs, and nothing else."""
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


LEARNERS: dict[str, Callable[[Case, MoveCost], Learner]] = {SELF_TUNED: self_tuned, SCREAM: scream}


def committee(mode: str) -> Callable[[Members, Case, MoveCost], Array]:
    """Return a function that gives the decisions of a committee of members on a case, at a price of moving."""

    def decide(members: Members, case: Case, price: MoveCost) -> Array:
        proposals = np.stack([decisions for decisions, _ in members.values()], axis=1)
        losses = np.stack([losses for _, losses in members.values()], axis=1)
        mixer = Committee(len(members), switching_cost=price, mode=mode)
        decisions = np.empty((len(losses), case.domain.dim))
        for t in range(len(losses)):
            decisions[t] = mixer.act(proposals[t])
            mixer.observe(losses[t])
        return decisions

    return decide


COMMITTEES = {COMMITTEE: committee("mix"), FOLLOWING: committee("follow")}
