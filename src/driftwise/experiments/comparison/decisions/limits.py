"""Limits of a decision: chosen, or taken from the file with room to spare."""

import math

import numpy as np

from driftwise._validate import Array, number
from driftwise.errors import InputError, ParameterError

ROOM = 0.5
"""Room beyond the range of a column, as a part of its width; for a capacity, as a part of the largest demand."""

TINY = 1e-9
"""Part of a step of rounding that is rounding noise."""

NARROW = 1e-9
"""Part of the largest value below which a range is rounding noise."""

LARGEST = 1e45
"""Largest size of a value whose squares can be summed and compared."""


def limits(
    seen: Array, low: float | None, high: float | None, *, floor: float | None, whole: bool
) -> tuple[float, float]:
    """Return the lower and the upper limit of a decision.

    Parameters
    ----------
    seen : array
        Everything in the file that a decision may have to reach.
    low, high : float, optional
        Limits that were chosen.
    floor : float, optional
        Lower limit if none was chosen, where there is a natural one.
    whole : bool
        Whether decisions are whole numbers.

    Examples
    --------
    >>> limits(np.array([37.0, 92.0]), None, None, floor=None, whole=False)
    (0.0, 120.0)
    >>> limits(np.array([3.1, 92.0]), None, None, floor=0.0, whole=False)
    (0.0, 140.0)
    """
    largest = float(np.abs(seen).max())
    if largest > LARGEST:
        raise InputError(f"compare: values as large as {largest:.3g} are beyond computing; use a larger unit.")
    top, bottom = float(seen.max()), float(seen.min()) if floor is None else floor
    width = top - bottom
    if width <= NARROW * largest:  # always the same
        width = largest if largest > 1.0 / LARGEST else 1.0
    if whole:
        width = max(width, 1.0)
    lowest = bottom if floor is not None else bottom - ROOM * width
    if bottom >= 0.0:
        lowest = max(lowest, 0.0)
    highest = top + ROOM * width
    # Round figures, so that nobody reads more into them than there is, and the line to run live stays short.
    unit = max(10.0 ** math.floor(math.log10(highest - lowest)) / 10.0, 1.0 if whole else 0.0)
    found = (
        _rounded(math.floor(lowest / unit + TINY) * unit) if low is None else number("compare", "low", low),
        _rounded(math.ceil(highest / unit - TINY) * unit) if high is None else number("compare", "high", high),
    )
    if not found[0] < found[1]:
        raise ParameterError(f"compare: --low must be below --high, got {found[0]:g} and {found[1]:g}.")
    return found


def _rounded(value: float) -> float:
    """Drop the digits that come of computing in binary."""
    return float(f"{value:.12g}")
