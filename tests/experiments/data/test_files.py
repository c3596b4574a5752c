"""Files of packages, read without importing the package."""

import gzip
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from driftwise.errors import InputError
from driftwise.experiments.data.files import installed, read_columns, read_table

TABLE = "day,a,b\n2021-01,1,2\n2022-01,,4\n2023-01,5,6\n" + "2024-01,7,8\n" * 100


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a package whose import fails, with data in it."""
    folder = tmp_path / "dataful"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise RuntimeError('imported')")
    (folder / "plain.csv").write_text(TABLE)
    (folder / "packed.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("whatever", TABLE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_a_package_is_found_and_not_imported(package: Path) -> None:
    assert installed("dataful")
    assert not installed("no_such_package_anywhere")
    assert "dataful" not in sys.modules


@pytest.mark.parametrize("file", ["plain.csv", "packed.csv.gz", "packed.zip"])
def test_columns_are_read_in_the_order_asked_for(package: Path, file: str) -> None:
    values = read_columns("dataful", file, ["b", "a"])
    assert values.shape == (103, 2)
    assert values[0].tolist() == [2.0, 1.0]
    assert np.isnan(values[1, 1])


def test_rows_are_chosen_by_how_a_cell_begins(package: Path) -> None:
    assert read_columns("dataful", "plain.csv", ["b"], ("day", "2021|2023")).ravel().tolist() == [2.0, 6.0]


def test_whole_tables_may_have_columns_without_names(package: Path) -> None:
    (package / "wide.csv").write_text("day,a,,\n2021,1,2,3\n2022,4,5,6\n")
    names, values = read_table("dataful", "wide.csv", skip=["day"])
    assert names == ("a", "", "")
    assert values.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize("text", ["", "a,b\n", "a,b\n1,red\n", "a,b\n1\n", "a,b\n,1\n"])
def test_tables_that_are_not_as_expected_are_refused(package: Path, text: str) -> None:
    (package / "bad.csv").write_text(text)
    with pytest.raises(InputError, match="install the package again"):
        read_table("dataful", "bad.csv")
    with pytest.raises(InputError, match=r"has no file no\.csv"):
        read_table("dataful", "no.csv")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("no.csv", None, "the installed dataful has no file no.csv"),
        ("bad.csv", "x\n1\n", "has no column 'a'"),
        ("bad.csv", "a\nred\n", "is not as expected"),
        ("bad.csv", "a\n", "is not as expected"),
        ("bad.csv", "a,b\n,1\n2,1\n", "is not as expected"),
        ("bad.csv", "a,b\n1,1\n,1\n2,1\n", "is not as expected"),
    ],
)
def test_files_that_are_not_as_expected_are_refused(package: Path, file: str, text: str | None, message: str) -> None:
    if text is not None:
        (package / file).write_text(text)
    with pytest.raises(InputError, match=f"(?i){message}"):
        read_columns("dataful", file, ["a"])


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("bad.csv", b"a,b\n\xff,1\n"),
        ("bad.csv", b"a,b\n" + b"1" * 10**6 + b",1\n"),
        ("bad.csv.gz", b"no gzip"),
        ("bad.csv.gz", gzip.compress(TABLE.encode())[:-9]),
        ("bad.zip", b"no zip"),
        ("bad.zip", b"PK\x05\x06" + bytes(18)),
    ],
    ids=["no utf-8", "a number of a million digits", "no gzip", "cut gzip", "no zip", "empty zip"],
)
def test_damaged_files_are_refused(package: Path, file: str, content: bytes) -> None:
    (package / file).write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        read_columns("dataful", file, ["a"])


def test_packed_files_are_unpacked_up_to_a_limit(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftwise.experiments.data.files.MAX_BYTES", 1000)
    for file in ("packed.csv.gz", "packed.zip", "plain.csv"):
        with pytest.raises(InputError, match="1000"):
            read_columns("dataful", file, ["a"])
