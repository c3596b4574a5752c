"""The capacity loss: a cost for every unit held, and another for every unit that is missing."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._frames.given import labels_of
from driftwise._memory import Pointer
from driftwise._validate import Array, array, loose, number
from driftwise.domains import Domain
from driftwise.errors import ParameterError
from driftwise.losses.base import read_rows
from driftwise.losses.forms import CoordinateLoss
from driftwise.losses.kernels import link
from driftwise.losses.pieces import Pieces


@link
def capacity(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write the sum of ``price z + shortage max(y - z, 0)``."""
    total = 0.0
    for i in range(n):
        total += shape[i] * z[i] + shape[n + i] * max(y[i] - z[i], 0.0)
    out[0] = total
    return 0


@link
def capacity_slope(z: Pointer, y: Pointer, shape: Pointer, n: int, out: Pointer) -> int:
    """Write each slope; where demand is just met, that of having enough."""
    for i in range(n):
        out[i] = shape[i] - (shape[n + i] if z[i] < y[i] else 0.0)
    return 0


class CapacityLoss(CoordinateLoss):
    """``f_t(w) = sum_k price_k w_k + shortage_k max(demand_tk - w_k, 0)``: how much capacity to keep for a demand.

    How many machines should run when each costs `price` a round, and each that is missing `shortage`? It is the
    newsvendor's loss, also known as quantile or pinball loss: the best fixed capacity exceeds the demand in all but a
    share ``price / shortage`` of the rounds. Where demand is just met, the gradient is that of having enough.

    Parameters
    ----------
    demands : array of shape (T, d), or (T,) for d = 1
        Demands, one row a round, in the unit of the decision.
    shortage : float or array of shape (d,), default 5.0
        Cost of a missing unit, at least 0; one for all coordinates or one for each. Where it is below `price`, it is
        best to have none.
    price : float or array of shape (d,), default 1.0
        Cost of a unit, needed or not, at least 0.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.CapacityLoss([3.0, 8.0], shortage=5.0, price=1.0)
    >>> losses.unary_value(1, [6.0]), losses.gradient(1, [6.0])
    (16.0, array([-4.]))
    >>> dw.regret.best_fixed(dw.CapacityLoss([3.0, 8.0, 4.0, 4.0], shortage=2.0), dw.Box([0.0], [10.0]))
    array([4.])
    """

    value_of, slope_of, nonnegative = capacity, capacity_slope, False

    def __init__(self, demands: ArrayLike, shortage: ArrayLike = 5.0, price: ArrayLike = 1.0) -> None:
        rows = read_rows("CapacityLoss", "demands", demands)
        prices = [_prices(name, given, rows.shape[1]) for name, given in (("price", price), ("shortage", shortage))]
        self.shape = np.stack(prices)
        super().__init__(rows, labels_of("CapacityLoss", demands=demands))
        self.pieces = Pieces(bend=0.0, right=prices[0], jump=prices[1], level=prices[0] * rows)

    def best_between(self, low: Array, high: Array, rounds: range) -> Array:
        """Return the capacity between two limits with the least loss over some rounds: a quantile of their demands.

        One more unit costs `price` in every round and saves `shortage` where it is missing. So it pays while more than
        ``rounds * price / shortage`` demands are above, and the best capacity is the demand that many from the top.
        """
        demands, count = self.data.features[rounds.start : rounds.stop], len(rounds)
        price, shortage = self.data.shape
        with np.errstate(divide="ignore", invalid="ignore"):
            allowed = np.nan_to_num(np.floor(count * price / shortage), nan=count, posinf=count)
        above = np.minimum(allowed, count).astype(np.int64)
        ranked = np.vstack([-np.sort(-demands, axis=0), low])  # where all of them may be above, the lower limit is best
        return np.asarray(np.clip(ranked[above, np.arange(self.dim)], low, high))

    def gradient_bound(self, domain: Domain) -> float:
        """Return the largest norm of a gradient over `domain`: exact for boxes, a bound for other domains."""
        axes = np.eye(self._domain(domain).dim)
        low, high = -domain.support(-axes), domain.support(axes)
        price, shortage = self.data.shape
        short = np.where(low < self.data.features, np.abs(price - shortage), 0.0)
        enough = np.where(high >= self.data.features, price, 0.0)
        return float(np.linalg.norm(np.maximum(short, enough), axis=1).max())


def _prices(name: str, given: ArrayLike, dim: int) -> Array:
    """Return a price for each coordinate."""
    values = loose("CapacityLoss", name, given)
    if values.ndim == 0:
        return np.full(dim, number("CapacityLoss", name, given, low=0.0))
    prices = array("CapacityLoss", name, values, (dim,))
    if prices.min() < 0.0:
        raise ParameterError(
            f"CapacityLoss: {name} must be at least 0 everywhere, got a smallest one of {prices.min():g}."
        )
    return prices
