"""Linear regression whose coefficients are the decisions of a learner."""

from collections.abc import Hashable
from typing import Any

from river import base

from driftwise._docs import documented
from driftwise.adapters._features import ONLY, Named
from driftwise.adapters._linear import LINEAR, Kind, Make, Scorer, Settings
from driftwise.adapters.river.moving import Moving, target_of


@documented(linear=LINEAR)
class DriftRegressor(Moving, base.Regressor):
    """Linear regression for a drifting world, without a learning rate.

    The coefficients are decisions of a `SelfTunedLearner`: several dozen ways of estimating coefficients that stay,
    walk or jump, each followed at once or with restraint, and a mixture that finds out which is right.

    Parameters
    ----------
    {linear}

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
        target = target_of("DriftRegressor", y)
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
