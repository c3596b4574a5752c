"""Following a moving target."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.losses import kernels
from driftwise.losses.base import DataLoss, read_rows
from driftwise.losses.pointwise import ONE_TAP


class TrackingLoss(DataLoss):
    """``f_t(w) = |w - z_t|^2 / 2``: follow targets z_t that move.

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

    def __init__(self, targets: ArrayLike) -> None:
        z = read_rows("TrackingLoss", "targets", targets)
        super().__init__(kernels.TRACKING, z, np.zeros(z.shape[0]), ONE_TAP)

    def lipschitz(self, domain: Domain) -> Array:
        """Return L_0, the gradient bound."""
        return np.array([self.gradient_bound(domain)])

    def gradient_bound(self, domain: Domain) -> float:
        """Return the largest distance from a target to a decision."""
        return float(self._domain(domain).farthest(self.data.features).max())
