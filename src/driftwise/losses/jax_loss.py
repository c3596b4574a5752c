"""Losses of which a user writes only the value, with `jax.numpy`; gradients follow."""

from collections.abc import Callable
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from driftwise._frames.given import labels_of, library_of, plain
from driftwise._validate import Array, array, checked, loose, whole
from driftwise.errors import ParameterError
from driftwise.losses.autodiff import Differentiable, rows_of
from driftwise.losses.base import RoundLoss
from driftwise.losses.custom import CustomLoss


class FunctionLoss:
    """The loss of one round as a function of the decision, with its gradient; made by `from_jax`.

    Parameters
    ----------
    function : callable
        ``function(w) -> scalar``.

    Attributes
    ----------
    how : str or None
        How gradients are found: "JAX, compiled", "JAX, anew in each call" or "central differences"; None before the
        first one.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> import driftwise as dw
    >>> loss = dw.losses.from_jax(lambda w: jnp.sum((w - 1.0) ** 2))
    >>> loss.value([3.0, 1.0]), loss.gradient([3.0, 1.0]), loss.how
    (4.0, array([4., 0.]), 'JAX, compiled')
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._name = _named(function)
        self._function = Differentiable(self._name, OfPoint(function))

    @property
    def how(self) -> str | None:
        """How gradients are found; None before the first one."""
        return self._function.how

    def value(self, w: ArrayLike) -> float:
        """Return the loss at w.

        Parameters
        ----------
        w : array of shape (dim,)
            A decision.
        """
        return float(array(self._name, "what the function returns", self._function.value(0, self._point(w), key=0), ()))

    def gradient(self, w: ArrayLike) -> Array:
        """Return the gradient of the loss at w.

        Parameters
        ----------
        w : array of shape (dim,)
            A decision.
        """
        point = self._point(w)
        return array(self._name, "the gradient of the function", self._function.gradient(0, point, key=0), point.shape)

    def _point(self, w: ArrayLike) -> Array:
        return array(self._name, "w", np.atleast_1d(loose(self._name, "w", w)), ("dim",), copy=True)

    def __repr__(self) -> str:
        return self._name


OneLoss: TypeAlias = RoundLoss | FunctionLoss
"""The loss of one round, as learners take it."""


@overload
def from_jax(function: Callable[[Any], Any]) -> FunctionLoss: ...


@overload
def from_jax(
    function: Callable[[Any, Any], Any],
    *,
    dim: int,
    rounds: int | None = None,
    data: Any = None,
    memory: int = 0,
    lipschitz: ArrayLike | None = None,
    gradient_bound: float | None = None,
) -> CustomLoss: ...


@checked
def from_jax(
    function: Callable[..., Any],
    *,
    dim: int | None = None,
    rounds: int | None = None,
    data: Any = None,
    memory: int = 0,
    lipschitz: ArrayLike | None = None,
    gradient_bound: float | None = None,
) -> FunctionLoss | CustomLoss:
    """Return a loss, or the losses of all rounds, of a function written with `jax.numpy`; JAX finds the gradients.

    Use it where a gradient by hand would be long or wrong. Numbers are in double precision, whatever the setting of
    your own JAX. The function must be pure: it is traced once, compiled, and not called again.

    Parameters
    ----------
    function : callable
        ``function(w)`` for one loss, which `observe` and committees take; with `rounds` ``function(t, w)``; with `data`
        ``function(row, w)``. It returns a scalar, convex in w. With memory, w is the window of the last decisions, of
        shape (memory + 1, dim), the oldest first.
    dim : int, optional
        Number of coordinates of a decision; needed for the losses of all rounds.
    rounds : int, optional
        T; the function is given t from 0 to T - 1, traced, so that it may index arrays of `jax.numpy` by it.
    data : array, tuple, dict or DataFrame, optional
        What the rounds differ in, in place of `rounds`: arrays with one row a round, alone or in tuples and dicts, or a
        frame. The function gets the row of its round in the same form; that of a frame is a dict of its columns.
    memory : int, default 0
        Number of past decisions that a loss depends on.
    lipschitz, gradient_bound : optional
        What is known of the functions, as in `CustomLoss`.

    Returns
    -------
    FunctionLoss or CustomLoss
        One loss with `value` and `gradient`, or a stream for `play`, `regret` and the rest.

    Warns
    -----
    DifferencesWarning
        If JAX is not installed or cannot differentiate the function, as when it calls NumPy. Gradients are central
        differences then.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> import driftwise as dw
    >>> learner = dw.OGD(dw.Ball(2, radius=5.0), step=0.5)
    >>> w = learner.act()
    >>> learner.observe(dw.losses.from_jax(lambda w: jnp.sum(jnp.cosh(w - 1.0))))
    >>> learner.act().round(4)
    array([0.5876, 0.5876])

    Losses of all rounds, each of a row of data:

    >>> rng = np.random.default_rng(0)
    >>> data = {"x": rng.standard_normal((50, 2)), "y": rng.standard_normal(50)}
    >>> losses = dw.losses.from_jax(lambda row, w: 0.5 * (row["x"] @ w - row["y"]) ** 2, data=data, dim=2)
    >>> same = dw.SquaredLoss(data["x"], data["y"])
    >>> bool(np.abs(losses.gradient(7, [1.0, 2.0]) - same.gradient(7, [1.0, 2.0])).max() < 1e-14)
    True
    """
    owner = "losses.from_jax"
    if not callable(function):
        raise ParameterError(f"{owner}: function must be a function of (w), (t, w) or (row, w), got {function!r:.60}.")
    options = (dim, rounds, data, lipschitz, gradient_bound)
    if all(option is None for option in options) and memory == 0:
        return FunctionLoss(function)
    if (rounds is None) == (data is None) or dim is None:
        raise ParameterError(
            f"{owner}: the losses of all rounds need dim= and either rounds= or data=, as in from_jax(f, dim=3, "
            "rounds=100); for one loss give the function alone."
        )
    size, depth = whole(owner, "dim", dim), whole(owner, "memory", memory, low=0)
    labels, count = None, rounds
    row: Callable[[int], Any] = int  # the number of the round itself
    if data is not None:
        # Of a dict the parts, which must have the same rows.
        given = {f"data[{name!r}]": part for name, part in data.items()} if isinstance(data, dict) else {"data": data}
        labels = labels_of(owner, **given)
        if isinstance(data, dict):
            data = {name: plain(owner, f"data[{name!r}]", part) for name, part in data.items()}
        if library_of(data) and hasattr(data, "columns"):
            data = {str(name): plain(owner, f"data[{name!r}]", data[name]) for name in data.columns}
        row, count = rows_of(owner, plain(owner, "data", data))
    both = _OfRounds(Differentiable(_named(function), function), row, depth)
    losses = CustomLoss(
        both.value, both.gradient, count, size, depth, "never", lipschitz=lipschitz, gradient_bound=gradient_bound
    )
    losses.__dict__["_labels"] = labels
    return losses


class OfPoint:
    """A function of a point alone, in the form that `Differentiable` takes."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, given: Any, w: Any) -> Any:
        """Return the function at a point."""
        return self.function(w)


class _OfRounds:
    """The values and gradients of all rounds, as `CustomLoss` takes them; a class, so that a stream can be pickled."""

    def __init__(self, inner: Differentiable, row: Callable[[int], Any], depth: int) -> None:
        self.inner, self.row, self.depth = inner, row, depth

    def value(self, t: int, w: Array) -> float:
        return self.inner.value(self.row(t), w, key=t)

    def gradient(self, t: int, w: Array) -> Array:
        if not self.depth:
            return self.inner.gradient(self.row(t), w, key=t)
        held = np.tile(w, (self.depth + 1, 1))
        return np.asarray(self.inner.gradient(self.row(t), held, key=t).sum(axis=0))


def _named(function: Callable[..., Any]) -> str:
    return f"losses.from_jax({getattr(function, '__name__', type(function).__name__)})"
