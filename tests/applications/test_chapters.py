"""From a name to a chapter."""

import dataclasses
import json
from pathlib import Path

import pytest

from driftwise.applications import chapters
from driftwise.applications.catalogue import APPLICATIONS, NAMES
from driftwise.applications.chapters import Applications, apply
from driftwise.applications.data import Dataset, load
from driftwise.errors import MissingExtraError, ParameterError
from driftwise.experiments.findings.finding import read_chapters
from tests.applications.cases import short


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let every series be a short synthetic one, and return the names of those that were loaded."""
    loaded: list[str] = []

    def load(name: str) -> Dataset:
        loaded.append(name)
        kind = next(one.made_up for one in APPLICATIONS.values() if name in one.series)
        return dataclasses.replace(short(kind, 120), name=name)

    monkeypatch.setattr(chapters, "load", load)
    return loaded


def test_a_chapter_is_kept_with_where_it_comes_from(quick: list[str], tmp_path: Path) -> None:
    settings = Applications([5.0, 0.5, 5.0], data="synthetic-traffic")
    chapter = apply("capacity", tmp_path, applications=settings, command="driftwise apply capacity")
    (finding,) = chapter.findings
    assert [table.title.partition(";")[0] for table in finding.tables[:2]] == ["Move cost 0.5", "Move cost 5"]
    assert "SYNTHETIC DATA" in finding.summary
    assert {claim.holds for claim in finding.claims} <= {True, False}
    (kept,) = read_chapters(tmp_path)
    assert kept.provenance.command == "driftwise apply capacity"
    assert json.loads((tmp_path / "findings" / "capacity.json").read_text())["findings"][0]["title"] == finding.title


def test_policies_plays_nothing_again(quick: list[str]) -> None:
    settings = Applications([5.0])
    assert [name for name in NAMES if not settings.takes(name)] == ["portfolios"]
    for name in filter(settings.takes, NAMES):
        assert settings.findings(name)
    played = [(one, series) for one in APPLICATIONS for series in settings.names(one)]
    assert quick == [series for _, series in played]
    (policies,) = settings.findings("policies")
    assert len(policies.tables[0].rows) == len(played)


def test_portfolios_are_a_chapter_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def few_days(name: str) -> Dataset:
        data = load("synthetic-stocks")
        return dataclasses.replace(data, name=name, values=data.values[:40, :3], columns=data.columns[:3])

    monkeypatch.setattr(chapters, "load", few_days)
    settings = Applications([0.002], data="synthetic-stocks")
    assert [name for name in NAMES if settings.takes(name)] == ["portfolios"]
    chapter = apply("portfolios", tmp_path, applications=settings)
    overview, universe = chapter.findings
    assert overview.tables[0].rows[0][:3] == ["synthetic-stocks", "design", "0.2 %"]
    assert "SYNTHETIC DATA" in universe.summary
    assert read_chapters(tmp_path)[0].title == "Portfolios"
    assert Applications(data="synthetic-stocks").trading_costs == [0.0, 0.001, 0.005]
    with pytest.raises(ParameterError, match="for portfolios a move cost is a share of what is traded"):
        Applications([5.0]).names("portfolios")
    with pytest.raises(ParameterError, match="portfolios cannot be played on 'traffic'; it takes nyse-old"):
        Applications(data="traffic").names("portfolios")


def test_a_series_goes_to_those_who_take_it() -> None:
    settings = Applications(data="synthetic-prices")
    assert [name for name in NAMES if settings.takes(name)] == ["energy", "policies"]
    assert settings.names("energy") == settings.names("policies") == ("synthetic-prices",)
    with pytest.raises(ParameterError, match="capacity cannot be played on 'synthetic-prices'; it takes traffic"):
        settings.names("capacity")


def test_what_is_wrong_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="no series 'bogus'"):
        Applications(data="bogus")
    with pytest.raises(ParameterError, match="at least one move cost"):
        Applications([])
    with pytest.raises(ParameterError, match="move cost must be a number that is at least 0"):
        Applications([-1.0])
    with pytest.raises(ParameterError, match=r"no application 'bogus'\. There are capacity, forecasts, energy, pol"):
        apply("bogus", tmp_path)
    monkeypatch.setattr("driftwise.applications.data.catalogue.installed", lambda package: False)
    with pytest.raises(MissingExtraError, match="pip install"):
        Applications(data="traffic").names("capacity")
    assert Applications().names("capacity") == ("synthetic-traffic",)
    assert Applications().names("portfolios") == ("synthetic-stocks",)
    assert not list(tmp_path.iterdir())
