"""The Huber loss: half a square near the target, a line beyond."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._memory import Pointer
from driftwise._validate import Array, number
from driftwise.losses.forms import RegressionLoss, regression
from driftwise.losses.kernels import link


@link
def huber(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write the loss at the gap |z - y|."""
    gap, width = abs(z[0] - y[0]), shape[0]
    out[0] = 0.5 * gap * gap if gap <= width else width * (gap - 0.5 * width)
    return 0


@link
def huber_slope(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write z - y, clipped to the width."""
    out[0] = min(max(z[0] - y[0], -shape[0]), shape[0])
    return 0


@regression
class HuberLoss(RegressionLoss):
    """Squared within `delta` of the target and linear beyond: smooth, yet not dominated by outliers.

    Use it in place of `SquaredLoss` where some targets may be outliers [1]_.

    Parameters
    ----------
    {features}
    {targets}
    delta : float, default 1.0
        Residual at which the loss becomes linear, above zero, in the unit of the targets.

    References
    ----------
    .. [1] P. J. Huber, "Robust estimation of a location parameter", Ann. Math. Statist. 35 (1964), 73-101.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.HuberLoss([[1.0]], [0.0], delta=1.0).unary_value(0, [3.0])
    2.5
    """

    value_of, slope_of = huber, huber_slope

    def __init__(self, features: ArrayLike, targets: ArrayLike, delta: float = 1.0) -> None:
        self.delta = number("HuberLoss", "delta", delta, low=0.0, exclusive=True)
        self.shape = np.array([[self.delta]])
        super().__init__(features, targets)

    @property
    def of_gap(self) -> bool:
        """Whether the link is a function of score less target alone: it is."""
        return True

    def admissible(self, slopes: Array) -> Array:
        """Return slopes, none steeper than `delta`."""
        return np.clip(slopes, -self.delta, self.delta)

    def conjugates(self, slopes: Array) -> tuple[Array, ...]:
        """Return the addends of the conjugate at each slope."""
        return slopes * self.aims, 0.5 * slopes**2

    def bends(self, scores: Array, aims: Array) -> Array:
        """Return the second derivative at each score: 1 within `delta` of the target, 0 beyond."""
        return np.where(np.abs(scores - aims) <= self.delta, 1.0, 0.0)

    def expression(self, cp: Any, gap: Any, score: float, cost: float) -> Any:
        """Return the sum of the losses as a cvxpy expression."""
        return 0.5 * score**2 / cost * cp.sum(cp.huber(gap, self.delta / score))
