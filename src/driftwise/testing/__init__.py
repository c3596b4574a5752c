"""Checks of what this package promises, for a domain, a loss stream, a learner or a controller of your own."""

from driftwise.testing.controllers import check_controller
from driftwise.testing.domains import check_domain
from driftwise.testing.learners import check_learner
from driftwise.testing.losses import check_loss

__all__ = ["check_controller", "check_domain", "check_learner", "check_loss"]
