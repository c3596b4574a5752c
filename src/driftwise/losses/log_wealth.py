"""The log-wealth loss: what a portfolio's wealth is multiplied by in a round, as a loss that adds up."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._frames.given import labels_of
from driftwise._memory import Pointer
from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.drift import above_zero
from driftwise.errors import InputError
from driftwise.losses.base import read_rows
from driftwise.losses.forms import ScoreLoss
from driftwise.losses.kernels import link

SPARE = 0.5
"""Part of a round's least price relative below which the slope goes on as a line: no portfolio has such a score."""


@link
def log_wealth(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write -log z, and infinity where there is no wealth left."""
    out[0] = -math.log(z[0]) if z[0] > 0.0 else math.inf
    return 0


@link
def log_wealth_slope(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write -1 / z; below the floor its tangent there, so that filters that ask beyond the domain have an answer."""
    floor = SPARE * y[0]
    out[0] = -1.0 / z[0] if z[0] >= floor else (z[0] / floor - 2.0) / floor
    return 0


class LogWealthLoss(ScoreLoss):
    """``f_t(w) = -log <x_t, w>``: minus the logarithm of what a portfolio's wealth is multiplied by in a round.

    The sum of the losses is minus the logarithm of the final wealth. Use it for portfolios: w are the shares of wealth
    in each asset at the beginning of a round, and x_t the price relatives, price at its end over price at its
    beginning.

    Parameters
    ----------
    relatives : array of shape (T, d)
        x_t, one row a round, all above zero.

    Notes
    -----
    The domain must be one in which no wealth can be lost altogether: `Simplex` (d), or a part of it. Losses may be
    negative. The best fixed decision is the best constant rebalanced portfolio [1]_. The loss is exp-concave: a mixture
    under Hedge at rate 1 never loses more than Hedge's mix loss, and `SelfTunedLearner` begins with that rate.

    References
    ----------
    .. [1] T. M. Cover, "Universal portfolios", Mathematical Finance 1, 1991.

    Examples
    --------
    An asset that doubles and halves by turns beside cash: either alone ends where it began, half and half gains.

    >>> import driftwise as dw
    >>> losses = dw.LogWealthLoss([[2.0, 1.0], [0.5, 1.0]])
    >>> round(float(losses.unary_losses([[0.5, 0.5]]).sum()), 4)
    -0.1178
    >>> dw.regret.best_fixed(losses, dw.Simplex(2)).round(6)
    array([0.5, 0.5])
    """

    value_of, slope_of = log_wealth, log_wealth_slope
    nonnegative = False
    mixable = 1.0

    def __init__(self, relatives: ArrayLike) -> None:
        x = above_zero("LogWealthLoss", read_rows("LogWealthLoss", "relatives", relatives))
        # The targets are what the worst portfolios come to: the usual residual is then of the size of returns.
        super().__init__(x, x.min(axis=1), labels_of("LogWealthLoss", relatives=relatives))

    def admissible(self, slopes: Array) -> Array:
        """Return slopes that are negative."""
        return np.minimum(slopes, -1e-100)

    def conjugates(self, slopes: Array) -> tuple[Array, ...]:
        """Return the addends of the conjugate at each slope."""
        return np.full(slopes.shape, -1.0), -np.log(-slopes)

    def bends(self, scores: Array, aims: Array) -> Array:
        """Return the second derivative at each score."""
        return np.asarray(1.0 / np.maximum(scores, SPARE * aims) ** 2)

    def units(self, reach: float) -> tuple[float, float]:
        """Return 1 and 1: the scale of this loss is fixed."""
        return 1.0, 1.0

    def expression(self, cp: Any, gap: Any, score: float, cost: float) -> Any:
        """Return the sum of the losses as a cvxpy expression."""
        return -cp.sum(cp.log(score * gap + self.aims)) / cost

    def _domain(self, domain: Domain) -> Domain:
        lowest = -super()._domain(domain).support(-self.data.features)
        if np.any(lowest < SPARE * self.aims):
            raise InputError(
                f"LogWealthLoss: decisions must be shares of wealth, none negative and one in all, so that some of it "
                f"is always left; in {domain!r} it may become {lowest.min():g} times what it was. "
                f"Use Simplex({self.dim})."
            )
        return domain

    def _write(self, kernel: Any, first: int, decisions: Array, shape: int | tuple[int, int]) -> Array:
        rounds = shape if isinstance(shape, int) else shape[0]
        rows = np.broadcast_to(decisions, (rounds, self.dim))
        scores = np.einsum("td,td->t", self.data.features[first : first + rounds], rows)
        wrong = np.flatnonzero(scores < SPARE * self.aims[first : first + rounds])
        if wrong.size:
            t = int(wrong[0])
            raise InputError(
                f"LogWealthLoss: a decision must be shares of wealth, none negative and one in all; that of round "
                f"{first + t} leaves {scores[t]:g} times the wealth."
            )
        return super()._write(kernel, first, decisions, shape)
