"""Estimators: where would one like to be, if moving were free."""

from driftwise.estimators.base import Estimator, Seen
from driftwise.estimators.change_points import ChangePoints
from driftwise.estimators.gradients import SelfTunedScream
from driftwise.estimators.kalman import Kalman
from driftwise.estimators.least_squares import RecursiveLeastSquares
from driftwise.estimators.newton import Newton
from driftwise.estimators.seasons import Season
from driftwise.estimators.smoothing import Smoothing
from driftwise.estimators.trends import Trend
from driftwise.pairs import layout
from driftwise.pairs.kinds import Kind

__all__ = [
    "EACH",
    "GRADIENT",
    "SCORE",
    "ChangePoints",
    "Estimator",
    "Kalman",
    "Kind",
    "Newton",
    "RecursiveLeastSquares",
    "Season",
    "Seen",
    "SelfTunedScream",
    "Smoothing",
    "Trend",
    "default",
]

SCORE: int = layout.SCORE
"""Form of a loss that sees a decision through one score <x, w>: squared, absolute, Huber, logistic, quantile."""

EACH: int = layout.EACH
"""Form of a loss in which every coordinate has a target of its own: tracking, capacity."""

GRADIENT: int = layout.GRADIENT
"""Form of a loss of which only gradients are known, or that is linear or custom."""


def default(period: int | None = None) -> list[Estimator]:
    """Return the estimators of a `SelfTunedLearner`; of these it takes the ones that suit the losses.

    For a loss of a score: least squares, Kalman filters, smoothing, trends and change points. For a loss of each
    coordinate: the same with targets in place of features (no change points if there are several), and seasons. For
    gradients: second-order steps, and change points. `SelfTunedScream` is always one.

    Parameters
    ----------
    period : int, optional
        Rounds from one season to the next, if that is known.

    Examples
    --------
    >>> from driftwise import estimators
    >>> kind = estimators.Kind(estimators.EACH, dim=2, bend=1.0)
    >>> len([one for one in estimators.default() if one.suits(kind)])
    19
    """
    return [
        *(RecursiveLeastSquares(forgetting) for forgetting in (1.0, 0.999, 0.99)),
        *(Kalman(drift, "mean", intercept=True) for drift in (1e-2, 1e-3, 1e-5)),
        *(Kalman(drift, "median") for drift in (1e-2, 1e-3)),
        *(Smoothing(share) for share in (1.0, 0.3, 0.1, 0.03)),
        *(Trend(drift) for drift in (1e-2, 1e-7)),
        ChangePoints(),
        *(Season(how, period=period) for how in ("naive", "adjusted")),
        *(Season("profile", share, period) for share in (0.3, 0.1)),
        *(Newton(drift, reach) for drift in (1e-1, 1e-2, 1e-3) for reach in (1 / 2, 1 / 16, 1 / 128)),
        *(ChangePoints(reach) for reach in (1 / 2, 1 / 16)),
        SelfTunedScream(),
    ]
