"""A Kalman filter for weights that walk at random."""

from driftwise._validate import choice, number
from driftwise.estimators.filters import MEAN_SCALE, MEDIAN_SCALE, OWN_SCALE, Filter

SCALES = {"own": OWN_SCALE, "mean": MEAN_SCALE, "median": MEDIAN_SCALE}


class Kalman(Filter):
    """Weights that walk at random, estimated by the filter that is best for such a walk.

    For weights that drift, each round a little, for ever. Its gain does not go to 0, as that of least squares does: it
    settles where what a round tells makes up for what the walk has changed. With a small drift it learns for long,
    with a large one it follows.

    Parameters
    ----------
    drift : float, default 1e-3
        Variance of a step of the walk, in units of the noise over the mean square of a feature.
    scale : {"mean", "median", "own"}, default "mean"
        Mean square that a feature is taken to have: the mean of all (its own where that is far larger than most), the
        larger of its own and the median, or its own. Weights of small features walk farther the more each goes by its
        own.
    intercept : bool, default False
        Whether to have a level that no feature explains; it is estimated, and not played.

    Notes
    -----
    With r the slope of the loss at the score m'x, in units of its curvature, and s_i the mean square as above::

        P_ii <- P_ii + drift / s_i
        k  = P x / (1 + x' P x),    m <- m - k r,    P <- P - k (P x)'

    P begins with the variances 10 / s_i in the first round. Above 64 coordinates, and for losses of each coordinate, P
    is a diagonal; of a level it is exponential smoothing whose share falls to about the root of the drift.

    References
    ----------
    .. [1] Kalman, "A new approach to linear filtering and prediction problems", Journal of Basic Engineering 82, 1960.

    Examples
    --------
    The share of a new value settles:

    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.estimators import Kalman, Seen
    >>> one = Kalman(drift=0.01)
    >>> one.begin(np.zeros(1), dw.Box([-9.0], [9.0]))
    >>> for t in range(200):
    ...     one.learn(Seen.of_levels(t, [0.0]))
    >>> one.learn(Seen.of_levels(200, [1.0]))
    >>> one.propose().round(4)
    array([0.0951])
    """

    restless = True

    def __init__(self, drift: float = 1e-3, scale: str = "mean", intercept: bool = False) -> None:
        self.drift = number("Kalman", "drift", drift, low=0.0)
        self.scale, self.intercept = choice("Kalman", "scale", scale, tuple(SCALES)), bool(intercept)
        self.forgetting = 1.0
        self._drift, self._prior, self._scale, self._intercept = self.drift, 0.1, SCALES[scale], float(intercept)
        self.name = f"Kalman {self.drift:g}" + ("" if scale == "mean" else f" by {scale}")
