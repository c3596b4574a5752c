"""The squared loss: half the square of the gap to a target."""

from driftwise._memory import Pointer
from driftwise.losses.forms import RegressionLoss, regression
from driftwise.losses.kernels import link
from driftwise.losses.pieces import Pieces

HALF_SQUARE = Pieces(bend=1.0, right=0.0, jump=0.0)


@link
def half_square(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write the sum of (z - y)^2 / 2."""
    total = 0.0
    for i in range(n):
        total += 0.5 * (z[i] - y[i]) * (z[i] - y[i])
    out[0] = total
    return 0


@link
def half_square_slope(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write each z - y."""
    for i in range(n):
        out[i] = z[i] - y[i]
    return 0


@regression
class SquaredLoss(RegressionLoss):
    """``f_t(w) = (<x_t, w> - y_t)^2 / 2``: least squares, the loss of the paper's experiments.

    Use it for forecasts of a mean, where large errors should count most. The sum of such losses is a quadratic, so the
    cheapest decisions in hindsight are found fast, even for many rounds.

    Parameters
    ----------
    {features}
    {targets}

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.SquaredLoss([[1.0, 2.0]], [1.0])
    >>> losses.unary_value(0, [1.0, 1.0]), losses.gradient(0, [1.0, 1.0])
    (2.0, array([2., 4.]))
    """

    value_of, slope_of, pieces = half_square, half_square_slope, HALF_SQUARE
