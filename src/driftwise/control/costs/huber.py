"""Huber costs: quadratic near zero, in proportion to the size beyond."""

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, number
from driftwise.control.costs.kernels import HUBER
from driftwise.control.costs.weighted import WeightedCost


class HuberCost(WeightedCost):
    """c(x, u) = sum_i q_i h(x_i) + sum_k r_k h(u_k), with Huber's function h.

    h(z) = z^2 / (2 width) up to ``|z| = width`` and ``|z| - width / 2`` beyond: smooth at zero like a quadratic cost,
    and no more swayed by outliers than an absolute one.

    Parameters
    ----------
    state_weights, input_weights : array, or a number
        q and r, as in `AbsoluteCost`.
    width : float, default 1.0
        Where h turns from a parabola into a line, above zero.

    Examples
    --------
    >>> from driftwise.control.costs import HuberCost
    >>> cost = HuberCost([1.0, 2.0], 0.5, width=2.0)
    >>> cost.value([1.0, -1.0], [4.0])
    2.25
    >>> cost.gradient([1.0, -1.0], [4.0])
    (array([ 0.5, -1. ]), array([0.5]))
    """

    def __init__(self, state_weights: ArrayLike, input_weights: ArrayLike, width: float = 1.0) -> None:
        self.width = number("HuberCost", "width", width, low=1e-100)
        super().__init__(HUBER, state_weights, input_weights, self.width)

    def bend(self, sizes: Array) -> Array:
        """Return 1 / (2 width) within the width; a little beyond it, since the next point may be within."""
        return np.where(sizes <= self.width, 0.5 / self.width, 0.005 / np.maximum(sizes, self.width))

    def expression(self, cp: ModuleType, Z: Any, unit: float) -> Any:
        """Return h(Z); cvxpy's own function is z^2 near zero."""
        width = self.width / unit
        return cp.huber(Z, width) / (2.0 * width)
