"""The logistic loss of a score against a label."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._memory import Pointer
from driftwise._validate import Array
from driftwise.errors import InputError
from driftwise.losses.forms import RegressionLoss, regression
from driftwise.losses.kernels import link


@link
def logistic(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write log(1 + exp(-y z)), without overflow."""
    out[0] = max(-y[0] * z[0], 0.0) + math.log1p(math.exp(-abs(z[0])))
    return 0


@link
def logistic_slope(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write -y / (1 + exp(y z)), without overflow."""
    small = math.exp(-abs(z[0]))
    out[0] = -y[0] * (small if y[0] * z[0] >= 0.0 else 1.0) / (1.0 + small)
    return 0


@regression
class LogisticLoss(RegressionLoss):
    """``f_t(w) = log(1 + exp(-y_t <x_t, w>))``: classification with labels -1 and +1.

    Use it to predict which of two labels comes, and how surely: <x_t, w> is the log-odds of label +1.

    Parameters
    ----------
    {features}
    targets : array of shape (T,)
        Labels y_t, each -1 or +1.

    Notes
    -----
    No gradient is longer than the features. Where labels are linearly separable, no finite w is best; a bounded
    domain keeps decisions finite.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.LogisticLoss([[2.0]], [1.0]).gradient(0, [0.0])
    array([-1.])
    """

    value_of, slope_of = logistic, logistic_slope

    def __init__(self, features: ArrayLike, targets: ArrayLike) -> None:
        super().__init__(features, targets)
        y = self.data.targets
        wrong = np.flatnonzero(np.abs(y) != 1.0)
        if wrong.size:
            t = int(wrong[0])
            raise InputError(
                f"LogisticLoss: targets must be -1 or +1, got {y[t]:g} in round {t}; labels 0 and 1 become 2*y - 1."
            )

    def admissible(self, slopes: Array) -> Array:
        """Return slopes between 0 and the label with its sign reversed."""
        return np.asarray(-self.aims * np.clip(-self.aims * slopes, 0.0, 1.0))

    def conjugates(self, slopes: Array) -> tuple[Array, ...]:
        """Return the addends of the conjugate at each slope: the entropy of a probability, with its sign reversed."""
        p = -self.aims * slopes
        return tuple(part * np.log(np.maximum(part, 1e-300)) for part in (p, 1.0 - p))

    def bends(self, scores: Array, aims: Array) -> Array:
        """Return the second derivative at each score: p (1 - p), p being the probability of either label."""
        small = np.exp(-np.abs(scores))
        return np.asarray(small / (1.0 + small) ** 2)

    def units(self, reach: float) -> tuple[float, float]:
        """Return 1 and 1: the scale of this loss is fixed."""
        return 1.0, 1.0

    def expression(self, cp: Any, gap: Any, score: float, cost: float) -> Any:
        """Return the sum of the losses as a cvxpy expression."""
        return cp.sum(cp.logistic(cp.multiply(-self.aims, score * gap + self.aims))) / cost
