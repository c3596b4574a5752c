"""What cannot be the width of a Huber loss."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import ParameterError


def test_it_bends_within_delta_only() -> None:
    losses = dw.HuberLoss(np.ones((4, 1)), [0.0, 1.0, 1.0, -1.0], delta=0.5)
    bends = losses.bends(np.array([0.2, 1.4, 2.0, -1.6]), losses.aims)
    np.testing.assert_array_equal(bends, [1.0, 1.0, 0.0, 0.0])


@pytest.mark.parametrize("delta", [0.0, -1.0, np.nan, "1"])
def test_delta_must_be_positive(delta: Any) -> None:
    with pytest.raises(ParameterError, match="HuberLoss: delta must be a number that is above 0"):
        dw.HuberLoss([[1.0]], [0.0], delta=delta)
