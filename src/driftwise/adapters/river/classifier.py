"""Logistic regression, of two labels or many, whose coefficients are the decisions of learners."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from river import base

from driftwise._validate import describe
from driftwise.adapters._features import Named
from driftwise.adapters._labels import joining, probabilities
from driftwise.adapters._linear import Make, Scorer, Settings
from driftwise.adapters.river.moving import Moving
from driftwise.errors import InputError
from driftwise.losses import LogisticLoss


class DriftClassifier(Moving, base.Classifier):
    """Logistic regression for a drifting world, without a learning rate; of two labels or many.

    There is one linear model for two labels, and one for each label against the rest for more. Labels may turn up at
    any time: the model of a new one is taught the last 128 rounds, in which it was not the answer.

    Parameters
    ----------
    switching_cost : float, default 0.0
        Price of moving the coefficients of a model by one unit of Euclidean distance, in units of the logistic loss.
    radius, l2, intercept, learner
        As in `DriftRegressor`.

    Attributes
    ----------
    labels : list
        The labels seen, in the order in which they came.
    weights : dict
        The coefficients of each model by label: features that speak for it. Of two labels only the first has one.
    intercept_ : dict
        The constant term of each model by label.
    moved, moving_cost : float
        How far the coefficients of all models have moved, and what that has cost.

    See Also
    --------
    driftwise.LogisticLoss : what a wrong probability costs.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from driftwise.adapters.river import DriftClassifier
    >>> model = preprocessing.StandardScaler() | DriftClassifier()
    >>> round(evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy()).get(), 2)
    0.85
    """

    def __init__(
        self,
        switching_cost: float = 0.0,
        radius: float | None = None,
        l2: float = 0.0,
        intercept: bool = True,
        learner: Make | None = None,
    ) -> None:
        self.radius, self.l2, self.intercept, self.learner = radius, l2, intercept, learner
        settings = Settings("DriftClassifier", LogisticLoss, switching_cost, radius, l2, intercept, learner)
        self._named = Named(settings, labelled=True)
        self.labels: list[Any] = []

    @property
    def _settings(self) -> Settings:
        return self._named.settings

    @property
    def _multiclass(self) -> bool:
        return True

    @property
    def _scorers(self) -> list[Scorer]:
        return list(self._named.models.values())

    @property
    def weights(self) -> dict[Hashable, dict[Hashable, float]]:
        """The coefficients of each model by label."""
        return {label: self._named.coefficients(label) for label in self._named.models}

    @property
    def intercept_(self) -> dict[Hashable, float]:
        """The constant term of each model by label."""
        return {label: self._named.constant(label) for label in self._named.models}

    def learn_one(self, x: dict[Any, Any], y: Hashable) -> None:
        """Learn from a round.

        Parameters
        ----------
        x : dict
            Features by name: finite numbers.
        y : bool, str or int
            The label.
        """
        if _is_among(y, self.labels):
            self._named.learn(x, y)
        else:
            self._named.learn(x, y, joining(self.labels, y))
            self.labels.append(y)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of every label seen.

        Parameters
        ----------
        x : dict
            Features by name; those never learnt from are ignored.
        **kwargs
            Not used; river passes some on.
        """
        scores = self._named.scores(x)
        if len(self.labels) < 2:
            return dict.fromkeys(self.labels, 1.0)
        if len(scores) == 1:  # of the first of two
            scores = [-scores[0]]
        return dict(zip(self.labels, probabilities(np.array([scores]))[0].tolist(), strict=True))


def _is_among(y: Any, labels: list[Any]) -> bool:
    """Tell whether a label is among others; refuse what is no label."""
    try:
        if y is not None and y == y:
            hash(y)
            return y in labels
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"DriftClassifier: y must be a label, such as a text, a bool or an int, got {describe(y)}; nothing was learnt."
    )
