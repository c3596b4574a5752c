"""The Euclidean ball."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, number, read_only, whole
from driftwise.domains.base import Block, Domain
from driftwise.domains.kernels import BALL
from driftwise.domains.nearest import lengths


class Ball(Domain):
    """All points within `radius` of `center`.

    The domain of the paper's experiments, and the one to use when only a norm bound is known.

    Parameters
    ----------
    dim : int
        Number of coordinates.
    radius : float, default 1.0
        Radius, above zero.
    center : array of shape (dim,), optional
        Centre; the origin when left out.

    Examples
    --------
    >>> import driftwise as dw
    >>> ball = dw.Ball(2, radius=1.0)
    >>> ball.project([3.0, 4.0])
    array([0.6, 0.8])
    >>> ball.diameter
    2.0
    """

    def __init__(self, dim: int, radius: float = 1.0, center: ArrayLike | None = None) -> None:
        size = whole("Ball", "dim", dim)
        self.radius = number("Ball", "radius", radius, low=0.0, exclusive=True)
        self.center: Array = read_only(
            np.zeros(size) if center is None else array("Ball", "center", center, (size,), copy=True)
        )
        numbers = np.concatenate([[self.radius], self.center])
        super().__init__((Block(BALL, size, numbers),), 2.0 * self.radius)

    def _support(self, rows: Array) -> Array:
        return np.asarray(rows @ self.center + self.radius * lengths(rows))

    def _farthest(self, rows: Array) -> Array:
        return np.asarray(lengths(rows - self.center) + self.radius)

    def __repr__(self) -> str:
        center = ", center=..." if self.center.any() else ""
        return f"Ball({self.dim}, radius={self.radius:g}{center})"
