"""Loss streams: values, gradients, memory, and the constants that the guarantees need."""

from driftwise.losses.absolute import AbsoluteLoss
from driftwise.losses.base import LossStream, RoundLoss, SwitchingCosts
from driftwise.losses.capacity import CapacityLoss
from driftwise.losses.custom import CustomLoss
from driftwise.losses.differences import DifferencesWarning
from driftwise.losses.filtered import FilteredLoss
from driftwise.losses.huber import HuberLoss
from driftwise.losses.jax_loss import FunctionLoss, from_jax
from driftwise.losses.linear import LinearLoss
from driftwise.losses.log_wealth import LogWealthLoss
from driftwise.losses.logistic import LogisticLoss
from driftwise.losses.quantile import QuantileLoss
from driftwise.losses.squared import SquaredLoss
from driftwise.losses.tracking import TrackingLoss

__all__ = [
    "AbsoluteLoss",
    "CapacityLoss",
    "CustomLoss",
    "DifferencesWarning",
    "FilteredLoss",
    "FunctionLoss",
    "HuberLoss",
    "LinearLoss",
    "LogWealthLoss",
    "LogisticLoss",
    "LossStream",
    "QuantileLoss",
    "RoundLoss",
    "SquaredLoss",
    "SwitchingCosts",
    "TrackingLoss",
    "from_jax",
]
