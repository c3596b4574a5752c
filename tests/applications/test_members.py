"""Members that learn."""

import numpy as np
import pytest

from driftwise.applications.members import STEPS, descents
from driftwise.domains import Box
from driftwise.losses import LinearLoss


def test_larger_steps_go_further() -> None:
    ways = descents(LinearLoss(-np.ones((100, 1))), Box([0.0], [10.0]), 1.0, np.array([2.0]))
    assert {decisions[0, 0] for decisions in ways.values()} == {2.0}
    steps = [decisions[1, 0] - decisions[0, 0] for decisions in ways.values()]
    assert steps == pytest.approx(list(STEPS.values()))  # D = 10, G = 1 and T = 100: the unit is 1
    assert all(decisions[-1, 0] == 10.0 for decisions in ways.values())
