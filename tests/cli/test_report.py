"""`driftwise report`."""

from pathlib import Path

from driftwise.cli import app
from tests.cli.small import RUNNER, reproduce


def test_report_builds_the_page_again(small: Path) -> None:
    reproduce("figure1", "--out", str(small))
    (small / "report.html").unlink()
    result = RUNNER.invoke(app, ["report", str(small)])
    assert result.exit_code == 0
    assert (small / "report.html").exists()
