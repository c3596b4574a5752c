"""Recursive least squares with forgetting: the regression of all rounds so far, where old rounds fade."""

import numpy as np

from driftwise._validate import Array

FORGETTING = (1.0, 0.9999, 0.999, 0.995, 0.99, 0.98, 0.95)
PRIORS = (0.01, 1.0, 100.0)
"""Weight of the start, in rounds with a feature of size 1."""


def recursive_least_squares(features: Array, targets: Array, forgetting: Array, priors: Array) -> Array:
    """Return the weights before every round, shape (T, n, d), for n pairs of settings; all begin at 0.

    Minimises ``sum_s forgetting^(t - s) (w'x_s - y_s)^2 / 2 + forgetting^t prior |w|^2 / 2``.

    Examples
    --------
    >>> ones = np.ones((3, 1))
    >>> recursive_least_squares(ones, np.array([2.0, 4.0, 9.0]), np.array([1.0]), np.array([1e-9])).ravel().round(6)
    array([0., 2., 3.])
    """
    rounds, dim = features.shape
    inverse = np.eye(dim) / priors[:, None, None]
    weights, made = np.zeros((len(priors), dim)), np.empty((rounds, len(priors), dim))
    for t, (x, y) in enumerate(zip(features, targets, strict=True)):
        made[t] = weights
        reach = inverse @ x
        gain = reach / (forgetting + reach @ x)[:, None]
        weights = weights + gain * (y - weights @ x)[:, None]
        inverse = (inverse - gain[:, :, None] * reach[:, None, :]) / forgetting[:, None, None]
    return made
