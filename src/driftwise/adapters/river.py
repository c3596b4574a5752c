"""Models of river: linear ones whose coefficients a driftwise learner decides on, and a mixture of other models.

They learn one round at a time from dictionaries of features, as everything in river does. What they add is a price on
changing one's mind: `switching_cost`, and what the changes have come to in `moved` and `moving_cost`.
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from driftwise._extras import optional
from driftwise._validate import Array, describe
from driftwise.adapters._features import ONLY, Named
from driftwise.adapters._labels import joining, probabilities
from driftwise.adapters._linear import LARGEST, Kind, Make, Scorer, Settings
from driftwise.domains import Simplex
from driftwise.errors import InputError, ParameterError
from driftwise.losses import LogisticLoss

try:
    from river import base, linear_model, preprocessing
except ImportError:
    optional("driftwise.adapters.river", "river.base", "river")
    raise

__all__ = ["DriftClassifier", "DriftCombiner", "DriftRegressor"]


class _Moving(base.Base):
    """What all three share: what a move costs, and what moves have come to."""

    @property
    def _settings(self) -> Settings:
        raise NotImplementedError

    @property
    def switching_cost(self) -> float:
        """Price of moving the coefficients by one unit of Euclidean distance; `mutate` may change it."""
        return self._settings.price

    @switching_cost.setter
    def switching_cost(self, price: float) -> None:
        self._settings.reprice(price)

    @property
    def _mutable_attributes(self) -> set[str]:
        return {"switching_cost"}

    @property
    def _scorers(self) -> list[Scorer]:
        raise NotImplementedError

    @property
    def moved(self) -> float:
        """How far the coefficients have moved: the sum of the Euclidean lengths of all moves."""
        return math.fsum(one.moved for one in self._scorers)

    @property
    def moving_cost(self) -> float:
        """What all moves have cost: each length times the price at the time."""
        return math.fsum(one.paid for one in self._scorers)

    def mutate(self, new_attrs: dict[str, Any]) -> None:
        """Change the price of a move, from the next round on.

        Parameters
        ----------
        new_attrs : dict
            ``{"switching_cost": price}``; nothing else can be changed.
        """
        super().mutate(new_attrs)

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """Return one that has not learnt anything.

        Parameters
        ----------
        new_params : dict, optional
            Parameters to be changed.
        include_attributes : bool, default False
            Whether to copy what was learnt after all; of the parameters, only `switching_cost` may be changed then.
        """
        changed = dict(new_params or {})
        if include_attributes and not changed.keys() <= self._mutable_attributes:
            raise ParameterError(
                f"{type(self).__name__}: what was learnt cannot be kept with another {sorted(changed)[0]}; clone "
                "without include_attributes."
            )
        copied: Self = super().clone(changed, include_attributes)
        if include_attributes:
            copied.switching_cost = changed.get("switching_cost", self.switching_cost)
        return copied


class DriftRegressor(_Moving, base.Regressor):
    """Linear regression for a drifting world, without a learning rate.

    The coefficients are decisions of a `SelfTunedLearner`: several dozen ways of estimating coefficients that stay,
    walk or jump, each followed at once or with restraint, and a mixture that finds out which is right.

    Parameters
    ----------
    loss : {"squared", "absolute", "huber"} or callable, default "squared"
        What an error costs: half its square, its size, or half its square up to 1 and its size beyond. Or what makes
        one of driftwise's losses of features and targets: ``functools.partial(dw.QuantileLoss, quantile=0.9)``.
    switching_cost : float, default 0.0
        Price of moving the coefficients, the intercept among them, by one unit of Euclidean distance, in units of the
        loss. With 0, coefficients move as freely as they like.
    radius : float, optional
        Largest Euclidean length that the coefficients may have; when left out, 1e9, which is as good as none.
    l2 : float, default 0.0
        Weight of the penalty ``l2 |w|^2 / 2`` on the coefficients. The learner then works from gradients only, which is
        slower and less accurate, and needs a `radius`.
    intercept : bool, default True
        Whether there is a constant term.
    learner : callable, optional
        A function of a `Domain` that makes another learner, such as ``lambda domain: dw.OGD(domain, step=0.1)``. Most
        of them need a `radius` of about the right size.

    Notes
    -----
    Features may appear and disappear: what is absent in a round counts as 0. When there are more names than places, the
    number of places is doubled, and a new learner begins at the present coefficients and is taught the last 128 rounds
    again. Units need not be alike, but features are best centred, as for any linear model.

    Up to 64 coordinates a round takes time quadratic in their number, then linear.

    Attributes
    ----------
    weights : dict
        The coefficient of every feature seen.
    intercept_ : float
        The constant term.
    moved, moving_cost : float
        How far the coefficients have moved, and what that has cost.

    See Also
    --------
    driftwise.SelfTunedLearner : who decides.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from driftwise.adapters.river import DriftRegressor
    >>> model = preprocessing.StandardScaler() | DriftRegressor()
    >>> round(evaluate.progressive_val_score(datasets.TrumpApproval().take(300), model, metrics.MAE()).get(), 2)
    0.85
    """

    def __init__(
        self,
        loss: str | Kind = "squared",
        switching_cost: float = 0.0,
        radius: float | None = None,
        l2: float = 0.0,
        intercept: bool = True,
        learner: Make | None = None,
    ) -> None:
        self.loss, self.radius, self.l2, self.intercept, self.learner = loss, radius, l2, intercept, learner
        settings = Settings("DriftRegressor", loss, switching_cost, radius, l2, intercept, learner)
        self._named = Named(settings, labelled=False)

    @property
    def _settings(self) -> Settings:
        return self._named.settings

    @property
    def _scorers(self) -> list[Scorer]:
        return list(self._named.models.values())

    @property
    def weights(self) -> dict[Hashable, float]:
        """The coefficient of every feature seen."""
        return self._named.coefficients(ONLY) if self._named.models else {}

    @property
    def intercept_(self) -> float:
        """The constant term."""
        return self._named.constant(ONLY) if self._named.models else 0.0

    def learn_one(self, x: dict[Any, Any], y: float) -> None:
        """Learn from a round.

        Parameters
        ----------
        x : dict
            Features by name: finite numbers.
        y : float
            The target.
        """
        target = _target("DriftRegressor", y)
        self._named.learn(x, target, {} if self._named.models else {ONLY: None})

    def predict_one(self, x: dict[Any, Any]) -> float:
        """Predict the target of a round.

        Parameters
        ----------
        x : dict
            Features by name; those never learnt from are ignored.
        """
        scores = self._named.scores(x)
        return scores[0] if scores else 0.0


class DriftClassifier(_Moving, base.Classifier):
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


class DriftCombiner(_Moving, base.Ensemble[base.Regressor], base.Regressor):
    """A weighted mean of several models' predictions, whose weights follow whoever is right.

    Weights are at least 0 and add up to 1, and are decided by a `SelfTunedLearner` from what the mixture has lost. Use
    it for forecasts that you have anyway, where it changes who is best.

    Parameters
    ----------
    models : list of river regressors
        Two or more. Each learns from every round by itself.
    loss : {"squared", "absolute", "huber"} or callable, default "squared"
        As in `DriftRegressor`.
    switching_cost : float, default 0.0
        Price of moving the weights by one unit of Euclidean distance, in units of the loss.
    learner : callable, optional
        A function of a `Domain`, which is a `Simplex`, that makes another learner:
        ``lambda domain: dw.MirrorDescent(domain, ...)``.

    Notes
    -----
    A model that breaks does not break the mixture. A prediction that is farther from all targets so far than these are
    from each other is brought as near as that, and one that is no number counts as what the others say together.

    Attributes
    ----------
    weights : array
        The weight of each model.
    moved, moving_cost : float
        How far the weights have moved, and what that has cost.

    See Also
    --------
    driftwise.Committee : the same for decisions of any kind, with a price on the decision's own moves.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics, preprocessing, tree
    >>> from driftwise.adapters.river import DriftCombiner, DriftRegressor
    >>> models = [linear_model.BayesianLinearRegression(), tree.HoeffdingTreeRegressor(), DriftRegressor()]
    >>> mixture = preprocessing.StandardScaler() | DriftCombiner(models)
    >>> round(evaluate.progressive_val_score(datasets.TrumpApproval().take(300), mixture, metrics.MAE()).get(), 2)
    0.72
    """

    def __init__(
        self,
        models: Sequence[base.Regressor],
        loss: str | Kind = "squared",
        switching_cost: float = 0.0,
        learner: Make | None = None,
    ) -> None:
        given = list(models)
        if len(given) < 2:
            raise ParameterError(f"DriftCombiner: models must be two river regressors or more, got {describe(given)}.")
        super().__init__(iter(given))
        self.loss, self.learner = loss, learner
        self._scorer = Scorer(Settings("DriftCombiner", loss, switching_cost, learner=learner), Simplex(len(given)))
        self._low, self._high = math.inf, -math.inf

    @property
    def _settings(self) -> Settings:
        return self._scorer.settings

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        """Yield what river's checks build one with."""
        scaled = preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1)
        yield {"models": [scaled, preprocessing.StandardScaler() | DriftRegressor()]}

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """Return one that has not learnt anything, of models that have not either.

        Parameters
        ----------
        new_params : dict, optional
            Parameters to be changed.
        include_attributes : bool, default False
            Whether to copy what was learnt after all; of the parameters, only `switching_cost` may be changed then.
        """
        params = dict(new_params or {})
        if not include_attributes:
            params.setdefault("models", [model.clone() for model in self])
        return super().clone(params, include_attributes)

    @property
    def _scorers(self) -> list[Scorer]:
        return [self._scorer]

    @property
    def weights(self) -> Array:
        """The weight of each model."""
        return self._scorer.weights

    def learn_one(self, x: dict[Any, Any], y: float) -> None:
        """Let the weights, and then every model, learn from a round.

        Parameters
        ----------
        x : dict
            Features, as the models take them.
        y : float
            The target.
        """
        target = _target("DriftCombiner", y)
        low, high = min(self._low, target), max(self._high, target)
        self._scorer.learn(self._forecasts(x, low, high), target)
        self._low, self._high = low, high
        for model in self:
            model.learn_one(x, y)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """Return the weighted mean of what the models predict.

        Parameters
        ----------
        x : dict
            Features, as the models take them.
        """
        return self._scorer.score(self._forecasts(x, self._low, self._high))

    def _forecasts(self, x: dict[Any, Any], low: float, high: float) -> Array:
        """Return what each model predicts, where that may be, given the least and the largest target."""
        row = np.array([model.predict_one(x) for model in self], np.float64)
        if low <= high:
            row = np.clip(row, 2.0 * low - high, 2.0 * high - low)
        usable = np.isfinite(row)
        if not usable.all():
            weights = np.where(usable, self.weights, 0.0)
            weights = weights if weights.any() else usable.astype(np.float64)
            row[~usable] = row[usable] @ weights[usable] / weights.sum() if usable.any() else 0.0
        return row


def _target(owner: str, y: Any) -> float:
    """Return a target, checked."""
    try:
        if -LARGEST <= y <= LARGEST:
            return float(y)
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"{owner}: y must be a finite number of at most {LARGEST:g} in size, got {describe(y)}; nothing was learnt."
    )


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
