"""Losses with memory: past decisions act through a filter."""

from numpy.typing import ArrayLike

from driftwise._validate import array
from driftwise.losses.forms import RegressionLoss, regression
from driftwise.losses.squared import HALF_SQUARE, half_square, half_square_slope


@regression
class FilteredLoss(RegressionLoss):
    """``f_t(w_{t-m}, ..., w_t) = (sum_k h_k <x_t, w_{t-k}> - y_t)^2 / 2``: past decisions keep acting for m rounds.

    The unary form is a squared loss on ``sum(taps) * x_t``. The two values of lambda can be far apart: for taps that
    halve each round `switching_costs` gives about 2 L_0 for any m, against m^2 L_0.

    Parameters
    ----------
    taps : array of shape (m + 1,)
        h_0, ..., h_m: weight of the decision of k rounds ago.
    {features}
    {targets}

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.FilteredLoss([0.5, 0.5], [[1.0]], [0.0])
    >>> losses.memory, losses.value(0, [[1.0], [3.0]]), losses.unary_value(0, [2.0])
    (1, 2.0, 2.0)
    >>> losses.switching_costs(dw.Ball(1))
    SwitchingCosts(paper=0.5, tight=0.5)
    """

    value_of, slope_of, pieces = half_square, half_square_slope, HALF_SQUARE

    def __init__(self, taps: ArrayLike, features: ArrayLike, targets: ArrayLike) -> None:
        self.taps = array("FilteredLoss", "taps", taps, ("m + 1",), copy=True)
        super().__init__(features, targets)
