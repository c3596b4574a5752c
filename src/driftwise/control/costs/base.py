"""Convex costs c(x, u) of a state and an input, and the built-in kinds, which run inside compiled code."""

import copy
import functools
import warnings
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, Checked, array, choice, loose, number, whole
from driftwise.control.plants.kernels import ABSOLUTE, HUBER, QUADRATIC, CostData, cost_vector, one_slope, one_value
from driftwise.errors import InputError, ParameterError

RULES = ("refuse", "warn")
"""What to do with a cost that is not convex."""

_ROUNDING = 1e-12
"""An eigenvalue this far below zero, relative to the largest in size, is taken to be rounding."""


def not_convex(rule: str, complaint: str, stacklevel: int) -> None:
    """Raise or warn because a cost is not convex, as its rule says."""
    if rule == "refuse":
        hint = 'Give the cost if_not_convex="warn" to use it all the same, without any guarantee.'
        raise ParameterError(f"{complaint} {hint}")
    warnings.warn(f"{complaint} No guarantee holds.", UserWarning, stacklevel=stacklevel + 1)


class Cost(metaclass=Checked):
    """One convex cost c(x, u) of a state and an input.

    To make one, use `QuadraticCost`, `AbsoluteCost`, `HuberCost` or, for Python functions, `CustomCost`.

    Attributes
    ----------
    state_dim, input_dim : int or None
        Number of states and of inputs; None when the cost takes any.
    if_not_convex : {"refuse", "warn"}
        What is done when the cost turns out not to be convex.
    """

    state_dim: int | None = None
    input_dim: int | None = None
    if_not_convex: str = "refuse"
    plain: ClassVar[bool] = False
    """Whether data is all there is to the cost, so that compiled code can do without its methods."""

    @abstractmethod
    def value(self, x: ArrayLike, u: ArrayLike) -> float:
        """Return c(x, u)."""

    @abstractmethod
    def gradient(self, x: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        """Return the gradients in x and in u; at a kink, a subgradient."""

    @property
    def gradient_constant(self) -> float | None:
        """G_c, with ``|grad_x c| <= G_c |x|`` and ``|grad_u c| <= G_c |u|``; None when it is not known."""
        return None

    def probe(self, state_dim: int, input_dim: int) -> None:
        """Check that the cost fits a plant with so many states and inputs."""
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
    """A cost that is data only, and so runs inside compiled code; the parent of the built-in costs."""

    plain = True

    def __init__(self, kind: int, state: Array, input: Array, width: float = 1.0) -> None:
        """Take the weights of the two parts; one without axes is the weight of every coordinate there may be."""
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
        """See whether a subclass has a `value` or a `gradient` of its own."""
        super().__init_subclass__(**arguments)
        cls.plain = cls.value is DataCost.value and cls.gradient is DataCost.gradient

    @property
    def gradient_constant(self) -> float | None:
        """G_c, with ``|grad_x c| <= G_c |x|`` and ``|grad_u c| <= G_c |u|``; None unless the cost is quadratic."""
        return growth(self.data) if self.plain else None

    def _point(self, method: str, x: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        owner = f"{type(self).__name__}.{method}"
        dx, du = self.state_dim or "states", self.input_dim or "inputs"
        return array(owner, "x", x, (dx,), copy=True), array(owner, "u", u, (du,), copy=True)

    def of_round(self, data: CostData, t: int) -> Self:
        """Return a cost of the same kind with the weights and factors that `data` has for round t."""
        n, row = data.stage[min(t, data.stage.size - 1)], min(t, data.scales.shape[0] - 1)
        single = copy.copy(self)
        single.__dict__.pop("vector", None)  # that of this cost, if it was ever asked for
        single.data = data._replace(
            state=data.state[n : n + 1],
            input=data.input[n : n + 1],
            stage=np.zeros(1, np.int64),
            scales=data.scales[row : row + 1],
        )
        return single

    def __repr__(self) -> str:
        return f"{type(self).__name__}(state_dim={self.state_dim}, input_dim={self.input_dim})"


def growth(data: CostData) -> float | None:
    """Return the largest of ``2 |a Q|`` and ``2 |b R|`` over the rounds, in spectral norm; None for other costs."""
    if data.kind != QUADRATIC:
        return None
    norms = [np.abs(np.linalg.eigvalsh(part)).max(axis=-1) for part in (data.state, data.input)]
    in_rounds = np.stack(norms, axis=-1)[data.stage] * np.abs(data.scales)
    return 2.0 * float(in_rounds.max())


def _matrix(owner: str, name: str, value: ArrayLike) -> Array:
    """Return the symmetric part of a matrix or of a diagonal, or a single number as it is."""
    given = loose(owner, name, value)
    if given.ndim == 0:
        return array(owner, name, value, (), copy=True)
    if given.ndim == 1:
        return np.diag(array(owner, name, given, ("diagonal",)))
    read = array(owner, name, given, (given.shape[0], given.shape[0]))
    return 0.5 * (read + read.T)


def _weights(owner: str, name: str, value: ArrayLike) -> Array:
    """Return weights of shape (1, d), or a single number as it is; none of them negative."""
    given = loose(owner, name, value)
    read = array(owner, name, value, ("weights",) if given.ndim else (), copy=True)
    for i in np.flatnonzero(read < 0.0)[:1]:
        raise ParameterError(f"{owner}: {name} must not be negative, got {read.flat[i]:g} at [{i}].")
    return read[None] if given.ndim else read


class QuadraticCost(DataCost):
    """c(x, u) = x'Qx + u'Ru.

    The cost of linear-quadratic control and of the paper's experiments.

    Parameters
    ----------
    Q : array of shape (dx, dx) or (dx,), or a number
        Weights of the state: a matrix, of which the symmetric part counts, its diagonal, or a number, for that multiple
        of the identity whatever the number of states.
    R : array of shape (du, du) or (du,), or a number
        Weights of the input, in the same forms.
    if_not_convex : {"refuse", "warn"}, default "refuse"
        What to do when Q or R has a negative eigenvalue (below -1e-12 times the largest in size): raise a
        `ParameterError`, or give a `UserWarning` and go on.

    Examples
    --------
    >>> from driftwise.control.costs import QuadraticCost
    >>> cost = QuadraticCost(Q=[1.0, 2.0], R=0.5)
    >>> cost.value([1.0, -1.0], [2.0])
    5.0
    >>> cost.gradient([1.0, -1.0], [2.0])
    (array([ 2., -4.]), array([2.]))
    >>> cost.gradient_constant
    4.0
    """

    def __init__(self, Q: ArrayLike, R: ArrayLike, *, if_not_convex: str = "refuse") -> None:
        self.if_not_convex = choice("QuadraticCost", "if_not_convex", if_not_convex, RULES)
        parts = {name: _matrix("QuadraticCost", name, given) for name, given in (("Q", Q), ("R", R))}
        for name, part in parts.items():
            eigenvalues = np.linalg.eigvalsh(part) if part.ndim else part.reshape(1)
            if eigenvalues[0] < -_ROUNDING * np.abs(eigenvalues).max():
                complaint = (
                    f"QuadraticCost: the cost is not convex, because the symmetric part of {name} has the negative "
                    f"eigenvalue {eigenvalues[0]:.6g}."
                )
                not_convex(self.if_not_convex, complaint, stacklevel=3)
        super().__init__(QUADRATIC, parts["Q"], parts["R"])

    @property
    def Q(self) -> Array:
        """Symmetric weights of the state, shape (dx, dx), or (1, 1) if they were given as a number."""
        return np.asarray(self.data.scales[0, 0] * self.data.state[0])

    @property
    def R(self) -> Array:
        """Symmetric weights of the input, shape (du, du), or (1, 1) if they were given as a number."""
        return np.asarray(self.data.scales[0, 1] * self.data.input[0])


class _WeightedCost(DataCost):
    """A cost that is a weighted sum of one function of every coordinate."""

    @property
    def state_weights(self) -> Array:
        """Weights of the states, shape (dx,)."""
        return np.asarray(self.data.scales[0, 0] * self.data.state[0, 0])

    @property
    def input_weights(self) -> Array:
        """Weights of the inputs, shape (du,)."""
        return np.asarray(self.data.scales[0, 1] * self.data.input[0, 0])


class AbsoluteCost(_WeightedCost):
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

    def __init__(self, state_weights: ArrayLike, input_weights: ArrayLike) -> None:
        state = _weights("AbsoluteCost", "state_weights", state_weights)
        super().__init__(ABSOLUTE, state, _weights("AbsoluteCost", "input_weights", input_weights))


class HuberCost(_WeightedCost):
    """c(x, u) = sum_i q_i h(x_i) + sum_k r_k h(u_k), with Huber's function h.

    h(z) = z^2 / (2 width) up to ``|z| = width`` and ``|z| - width / 2`` beyond: smooth at zero like a quadratic cost,
    and as patient with outliers as an absolute one.

    Parameters
    ----------
    state_weights : array of shape (dx,), or a number for every state
        q, none of them negative.
    input_weights : array of shape (du,), or a number for every input
        r, none of them negative.
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
        state = _weights("HuberCost", "state_weights", state_weights)
        super().__init__(HUBER, state, _weights("HuberCost", "input_weights", input_weights), self.width)
