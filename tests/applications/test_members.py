"""Members that learn."""

import numpy as np
import pytest

from driftwise.applications.members import STEPS, descents
from driftwise.domains import Box
from driftwise.losses import LinearLoss


def test_larger_steps_go_further() -> None:
    ways = descents(LinearLoss(-np.ones((100, 1))), Box([0.0], [10.0]), 1.0)
    ends = [decisions[10, 0] - decisions[0, 0] for decisions in ways.values()]
    assert ends == pytest.approx([10.0 * size for size in STEPS.values()]) or ends == sorted(ends)
    assert ends[1] == pytest.approx(5.0 * ends[0])
