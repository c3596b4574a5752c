"""The law of a frozen policy as plain data: what all files of this room read.

With z = [x, memory of the actuator] relative to the set-point, the law is ::

    u_t = rest - K z_t + offset + sum_{i=1..H} M[i] w_{t-i}

Where states are measured, w_{t-1} = x_t - A z_{t-1} - B u_{t-1}; where outputs y = C x are, x is that of the observer
x_{t+1} = A x_t + B u_t + L (y_t - C x_t), and w_t = L (y_t - C x_t).
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, loose, read_only, whole
from driftwise.errors import InputError, ParameterError


class Law(NamedTuple):
    """Everything that a frozen policy is, apart from what it remembers; all arrays are read-only."""

    A: Array
    """(nz, nz): the nominal model; the first n coordinates are states, the others memory of the actuator."""
    B: Array
    """(nz, du)."""
    K: Array
    """(du, nz)."""
    M: Array
    """(H, du, n)."""
    C: Array
    """(dy, n); dy = 0 if the states themselves are measured."""
    L: Array
    """(n, dy)."""
    origin: Array
    """(n,): the set-point."""
    rest: Array
    """(du,): the input that keeps the plant at the set-point."""
    offset: Array
    """(du,): a constant that is added to the input."""
    limits: Array
    """(2, du): the lows and the highs, infinite where there are none."""
    rate: Array
    """(du,): largest change of each input from one round to the next; infinite where there is no limit."""

    @property
    def observed(self) -> bool:
        """Whether the state comes from an observer."""
        return len(self.C) > 0

    @property
    def sides(self) -> Mapping[str, int]:
        """The sizes by name; `width` is that of a sample."""
        (lags, du, n), dy = self.M.shape, len(self.C)
        return {"nz": len(self.A), "n": n, "du": du, "dy": dy, "lags": lags, "width": dy or n}


def _bounds(owner: str, name: str, value: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return numbers of which some may be infinite."""
    given = loose(owner, name, value)
    if given.dtype.kind not in "fiu" or given.shape != shape or np.isnan(given).any():
        raise InputError(
            f"{owner}: {name} must be numbers of shape {shape}, infinite where there is no limit, got {value!r:.60}."
        )
    finite = array(owner, name, np.where(np.isinf(given), 0.0, given), shape)
    return np.where(np.isinf(given), given, finite)


def _limits(owner: str, value: ArrayLike | None, du: int) -> Array:
    if value is None:
        return np.outer([-math.inf, math.inf], np.ones(du))
    limits = _bounds(owner, "limits", value, (2, du))
    if not (limits[0] <= limits[1]).all() or math.inf in limits[0] or -math.inf in limits[1]:
        raise ParameterError(
            f"{owner}: limits must be a row of lows and a row of highs, no low above its high, got {limits.tolist()}."
        )
    return limits


def _rate(owner: str, value: ArrayLike | None, du: int) -> Array:
    if value is None:
        return np.full(du, math.inf)
    given = loose(owner, "rate", value)
    rate = _bounds(owner, "rate", np.full(du, given[()]) if given.ndim == 0 else value, (du,))
    if not (rate > 0.0).all():
        raise ParameterError(f"{owner}: rate must be above 0, got {rate.min():g}; leave it out if there is no limit.")
    return rate


def _count_states(
    owner: str, nz: int, states: int | None, M: ArrayLike | None, C: ArrayLike | None, origin: ArrayLike | None
) -> int:
    """Return n as it was given, or as M, C or the origin have it; without these all coordinates are states."""
    if states is not None:
        return whole(owner, "states", states, high=nz)
    for name, value in (("M", M), ("C", C), ("origin", origin)):
        if value is not None:
            shape = loose(owner, name, value).shape
            return min(max(shape[-1], 1), nz) if shape else nz
    return nz


def read_law(
    owner: str,
    A: ArrayLike,
    B: ArrayLike,
    K: ArrayLike,
    M: ArrayLike | None,
    *,
    C: ArrayLike | None,
    L: ArrayLike | None,
    origin: ArrayLike | None,
    rest: ArrayLike | None,
    offset: ArrayLike | None,
    limits: ArrayLike | None,
    rate: ArrayLike | None,
    states: int | None,
) -> Law:
    """Return a law from the arguments of `FrozenPolicy`, checked and copied."""

    def zeros_or(name: str, value: ArrayLike | None, shape: tuple[int | str, ...]) -> Array:
        return np.zeros(shape) if value is None else array(owner, name, value, shape, copy=True)  # type: ignore[arg-type]

    entries = array(owner, "B", B, ("nz", "du"), copy=True)
    nz, du = entries.shape
    model, gain = array(owner, "A", A, (nz, nz), copy=True), array(owner, "K", K, (du, nz), copy=True)
    n = _count_states(owner, nz, states, M, C, origin)
    if (C is None) != (L is None):
        raise ParameterError(f"{owner}: an observer needs both C and L; leave out both if the states are measured.")
    out = np.zeros((0, n)) if C is None else array(owner, "C", C, ("dy", n), copy=True)
    law = Law(
        model,
        entries,
        gain,
        np.zeros((1, du, n)) if M is None else array(owner, "M", M, ("H", du, n), copy=True),
        out,
        zeros_or("L", L, (n, len(out))),
        zeros_or("origin", origin, (n,)),
        zeros_or("rest", rest, (du,)),
        zeros_or("offset", offset, (du,)),
        _limits(owner, limits, du),
        _rate(owner, rate, du),
    )
    return Law(*map(read_only, law))
