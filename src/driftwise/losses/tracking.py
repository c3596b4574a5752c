"""The tracking loss: half the squared distance to a moving target."""

from numpy.typing import ArrayLike

from driftwise._frames.given import labels_of
from driftwise.domains import Domain
from driftwise.losses.base import read_rows
from driftwise.losses.forms import CoordinateLoss
from driftwise.losses.squared import HALF_SQUARE, half_square, half_square_slope


class TrackingLoss(CoordinateLoss):
    """``f_t(w) = |w - z_t|^2 / 2``: follow targets z_t that move.

    Use it where the decision itself should be near something that is only known afterwards: a demand, a position.

    Parameters
    ----------
    targets : array of shape (T, d), or (T,) for d = 1
        z_t, one row a round.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.TrackingLoss([[1.0, 0.0]])
    >>> losses.unary_value(0, [0.0, 0.0]), losses.gradient(0, [0.0, 0.0])
    (0.5, array([-1.,  0.]))
    """

    value_of, slope_of, pieces = half_square, half_square_slope, HALF_SQUARE

    def __init__(self, targets: ArrayLike) -> None:
        super().__init__(read_rows("TrackingLoss", "targets", targets), labels_of("TrackingLoss", targets=targets))

    def gradient_bound(self, domain: Domain) -> float:
        """Return the largest distance from a target to a decision."""
        return float(self._domain(domain).farthest(self.data.features).max())
