"""Every application by name."""

import pytest

from driftwise.applications.catalogue import listing
from driftwise.applications.data import CATALOGUE


def test_every_series_is_listed_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftwise.applications.data.catalogue.installed", lambda package: package == "river")
    rows = {(row[0], row[1]): row[3] for row in listing()}
    assert rows["capacity", "traffic"] == "pip install 'driftwise[data]'"
    assert rows["capacity", "water"] == "installed"
    assert rows["energy", "synthetic-prices"] == "built in"
    assert {series for _, series in rows} >= set(CATALOGUE)
