"""Normalised least mean squares: a share of every error is made good. On a level it is exponential smoothing."""

import numpy as np

from driftwise._validate import Array

SHARES = (0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
TINY = 1e-12
"""Squared length below which a feature vector says nothing."""


def normalised_lms(features: Array, targets: Array, shares: Array) -> Array:
    """Return the weights before every round, shape (T, n, d), for n shares; all begin at 0.

    ``w <- w + share (y - w'x) x / |x|^2``; with the feature 1 it is exponential smoothing, and with a share of 1 the
    last value.

    Examples
    --------
    >>> normalised_lms(np.ones((3, 1)), np.array([1.0, 3.0, 5.0]), np.array([0.5, 1.0]))[:, :, 0].tolist()
    [[0.0, 0.0], [0.5, 1.0], [1.75, 3.0]]
    """
    rounds, dim = features.shape
    weights, made = np.zeros((len(shares), dim)), np.empty((rounds, len(shares), dim))
    for t, (x, y) in enumerate(zip(features, targets, strict=True)):
        made[t] = weights
        weights = weights + np.outer(shares * (y - weights @ x), x / max(float(x @ x), TINY))
    return made
