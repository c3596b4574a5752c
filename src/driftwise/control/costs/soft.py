"""A quadratic cost with soft limits of the states: a convex penalty of what is outside."""

import math

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, instance, loose
from driftwise.control.costs.base import DataCost
from driftwise.control.costs.kernels import NO_LIMITS, QUADRATIC, SOFT
from driftwise.control.costs.quadratic import QuadraticCost, is_convex, rates, steepest
from driftwise.errors import InputError, ParameterError

_HEAVY = 100.0
"""Weight of what is outside the limits, in units of the largest weight of a state, if none is given."""


class SoftLimits(DataCost):
    """A quadratic cost plus weight_i (max(0, x_i - high_i)^2 + max(0, low_i - x_i)^2) for every state i.

    Keeps states within limits as far as that is possible: a state may leave them, at a price. Runs inside compiled
    code, as the other built-in costs do. Limits may change from round to round, in the stages of a `CostSequence`.

    Parameters
    ----------
    cost : QuadraticCost
        What a state and an input cost within the limits.
    low, high : float or array of shape (dx,), optional
        Limits of every state, one number for all of them or one for each; infinite where there is none, and none on a
        side that is left out.
    weight : float or array of shape (dx,), optional
        Cost of a squared unit outside the limits, above zero; 100 times the largest eigenvalue of Q when left out.

    Attributes
    ----------
    low, high, weight : array of shape (dx,) or (1,)
        The limits and their weights; of one entry if they are the same for any number of states.
    inner : QuadraticCost
        The cost within the limits.

    Examples
    --------
    >>> from driftwise.control.costs import QuadraticCost, SoftLimits
    >>> comfort = SoftLimits(QuadraticCost(0.0, 1.0), low=[19.0, 15.0], high=23.0, weight=10.0)
    >>> comfort.value([20.0, 16.0], [1.0]), comfort.value([18.5, 16.0], [1.0])
    (1.0, 3.5)
    >>> comfort.gradient([18.5, 23.5], [1.0])
    (array([-10.,  10.]), array([2.]))
    """

    def __init__(
        self,
        cost: QuadraticCost,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        weight: ArrayLike | None = None,
    ) -> None:
        instance("SoftLimits", "cost", cost, QuadraticCost, "QuadraticCost(Q, R)")
        if not cost.compiled:
            raise ParameterError(
                f"SoftLimits: {type(cost).__name__} has a value or a gradient of its own; add to those."
            )
        if low is None and high is None:
            raise ParameterError("SoftLimits: give low, high or both; without limits the cost is what it is.")
        self.if_not_convex = cost.if_not_convex
        first = cost.of_round(0)
        if weight is None:
            weight = _HEAVY * (max(float(np.linalg.eigvalsh(first.Q)[-1]), 0.0) or 1.0)
        rows = [
            _row("low", -math.inf if low is None else low),
            _row("high", math.inf if high is None else high),
            _row("weight", weight, infinite=False),
        ]
        sizes = {row.size for row in rows if row.ndim} | ({cost.state_dim} if cost.state_dim else set())
        if len(sizes) > 1:
            listed = ", ".join(str(size) for size in sorted(sizes))
            raise InputError(
                f"SoftLimits: cost, low, high and weight must be made for the same number of states, got {listed}."
            )
        limits: Array = np.stack([np.broadcast_to(row, (max(sizes, default=1),)) for row in rows])
        _need_sense(limits)
        super().__init__(SOFT, first.Q, first.R)
        self.data = first.data._replace(
            kind=SOFT, state=first.Q[None], input=first.R[None], scales=np.ones((1, 2)), limits=limits[None]
        )
        self.state_dim, self.input_dim = max(sizes, default=None), cost.input_dim

    @property
    def low(self) -> Array:
        """Lowest states that cost nothing more, -inf where there is no limit."""
        return np.array(self.data.limits[0, 0])

    @property
    def high(self) -> Array:
        """Highest states that cost nothing more, inf where there is no limit."""
        return np.array(self.data.limits[0, 1])

    @property
    def weight(self) -> Array:
        """Cost of a squared unit outside the limits."""
        return np.asarray(self.data.scales[0, 0] * self.data.limits[0, 2])

    @property
    def inner(self) -> QuadraticCost:
        """The cost within the limits."""
        data = self.of_round(0).data._replace(kind=QUADRATIC, limits=NO_LIMITS)
        inner = QuadraticCost(1.0, 1.0).with_data(data)
        inner.state_dim, inner.input_dim, inner.if_not_convex = self.state_dim, self.input_dim, self.if_not_convex
        return inner

    @property
    def gradient_constant(self) -> float | None:
        """G_c, if all limits have 0 between them and all targets are 0; None otherwise."""
        lows, highs = self.data.limits[:, 0], self.data.limits[:, 1]
        if not self.compiled or (lows > 0.0).any() or (highs < 0.0).any():
            return None
        if any(target.any() for target in self.data.targets):
            return None
        steep = rates(self.data)
        return float(max((steep[:, 0] + self._bend).max(), steep[:, 1].max()))

    @property
    def _bend(self) -> Array:
        """Largest second derivative of the penalty in every round."""
        heaviest = self.data.limits[:, 2].max(axis=1)[self.data.stage]
        return np.asarray(2.0 * heaviest * np.abs(self.data.scales[:, 0]))

    def steepest(self, state_bound: float, input_bound: float) -> tuple[float, float] | None:
        """Return bounds on the norms of the gradients in x and in u, over states and inputs within these norms.

        Parameters
        ----------
        state_bound, input_bound : float
            Largest norms of a state and of an input.
        """
        if not self.compiled or self.state_dim is None:
            return None
        within, of_inputs = steepest(self.data, state_bound, input_bound)
        # (x_i - high_i)^+ is at most |x_i| and what it is at 0 together, and the same holds for low.
        at_origin = np.maximum(self.data.limits[:, 0], 0.0) + np.maximum(-self.data.limits[:, 1], 0.0)
        full = np.broadcast_to(at_origin, (len(at_origin), self.state_dim))
        outside = state_bound + np.linalg.norm(full, axis=1)[self.data.stage]
        return within + float((self._bend * outside).max()), of_inputs

    @property
    def convex(self) -> bool:
        """Whether the cost within the limits is convex in all rounds."""
        return is_convex(self.data)


def _row(name: str, value: ArrayLike, *, infinite: bool = True) -> Array:
    """Return limits or weights, a number or one for each state; limits may be infinite."""
    given = loose("SoftLimits", name, value)
    shape = ("states",) if given.ndim else ()
    if not infinite or given.dtype.kind not in "fiu":
        return array("SoftLimits", name, value, shape, copy=True)
    endless = np.isinf(given)
    return np.where(endless, given, array("SoftLimits", name, np.where(endless, 0.0, given), shape))


def _need_sense(limits: Array) -> None:
    """Refuse limits of which low is above high, and weights that are not above zero."""
    low, high, weight = limits
    for i in np.flatnonzero(~((low <= high) & (low < math.inf) & (high > -math.inf)))[:1]:
        raise ParameterError(
            f"SoftLimits: low must not be above high, got low {low[i]:g} and high {high[i]:g} for state {i}."
        )
    for i in np.flatnonzero(~(weight > 0.0))[:1]:
        raise ParameterError(f"SoftLimits: weight must be above 0, got {weight[i]:g} for state {i}.")
