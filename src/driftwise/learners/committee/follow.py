"""Whom to follow: a member drawn by the weights, coupled from round to round so that changes are few."""

import numpy as np

from driftwise._validate import Array


def draw(weights: Array, uniform: float) -> int:
    """Return the member at which the cumulative weights pass `uniform`, a number in [0, 1)."""
    cumulative = np.cumsum(weights)
    place = int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right"))
    # Rounding may put the place behind the last member that has any weight.
    return min(place, int(np.flatnonzero(weights)[-1]))


def redraw(member: int, before: Array, after: Array, uniform: float) -> int:
    """Return the member to follow now, where `member` was drawn by the weights before.

    It is distributed like the weights after, and differs from `member` with probability ``|after - before|_1 / 2``, the
    least that is possible: stay with probability ``min(1, after / before)`` of the member, and otherwise go to one that
    has gained, in proportion to its gain.
    """
    stay = min(1.0, after[member] / before[member])
    if uniform < stay:
        return member
    gains = np.maximum(after - before, 0.0)
    if not gains.any():
        return member if after[member] > 0.0 else int(np.argmax(after))
    return draw(gains, (uniform - stay) / (1.0 - stay))
