"""A cost from a user's own functions, which are tried at a few points before they are trusted."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, choice, describe
from driftwise.control.costs.base import RULES, Cost, not_convex
from driftwise.errors import InputError, ParameterError
from driftwise.losses.differences import central_differences

_SIZES = (0.1, 1.0, 10.0)
"""Norms of the points that are tried, besides the origin, where every run starts."""

_STEP = 1e-3
"""Step of the differences, relative to the size of the point."""

_SLACK = 1e-3
"""Relative error of a slope that is accepted."""

_BELOW = 1e-6
"""Relative depth below a tangent that is accepted; above the rounding of single precision."""


class _Tried(NamedTuple):
    """A point, and what the functions gave there."""

    x: Array
    u: Array
    height: float
    grain: float
    g_x: Array
    g_u: Array


class CustomCost(Cost):
    """A convex cost given as Python functions of the state and the input: its value, and its gradient.

    Runs in Python, a round at a time; the built-in costs run inside compiled code.

    Parameters
    ----------
    value : callable
        ``value(x, u) -> float``.
    gradient : callable, optional
        ``gradient(x, u) -> (g_x, g_u)``, of shapes (dx,) and (du,): the gradients in x and in u; at a kink, any
        subgradient. Without it gradients are central differences of the values, off by about 1e-9 of their size where
        the cost is smooth. `costs.from_jax` finds exact ones.
    if_not_convex : {"refuse", "warn"}, default "refuse"
        What to do when `probe` finds that the cost is not convex: raise a `ParameterError`, or give a `UserWarning`
        and go on.

    Notes
    -----
    Before its first use on a plant the cost is tried at the origin and at nine seeded points (see `probe`); of a long
    list of different costs, only some. A cost that passes may still fail to be convex elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from driftwise.control.costs import CustomCost
    >>> cost = CustomCost(lambda x, u: np.cosh(x[0]) + u @ u, lambda x, u: (np.sinh(x), 2.0 * u))
    >>> cost.probe(state_dim=1, input_dim=1)
    >>> round(cost.value([1.0], [2.0]), 4)
    5.5431
    >>> CustomCost(lambda x, u: u @ u - x @ x, lambda x, u: (-2.0 * x, 2.0 * u)).probe(2, 1)
    Traceback (most recent call last):
    ...
    driftwise.errors.ParameterError: CustomCost(<lambda>): the cost is not convex: c(q) >= c(p) + <g(p), q - p> fails
    by 0.01 at p = (x, u) = ([0, 0], [0]) and q = ([0.0689, -0.0724], [0]). Give the cost if_not_convex="warn" to use
    it all the same, without any guarantee.
    """

    def __init__(
        self,
        value: Callable[[Array, Array], Any],
        gradient: Callable[[Array, Array], Any] | None = None,
        *,
        if_not_convex: str = "refuse",
    ) -> None:
        for name, function in (("value", value), ("gradient", gradient)):
            if not (callable(function) or (function is None and name == "gradient")):
                raise ParameterError(f"CustomCost: {name} must be a function of (x, u), got {describe(function)}.")
        self.if_not_convex = choice("CustomCost", "if_not_convex", if_not_convex, RULES)
        self._of_value, self._of_gradient = value, gradient
        self._name = f"CustomCost({getattr(value, '__name__', type(value).__name__)})"
        self._probed: set[tuple[int, int]] = set()

    def value(self, x: ArrayLike, u: ArrayLike) -> float:
        """Return c(x, u)."""
        return self._valued(*self._point(x, u))[0]

    def gradient(self, x: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        """Return the gradients in x and in u."""
        return self._sloped(*self._point(x, u))

    def probe(self, state_dim: int, input_dim: int) -> None:
        """Try the functions at a few points; once for every pair of dimensions.

        For a convex cost with (sub)gradient g, the slope <g(p), d> lies between the difference quotients behind and
        ahead of p, whatever the step, also at a kink, where the two differ. Where the cost is smooth they nearly agree,
        so that a slope outside them is a wrong gradient. Once the gradients are known to be right, a value below a
        tangent shows that the cost is not convex.

        Raises
        ------
        InputError
            If a function returns something of the wrong shape or not finite, or the gradient is not that of the value.
        ParameterError
            If the cost is not convex and `if_not_convex` is "refuse".
        """
        super().probe(state_dim, input_dim)
        if (state_dim, input_dim) in self._probed:
            return
        tried = [_Tried(x, u, *self._valued(x, u), *self._sloped(x, u)) for x, u in _points(state_dim, input_dim)]
        rng = np.random.default_rng(1)
        for p in tried:
            d_x, d_u = rng.standard_normal(state_dim), rng.standard_normal(input_dim)
            # Moving one part alone keeps a wrong slope from drowning in that of the other part.
            if p.x.any() or not p.u.any():
                self._check_slope(p, d_x, 0.0 * d_u)
            if p.u.any() or not p.x.any():
                self._check_slope(p, 0.0 * d_x, d_u)
            self._check_slope(p, p.g_x, p.g_u)
        self._check_tangents(tried)
        self._probed.add((state_dim, input_dim))

    def _check_slope(self, p: "_Tried", d_x: Array, d_u: Array) -> None:
        """Raise unless the slope at p along (d_x, d_u) lies between the differences behind and ahead."""
        length = math.hypot(*d_x, *d_u)
        if length == 0.0:
            return
        d_x, d_u = d_x / length, d_u / length
        step = _STEP * max(_SIZES[0], math.hypot(*p.x, *p.u))
        behind, grain_behind = self._valued(p.x - step * d_x, p.u - step * d_u)
        ahead, grain_ahead = self._valued(p.x + step * d_x, p.u + step * d_u)
        slope = float(p.g_x @ d_x + p.g_u @ d_u)
        low, high = sorted(((p.height - behind) / step, (ahead - p.height) / step))
        grain = min(p.grain, grain_behind, grain_ahead)
        rounding = 64.0 * grain * max(abs(behind), abs(p.height), abs(ahead)) / step
        off = max(low - slope, slope - high)
        if off > _SLACK * max(abs(low), abs(high), abs(slope)) + rounding:
            raise InputError(
                f"{self._name}: the gradient is not that of the value: at (x, u) = {_shown(p.x, p.u)} along the "
                f"direction {_shown(d_x, d_u)} it gives the slope {slope:.6g}, but the value changes at a rate "
                f"between {low:.6g} and {high:.6g}, so that it is off by {off:.3g}; "
                "return (g_x, g_u), the derivatives of value(x, u) in x and in u."
            )

    def _check_tangents(self, tried: list["_Tried"]) -> None:
        """Raise or warn if a value lies below the tangent at another point."""
        for p in tried:
            for q in tried:
                rise = float(p.g_x @ (q.x - p.x) + p.g_u @ (q.u - p.u))
                below = p.height + rise - q.height
                if below > _BELOW * (abs(p.height) + abs(q.height) + abs(rise)):
                    # At a kink a wrong gradient may have looked right along the directions tried before.
                    self._check_slope(p, q.x - p.x, q.u - p.u)
                    complaint = (
                        f"{self._name}: the cost is not convex: c(q) >= c(p) + <g(p), q - p> fails by {below:.3g} at "
                        f"p = (x, u) = {_shown(p.x, p.u)} and q = {_shown(q.x, q.u)}."
                    )
                    not_convex(self.if_not_convex, complaint, stacklevel=3)
                    return

    def _point(self, x: ArrayLike, u: ArrayLike) -> tuple[Array, Array]:
        return array(self._name, "x", x, ("state_dim",)), array(self._name, "u", u, ("input_dim",))

    def _valued(self, x: Array, u: Array) -> tuple[float, float]:
        """Return the value and the relative rounding to expect in it."""
        with np.errstate(all="ignore"):  # what comes of it is checked below
            given = self._of_value(x.copy(), u.copy())
            read = float(self._finite("value", "value", given, (), x, u))
            # A number that single precision holds exactly was most likely computed in it.
            return read, float(np.finfo(np.float32 if float(np.float32(read)) == read else np.float64).eps)

    def _sloped(self, x: Array, u: Array) -> tuple[Array, Array]:
        with np.errstate(all="ignore"):
            if self._of_gradient is None:
                both = central_differences(
                    self._name, lambda z: self._of_value(z[: x.size], z[x.size :]), np.concatenate([x, u])
                )
                return both[: x.size], both[x.size :]
            given = self._of_gradient(x.copy(), u.copy())
        try:
            g_x, g_u = given
        except (TypeError, ValueError):
            raise InputError(
                f"{self._name}: gradient must return the two arrays (g_x, g_u), got {describe(given)} at "
                f"(x, u) = {_shown(x, u)}."
            ) from None
        return (
            self._finite("gradient", "g_x", g_x, x.shape, x, u),
            self._finite("gradient", "g_u", g_u, u.shape, x, u),
        )

    def _finite(self, function: str, name: str, given: Any, shape: tuple[int, ...], x: Array, u: Array) -> Array:
        try:
            return array(self._name, name, given, shape, copy=True)
        except InputError as error:
            text = f"{error} The function given as {function} returned it at (x, u) = {_shown(x, u)}."
            raise InputError(text) from None

    def __repr__(self) -> str:
        return self._name


def _points(state_dim: int, input_dim: int) -> list[tuple[Array, Array]]:
    """Return the origin and, for every size, a state alone, an input alone and both."""
    rng = np.random.default_rng(0)
    points = [(np.zeros(state_dim), np.zeros(input_dim))]
    for size in _SIZES:
        for part in (np.r_[np.ones(state_dim), np.zeros(input_dim)], np.r_[np.zeros(state_dim), np.ones(input_dim)], 1):
            drawn = rng.standard_normal(state_dim + input_dim) * part
            drawn *= size / math.hypot(*drawn)
            points.append((drawn[:state_dim], drawn[state_dim:]))
    return points


def _shown(x: Array, u: Array) -> str:
    """Write a state and an input in a few digits, and no more than four entries of each."""
    parts = (
        ", ".join(f"{entry + 0.0:.3g}" for entry in part[:4]) + (", ..." if part.size > 4 else "") for part in (x, u)
    )
    return "({})".format(", ".join(f"[{part}]" for part in parts))
