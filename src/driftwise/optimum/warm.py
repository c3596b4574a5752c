"""Compile beforehand what judging a run needs: every kernel of `optimum`, by the smallest problems that reach it."""

import numpy as np

from driftwise.domains import Box
from driftwise.losses import CapacityLoss, FilteredLoss, HuberLoss, SquaredLoss
from driftwise.movecost import MoveCost
from driftwise.optimum.fixed import best_fixed
from driftwise.optimum.solve import hindsight_optimum


def warm() -> None:
    """Compile the kernels of values, comparators and the hindsight optimum, or load those that are on disk."""
    features, targets, box = np.eye(2), np.ones(2), Box([0.0, 0.0], [1.0, 1.0])
    prices = MoveCost(up=1.0, down=1.0)
    hindsight_optimum(SquaredLoss(features, targets), box, 1.0)  # segments of constant decisions
    hindsight_optimum(SquaredLoss(features, targets), box, prices)  # all rounds at once
    hindsight_optimum(CapacityLoss(features), box, prices)  # every coordinate by itself
    best_fixed(HuberLoss(features, targets), box)  # by gradients
    FilteredLoss([1.0, 0.5], features, targets).policy_losses(features)  # with memory
