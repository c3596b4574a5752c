"""Absolute costs ``sum_i q_i |x_i| + sum_k r_k |u_k|``."""

from types import ModuleType
from typing import Any

from numpy.typing import ArrayLike

from driftwise.control.costs.huber import HuberCost
from driftwise.control.costs.kernels import ABSOLUTE, HUBER
from driftwise.control.costs.weighted import WeightedCost


class AbsoluteCost(WeightedCost):
    """``c(x, u) = sum_i q_i |x_i| + sum_k r_k |u_k|``.

    For costs in proportion to a deviation or to fuel; less swayed by outliers than a quadratic cost.

    Parameters
    ----------
    state_weights : array of shape (dx,), or a number for every state
        q, none of them negative.
    input_weights : array of shape (du,), or a number for every input
        r, none of them negative.

    Examples
    --------
    >>> from driftwise.control.costs import AbsoluteCost
    >>> cost = AbsoluteCost([1.0, 2.0], 0.5)
    >>> cost.value([1.0, -1.0], [2.0])
    4.0
    >>> cost.gradient([1.0, -1.0], [0.0])
    (array([ 1., -2.]), array([0.]))
    """

    smooth = False

    def __init__(self, state_weights: ArrayLike, input_weights: ArrayLike) -> None:
        super().__init__(ABSOLUTE, state_weights, input_weights)

    def smoothed(self, width: float) -> HuberCost:
        """Return the Huber cost of this width: its slopes lie within those of the absolute value."""
        return HuberCost(1.0, 1.0, width).with_data(self.data._replace(kind=HUBER, width=width))

    def expression(self, cp: ModuleType, Z: Any, unit: float) -> Any:
        """Return ``|Z|``."""
        return cp.abs(Z)
