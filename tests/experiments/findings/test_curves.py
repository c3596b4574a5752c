"""Thinning out of curves."""

import numpy as np
import pytest

from driftwise.experiments.findings.curves import POINTS, cumulative, marks, mean_curve


@pytest.mark.parametrize("rounds", [1, 2, 199, 200, 201, 50_000])
def test_marks_rise_to_the_last_round(rounds: int) -> None:
    found = marks(rounds)
    assert found == sorted(set(found))
    assert found[0] >= 1
    assert found[-1] == rounds
    assert len(found) == min(rounds, POINTS)


def test_cumulative_reads_off_sums() -> None:
    np.testing.assert_allclose(cumulative(np.ones(1000)), marks(1000))
    np.testing.assert_allclose(cumulative(np.array([1.0, 2.0, 4.0])), [1.0, 3.0, 7.0])


def test_mean_curve_has_the_spread_of_a_sample() -> None:
    series = mean_curve("x", [np.array([1.0, 2.0]), np.array([3.0, 2.0])], 2)
    assert list(series.y) == [2.0, 2.0]
    assert series.spread == pytest.approx([np.sqrt(2.0), 0.0])
    assert mean_curve("x", [np.array([1.0, 2.0])], 2).spread is None
