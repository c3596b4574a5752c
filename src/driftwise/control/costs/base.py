"""Convex costs c(x, u) of a state and an input: any cost, and those that are data and run inside compiled code."""

import copy
import functools
import warnings
from abc import abstractmethod
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._settings import Fixed
from driftwise._validate import Array, array, choice, whole
from driftwise.control.costs.kernels import CostData, cost_vector, one_slope, one_value
from driftwise.control.costs.saved import checked_data, sizes_of
from driftwise.errors import InputError, ParameterError

RULES = ("refuse", "warn")
"""What to do with a cost that is not convex."""


def not_convex(rule: str, complaint: str, stacklevel: int) -> None:
    """Raise or warn because a cost is not convex, as its rule says."""
    if rule == "refuse":
        hint = 'Give the cost if_not_convex="warn" to use it all the same, without any guarantee.'
        raise ParameterError(f"{complaint} {hint}")
    warnings.warn(f"{complaint} No guarantee holds.", UserWarning, stacklevel=stacklevel + 1)


class Cost(Fixed):
    """One convex cost c(x, u) of a state and an input.

    To make one, use `QuadraticCost`, `AbsoluteCost`, `HuberCost` or, for Python functions, `CustomCost`.

    Attributes
    ----------
    state_dim, input_dim : int or None
        Number of states and of inputs; None when the cost takes any.
    if_not_convex : {"refuse", "warn"}
        What is done when the cost turns out not to be convex.

    Examples
    --------
    >>> import driftwise as dw
    >>> cost = dw.control.QuadraticCost(1.0, 2.0)
    >>> isinstance(cost, dw.control.Cost), cost.value([1.0, 1.0], [3.0])
    (True, 20.0)
    >>> cost.gradient([1.0, 1.0], [3.0])
    (array([2., 2.]), array([12.]))
    """

    state_dim: int | None = None
    input_dim: int | None = None
    if_not_convex: str = "refuse"
    compiled: ClassVar[bool] = False
    """Whether compiled code computes the cost from its data alone, without calling its methods."""

    @abstractmethod
    def value(self, x: ArrayLike, u: ArrayLike) -> float:
        """Return c(x, u).

        Parameters
        ----------
        x : array of shape (dx,)
            State.
        u : array of shape (du,)
            Input.
        """

    @abstractmethod
    def gradient(self, x: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        """Return the gradients in x and in u; at a kink, a subgradient.

        Parameters
        ----------
        x : array of shape (dx,)
            State.
        u : array of shape (du,)
            Input.
        """

    @property
    def gradient_constant(self) -> float | None:
        """G_c, with ``|grad_x c| <= G_c |x|`` and ``|grad_u c| <= G_c |u|``; None when it is not known."""
        return None

    def probe(self, state_dim: int, input_dim: int) -> None:
        """Check that the cost fits a plant of these dimensions.

        Parameters
        ----------
        state_dim, input_dim : int
            Number of states and of inputs.
        """
        fits = self.state_dim in (None, state_dim) and self.input_dim in (None, input_dim)
        if fits and type(state_dim) is type(input_dim) is int and state_dim > 0 < input_dim:
            return  # in every round of a run by hand
        owner = type(self).__name__
        for name, mine, wanted in (
            ("state", self.state_dim, whole(owner, "state_dim", state_dim)),
            ("input", self.input_dim, whole(owner, "input_dim", input_dim)),
        ):
            if mine is not None and mine != wanted:
                raise InputError(
                    f"{owner}: the plant has {name}_dim {wanted}, but the cost is made for {name}_dim {mine}; "
                    f"give one weight for every {name}."
                )


class DataCost(Cost):
    """A cost that is data only, and so runs inside compiled code; the parent of the built-in costs.

    A new kind is a file with a subclass that says what solvers in hindsight can make of it, and a branch in
    ``costs.kernels``. The data may be those of many rounds, as in ``CostSequence.model``; `value` and `gradient` are
    then those of the first.
    """

    compiled = True
    quadratic: ClassVar[bool] = False
    """Whether c = x'Qx + u'Ru, x and u less their targets, so that the cheapest policies solve linear equations."""
    smooth: ClassVar[bool] = True
    """Whether gradients are continuous; a kind that is not smooth says what it is the limit of (`smoothed`)."""
    separable: ClassVar[bool] = False
    """Whether the cost is a weighted sum of one function of every coordinate: then `bend` and `expression` say it."""

    def __init__(self, kind: int, state: Array, input: Array, width: float = 1.0) -> None:
        """Take the weights of the two parts; a number is the weight of every coordinate."""
        parts = [part.reshape(1, 1, 1) if part.ndim == 0 else part[None] for part in (state, input)]
        self.data = CostData(kind, parts[0], parts[1], np.zeros(1, np.int64), np.ones((1, 2)), width)
        self.state_dim = state.shape[-1] if state.ndim else None
        self.input_dim = input.shape[-1] if input.ndim else None

    def value(self, x: ArrayLike, u: ArrayLike) -> float:
        """Return c(x, u)."""
        return float(one_value(self.vector, *self._point("value", x, u)))

    def gradient(self, x: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        """Return the gradients in x and in u; at a kink, zero."""
        point = self._point("gradient", x, u)
        slope_x, slope_u = np.empty_like(point[0]), np.empty_like(point[1])
        one_slope(self.vector, *point, slope_x, slope_u)
        return slope_x, slope_u

    @functools.cached_property
    def vector(self) -> Array:
        """The cost as compiled code reads it."""
        return cost_vector(self.data)

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Note whether a subclass overrides `value` or `gradient`."""
        super().__init_subclass__(**arguments)
        cls.compiled = cls.value is DataCost.value and cls.gradient is DataCost.gradient

    @property
    def convex(self) -> bool:
        """Whether the costs of all rounds of the data are convex."""
        return True

    def steepest(self, state_bound: float, input_bound: float) -> tuple[float, float] | None:
        """Return bounds on the norms of the gradients in x and in u within these norms; None if they are not known."""
        G = self.gradient_constant
        return None if G is None else (G * state_bound, G * input_bound)

    def smoothed(self, width: float) -> "DataCost":
        """Return a smooth cost that approaches this one as the width falls."""
        raise NotImplementedError(f"{type(self).__name__} must say what smooths it, if it has kinks.")

    def bend(self, sizes: Array) -> Array:
        """Return b such that ``b z^2`` bends like the cost of a coordinate z of this size, for a weight of 1."""
        raise NotImplementedError(f"{type(self).__name__} must say how it bends, if it is smooth and not quadratic.")

    def expression(self, cp: ModuleType, Z: Any, unit: float) -> Any:
        """Return the costs of the entries of a cvxpy variable in some unit, for weights of 1, in the same unit."""
        raise NotImplementedError(f"{type(self).__name__} must state itself for cvxpy, if it is not quadratic.")

    def _point(self, method: str, x: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        owner = f"{type(self).__name__}.{method}"
        dx, du = self.state_dim or "states", self.input_dim or "inputs"
        return array(owner, "x", x, (dx,), copy=True), array(owner, "u", u, (du,), copy=True)

    def with_data(self, data: CostData) -> Self:
        """Return a cost of the same kind with other data."""
        other = copy.copy(self)
        other.__dict__.pop("vector", None)  # that of this cost, if it was ever asked for
        other.data = data
        other.__dict__["_own_data"] = True  # not those that its constructor would make
        other.state_dim = self.state_dim or data.state_target.shape[1] or None
        other.input_dim = self.input_dim or data.input_target.shape[1] or None
        if data.limits.shape[2] > 1:
            other.state_dim = data.limits.shape[2]
        return other

    def _saved(self) -> dict[str, Any] | None:
        """Return what its constructor would not make: data of its own, None if it has none."""
        if "_own_data" not in self.__dict__:
            return None
        sizes = [self.state_dim, self.input_dim]
        return {"data": dict(self.data._asdict()), "sizes": sizes, "if_not_convex": self.if_not_convex}

    def _resume(self, saved: dict[str, Any]) -> None:
        """Take in the data that were saved, after checking them."""
        owner, sizes = type(self).__name__, sizes_of(type(self).__name__, saved["sizes"])
        self.data = checked_data(owner, self.data.kind, CostData(**saved["data"]), sizes)
        self.__dict__.update(_own_data=True, state_dim=sizes[0], input_dim=sizes[1])
        self.__dict__["if_not_convex"] = choice(owner, "if_not_convex", saved["if_not_convex"], RULES)
        self.__dict__.pop("vector", None)

    def of_round(self, t: int) -> Self:
        """Return the cost of round t, from the data of all rounds."""
        data = self.data
        n, row = data.stage[min(t, data.stage.size - 1)], min(t, len(data.scales) - 1)
        parts = {name: part[n : n + 1] for name, part in data.of_stages.items() if part.size}
        return self.with_data(data._replace(**parts, stage=np.zeros(1, np.int64), scales=data.scales[row : row + 1]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(state_dim={self.state_dim}, input_dim={self.input_dim})"
