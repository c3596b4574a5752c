"""Compile the kernels of all comparators beforehand, by the smallest problem that uses them."""

import numpy as np

from driftwise.control.costs import QuadraticCost
from driftwise.control.hindsight.policy import best_policy
from driftwise.control.plants import LinearSystem


def warm() -> None:
    """Compile the kernels of all comparators, or load those that are on disk."""
    best_policy(LinearSystem([[0.5]], [[1.0]]), QuadraticCost([[1.0]], [[1.0]]), np.ones((3, 1)), memory=1)
