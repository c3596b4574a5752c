"""Estimators of scikit-learn: linear models that learn from rows in their order, and follow a world that drifts.

`fit` begins anew and goes through the rows once, as if each came after the one before; `partial_fit` goes on. What they
add is a price on changing one's mind: `switching_cost`, with what changes have come to in `moved_` and `moving_cost_`.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftwise._docs import documented
from driftwise._extras import optional
from driftwise._validate import Array, describe
from driftwise.adapters._labels import probabilities
from driftwise.adapters._linear import LARGEST, LINEAR, Kind, Make, Scorer, Settings, risky
from driftwise.errors import InputError
from driftwise.losses import LogisticLoss

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError:
    optional("driftwise.adapters.sklearn", "sklearn.base", "sklearn")
    raise

__all__ = ["DriftClassifier", "DriftRegressor"]


class _Drift(BaseEstimator):  # type: ignore[misc]
    """What both share: rows in, and models that have moved."""

    _models: list[Scorer]
    _settings: Settings

    @property
    def moved_(self) -> float:
        """How far the coefficients have moved: the sum of the Euclidean lengths of all moves."""
        check_is_fitted(self)
        return math.fsum(model.moved for model in self._models)

    @property
    def moving_cost_(self) -> float:
        """What all moves have cost: each length times the price at the time."""
        check_is_fitted(self)
        return math.fsum(model.paid for model in self._models)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether there is a model."""
        return hasattr(self, "_models")

    def _new_settings(self, loss: str | Kind) -> Settings:
        name, price = type(self).__name__, self.switching_cost
        return Settings(name, loss, price, self.radius, self.l2, self.intercept, self.learner)

    def _read(self, reset: bool, X: Any, **given: Any) -> Any:
        """Return features, and targets if there are some, checked by scikit-learn."""
        try:
            read = validate_data(self, X, reset=reset, dtype=np.float64, **given)
        except ValueError as error:
            raise InputError(f"{type(self).__name__}: {error}") from None
        for name, values in zip(("X", "y"), read if given else (read,), strict=False):
            if values.dtype.kind == "f" and not np.abs(values).max() <= LARGEST:
                raise InputError(f"{type(self).__name__}: {name} has a value too large for it, beyond {LARGEST:g}.")
        return read

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Take back what was made of rows that are refused in the end, or of which not all could be learnt."""
        before = vars(self).copy()
        price = self._settings.price if "_settings" in before else 0.0
        try:
            yield
        except BaseException:  # Ctrl-C too
            self.__dict__ = before
            if "_settings" in before:
                self._settings.reprice(price)
            raise

    def _go_on(self, rounds: int) -> None:
        """Let copies of the models learn, so that those before are there if rows are refused halfway.

        Of a single row, all that can be refused is known before a model learns, so that it goes without: copies would
        take longer than all the rest.
        """
        if rounds > 1 or risky(self._models):
            self._models = [model.copy() for model in self._models]

    def _rows(self, X: Array) -> Array:
        """Return features, with a 1 before them if there is an intercept."""
        return np.column_stack([np.ones(len(X)), X]) if self._settings.first else np.ascontiguousarray(X)

    def _scores(self, X: ArrayLike) -> Array:
        """Return the score of each row in each model, of shape (n, models)."""
        check_is_fitted(self)
        rows = self._rows(self._read(False, X))
        return np.asarray(rows @ np.column_stack([model.weights for model in self._models]))

    @property
    def _coefficients(self) -> Array:
        check_is_fitted(self)
        return np.array([model.weights[self._settings.first :] for model in self._models])

    @property
    def _constants(self) -> Array:
        check_is_fitted(self)
        return np.array([model.weights[0] if self._settings.first else 0.0 for model in self._models])


@documented(linear=LINEAR)
class DriftRegressor(RegressorMixin, _Drift):  # type: ignore[misc]
    """Linear regression for a drifting world, without a learning rate.

    The coefficients are decisions of a `SelfTunedLearner`: several dozen ways of estimating coefficients that stay,
    walk or jump, each followed at once or with restraint, and a mixture that finds out which is right. After `fit`
    they are those for the row after the last.

    Parameters
    ----------
    {linear}

    Notes
    -----
    The order of rows is the order of time: do not shuffle them. Many rows are one compiled run, which gives the same
    coefficients, bit for bit, as one row after another.

    Rows that are refused change nothing, and neither do several rows whose learning is interrupted (Ctrl-C).

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        The coefficients.
    intercept_ : float
        The constant term.
    moved_, moving_cost_ : float
        How far the coefficients have moved, and what that has cost.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    driftwise.SelfTunedLearner : who decides.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from driftwise.adapters.sklearn import DriftRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = np.where(np.arange(400) < 200, X @ [1.0, 2.0], X @ [-1.0, 2.0])
    >>> DriftRegressor().fit(X, y).coef_.round(3)
    array([-1.,  2.])
    >>> round(make_pipeline(StandardScaler(), DriftRegressor()).fit(X, y).score(X[200:], y[200:]), 3)
    1.0
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
        self.loss, self.switching_cost, self.radius = loss, switching_cost, radius
        self.l2, self.intercept, self.learner = l2, intercept, learner

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Begin anew, and learn from rows in their order.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Targets.
        """
        return self._learn(X, y, anew=True)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Go on learning from more rows; of parameters that were set since, only `switching_cost` counts.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Targets.
        """
        return self._learn(X, y, anew=not self.__sklearn_is_fitted__())

    def _learn(self, X: ArrayLike, y: ArrayLike, anew: bool) -> Self:
        settings = self._new_settings(self.loss)
        with self._all_or_nothing():
            features, targets = self._read(anew, X, y=y, y_numeric=True)
            if anew:
                self._settings = settings
                self._models = [settings.new(features.shape[1] + settings.first)]
            else:
                self._go_on(len(features))
            self._settings.reprice(self.switching_cost)
            self._models[0].learn_all(self._rows(features), np.asarray(targets, np.float64))
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Return a prediction for each row.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        """
        return self._scores(X)[:, 0]

    @property
    def coef_(self) -> Array:
        """The coefficients."""
        return np.asarray(self._coefficients[0])

    @property
    def intercept_(self) -> float:
        """The constant term."""
        return float(self._constants[0])


class DriftClassifier(ClassifierMixin, _Drift):  # type: ignore[misc]
    """Logistic regression for a drifting world, without a learning rate; of two classes or many.

    There is one linear model for two classes, and one for each class against the rest for more.

    Parameters
    ----------
    switching_cost : float, default 0.0
        Price of moving the coefficients of a model by one unit of Euclidean distance, in units of the logistic loss.
    radius, l2, intercept, learner
        As in `DriftRegressor`.

    Attributes
    ----------
    classes_ : array
        The classes.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The coefficients of each model; of two classes, for the second.
    intercept_ : array of shape (1,) or (n_classes,)
        The constant terms.
    moved_, moving_cost_ : float
        How far the coefficients of all models have moved, and what that has cost.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    driftwise.LogisticLoss : what a wrong probability costs.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise.adapters.sklearn import DriftClassifier
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = np.where(X[:, 0] > X[:, 1], "left", "right")
    >>> model = DriftClassifier().fit(X, y)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]])
    array(['left', 'right'], dtype='<U5')
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        switching_cost: float = 0.0,
        radius: float | None = None,
        l2: float = 0.0,
        intercept: bool = True,
        learner: Make | None = None,
    ) -> None:
        self.switching_cost, self.radius = switching_cost, radius
        self.l2, self.intercept, self.learner = l2, intercept, learner

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Begin anew, and learn from rows in their order.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Classes, at least two different ones.
        """
        return self._learn(X, y, None, anew=True)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go on learning from more rows; of parameters that were set since, only `switching_cost` counts.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        y : array of shape (n,)
            Classes.
        classes : array, optional
            All classes that there will ever be: needed in the first call, as most may not be in its rows.
        """
        anew = not self.__sklearn_is_fitted__()
        if anew and classes is None:
            raise InputError("DriftClassifier: classes must be passed on the first call to partial_fit.")
        return self._learn(X, y, classes, anew)

    def _learn(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None, anew: bool) -> Self:
        settings = self._new_settings(LogisticLoss)
        with self._all_or_nothing():
            features, given = self._read(anew, X, y=y)
            labels = column_or_1d(given, warn=True)
            _check_targets(labels)
            known: NDArray[Any] = (
                self.classes_ if not anew else np.unique(labels if classes is None else np.asarray(classes))
            )
            self._check(labels, classes, known)
            if anew:
                count = 1 if len(known) == 2 else len(known)
                self.classes_, self._settings = known, settings
                self._models = [settings.new(features.shape[1] + settings.first) for _ in range(count)]
            else:
                self._go_on(len(features))
            self._settings.reprice(self.switching_cost)
            rows = self._rows(features)
            for label, model in zip(known[-len(self._models) :], self._models, strict=True):
                model.learn_all(rows, np.where(labels == label, 1.0, -1.0))
        return self

    def _check(self, labels: NDArray[Any], classes: ArrayLike | None, known: NDArray[Any]) -> None:
        """Raise unless there are two classes or more, and labels are among them."""
        if len(known) < 2:
            raise InputError(
                f"DriftClassifier: there must be at least two classes, and y has one class only, {known.tolist()}."
            )
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
            raise InputError("DriftClassifier: classes must be those of the first call to partial_fit.")
        strange = np.setdiff1d(labels, known)
        if strange.size:
            raise InputError(
                f"DriftClassifier: y must be among the classes {known.tolist()!r:.60}, got {describe(strange[0])}."
            )

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the score of each row: the log-odds of the second of two classes, or of each class against the rest.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probability of each class for each row.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        """
        return probabilities(self._scores(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most likely class of each row.

        Parameters
        ----------
        X : array of shape (n, d)
            Features.
        """
        scores = self._scores(X)
        best = (scores[:, 0] > 0.0).astype(int) if len(self.classes_) == 2 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    @property
    def coef_(self) -> Array:
        """The coefficients of each model."""
        return self._coefficients

    @property
    def intercept_(self) -> Array:
        """The constant term of each model."""
        return self._constants


def _check_targets(labels: NDArray[Any]) -> None:
    """Raise unless these are classes."""
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise InputError(f"DriftClassifier: {error}") from None
