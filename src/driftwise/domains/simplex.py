"""The scaled probability simplex."""

import math

import numpy as np

from driftwise._validate import Array, number, whole
from driftwise.domains.base import Block, Domain
from driftwise.domains.kernels import SIMPLEX
from driftwise.domains.nearest import lengths


class Simplex(Domain):
    """Non-negative coordinates that sum to `scale`.

    The domain for weights over experts or forecasts, and for splitting a budget.

    Parameters
    ----------
    dim : int
        Number of coordinates.
    scale : float, default 1.0
        Sum of the coordinates, above zero.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.Simplex(3).project([0.5, 0.5, -3.0])
    array([0.5, 0.5, 0. ])
    """

    def __init__(self, dim: int, scale: float = 1.0) -> None:
        size = whole("Simplex", "dim", dim)
        self.scale = number("Simplex", "scale", scale, low=0.0, exclusive=True)
        diameter = math.sqrt(2.0) * self.scale if size > 1 else 0.0
        super().__init__((Block(SIMPLEX, size, np.array([self.scale])),), diameter)

    def _support(self, rows: Array) -> Array:
        return np.asarray(self.scale * rows.max(axis=1))

    def _farthest(self, rows: Array) -> Array:
        corner = rows.copy()
        lowest = rows.argmin(axis=1)
        corner[np.arange(len(rows)), lowest] -= self.scale
        return lengths(corner)

    def __repr__(self) -> str:
        return f"Simplex({self.dim}, scale={self.scale:g})"
