"""Plants and checks that several tests of this room use."""

import numpy as np

A, B = np.array([[0.9, 0.3], [-0.2, 0.7]]), np.array([[0.0, 1.0, 2.0], [1.0, -1.0, 0.5]])


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)
