"""Files that the tests of a comparison are run on."""

from pathlib import Path

import numpy as np
import polars as pl


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, byte for byte, and return its path."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def drifting(rounds: int = 400, seed: int = 0) -> pl.DataFrame:
    """Return two features and a target whose weights jump once."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, (rounds, 2))
    w = np.where(np.arange(rounds)[:, None] < rounds // 2, [1.0, 0.5], [-1.0, 0.5])
    y = (x * w).sum(axis=1) + rng.normal(0.0, 0.05, rounds)
    return pl.DataFrame({"wind": x[:, 0], "sun": x[:, 1], "power": y})
