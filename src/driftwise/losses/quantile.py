"""The pinball loss: a gap above the target and one below cost differently, so that the best score is a quantile."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._memory import Pointer
from driftwise._validate import number
from driftwise.losses.forms import RegressionLoss
from driftwise.losses.kernels import link
from driftwise.losses.pieces import Pieces


@link
def pinball(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write ``right (z - y)`` where z is above its target, and ``(right - 1) (z - y)`` where it is below."""
    out[0] = max(shape[0] * (z[0] - y[0]), (shape[0] - 1.0) * (z[0] - y[0]))
    return 0


@link
def pinball_slope(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write the slope, 0 at the kink."""
    out[0] = shape[0] if z[0] > y[0] else (shape[0] - 1.0 if z[0] < y[0] else 0.0)
    return 0


class QuantileLoss(RegressionLoss):
    """``f_t(w) = q max(y_t - <x_t, w>, 0) + (1 - q) max(<x_t, w> - y_t, 0)``: forecasts of a quantile (pinball loss).

    Use it to forecast what a target exceeds in a share 1 - q of the rounds: the load that 9 rounds out of 10 stay
    below, say, with ``quantile=0.9``. A fixed score with the least total loss is a q-quantile of the targets [1]_. At
    0.5 it is half of `AbsoluteLoss`. The subgradient at the kink is 0.

    Parameters
    ----------
    features : array of shape (T, d), or (T,) for d = 1
        x_t, one row a round: the inputs of a forecast <x_t, w>, such as other forecasts; ones for a level.
    targets : array of shape (T,)
        y_t, the values to be forecast, in the unit of the forecast.
    quantile : float, default 0.5
        q, strictly between 0 and 1: a forecast that is too low by one unit costs q, one too high costs 1 - q.

    See Also
    --------
    CapacityLoss : the same trade-off for the capacity itself, in prices of a unit and of a missing one.

    Notes
    -----
    No loss changes by more than ``max(q, 1 - q) |x_t|`` for one unit of movement, which bounds the gradients.

    References
    ----------
    .. [1] R. Koenker and G. Bassett, "Regression quantiles", Econometrica 46 (1978), 33-50.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.QuantileLoss([1.0, 1.0, 1.0, 1.0, 1.0], [3.0, 8.0, 5.0, 4.0, 9.0], quantile=0.75)
    >>> losses.unary_value(1, [6.0]), losses.gradient(1, [6.0])
    (1.5, array([-0.75]))
    >>> best = dw.regret.hindsight_optimum(losses, dw.Box([0.0], [10.0]), switching_cost=100.0)
    >>> best.decisions.ravel(), best.total, best.optimal
    (array([8., 8., 8., 8., 8.]), 3.75, True)
    """

    value_of, slope_of = pinball, pinball_slope

    def __init__(self, features: ArrayLike, targets: ArrayLike, quantile: float = 0.5) -> None:
        self.quantile = number("QuantileLoss", "quantile", quantile, low=0.0, high=1.0)
        right = 1.0 - self.quantile
        self.shape, self.pieces = np.array([[right]]), Pieces(bend=0.0, right=right, jump=1.0)
        super().__init__(features, targets)
