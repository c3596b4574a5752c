"""The box: lower and upper limits for every coordinate."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, loose, read_only
from driftwise.domains.base import Block, Domain
from driftwise.domains.kernels import BOX
from driftwise.domains.nearest import lengths
from driftwise.errors import ParameterError


class Box(Domain):
    """All points between `low` and `high`, coordinate by coordinate.

    The domain for capacities, set-points and actuator limits.

    Parameters
    ----------
    low, high : array of shape (dim,)
        Limits, low <= high; numbers for one coordinate.

    Examples
    --------
    >>> import driftwise as dw
    >>> box = dw.Box([0.0, 0.0], [1.0, 10.0])
    >>> box.project([2.0, 3.0])
    array([1., 3.])
    """

    def __init__(self, low: ArrayLike, high: ArrayLike) -> None:
        self.low = read_only(array("Box", "low", np.atleast_1d(loose("Box", "low", low)), ("dim",), copy=True))
        top = np.atleast_1d(loose("Box", "high", high))
        self.high = read_only(array("Box", "high", top, (self.low.size,), copy=True))
        wrong = np.flatnonzero(self.low > self.high)
        if wrong.size:
            k = int(wrong[0])
            raise ParameterError(
                f"Box: low must be at most high everywhere, got low {self.low[k]:g} above "
                f"high {self.high[k]:g} at coordinate {k}."
            )
        numbers = np.concatenate([self.low, self.high])
        block = Block(BOX, self.low.size, numbers)
        super().__init__((block,), float(lengths((self.high - self.low)[None])[0]))

    def _support(self, rows: Array) -> Array:
        return np.asarray(np.maximum(self.low * rows, self.high * rows).sum(axis=1))

    def _farthest(self, rows: Array) -> Array:
        return lengths(np.maximum(rows - self.low, self.high - rows))

    def __repr__(self) -> str:
        return f"Box(low={np.array2string(self.low, threshold=4)}, high={np.array2string(self.high, threshold=4)})"
