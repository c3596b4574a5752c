"""A report of one's own findings."""

from pathlib import Path

import pytest

from driftwise import report
from driftwise.errors import InputError
from driftwise.experiments import Claim, Finding, Panel, Series, Table


def squares(summary: str) -> Finding:
    table = Table("Squares", ["n", "square"], [["2", "4"]])
    return Finding(
        "Squares", summary, [table], [Claim("4 is even", True, "4")], [Panel("p", "n", "n^2", [Series("s", [1], [1])])]
    )


def test_findings_become_a_page_with_where_they_come_from(tmp_path: Path) -> None:
    built = report.publish(
        tmp_path, "Numbers", [squares("They grow.")], command="python squares.py", seconds=3.0, runs=7
    )
    page = built.page.read_text()
    assert page.count("They grow.") == 1  # a single finding is summed up once
    for text in ("Numbers", "They grow.", "python squares.py", "3.0 s for 7 runs"):
        assert text in page
    assert [path.suffix for path in built.figures] == [".png", ".pdf"]


def test_chapters_of_other_names_stay(tmp_path: Path) -> None:
    report.publish(tmp_path, "One", [squares("First.")], name="one")
    page = report.publish(tmp_path, "Two", [squares("Second.")], name="two").page.read_text()
    assert "First." in page
    assert "Second." in page


def test_what_cannot_be_shown_leaves_no_page(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs a text"):
        report.publish(tmp_path, "One", [Finding("t", "s", [Table("t", ["a"], [["1", "2"]])], [])])
    assert list(tmp_path.iterdir()) == []
