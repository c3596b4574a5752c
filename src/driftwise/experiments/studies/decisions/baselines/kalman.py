"""The Kalman filter of weights that walk at random."""

import numpy as np

from driftwise._validate import Array

DRIFTS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""Variance of a round's step of every weight, in units of the noise of a target."""
SPREADS = (0.1, 1.0, 10.0)
"""Variance of every weight before the first round, in the same units."""


def random_walk(features: Array, targets: Array, drifts: Array, spreads: Array) -> Array:
    """Return the weights before every round, shape (T, n, d), for n pairs of settings; all begin at 0.

    The model is ``y_t = w_t'x_t + noise``, ``w_{t+1} = w_t + step``.

    Examples
    --------
    >>> ones = np.ones((3, 1))
    >>> random_walk(ones, np.array([1.0, 1.0, 1.0]), np.array([0.0]), np.array([1.0])).ravel().round(6)
    array([0.      , 0.5     , 0.666667])
    """
    rounds, dim = features.shape
    covariance = np.eye(dim) * spreads[:, None, None]
    step = np.eye(dim) * drifts[:, None, None]
    weights, made = np.zeros((len(drifts), dim)), np.empty((rounds, len(drifts), dim))
    for t, (x, y) in enumerate(zip(features, targets, strict=True)):
        made[t] = weights
        reach = covariance @ x
        gain = reach / (1.0 + reach @ x)[:, None]
        weights = weights + gain * (y - weights @ x)[:, None]
        covariance = covariance - gain[:, :, None] * reach[:, None, :] + step
    return made
