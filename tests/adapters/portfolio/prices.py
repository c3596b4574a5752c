"""Price relatives for tests."""

import numpy as np

from driftwise._validate import Array


def relatives(rounds: int, dim: int = 4, seed: int = 0) -> Array:
    """Return price relatives of assets that wander, each with a drift of its own."""
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(0.0, 0.003, dim) + rng.normal(0.0, 0.03, (rounds, dim)))
