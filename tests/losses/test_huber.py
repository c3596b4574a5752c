"""What cannot be the width of a Huber loss."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import ParameterError


@pytest.mark.parametrize("delta", [0.0, -1.0, np.nan, "1"])
def test_delta_must_be_positive(delta: Any) -> None:
    with pytest.raises(ParameterError, match="HuberLoss: delta must be a number that is above 0"):
        dw.HuberLoss([[1.0]], [0.0], delta=delta)
