"""What a link is applied to: each coordinate of a decision, a score, or a score that has a target."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._docs import documented
from driftwise._frames.given import Labels, labels_of, plain
from driftwise._validate import Array, array
from driftwise.domains import Domain
from driftwise.losses import kernels
from driftwise.losses.base import DataLoss, read_rows

regression = documented(
    features="""
    features : array of shape (T, d), or (T,) for d = 1
        x_t, one row a round.
    """,
    targets="""
    targets : array of shape (T,)
        y_t.
    """,
)
"""Decorator that fills in the parameters that losses of a score against a target share."""


class CoordinateLoss(DataLoss):
    """A stream whose link is applied to each coordinate of a decision, with a target of its own."""

    each = True

    def __init__(self, targets: Array, index: Labels = None) -> None:
        super().__init__(targets, np.zeros(len(targets)), index)

    def lipschitz(self, domain: Domain) -> Array:
        """Return L_0, the gradient bound."""
        return np.array([self.gradient_bound(domain)])


class ScoreLoss(DataLoss):
    """A stream whose losses see a decision only through its inner product with the features.

    The derivative in the score is monotone, so its largest size over a domain is at an end of the range of the
    score, which the domain's support function gives exactly.
    """

    def _steepest(self, domain: Domain, up: float, down: float) -> float:
        """Return the steepest loss when decisions count with weights that add up to `up` and `down`."""
        high = self._domain(domain).support(self.data.features)
        low = -domain.support(-self.data.features)
        return kernels.steepest(*self._parts, up * low + down * high, up * high + down * low, np.empty(1))

    def lipschitz(self, domain: Domain) -> Array:
        """Return L_0, ..., L_m over `domain`."""
        taps = self.data.taps
        up, down = float(taps[taps > 0].sum()), float(taps[taps < 0].sum())
        return np.asarray(np.abs(taps) * self._steepest(domain, up, down))

    def gradient_bound(self, domain: Domain) -> float:
        """Return the largest norm of a unary gradient over `domain`, exactly."""
        total = kernels.held_tap(self.data.taps)
        return abs(total) * self._steepest(domain, max(total, 0.0), min(total, 0.0))


class RegressionLoss(ScoreLoss):
    """A stream of a score against a target, ``link(<x_t, w>, y_t)``."""

    def __init__(self, features: ArrayLike, targets: ArrayLike) -> None:
        owner = type(self).__name__
        x = read_rows(owner, "features", features)
        y = array(owner, "targets", plain(owner, "targets", targets), (x.shape[0],), copy=True)
        super().__init__(x, y, labels_of(owner, features=features, targets=targets))
