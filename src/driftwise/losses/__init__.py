"""Loss streams: values, gradients, memory, and the constants that the guarantees need."""

from driftwise.losses.base import LossStream, RoundLoss, SwitchingCosts
from driftwise.losses.capacity import CapacityLoss
from driftwise.losses.custom import CustomLoss
from driftwise.losses.filtered import FilteredLoss
from driftwise.losses.pointwise import AbsoluteLoss, HuberLoss, LinearLoss, LogisticLoss, SquaredLoss
from driftwise.losses.tracking import TrackingLoss

__all__ = [
    "AbsoluteLoss",
    "CapacityLoss",
    "CustomLoss",
    "FilteredLoss",
    "HuberLoss",
    "LinearLoss",
    "LogisticLoss",
    "LossStream",
    "RoundLoss",
    "SquaredLoss",
    "SwitchingCosts",
    "TrackingLoss",
]
