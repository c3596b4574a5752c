"""Building a report: where it goes, and what stops it."""

import sys
from pathlib import Path

import pytest

from driftwise import report as reports
from driftwise.errors import InputError, MissingExtraError
from driftwise.experiments.findings.finding import Chapter, Finding, Panel, Series
from tests.report import chapters


@pytest.mark.parametrize("missing", ["plotly", "matplotlib"])
def test_says_what_to_install(missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    for call in (reports.require, lambda: reports.build(tmp_path)):
        with pytest.raises(MissingExtraError, match=rf"needs {missing}, .*pip install 'driftwise\[experiments\]'"):
            call()


def test_require_is_content_when_all_is_there() -> None:
    assert reports.require() is None  # type: ignore[func-returns-value]


def test_a_folder_without_findings_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no findings"):
        reports.build(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_names_of_chapters_cannot_lead_out_of_the_folder_or_collide(tmp_path: Path) -> None:
    finding = Finding("Été / ../x", "", [], [], [Panel("", "", "", [Series("a", [1, 2], [1, 2])])])
    for file, name in (("1", "../../up"), ("2", "up"), ("3", "日本")):
        path = Chapter(file, "", chapters.SOURCE, [finding]).write(tmp_path)
        path.write_text(path.read_text().replace(f'"name": "{file}"', f'"name": "{name}"'), encoding="utf-8")
    report = reports.build(str(tmp_path))
    assert report.page == tmp_path / "report.html"
    assert sorted(path.name for path in report.figures if path.suffix == ".png") == [
        "untitled-1-ete-x.png",
        "up-1-ete-x.png",
        "up-2-1-ete-x.png",
    ]
    assert {path.parent for path in report.figures} == {tmp_path / "figures"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figures", "findings", "report.html"]
