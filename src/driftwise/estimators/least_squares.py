"""Recursive least squares with forgetting."""

from driftwise._validate import share as share_of
from driftwise.estimators.filters import OWN_SCALE, Filter


class RecursiveLeastSquares(Filter):
    """The weights that would have been best so far, the past counting less the longer ago it is.

    For weights that stay (a forgetting of 1), or of which only the last ``1 / (1 - forgetting)`` rounds tell anything.
    It learns faster than any step along gradients, and does not care about the units of the features. Of a level it is
    the mean, with forgetting that of the last rounds.

    Parameters
    ----------
    forgetting : float, default 1.0
        Factor by which a round counts less than the one after it, above 0 and at most 1.

    Notes
    -----
    With r the slope of the loss at the score m'x, in units of its curvature (score less target, for squared losses)::

        P <- P / forgetting,    P_ii <- min(P_ii, 1 / (0.01 s_i)),    s_i the mean square of feature i
        k  = P x / (1 + x' P x),    m <- m - k r,    P <- P - k (P x)'

    P_ii begins with 1 / (0.01 x_i^2) when feature i is first seen: a ridge of a hundredth of a round. For squared
    losses without forgetting, m is then the ridge regression of all targets on all features. Above 64 coordinates, and
    for losses of each coordinate, P is a diagonal.

    References
    ----------
    .. [1] Haykin, "Adaptive filter theory", 2002, chapter 9.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.estimators import RecursiveLeastSquares, Seen
    >>> one = RecursiveLeastSquares()
    >>> one.begin(np.zeros(2), dw.Ball(2, radius=10.0))
    >>> for t, (x, y) in enumerate([([1.0, 1.0], 3.0), ([1.0, -1.0], 1.0), ([2.0, 1.0], 5.0)]):
    ...     one.learn(Seen.of_score(t, x, y, scales=[2.0, 1.0]))
    >>> one.propose().round(3)
    array([1.997, 0.999])
    """

    def __init__(self, forgetting: float = 1.0) -> None:
        self.forgetting = share_of("RecursiveLeastSquares", "forgetting", forgetting)
        self._drift, self._prior, self._scale, self._intercept = 0.0, 0.01, OWN_SCALE, 0.0
        self.name = f"least squares {self.forgetting:g}"
