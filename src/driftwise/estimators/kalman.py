"""A Kalman filter for weights that walk at random."""

from driftwise._validate import choice, number
from driftwise.estimators.filters import MEAN_SCALE, MEDIAN_SCALE, OWN_SCALE, Filter

SCALES = {"own": OWN_SCALE, "mean": MEAN_SCALE, "median": MEDIAN_SCALE}


class Kalman(Filter):
    """Weights that walk at random, estimated by the filter that is best for such a walk.

    Parameters
    ----------
    drift : float, default 1e-3
        Variance of a step of the walk, in units of the noise over the mean square of a feature.
    scale : {"mean", "median", "own"}, default "mean"
        Mean square that a feature is taken to have: the mean of all, the larger of its own and the median, or its own.
    intercept : bool, default False
        Whether to have a level that no feature explains; it is estimated, and not played.
    """

    def __init__(self, drift: float = 1e-3, scale: str = "mean", intercept: bool = False) -> None:
        self.drift = number("Kalman", "drift", drift, low=0.0)
        self.scale, self.intercept = choice("Kalman", "scale", scale, tuple(SCALES)), bool(intercept)
        self.forgetting = 1.0
        self._drift, self._prior, self._scale, self._intercept = self.drift, 0.1, SCALES[scale], float(intercept)
        self.name = f"Kalman {self.drift:g}" + ("" if scale == "mean" else f" by {scale}")
