"""A user's function of arrays, and its gradient: by JAX where it can differentiate it, else by central differences.

Numbers are in double precision while JAX works for us: that is switched on for these calls alone, and not for the
user's own. There are three ways, and the first one that works is taken for good:

1. JAX, compiled: the function is traced once, and runs as machine code from then on;
2. JAX, anew in each call: for functions that branch on their numbers, or read NumPy arrays by the number of the round.
   Some functions lose their gradient on this way without a word (``w[0].item()``), so that it must agree with
   differences once;
3. central differences, with a warning that says why.
"""

import functools
import math
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, Self

import numpy as np

from driftwise._validate import Array
from driftwise.errors import InputError
from driftwise.losses.differences import DifferencesWarning, central_differences, evaluate

COMPILED, TRACED, DIFFERENCES = "JAX, compiled", "JAX, anew in each call", "central differences"
"""The ways to a gradient."""

_AGREE = 1e-4
"""Relative difference from central differences above which a gradient that was not compiled is not trusted."""


class Differentiable:
    """A function of something that is given and of a point, with its gradient in the point.

    Parameters
    ----------
    owner : str
        Who asks, for messages.
    function : callable
        ``function(given, w) -> float``.
    """

    def __init__(self, owner: str, function: Callable[[Any, Any], Any]) -> None:
        self.owner, self.function = owner, function
        self.how: str | None = None
        self._slopes: Callable[[Any, Any], tuple[Any, Any]] | None = None
        self._last: tuple[Any, bytes, float, Array] | None = None

    def value(self, given: Any, w: Array, key: Any = None) -> float:
        """Return the function at a point, finite or not; a `key` that stands for what is given saves asking twice."""
        if self.how == DIFFERENCES:
            return evaluate(self.owner, self._raw(given, w.copy()))
        return self._both(given, w, key)[0]

    def gradient(self, given: Any, w: Array, key: Any = None) -> Array:
        """Return the gradient at a point."""
        if self.how is None:
            self._choose(given, w)
        if self.how == DIFFERENCES:
            return self._differences(given, w)
        value, slopes = self._both(given, w, key)
        if not math.isfinite(value):
            raise InputError(
                f"{self.owner}: the function is {value} at w = {np.array2string(w, threshold=4, precision=4)}, so that "
                "it has no gradient there."
            )
        return slopes.copy()

    def __deepcopy__(self, memo: Any) -> Self:
        """Return itself: the function is pure, and a copy would compile it again."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return what can go to another process, which compiles anew."""
        how = self.how if self.how == DIFFERENCES else None
        return {**vars(self), "how": how, "_slopes": None, "_last": None}

    def _both(self, given: Any, w: Array, key: Any) -> tuple[float, Array]:
        """Return the value and the gradient as JAX finds them, together; those of the last point are kept."""
        place = w.tobytes()
        if key is not None and self._last is not None and self._last[:2] == (key, place):
            return self._last[2:]
        if self.how is None:
            self._choose(given, w)
        if self._slopes is None:
            return self.value(given, w), self._differences(given, w)
        with _double():
            value, slopes = self._slopes(given, w)
            found = float(value), np.array(slopes, np.float64)
        self._last = (key, place, *found)
        return found

    def _differences(self, given: Any, w: Array) -> Array:
        slopes = central_differences(self.owner, lambda at: self._raw(given, at.reshape(w.shape)), w.ravel())
        return slopes.reshape(w.shape)

    def _raw(self, given: Any, w: Array) -> Any:
        with _double():
            return self.function(given, w)

    def _choose(self, given: Any, w: Array) -> None:
        """Find out how gradients can be had, at the first point that is asked for."""
        jax = _jax()
        if jax is None:
            self._resort("JAX is not installed (pip install 'driftwise[jax]')")
            return

        def scalar(given: Any, at: Any) -> Any:
            result = self.function(given, at)
            if np.shape(result) != ():
                raise InputError(
                    f"{self.owner}: the function must return one real number, such as ((w - 1) ** 2).sum(), got shape "
                    f"{np.shape(result)}."
                )
            return result

        slopes = jax.value_and_grad(scalar, argnums=1)
        reason: Exception | None = None
        for how, way in ((COMPILED, jax.jit(slopes)), (TRACED, slopes)):
            try:
                with _double():
                    answer = way(given, w)
                gradient = np.array(answer[1], np.float64)
            except InputError:
                raise
            except Exception as error:  # whatever a function raises when it is given something else than numbers
                reason = reason or error
                continue
            if how == TRACED and not self._agrees(given, w, gradient):
                continue
            self.how, self._slopes = how, way
            return
        evaluate(self.owner, self._raw(given, w.copy()))  # if it cannot be computed, that is the error to be seen
        kind, words = type(reason).__name__, " ".join(str(reason).split())
        self._resort(f"JAX cannot differentiate it ({kind}: {words[:120]}{'...' if len(words) > 120 else ''})")

    def _agrees(self, given: Any, w: Array, gradient: Array) -> bool:
        measured = self._differences(given, w)
        size = max(float(np.abs(measured).max()), float(np.abs(gradient).max()))
        return bool(np.abs(gradient - measured).max() <= _AGREE * size)

    def _resort(self, reason: str) -> None:
        self.how = DIFFERENCES
        warnings.warn(
            f"{self.owner}: gradients are central differences, two values for every coordinate and off by about 1e-9 "
            f"of their size, because {reason}. Written with jax.numpy throughout, the function would have exact ones.",
            DifferencesWarning,
            stacklevel=_levels_to_user(),
        )


