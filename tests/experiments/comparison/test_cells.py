"""Cells that are no numbers are reported where they are."""

import datetime
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwise.errors import InputError
from driftwise.experiments.comparison.cells import read_numbers
from driftwise.experiments.comparison.sheet import Sheet, read_sheet
from tests.experiments.comparison.files import write

BAD = {
    "": "the value is missing; fill it in or delete the row.",
    "NA": "the value is missing (NA); fill it in or delete the row.",
    "nan": "the value is missing (nan); fill it in or delete the row.",
    "abc": "'abc' is not a number; ",
    "2024-01-01": "'2024-01-01' is not a number; ",
    "1,5": "'1,5' has a comma; write numbers with a decimal point, and nothing between thousands.",
    "1,234.5": "'1,234.5' has a comma; ",
    "-Inf": "the value is infinite; put in a finite number or delete the row.",
    "1e101": "1e101 is beyond 1e+100, the largest size accepted; correct it or use a larger unit.",
    "-1e400": "-1e400 is beyond 1e+100, ",
    "12 kW": "'12 kW' is not a number; ",
    "true": "'true' is not a number; ",
}


def numbers(sheet: Sheet) -> Any:
    return read_numbers(sheet, sheet.names, sheet.names).tolist()


def parquet(path: Path, columns: dict[str, Any]) -> Sheet:
    pl.DataFrame(columns, strict=False).write_parquet(path / "d.parquet")
    return read_sheet(path / "d.parquet")


@given(data=st.data(), bad=st.sampled_from(list(BAD)), rows=st.integers(2, 40), columns=st.integers(2, 5))
def test_one_bad_cell_is_reported_at_its_row_and_column(data: st.DataObject, bad: str, rows: int, columns: int) -> None:
    # in the first row of two, a text would be half of the column, and the column's first kind
    row, column = data.draw(st.integers(1, rows - 1)), data.draw(st.integers(0, columns - 1))
    cells = [[str(0.5 * (i + j)) for j in range(columns)] for i in range(rows)]
    cells[row][column] = f'"{bad}"'
    lines = [",".join(f"c{j}" for j in range(columns)), *(",".join(line) for line in cells)]
    with tempfile.TemporaryDirectory() as folder:
        sheet = read_sheet(write(Path(folder) / "d.csv", "\n".join(lines) + "\n"))
        with pytest.raises(InputError) as caught:
            numbers(sheet)
    place = f"d.csv, row {row + 1} (line {row + 2} of the file), column 'c{column}': "
    assert str(caught.value).startswith(place + BAD[bad])


def test_a_text_far_down_a_column_of_numbers(tmp_path: Path) -> None:
    rows = [f"{i},{i}.5" for i in range(60_000)]
    rows[49_999] = "7,n.a."
    sheet = read_sheet(write(tmp_path / "d.csv", "x,y\n" + "\n".join(rows)))
    with pytest.raises(InputError, match=r"row 50000 \(line 50001 of the file\), column 'y': 'n\.a\.' is not a number"):
        numbers(sheet)


def test_numbers_in_every_notation(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path / "d.csv", "x,y\n1e-3,+2.5E2\n -.5 ,5.\n1e-400,-0\n"))
    assert numbers(sheet) == [[0.001, 250.0], [-0.5, 5.0], [0.0, 0.0]]


def test_truth_values_are_one_and_zero(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path / "d.csv", "x,y\nTrue,false\nFALSE,true\n"))
    assert numbers(sheet) == numbers(parquet(tmp_path, {"x": [True, False], "y": [False, True]})) == [[1, 0], [0, 1]]
    with pytest.raises(InputError, match=r"row 2 .*column 'x': '1' is not a number"):
        numbers(read_sheet(write(tmp_path / "e.csv", "x,y\nTrue,false\n1,true\nTrue,true\n")))


def test_missing_values_are_counted(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path / "d.csv", "x,y\n1,2\n3,\n,6\nNA,8\n"))
    with pytest.raises(InputError) as caught:
        numbers(sheet)
    assert str(caught.value) == (
        "d.csv, row 2 (line 3 of the file), column 'y': the value is missing, the first of 3 that are; fill them in or "
        "delete those rows."
    )


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([1, None, 3], "row 2, column 'x': the value is missing; fill it in or delete the row."),
        ([1.0, 2.0, float("nan")], "row 3, column 'x': the value is missing (NaN); fill it in or delete the row."),
        ([1.0, float("inf"), 2.0], "row 2, column 'x': the value is infinite; put in a finite number or delete the"),
        ([1.0, 2.0, -2e100], "row 3, column 'x': -2e+100 is beyond 1e+100, "),
        (["1", "2", "x" * 90], f"row 3, column 'x': '{'x' * 37}...' is not a number; correct it or delete the row."),
        ([None] * 3, "row 1, column 'x': the value is missing, the first of 3 that are; "),
        ([[1], [2], [3]], "row 1, column 'x': the value, of type List(Int64), is not a number; choose another column"),
        (
            [datetime.date(2024, 1, 1)] * 3,
            "row 1, column 'x': 2024-01-01, of type Date, is not a number; choose another column",
        ),
    ],
)
def test_parquet_has_rows_only(tmp_path: Path, column: list[Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        numbers(parquet(tmp_path, {"x": column, "y": [1, 2, 3]}))
    assert str(caught.value).startswith(f"d.parquet, {message}")


def test_parquet_of_every_kind_of_number(tmp_path: Path) -> None:
    kinds: list[Any] = [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2), pl.String, pl.Categorical]
    frame = pl.DataFrame({str(i): ["1", "2"] for i in range(len(kinds))})
    frame.with_columns(pl.col(str(i)).cast(kind) for i, kind in enumerate(kinds)).write_parquet(tmp_path / "d.pq")
    assert np.array_equal(numbers(read_sheet(tmp_path / "d.pq")), [[1.0] * 6, [2.0] * 6])


def test_a_column_of_dates_among_default_features(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path / "d.csv", "day,x,the sun,y\nMon,1,1,2\nTue,2,2,3\n"))
    with pytest.raises(InputError) as caught:
        read_numbers(sheet, sheet.names, ["y"])
    assert str(caught.value) == (
        "d.csv, row 1 (line 2 of the file), column 'day': 'Mon' is not a number; name the features to use, as in "
        "--feature x --feature 'the sun', or drop the column."
    )
    with pytest.raises(InputError, match="'Mon' is not a number; choose another column, or turn this one into numbers"):
        read_numbers(sheet, ["day", "y"], ["day", "y"])
