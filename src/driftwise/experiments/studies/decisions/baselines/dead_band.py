"""A dead band: stay until what one would like is too far away, then go there."""

from typing import NamedTuple

import numpy as np

from driftwise._validate import Array

BANDS = (0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, np.inf)
"""Distances, in the unit of the decision; infinity stays at the start for good."""


class Bill(NamedTuple):
    """Loss and length of the path of every band (row) around every setting of a rule (column)."""

    losses: Array
    paths: Array

    def at(self, price: float) -> Array:
        """Return the overall cost of each; infinity where a rule diverged."""
        overall = self.losses + price * self.paths
        return np.where(np.isfinite(overall), overall, np.inf)


def with_dead_bands(wishes: Array, features: Array, targets: Array, radius: float) -> Bill:
    """Return what the squared loss costs with every band around wishes of shape (T, n, d).

    Wishes outside of the ball of a radius are scaled back onto it.

    Examples
    --------
    >>> wishes = np.array([0.0, 1.0, 1.02]).reshape(3, 1, 1)
    >>> bill = with_dead_bands(wishes, np.ones((3, 1)), np.ones(3), radius=2.0)
    >>> bill.losses[[0, 3, -1], 0].round(4).tolist(), bill.paths[[0, 3, -1], 0].round(4).tolist()
    ([0.5002, 0.5, 1.5], [1.02, 1.0, 0.0])
    """
    bands = np.array(BANDS)[:, None]
    wishes = wishes * np.minimum(1.0, radius / np.maximum(np.linalg.norm(wishes, axis=2, keepdims=True), 1e-300))
    held = np.broadcast_to(wishes[0], (len(BANDS), *wishes[0].shape)).copy()
    losses, paths = np.zeros(held.shape[:2]), np.zeros(held.shape[:2])
    for wish, x, y in zip(wishes, features, targets, strict=True):
        away = np.linalg.norm(wish - held, axis=2)
        going = away > bands
        held = np.where(going[:, :, None], wish, held)
        paths += np.where(going, away, 0.0)
        losses += 0.5 * (held @ x - y) ** 2
    return Bill(losses, paths)
