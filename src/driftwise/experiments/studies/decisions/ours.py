"""The learner whose decisions are studied, told what a move costs and nothing else."""

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.learners import Learner, SelfTunedLearner, SelfTunedScream
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost
from driftwise.play import play

OURS, SCREAM = "SelfTunedLearner", "SelfTunedScream"

Price = float | MoveCost


def ours(domain: Domain, price: Price, start: Array | None = None) -> Learner:
    """Return the learner that is studied."""
    return SelfTunedLearner(domain, switching_cost=price, start=start)


def scream(domain: Domain, price: Price, start: Array | None = None) -> Learner:
    """Return the learner that it is meant to replace, which sees gradients only."""
    return SelfTunedScream(domain, switching_cost=price, start=start)


def cost_of(learner: Learner, losses: LossStream, price: Price, proposals: Array | None = None) -> float:
    """Return the overall cost of a run."""
    return float(play(learner, losses, price, proposals=proposals).total)
