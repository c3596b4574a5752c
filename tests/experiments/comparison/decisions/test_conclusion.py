"""A comparison of decisions as a finding: claims that can fail, and a report."""

from pathlib import Path

import numpy as np
import pytest

from driftwise.experiments.comparison import ours
from driftwise.experiments.comparison.decisions.conclusion import conclude
from driftwise.experiments.comparison.decisions.contest import LEARNERS, hold_contest
from driftwise.experiments.findings.finding import Chapter, Provenance, read_chapters
from tests.experiments.comparison.decisions.players import Replay, optimum, problem, steps

SERIES = steps()


@pytest.mark.parametrize("good", [True, False])
def test_claims_hold_or_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good: bool) -> None:
    played = problem(tmp_path, "level", {"load": SERIES, "held": np.full(60, 33.0)}, mine="held")
    rows = optimum(played) if good else np.tile([[5.0], [60.0]], (30, 1))
    monkeypatch.setattr(ours, "build", lambda domain, *told: Replay(domain, rows))
    finding = conclude(hold_contest(played, list(LEARNERS), True, lambda text: None))
    assert [claim.holds for claim in finding.claims] == [good, good, True]
    assert finding.title == "Level: load of d.csv, moves at 2"
    assert all(len(bullet) < 240 for bullet in finding.bullets)


def test_a_finding_survives_the_disk(tmp_path: Path) -> None:
    columns = {"y": SERIES, "a": SERIES + 1.0, "b": SERIES - 1.0}
    finding = conclude(hold_contest(problem(tmp_path, "forecasts", columns), ["learner"], False, lambda text: None))
    assert len(finding.claims) == 1
    Chapter("compare", "Compare", Provenance("", {}, "", "", 0.0, 1), [finding]).write(tmp_path)
    again = read_chapters(tmp_path)[0].findings[0]
    assert again.summary == finding.summary
    assert [table.title for table in again.tables] == [table.title for table in finding.tables]
