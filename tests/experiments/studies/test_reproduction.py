"""From a name to a chapter."""

from pathlib import Path

import numpy as np
import pytest

from driftwise.errors import ParameterError
from driftwise.experiments import reproduce
from driftwise.experiments.findings.finding import Finding, Table, read_chapters
from driftwise.experiments.findings.provenance import PACKAGES, provenance
from driftwise.experiments.studies import catalogue
from driftwise.experiments.studies.catalogue import Experiment
from driftwise.experiments.studies.study import Size, Study


def roll(seed: int) -> float:
    return float(np.random.default_rng(seed).random())


@pytest.fixture(autouse=True)
def dice(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(
        "dice",
        "Dice",
        lambda size: [(seed,) for seed in size.seeds],
        roll,
        lambda tasks, results: Finding("Dice", f"{sum(results):.17g}", [Table("t", ["x"], [["1"]])], []),
    )
    monkeypatch.setitem(catalogue.CATALOGUE, "figure1", Experiment("Games", (study, study)))


def test_a_chapter_is_returned_and_kept(tmp_path: Path) -> None:
    seen: list[Finding] = []
    size = Size(seeds=range(3, 6))
    chapter = reproduce("figure1", tmp_path, size=size, workers=1, command="driftwise x", found=seen.append)
    assert chapter.title == "Games"
    assert [finding.summary for finding in chapter.findings] == [f"{sum(roll(s) for s in (3, 4, 5)):.17g}"] * 2
    assert seen == list(chapter.findings)
    (kept,) = read_chapters(tmp_path)
    assert list(kept.findings[0].tables) == list(chapter.findings[0].tables)
    assert kept.provenance == chapter.provenance
    assert chapter.provenance.runs == 6
    assert chapter.provenance.command == "driftwise x"


def test_an_unknown_experiment_is_refused_with_the_one_that_was_meant(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"no experiment 'figur1'; did you mean figure1\?"):
        reproduce("figur1", tmp_path)
    assert not list(tmp_path.iterdir())


def test_findings_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    of = [reproduce("figure1", tmp_path / str(n), workers=n).findings for n in (1, 2)]
    assert of[0] == of[1]


def test_provenance_names_what_computes() -> None:
    origin = provenance("driftwise reproduce", 1.234, 5)
    assert set(origin.versions) == {"driftwise", "Python", *PACKAGES}
    assert origin.seconds == 1.2
    assert origin.finished.endswith("UTC")
