"""Files that are read, and those that are not."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from driftwise.errors import InputError, MissingExtraError
from driftwise.experiments.comparison import compare
from driftwise.experiments.comparison.sheet import SUFFIXES, listed, read_sheet
from tests.experiments.comparison.files import write


def test_a_file_that_is_not_there_is_named_with_its_neighbour(tmp_path: Path) -> None:
    write(tmp_path / "demand.csv", "x,y\n1,2\n")
    with pytest.raises(InputError, match=r"There is no file .*demnd\.csv\. Did you mean demand\.csv\?"):
        read_sheet(tmp_path / "demnd.csv")
    with pytest.raises(InputError, match=r"There is no file .*nowhere.x\.csv\.$"):
        read_sheet(tmp_path / "nowhere" / "x.csv")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv is not a file"):
        read_sheet(tmp_path / "folder.csv")


def test_the_kind_is_told_by_the_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"d\.xlsx is of no known kind; its name must end in \.csv, .*\.parquet, \.pq"):
        read_sheet(write(tmp_path / "d.xlsx", "x"))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_empty_file_is_called_empty(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match="is empty"):
        read_sheet(write(tmp_path / f"d{suffix}", ""))


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of another kind there")
def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("driftwise._files.open", refuse, raising=False)
    with pytest.raises(InputError, match=r"d\.csv cannot be read: Permission denied\."):
        read_sheet(write(tmp_path / "d.csv", "x,y\n1,2\n"))


@pytest.mark.parametrize("content", [b"PAR1 nonsense PAR1", b"x,y\n1,2\n", b"PAR1"])
def test_what_is_not_parquet(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"^d\.pq is damaged, or not a parquet file \([^\n]+\)\.$"):
        read_sheet(write(tmp_path / "d.pq", content))


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    pl.DataFrame({"x": list(range(1000)), "y": [0.5] * 1000}).write_parquet(path)
    write(path, path.read_bytes()[:-100] + b"\0" * 92 + path.read_bytes()[-8:])
    with pytest.raises(InputError, match="damaged"):
        read_sheet(path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_without_rows(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"d{suffix}"
    frame = pl.DataFrame({"x": [], "y": []})
    frame.write_csv(path) if suffix == ".csv" else frame.write_parquet(path)
    with pytest.raises(InputError, match="has the columns 'x', 'y' but no rows"):
        read_sheet(path)


def test_parquet_without_columns(tmp_path: Path) -> None:
    pl.DataFrame().write_parquet(tmp_path / "d.parquet")
    with pytest.raises(InputError, match="no columns"):
        read_sheet(tmp_path / "d.parquet")


def test_an_unknown_column_is_answered_with_those_there_are(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path / "d.csv", "hour,load\n1,2\n"))
    assert sheet.column("load", "target") == "load"
    with pytest.raises(InputError) as caught:
        sheet.column("laod", "target")
    assert str(caught.value) == "d.csv has no column 'laod' for the target; did you mean 'load'? It has 'hour', 'load'."


def test_a_first_line_of_numbers_is_no_header(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Its first line must hold the names of the columns"):
        read_sheet(write(tmp_path / "d.csv", "1,2\n3,4\n")).column("y", "target")


def test_many_names_are_cut_short() -> None:
    assert listed([str(i) for i in range(100)]).endswith("'19' and 80 more")


def test_names_of_files_are_not_patterns(tmp_path: Path) -> None:
    write(tmp_path / "a1.csv", "x,y\n1,2\n")
    assert len(read_sheet(write(tmp_path / "a[1]*.csv", "x,y\n1,2\n3,4\n"))) == 2


def test_without_polars_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "d.csv", "x,y\n1,2\n")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match=r"the extra 'experiments'.*pip install 'driftwise\[experiments\]'"):
        read_sheet(path)


def test_suffixes_in_any_case(tmp_path: Path) -> None:
    assert {".csv", ".parquet"} < set(SUFFIXES)
    assert read_sheet(write(tmp_path / "D.CSV", "x,y\n1,2\n")).names == ["x", "y"]


@pytest.mark.parametrize("name", ["hour", None])
@pytest.mark.parametrize("counted", [False, True], ids=["times", "numbers"])
def test_an_index_that_pandas_wrote_is_no_feature(name: str | None, counted: bool, tmp_path: Path) -> None:
    rows = np.arange(60.0)
    index = pd.Index(np.arange(60) + 7) if counted else pd.date_range("2024-03-01", periods=60, freq="h")
    frame = pd.DataFrame({"wave": np.sin(rows / 9.0), "load": 5.0 + np.cos(rows / 9.0)}, index=index.rename(name))
    frame.to_parquet(tmp_path / "demand.parquet")
    sheet = read_sheet(tmp_path / "demand.parquet")
    named = counted and name is not None  # a column of numbers like the others
    assert sheet.usable == ["wave", "load", *(["hour"] if named else [])]
    if not named:
        frame.reset_index(drop=True).to_parquet(tmp_path / "plain.parquet")
        with_index, plain = (
            compare(tmp_path / f"{file}.parquet", "load", ["learner"], 2.0, hindsight=False).tables[0]
            for file in ("demand", "plain")
        )
        assert with_index.rows == plain.rows
