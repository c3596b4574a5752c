"""The learner that a comparison is about: it is told what a move costs, and nothing that only the whole file knows."""

from collections.abc import Mapping
from typing import Any

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.learners import Learner, SelfTunedLearner
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost
from driftwise.play import play

LABEL, SCREAM = "Self-tuned learner", "Self-tuned Scream"
"""Our two learners without knobs: from whole losses, and from gradients."""

CLASS = SelfTunedLearner.__name__
"""Name that the first of them has in Python."""


def build(domain: Domain, price: float | MoveCost, start: Array | None = None, period: int | None = None) -> Learner:
    """Return our learner for a domain and a price of moving."""
    return SelfTunedLearner(domain, switching_cost=price, start=start, period=period)


def decide(learner: Learner, losses: LossStream, proposals: Mapping[str, Array]) -> Array:
    """Return the decisions of a learner, (T, d), that is given forecasts as proposals if there are any."""
    given: Any = dict(proposals) or None
    return play(learner, losses, proposals=given).decisions
