"""Findings on a terminal."""

import io
from pathlib import Path

from rich.console import Console
from typer.testing import CliRunner

from driftwise.cli import app
from driftwise.cli.showing import show
from driftwise.experiments.findings.finding import Claim, Finding
from tests.cli.small import RUNNER


def test_brackets_in_names_are_shown_as_they_are(tmp_path: Path) -> None:
    data = tmp_path / "load[red].csv"
    data.write_text("[bold]x,y[i]\n" + "1,2\n2,3\n" * 20)
    arguments = ["compare", "--data", str(data), "--target", "y[i]", "--switching-cost", "1", "--out", str(tmp_path)]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "Learners on load[red].csv: y[i]" in result.output
    assert "[bold]x" in result.output


def test_numbers_are_never_cut(tmp_path: Path) -> None:
    data = tmp_path / "demand.csv"
    data.write_text("x,y\n" + "".join(f"{k % 7},{1e6 + 1000.0 * (k % 11)}\n" for k in range(200)))
    arguments = ["compare", "--data", str(data), "--target", "y", "--switching-cost", "2", "--out", str(tmp_path)]
    output = CliRunner(env={"COLUMNS": "80"}).invoke(app, arguments).output
    assert "…" not in output
    assert "Repeat the last value" in output
    assert "Rounds T" in output
    assert " 200 " in output


def test_a_summary_is_printed_as_bullets_with_a_hanging_indent() -> None:
    buffer = io.StringIO()
    console = Console(file=buffer, width=40, highlight=False)
    said = ["The first is [short].", "The second is so long that it does not fit on one line of 40."]
    show(console, Finding("Title", said, [], [Claim("2 is even", True, "2 / 2 = 1")]))
    lines = buffer.getvalue().splitlines()
    assert lines[1:4] == [
        "- The first is [short].",
        "- The second is so long that it does",
        "  not fit on one line of 40.",
    ]
    assert lines[5:7] == ["Claims", "- 2 is even: holds (2 / 2 = 1)"]
