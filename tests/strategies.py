"""Hypothesis strategies that more than one test file draws from."""

import hypothesis.extra.numpy as npst
import numpy as np
from hypothesis import strategies as st

from driftwise._validate import Array


def vectors(size: int | tuple[int, ...], largest: float = 1e3) -> st.SearchStrategy[Array]:
    """Return arrays of finite numbers, of either sign and of any size up to `largest`."""
    return npst.arrays(np.float64, size, elements=st.floats(-largest, largest, allow_subnormal=False))


seeds = st.integers(0, 2**32 - 1)
