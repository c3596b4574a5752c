"""A mixture of any models, whose weights are the decisions of a learner."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from river import base, linear_model, preprocessing

from driftwise._validate import Array, describe
from driftwise.adapters._linear import Kind, Make, Scorer, Settings
from driftwise.adapters.river.moving import Moving, target_of
from driftwise.adapters.river.regressor import DriftRegressor
from driftwise.domains import Simplex
from driftwise.errors import ParameterError


class DriftCombiner(Moving, base.Ensemble[base.Regressor], base.Regressor):
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
        given = list(models) if isinstance(models, Iterable) else [models]
        if len(given) < 2 or not all(isinstance(one, base.Regressor) for one in given):
            raise ParameterError(
                "DriftCombiner: models must be a list of two river regressors or more, pipelines that end in one "
                f"included, got {describe(models)}."
            )
        if len({id(one) for one in given}) < len(given):
            raise ParameterError("DriftCombiner: models must be different objects, each of which learns by itself.")
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
        """Let every model, and then the weights, learn from a round.

        A target that the mixture or its loss refuses changes nothing, nor does a round beyond the horizon of its
        learner. Where one of the models refuses a round, those after it and the weights do not learn from it.

        Parameters
        ----------
        x : dict
            Features, as the models take them.
        y : float
            The target.
        """
        target = target_of("DriftCombiner", y)
        low, high = min(self._low, target), max(self._high, target)
        loss = self._scorer.ready(self._forecasts(x, low, high), target)
        for model in self:
            model.learn_one(x, y)
        self._scorer.take(loss)
        self._low, self._high = low, high

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
