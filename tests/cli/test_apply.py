"""`driftwise apply`."""

from pathlib import Path

import pytest

from driftwise import applications
from driftwise.applications import forecasts
from driftwise.cli import app
from tests.cli.small import RUNNER


def test_apply_plays_prints_and_leaves_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasts, "LONGEST", 150)
    arguments = ["apply", "forecasts", "--data", "synthetic-polls", "--move-cost", "5", "--out", str(tmp_path)]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    for text in (
        "Equal weights",
        "SelfTunedLearner",
        "SelfTunedScream",
        "Committee with movers",
        "Committee, blind to moves",
        "Hindsight optimum",
        "SYNTHETIC DATA",
    ):
        assert text in result.output
    assert "overall x" in result.output
    page = (tmp_path / "report.html").read_text()
    assert "Combining forecasts" in page
    assert "SYNTHETIC DATA" in page
    assert [path.stem for path in (tmp_path / "findings").iterdir()] == ["forecasts"]


def test_apply_lists_applications_and_series_and_names_them_in_its_help(tmp_path: Path) -> None:
    output = RUNNER.invoke(app, ["apply", "--list", "--out", str(tmp_path / "out")]).output
    assert all(name in output for name in (*applications.NAMES, "synthetic-polls", "Road traffic", "built in"))
    assert not (tmp_path / "out").exists()
    shown = RUNNER.invoke(app, ["apply", "--help"]).output
    assert all(name in shown for name in applications.NAMES)
