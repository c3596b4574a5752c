"""One linear model for two labels, one for each against the rest for more: who joins, and how likely each label is."""

from collections.abc import Hashable, Sequence

import numpy as np

from driftwise._validate import Array


def joining(labels: Sequence[Hashable], new: Hashable) -> dict[Hashable, Hashable]:
    """Return the labels that get a model as a new one comes, each with that whose model it begins as the opposite of.

    The first label gets one. The second needs none, as it is whatever the first is not, until there is a third.

    Examples
    --------
    >>> joining([], "a"), joining(["a"], "b"), joining(["a", "b"], "c"), joining(["a", "b", "c"], "d")
    ({'a': None}, {}, {'b': 'a', 'c': None}, {'d': None})
    """
    if len(labels) == 1:
        return {}
    second = {labels[1]: labels[0]} if len(labels) == 2 else {}
    return {**second, new: None}


def probabilities(scores: Array) -> Array:
    """Return the probability of each label, of shape (n, labels), from the scores of the models, of shape (n, models).

    Of a single model: that its score is of the second label rather than the first.

    Examples
    --------
    >>> probabilities(np.array([[0.0], [800.0]]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    >>> probabilities(np.array([[0.0, 0.0, -800.0], [-900.0, -900.0, -900.0]])).round(3)
    array([[0.5  , 0.5  , 0.   ],
           [0.333, 0.333, 0.333]])
    """
    if scores.shape[1] == 1:
        scores = np.column_stack([-scores, scores])
    logs = np.minimum(scores, 0.0) - np.log1p(np.exp(-np.abs(scores)))
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))  # together they may all vanish
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