def _levels_to_user() -> int:
    """Return the number of frames from the caller up to the first one outside of driftwise, for `warnings.warn`."""
    inside = os.path.dirname(os.path.dirname(__file__)) + os.sep
    levels, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        levels, frame = levels + 1, frame.f_back
    return levels


@functools.cache
def _jax() -> Any:
    """Return JAX, or None where it is not installed."""
    try:
        return import_module("jax")
    except ImportError:
        return None


def _double() -> AbstractContextManager[Any]:
    """Return a context in which JAX works in double precision; the user's setting is as it was afterwards."""
    jax = _jax()
    if jax is None:
        return nullcontext()
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)  # type: ignore[no-any-return]
    return import_module("jax.experimental").enable_x64()  # type: ignore[no-any-return]


class Rows:
    """A function from a round to its part of the data; a class, so that it can be pickled."""

    def __init__(self, parts: Any) -> None:
        self.parts = parts

    def __call__(self, t: int) -> Any:
        """Return the row of a round, in the form of the data."""
        if isinstance(self.parts, dict):
            return {name: row(t) for name, row in self.parts.items()}
        if isinstance(self.parts, tuple):
            return tuple(row(t) for row in self.parts)
        return self.parts[t]


def rows_of(owner: str, data: Any) -> tuple[Callable[[int], Any], int]:
    """Return a function from a round to its part of the data, and the number of rounds.

    Examples
    --------
    >>> row, rounds = rows_of("from_jax", {"x": [[1.0, 2.0], [3.0, 4.0]], "y": [5.0, 6.0]})
    >>> rounds, row(1)
    (2, {'x': array([3., 4.]), 'y': np.float64(6.0)})
    """
    if isinstance(data, Mapping):
        parts = {name: rows_of(owner, part) for name, part in data.items()}
        lengths = [length for _, length in parts.values()]
        rounds = _common(owner, lengths)
        return Rows({name: row for name, (row, _) in parts.items()}), rounds
    if isinstance(data, tuple):
        each = [rows_of(owner, part) for part in data]
        rounds = _common(owner, [length for _, length in each])
        return Rows(tuple(row for row, _ in each)), rounds
    values = np.array(data)
    if values.ndim == 0 or values.dtype.kind not in "fiub" or not len(values):
        raise InputError(
            f"{owner}: data must be arrays of numbers with a row for each round, alone or in tuples and dicts, got "
            f"{data!r:.60}."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0][0])
        raise InputError(f"{owner}: data must be finite, got {values[row]!r:.60} in row {row}.")
    return Rows(values), len(values)


def _common(owner: str, lengths: list[int]) -> int:
    """Return the number of rounds that all parts of the data have."""
    if not lengths or min(lengths) != max(lengths):
        raise InputError(f"{owner}: all of the data must have one row a round, got {sorted(set(lengths))} rows.")
    return lengths[0]
