"""Disturbance-action policies, the loop in which they act, and the reduction to losses of a learner."""

from driftwise.control.policies.disturbance_action import DisturbanceAction, transfer_matrices, unrolled_state
from driftwise.control.policies.reduction import TruncatedLosses

__all__ = ["DisturbanceAction", "TruncatedLosses", "transfer_matrices", "unrolled_state"]
