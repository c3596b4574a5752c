"""Findings as they are kept in a folder."""

import math
from pathlib import Path

import pytest

from driftwise.errors import InputError
from driftwise.experiments.finding import Chapter, Claim, Finding, Panel, Provenance, Series, Table, read_chapters

PROVENANCE = Provenance("driftwise reproduce", {"driftwise": "0"}, "Linux", "2026-01-01 00:00 UTC", 1.5, 3)


def chapter(name: str) -> Chapter:
    series = [Series("a", [1.0, 2.0], [3.0, math.inf], [0.1, 0.2]), Series("b", [1.0], [2.0], style="dashed")]
    finding = Finding(
        "title",
        "It is < & >, “so”.",
        [Table("table", ["a", "b"], [["1", "2"]], True)],
        [Claim("2 is odd", False, "no"), Claim("unknown", None, "?")],
        [Panel("panel", "x", "y", series, True)],
        2,
    )
    return Chapter(name, "Title", PROVENANCE, [finding])


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    chapter("figure1").write(tmp_path)
    assert read_chapters(tmp_path) == [chapter("figure1")]


def test_chapters_come_in_the_order_asked_for_and_the_rest_by_name(tmp_path: Path) -> None:
    for name in ("b", "c", "a"):
        chapter(name).write(tmp_path)
    assert [each.name for each in read_chapters(tmp_path, order=["c"])] == ["c", "a", "b"]


def test_a_folder_without_findings_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no findings to show; `driftwise reproduce --out"):
        read_chapters(tmp_path / "nothing")


@pytest.mark.parametrize("cut", [0, 1, 100, -2])
def test_a_damaged_file_is_named(tmp_path: Path, cut: int) -> None:
    path = chapter("figure1").write(tmp_path)
    path.write_text(path.read_text()[:cut])
    with pytest.raises(InputError, match=r"figure1\.json is damaged .*--resume"):
        read_chapters(tmp_path)


@pytest.mark.parametrize("text", ["[]", "3", "{}", '{"name": "x", "title": "y", "provenance": {}, "findings": []}'])
def test_json_of_another_kind_is_damaged_too(tmp_path: Path, text: str) -> None:
    path = chapter("figure1").write(tmp_path)
    path.write_text(text)
    with pytest.raises(InputError, match="damaged"):
        read_chapters(tmp_path)


def test_a_claim_says_whether_it_holds() -> None:
    assert str(Claim("2 is even", True, "2 / 2 = 1")) == "2 is even: holds (2 / 2 = 1)"
    assert "does not hold" in str(Claim("2 is odd", False, "no"))
    assert "not checked" in str(Claim("2 is odd", None, "no"))
