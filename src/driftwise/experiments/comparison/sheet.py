"""A user's file as columns: CSV or parquet, read with polars, and where its rows are, for messages."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from driftwise._extras import optional
from driftwise._files import read_limited, read_path
from driftwise._validate import whole
from driftwise.errors import InputError, StorageError
from driftwise.experiments.comparison.text import MAX_BYTES, read_text

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq")
"""Endings of the names of files that can be read, in upper or lower case."""

INDEX = re.compile(r"__index_level_\d+__")
"""What pandas calls an index without a name in a parquet file."""


@dataclass(frozen=True)
class Sheet:
    """The columns of a file, as they are written there."""

    file: str
    """Name of the file, for messages."""
    frame: "pl.DataFrame"
    place: Callable[[int], str]
    """Function from a row, counted from 0, to where it is: "row 17 (line 18 of the file)"."""

    def __len__(self) -> int:
        return self.frame.height

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.frame.columns

    @property
    def usable(self) -> list[str]:
        """Names of the columns but those that say which row it is: dates and times, and an index that pandas named.

        Of a text file they are not told apart.

        Examples
        --------
        >>> import polars as pl
        >>> from datetime import date
        >>> Sheet("a.parquet", pl.DataFrame({"day": [date(2024, 3, 1)], "load": [3.0]}), str).usable
        ['load']
        """
        return [name for name, kind in self.frame.schema.items() if not (kind.is_temporal() or INDEX.fullmatch(name))]

    def column(self, name: str, role: str) -> str:
        """Return the name of a column that is there."""
        import polars as pl

        if name in self.names:
            return name
        near = get_close_matches(name, self.names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        advice = f"{self.file} has no column {name!r} for the {role}{hint} It has {listed(self.names)}."
        if not pl.Series(self.names).cast(pl.Float64, strict=False).null_count():
            advice += " Its first line must hold the names of the columns."
        raise InputError(advice)


def listed(names: Sequence[str], limit: int = 20) -> str:
    """Return names in quotes, at most `limit` of them.

    Examples
    --------
    >>> listed(["hour", "load", "price"], limit=2)
    "'hour', 'load' and 1 more"
    """
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def read_sheet(path: str | Path, max_bytes: int = MAX_BYTES) -> Sheet:
    """Read a file of columns with names.

    Parameters
    ----------
    path : str or Path
        A file whose name ends in one of `SUFFIXES`.
    max_bytes : int
        Largest file that is read, and largest text or table in memory that is made of it.
    """
    path = read_path("compare", path)
    kind = next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), None)
    try:
        there, is_file = path.exists(), path.is_file()
    except OSError as error:
        raise InputError(f"compare: {path} cannot be read: {error.strerror}; give another file.") from None
    if not there:
        raise InputError(f"There is no file {path}.{_neighbour(path)}")
    if not is_file:
        raise InputError(f"{path} is not a file; give the file with the data.")
    if kind is None:
        raise InputError(f"{path.name} is of no known kind; its name must end in {', '.join(SUFFIXES)}.")
    limit = whole("compare", "max_bytes", max_bytes)
    try:
        data = read_limited("compare", path, limit)
    except StorageError as error:
        raise InputError(str(error)) from None
    if not data:
        raise InputError(f"{path.name} is empty; it must hold a line with the names of the columns, and then the data.")
    optional("compare", "polars", "experiments")
    if kind in (".parquet", ".pq"):
        sheet = _read_parquet(path.name, data, limit)
    else:
        sheet = Sheet(path.name, *read_text(path.name, data, kind, limit))
    if not len(sheet):
        raise InputError(f"{path.name} has the columns {listed(sheet.names)} but no rows.")
    return sheet


def _read_parquet(file: str, data: bytes, limit: int) -> Sheet:
    import polars as pl

    try:
        schema = pl.read_parquet_schema(io.BytesIO(data))
        rows = pl.scan_parquet(io.BytesIO(data)).select(pl.len()).collect().item()
        if 8 * rows * len(schema) > limit:
            raise InputError(
                f"{file} has {rows} rows of {len(schema)} columns, {8 * rows * len(schema)} bytes in memory, and at "
                f"most {limit} are read; if that is right, give max_bytes={8 * rows * len(schema)}."
            )
        frame = pl.read_parquet(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).splitlines()[0].removeprefix("parquet: ")
        raise InputError(f"{file} is damaged, or not a parquet file ({reason}).") from None
    if not frame.width:
        raise InputError(f"{file} has no columns.")
    return Sheet(file, frame, lambda row: f"row {row + 1}")


def _neighbour(path: Path) -> str:
    """Suggest a file of nearly the same name in the same folder."""
    try:
        names = [other.name for other in path.parent.iterdir() if other.name.lower().endswith(SUFFIXES)]
    except OSError:
        return ""
    near = get_close_matches(path.name, names, 1)
    return f" Did you mean {near[0]}?" if near else ""
