"""Findings as they are kept in a folder."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftwise.errors import InputError, ParameterError
from driftwise.experiments.findings.finding import (
    Chapter,
    Claim,
    Finding,
    Panel,
    Provenance,
    Series,
    Table,
    read_chapters,
)

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


def test_a_summary_of_several_sentences_is_kept_and_read_back_one_by_one(tmp_path: Path) -> None:
    said = ["There are two.", "Neither of them\n  is odd."]
    whole = chapter("figure1")
    replace(whole, findings=[replace(whole.findings[0], summary=said)]).write(tmp_path)
    (kept,) = read_chapters(tmp_path)
    assert kept.findings[0].bullets == ["There are two.", "Neither of them is odd."]
    assert kept.findings[0].summary == "There are two.\nNeither of them is odd."


def test_a_summary_of_one_text_is_one_bullet_and_stays_as_it_was_given() -> None:
    text = whole = "It is < & >, “so”.  And so."
    finding = Finding("t", text, [], [])
    assert finding.summary == whole
    assert finding.bullets == [whole]
    assert Finding("t", "", [], []).bullets == []


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


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"tables": [Table("t", ["a", "b"], [["1"]])]}, r"table 't' needs a text for each of its 2 columns .*\['1'\]"),
        ({"tables": [Table("t", ["a"], [[1.5]])]}, r"table 't' needs a text"),  # type: ignore[list-item]
        ({"claims": [Claim("c", "yes", "?")]}, "claim 'c' must have True, False or None as holds, got 'yes'"),  # type: ignore[arg-type]
        (
            {"panels": [Panel("p", "x", "y", [Series("s", [1.0], [1.0, 2.0])])]},
            "series 's' of 'p' needs x, y and spread",
        ),
        ({"panels": [Panel("p", "x", "y", [Series("s", [1.0], [1.0], style="dotted")])]}, "style 'dotted'; there are"),
    ],
)
def test_what_cannot_be_shown_is_not_written(tmp_path: Path, part: dict[str, Any], message: str) -> None:
    whole = chapter("figure1")
    wrong = replace(whole, findings=[replace(whole.findings[0], **part)])
    with pytest.raises(InputError, match=message):
        wrong.write(tmp_path)
    assert not (tmp_path / "findings").exists()


def test_a_name_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="letters, digits"):
        chapter("a/b").write(tmp_path)


def test_numpy_is_written_as_numbers(tmp_path: Path) -> None:
    series = Series("a", np.arange(2), np.ones(2, np.float32), np.zeros(2))  # type: ignore[arg-type]
    finding = Finding("t", "s", [], [Claim("c", np.bool_(True), "m")], [Panel("p", "x", "y", [series])])  # type: ignore[arg-type]
    Chapter("x", "X", PROVENANCE, [finding]).write(tmp_path)
    (kept,) = read_chapters(tmp_path)
    assert kept.findings[0].panels[0].series[0] == Series("a", [0, 1], [1.0, 1.0], [0.0, 0.0])
    assert kept.findings[0].claims[0].holds is True


def test_the_papers_claims_are_told_from_ours() -> None:
    assert str(Claim("2 is even", True, "yes", paper=True)) == "The paper: 2 is even: holds (yes)"


def test_a_claim_says_whether_it_holds() -> None:
    assert str(Claim("2 is even", True, "2 / 2 = 1")) == "2 is even: holds (2 / 2 = 1)"
    assert "does not hold" in str(Claim("2 is odd", False, "no"))
    assert "not checked" in str(Claim("2 is odd", None, "no"))
