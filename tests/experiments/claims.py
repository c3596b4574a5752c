"""What the tests of every study share."""

import pytest

from driftwise.experiments.study import Finding, Study, conclude

BOTH_SIZES = pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.full)])
"""Run at the small size, and at full size with -m full."""


def check_claims(study: Study, quick: bool, count: int) -> Finding:
    """Run a study and check that it states so many claims, and that all of them hold."""
    finding = conclude(study, quick)
    assert [str(claim) for claim in finding.claims if not claim.holds] == []
    assert len(finding.claims) == count
    assert all(len(row) == len(finding.header) for row in finding.rows)
    return finding
