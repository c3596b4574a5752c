"""Columns of numbers, and the first cell that is not a number: which row, which column, what is there, what to do."""

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftwise import _compile
from driftwise._validate import Array
from driftwise.errors import InputError
from driftwise.experiments.comparison.sheet import Sheet

if TYPE_CHECKING:
    import polars as pl

MISSING = ("na", "n/a", "#n/a", "nan", "null", "none", "-", "?")
"""Texts that stand for a missing value, in upper or lower case."""

BOOLEANS = {"true": 1.0, "false": 0.0}

LONGEST = 40
"""Largest number of characters of a cell that are shown."""


class Column(NamedTuple):
    """One column as numbers, and its cells as they are written."""

    name: str
    values: Array
    missing: NDArray[np.bool_]
    written: "pl.Series"
    """Cells as they are in the file."""

    @property
    def bad(self) -> NDArray[np.bool_]:
        """Rows without a number that can be used."""
        return ~(np.abs(self.values) <= _compile.LARGEST)

    @property
    def foreign(self) -> bool:
        """Whether this is not a column of numbers: most of its cells are neither numbers nor missing."""
        return bool(np.mean(np.isnan(self.values) & ~self.missing) > 0.5)


def read_numbers(sheet: Sheet, names: Sequence[str], chosen: Sequence[str], role: str = "feature") -> Array:
    """Return columns as numbers, shape (T, len(names)), or say which cell is not a number.

    Parameters
    ----------
    sheet : Sheet
        The file.
    names : sequence of str
        The columns.
    chosen : sequence of str
        Those of them that the user asked for by name.
    role : str, default "feature"
        What the others are, which is also the option that names them.
    """
    columns = [read_column(sheet.frame[name]) for name in names]
    flaws = [(int(np.argmax(column.bad)), k) for k, column in enumerate(columns) if column.bad.any()]
    if flaws:
        row, k = min(flaws)
        column = columns[k]
        what, remedy = _flaw(column, row, sum(int(other.missing.sum()) for other in columns))
        if column.foreign and "comma" not in what:
            usable = [other.name for other in columns if not other.foreign and other.name not in chosen]
            options = " ".join(f"--{role} {shlex.quote(name)}" for name in usable[:5]) or f"--{role} NAME"
            remedy = f"name the {role}s to use, as in {options}, or drop the column"
            if column.name in chosen:
                remedy = "choose another column, or turn this one into numbers"
        raise InputError(f"{sheet.file}, {sheet.place(row)}, column {column.name!r}: {what}; {remedy}.")
    return np.column_stack([column.values for column in columns])


def read_column(series: "pl.Series") -> Column:
    """Return a column as numbers, with NaN for everything else; true and false are 1 and 0."""
    import polars as pl

    kind, null = series.dtype, series.is_null().to_numpy()
    if kind in (pl.String, pl.Categorical, pl.Enum):
        text = series.cast(pl.String).str.strip_chars()
        low = text.str.to_lowercase()
        missing = null | low.is_in([*MISSING, ""]).fill_null(value=True).to_numpy()
        present = low.filter(pl.Series(~missing))
        if present.len() and present[0] in BOOLEANS:
            numbers = low.replace_strict(BOOLEANS, default=None, return_dtype=pl.Float64)
        else:
            numbers = text.cast(pl.Float64, strict=False)
        values = numbers.fill_null(np.nan).to_numpy()
        return Column(series.name, np.where(missing, np.nan, values), missing, text)
    if kind.is_numeric() or kind in (pl.Boolean, pl.Null):
        values = series.cast(pl.Float64).fill_null(np.nan).to_numpy()
        return Column(series.name, values, null | np.isnan(values), series)
    return Column(series.name, np.full(len(series), np.nan), null, series)


def _flaw(column: Column, row: int, missing: int) -> tuple[str, str]:
    """Say what is wrong with a cell, and what to do."""
    value, written = column.values[row], column.written[row]
    text = "NaN" if isinstance(written, float) and np.isnan(written) else str(written)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - 3]}..."
    if column.missing[row]:
        what = "the value is missing" + ("" if written is None else f" ({text})")
        if missing == 1:
            return what, "fill it in or delete the row"
        return f"{what}, the first of {missing} that are", "fill them in or delete those rows"
    if np.isnan(value) and re.fullmatch(r"[-+]?\d[\d.' ]*,\d[\d.,' ]*", text):
        return f"{text!r} has a comma", "write numbers with a decimal point, and nothing between thousands"
    if np.isnan(value):
        kind = column.written.dtype
        other = f"{'the value' if kind.is_nested() else text}, of type {kind},"
        return f"{repr(text) if isinstance(written, str) else other} is not a number", "correct it or delete the row"
    if np.isinf(value) and not re.search(r"\d", text):
        return "the value is infinite", "put in a finite number or delete the row"
    return f"{text} is beyond {_compile.LARGEST:g}, the largest size accepted", "correct it or use a larger unit"
