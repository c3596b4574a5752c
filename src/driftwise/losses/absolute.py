"""The absolute loss: the size of the gap to a target."""

from driftwise._memory import Pointer
from driftwise.losses.forms import RegressionLoss, regression
from driftwise.losses.kernels import link
from driftwise.losses.pieces import Pieces


@link
def absolute(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write |z - y|."""
    out[0] = abs(z[0] - y[0])
    return 0


@link
def absolute_slope(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write the sign of z - y, 0 at the kink."""
    out[0] = 1.0 if z[0] > y[0] else (-1.0 if z[0] < y[0] else 0.0)
    return 0


@regression
class AbsoluteLoss(RegressionLoss):
    """``f_t(w) = |<x_t, w> - y_t|``: robust regression; the subgradient at the kink is 0.

    Use it for forecasts of a median, which a few outliers do not move.

    Parameters
    ----------
    {features}
    {targets}

    See Also
    --------
    QuantileLoss : a gap above the target and one below cost differently.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.AbsoluteLoss([[1.0]], [3.0]).gradient(0, [1.0])
    array([-1.])
    """

    value_of, slope_of = absolute, absolute_slope
    pieces = Pieces(bend=0.0, right=1.0, jump=2.0)
