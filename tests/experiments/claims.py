"""What the tests of every study share."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from driftwise.experiments.findings.finding import Finding
from driftwise.experiments.studies.study import Arguments, Size, Study

BOTH_SIZES = pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.full)])
"""Run at the small size, and at full size with -m full."""


def found(study: Study, size: Size) -> Finding:
    """Run every task of a study in this process, and return what they say; tables and panels must be well-formed."""
    finding = study.conclude(study.tasks(size), [study.run(**each) for each in study.configurations(size)])
    assert finding.title == study.title
    assert 1 <= len(finding.bullets) <= 6
    assert all(len(row) == len(table.header) for table in finding.tables for row in table.rows)
    for panel in finding.panels:
        assert len({series.name for series in panel.series}) == len(panel.series)
        for series in panel.series:
            assert len(series.x) == len(series.y) == len(series.spread or series.y)
    return finding


def check_claims(
    study: Study, quick: bool, count: int, keep: Callable[[Arguments], bool] = lambda task: True
) -> Finding:
    """Run a study and check that it states so many claims, and that all of them hold.

    At the small size only the tasks to keep are run.
    """
    fewer = replace(study, tasks=lambda size: list(filter(keep, study.tasks(size))))
    finding = found(fewer if quick else study, Size(quick))
    assert [str(claim) for claim in finding.claims if not claim.holds] == []
    assert len(finding.claims) == count
    return finding
