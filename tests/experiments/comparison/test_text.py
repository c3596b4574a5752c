"""CSV as people have it: what is accepted, and what is explained."""

import gzip
from pathlib import Path

import pytest

from driftwise.errors import InputError
from driftwise.experiments.comparison.sheet import read_sheet
from tests.experiments.comparison.files import write

INTERPRETED = "x,y\n1,2\n6,7\n"


@pytest.mark.parametrize(
    "content",
    [
        INTERPRETED,
        "\ufeffx,y\r\n1,2\r\n6,7\r\n",
        "x,y\r1,2\r6,7\r",
        '"x","y"\n"1","2"\n"6","7"',
        " x , y \n 1 , 2 \n6 ,7\t\n",
        "\n\nx,y\n1,2\n6,7\n\n  \n\n",
        "x,y,\n1,2,\n6,7,\n,,\n",
        "x;y\n1;2\n6;7\n",
        "x\ty\n1\t2\n6\t7\n",
    ],
)
def test_the_same_cells_however_they_are_written(tmp_path: Path, content: str) -> None:
    sheet = read_sheet(write(tmp_path / "d.csv", content))
    assert sheet.names == ["x", "y"]
    assert sheet.frame.rows() == [("1", "2"), ("6", "7")]


def test_tabs_and_compression_are_told_by_the_name(tmp_path: Path) -> None:
    assert read_sheet(write(tmp_path / "d.tsv", "x, z\ty\n1\t2\n")).names == ["x, z", "y"]
    assert read_sheet(write(tmp_path / "d.csv.gz", gzip.compress(INTERPRETED.encode()))).frame.rows()[1] == ("6", "7")
    for content in (INTERPRETED.encode(), gzip.compress(INTERPRETED.encode())[:-9]):
        with pytest.raises(InputError, match="damaged, or not compressed with gzip"):
            read_sheet(write(tmp_path / "e.csv.gz", content))


def test_commas_in_quoted_names_separate_nothing(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path / "d.csv", '"temperature, C";y\n1;2\n'))
    assert sheet.names == ["temperature, C", "y"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n \n\n", "d.csv has nothing but blank lines."),
        ("x,x,y\n1,2,3\n", "d.csv has more than one column 'x'; give every column a name of its own."),
        ("x,y\n1,2\n\n3,4\n", "d.csv: row 2 (line 3 of the file) is blank; delete the line."),
        ("x,y\n1,2\n3,4,5\n", "d.csv: row 2 (line 3 of the file) has 3 fields, and the header has 2; "),
        ("x,y\n1,2\n3\n5,6\n", "d.csv: row 2 (line 3 of the file) has 1 field, and the header has 2; "),
        ('x,y\n"1\n",2\n3,4,5\n', "d.csv: row 2 (line 4 of the file) has 3 fields, and the header has 2; "),
        ('x,y\n1,2\n"3,4\n5,6\n', "d.csv: the quotation marks in line 3 do not match; "),
    ],
)
def test_what_cannot_be_read_is_explained(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_sheet(write(tmp_path / "d.csv", content))
    assert str(caught.value).startswith(message)


def test_a_short_row_is_found_though_its_last_column_is_not_used(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i},{i}\n" for i in range(999))
    with pytest.raises(InputError, match=r"row 1000 \(line 1001 of the file\) has 2 fields"):
        read_sheet(write(tmp_path / "d.csv", f"x,y,z\n{rows}5,5\n{rows}"))
    missing = read_sheet(write(tmp_path / "e.csv", f"x,y,z\n{rows}5,5,\n"))
    assert missing.frame["z"][999] is None


def test_other_encodings_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="UTF-16; save it as UTF-8"):
        read_sheet(write(tmp_path / "d.csv", INTERPRETED.encode("utf-16")))
    with pytest.raises(InputError, match="see line 3; save it as UTF-8"):
        read_sheet(write(tmp_path / "d.csv", "x,y\n1,2\n1,\xe9\n".encode("latin-1")))


def test_rows_and_lines_are_counted_as_in_an_editor(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path / "d.csv", '\nx,note,y\n1,"two\nlines",2\n3,,4\n'))
    assert sheet.place(0) == "row 1 (line 3 of the file)"
    assert sheet.place(1) == "row 2 (line 5 of the file)"
