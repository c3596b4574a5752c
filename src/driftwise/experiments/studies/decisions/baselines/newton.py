"""The online Newton step (Hazan, Agarwal, Kale 2007): gradient descent in the metric of all gradients so far."""

import numpy as np

from driftwise._validate import Array

STEPS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
PRIORS = (0.01, 1.0, 100.0)


def online_newton_step(features: Array, targets: Array, steps: Array, priors: Array) -> Array:
    """Return the weights before every round, shape (T, n, d), for n pairs of settings; all begin at 0.

    ``A <- A + g g'``, ``w <- w - step A^-1 g`` with ``g = (w'x - y) x`` and A = prior times the identity at first.

    Examples
    --------
    >>> one = np.ones((2, 1))
    >>> online_newton_step(one, np.array([1.0, 1.0]), np.array([0.5]), np.array([1.0])).ravel().tolist()
    [0.0, 0.25]
    """
    rounds, dim = features.shape
    inverse = np.eye(dim) / priors[:, None, None]
    weights, made = np.zeros((len(steps), dim)), np.empty((rounds, len(steps), dim))
    for t, (x, y) in enumerate(zip(features, targets, strict=True)):
        made[t] = weights
        gradients = np.outer(weights @ x - y, x)
        reach = np.einsum("nij,nj->ni", inverse, gradients)
        gain = reach / (1.0 + np.einsum("ni,ni->n", gradients, reach))[:, None]
        inverse = inverse - gain[:, :, None] * reach[:, None, :]
        weights = weights - steps[:, None] * gain
    return made
