"""Gradients of a function that comes without one, by central differences.

``(f(w + h e_k) - f(w - h e_k)) / 2h`` is off by O(h^2) where f is smooth, and by its rounding over h; the step is the
one at which the two are of one size. Every door that takes a function without a gradient uses this.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from driftwise._validate import Array, array
from driftwise.errors import InputError


class DifferencesWarning(UserWarning):
    """Gradients are central differences of a function, because nothing better could be had.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import driftwise as dw
    >>> loss = dw.losses.from_jax(lambda w: np.cosh(np.asarray(w)).sum())  # NumPy, which JAX cannot look into
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", dw.losses.DifferencesWarning)
    ...     loss.gradient([0.0, 1.0]).round(6)
    array([0.      , 1.175201])
    """


def evaluate(owner: str, given: Any) -> float:
    """Return what a function gave as a float, finite or not; it must be a single real number."""
    number = np.asarray(given)
    if number.shape != () or number.dtype.kind not in "fiu":
        raise InputError(
            f"{owner}: the function must return one real number, such as ((w - 1) ** 2).sum(), got "
            + (f"shape {number.shape}." if number.shape else f"{given!r:.60}.")
        )
    return float(number)


def central_differences(owner: str, value: Callable[[Array], Any], w: Array, step: float | None = None) -> Array:
    """Return the gradient of a function at a point, to about 1e-9 of the size of its values where it is smooth.

    At a kink it is the mean of the slopes on both sides, which is a subgradient. Where the function is finite on one
    side only, as at the end of its domain, the slope is that of the other.

    Parameters
    ----------
    owner : str
        Who asks, for messages.
    value : callable
        ``value(w) -> float``; it is called twice for every coordinate.
    w : array of shape (d,)
        The point.
    step : float, optional
        Step for a coordinate of size up to 1, and relative to its size beyond; by default the cube root of the
        rounding of the values, 6e-6 in double precision.

    Examples
    --------
    >>> central_differences("example", lambda w: float(np.sin(w[0]) * w[1] ** 2), np.array([0.0, 3.0])).round(8)
    array([9., 0.])
    """
    here = value(w.copy())
    at_w = evaluate(owner, here)
    if step is None:
        # A value in single precision is known to fewer digits, and needs a larger step.
        kind = np.asarray(here).dtype
        step = float(np.cbrt(np.finfo(kind if kind.kind == "f" else np.float64).eps))
    slopes = np.empty_like(w)
    for k in range(w.size):
        size = step * max(1.0, abs(float(w[k])))
        ends, heights = [], []
        for side in (-size, size):
            moved = w.copy()
            moved[k] += side
            height = evaluate(owner, value(moved.copy()))
            known = np.isfinite(height)
            ends.append(moved[k] if known else w[k])
            heights.append(height if known else at_w)
        if ends[0] == ends[1] or not np.isfinite(at_w):
            raise InputError(
                f"{owner}: the function is {at_w} at w = {np.array2string(w, threshold=4, precision=4)}, or not finite "
                f"on either side of it along coordinate {k}, so that it has no gradient there."
            )
        slopes[k] = (heights[1] - heights[0]) / (ends[1] - ends[0])
    return array(owner, "its gradient by differences", slopes, w.shape)
