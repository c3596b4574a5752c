"""Regret on every interval, and what being strongly adaptive costs."""

from typing import Any

import numpy as np

from driftwise.experiments.studies.theory import adaptive
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_no_interval_is_above_its_bound(quick: bool) -> None:
    finding = check_claims(adaptive.INTERVALS, quick, count=2, keep=lambda task: task[0] < 8)
    assert all(row[3] == "0" for row in finding.tables[0].rows)


@BOTH_SIZES
def test_streams_that_change_are_followed_within_the_bound(quick: bool) -> None:
    finding = check_claims(adaptive.CHANGES, quick, count=1, keep=lambda task: task[1] == 2.0)
    assert {row[0] for row in finding.tables[0].rows} == set(adaptive.STREAMS)
    for panel in finding.panels:
        ours, _, bound = panel.series
        limits = dict(zip(bound.x, bound.y, strict=True))
        assert len(ours.x) >= 5
        assert all(0.0 < measured < limits[length] for length, measured in zip(ours.x, ours.y, strict=True))


def certified(ratios: list[float], guaranteed: bool = True) -> dict[str, Any]:
    lengths = 256 * np.ones(len(ratios))
    return {"length": lengths, "ratio": np.array(ratios), "guaranteed": guaranteed, "stream": "flips"}


def test_a_violation_is_counted_and_said() -> None:
    finding = adaptive.INTERVALS.conclude([], [certified([0.5, 1.2])])
    assert finding.tables[0].rows == [["flips", "1", "2", "1", "1.200", "1.200"]]
    assert [claim.holds for claim in finding.claims] == [False, False]


def test_a_certificate_whose_assumptions_fail_does_not_count() -> None:
    finding = adaptive.INTERVALS.conclude([], [certified([0.5], guaranteed=False)])
    assert [claim.holds for claim in finding.claims] == [False, True]


def test_losing_to_the_others_is_said() -> None:
    cell = {"Strongly adaptive": 9.0, "Strongly adaptive, no horizon": 9.0, "Scream": 5.0, "SelfTunedScream": 1.0}
    finding = adaptive.CHANGES.conclude([("flips", 0.2, 100, 0)], [{**cell, "ratio": 1.5}])
    assert "less than Scream, beyond the best decision of each segment, in 0" in finding.summary
    assert "in 1." in finding.summary
    assert not finding.claims[0].holds
