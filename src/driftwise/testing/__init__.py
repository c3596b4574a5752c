"""Checks of what this package promises, for a domain, a loss stream or a learner of one's own."""

from driftwise.testing.domains import check_domain
from driftwise.testing.learners import check_learner
from driftwise.testing.losses import check_loss

__all__ = ["check_domain", "check_learner", "check_loss"]
