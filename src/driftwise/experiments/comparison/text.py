"""CSV and its relatives: every cell is read as text, so that an error can name the one that is not a number.

polars reads the cells. What is wrong with a file that it refuses, and the line that a row begins in, are found with
Python's own `csv`, which is slower and runs only when there is something to explain.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from driftwise._files import unpack_gzip
from driftwise.errors import InputError
from driftwise.experiments.contests.words import counted

if TYPE_CHECKING:
    import polars as pl


MAX_BYTES = 2**29
"""Largest text, unpacked, that is read unless one asks for more."""

MOST_LETTERS = csv.field_size_limit()
"""Longest field that Python's own reader takes."""


class Record(NamedTuple):
    """One record of the file: the header, a row, or a blank line between rows."""

    line: int
    """Line that it begins in, counted from 1."""
    fields: list[str]

    @property
    def blank(self) -> bool:
        """Whether there is nothing in it, not even a separator."""
        return len(self.fields) <= 1 and not "".join(self.fields).strip()


def read_text(file: str, data: bytes, kind: str, limit: int = MAX_BYTES) -> "tuple[pl.DataFrame, Callable[[int], str]]":
    """Return the cells, stripped, with null for empty ones, and a function that says where a row is."""
    import polars as pl

    text = _decode(file, data, kind, limit)
    separator = _separator(text, kind)
    header = next(_records(file, text, separator), None)
    if header is None:
        raise InputError(f"{file} has nothing but blank lines.")
    names = [name.strip() for name in header.fields]
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        raise InputError(f"{file} has more than one column {twice[0]!r}; give every column a name of its own.")
    try:
        frame = pl.read_csv(text.encode(), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        _explain_shape(file, text, separator)
        raise InputError(f"{file} cannot be read: {str(error).splitlines()[0]}.") from None
    frame = frame.select(pl.all().str.strip_chars().replace("", None))
    filled = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
    frame = frame.head(int(filled[-1]) + 1 if filled.len() else 0)  # what follows is blank
    if frame.height and frame.to_series(-1).null_count():  # of a row that is too short, the last cell is missing
        _explain_shape(file, text, separator, frame.height)
    frame.columns = [name or f"\0{i}" for i, name in enumerate(names)]
    nameless = [column for column in frame.columns if column.startswith("\0")]
    frame = frame.drop([column for column in nameless if frame[column].null_count() == frame.height])

    def place(row: int) -> str:
        record = next(islice(_records(file, text, separator), row + 1, None))
        return f"row {row + 1} (line {record.line} of the file)"

    return frame, place


def _decode(file: str, data: bytes, kind: str, limit: int) -> str:
    """Return the text with line ends of one kind."""
    if data.startswith((b"PK\3\4", b"PAR1")):
        raise InputError(
            f"{file} is not a text file, but a zip archive or a parquet file; give it the name it should have."
        )
    if kind.endswith(".gz"):
        data = unpack_gzip("compare", file, data, limit)
    if b"\0" in data[:4096] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{file} is not a text file: there are zero bytes in it; save it as CSV in UTF-8.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{file} is written in UTF-16; save it as UTF-8.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{file} is not written in UTF-8: see line {line}; save it as UTF-8.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _separator(text: str, kind: str) -> str:
    """Return the separator of the fields, judged by the header."""
    if kind.startswith(".tsv"):
        return "\t"
    header = re.sub('"[^"]*"', "", text.lstrip("\n").partition("\n")[0])
    return next((separator for separator in ",;\t" if separator in header), ",")


def _records(file: str, text: str, separator: str) -> Iterator[Record]:
    """Return the header and every record below it."""
    reader, line, begun = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), 1, False
    try:
        for fields in reader:
            record = Record(line, fields)
            begun = begun or not record.blank
            if begun:
                yield record
            line = reader.line_num + 1
    except csv.Error as error:
        if "limit" in str(error):
            raise InputError(
                f"{file}: line {line} has a field of more than {MOST_LETTERS} characters; shorten it."
            ) from None
        raise InputError(
            f"{file}: the quotation marks in line {line} do not match; a field that begins with one must end with one."
        ) from None


def _explain_shape(file: str, text: str, separator: str, height: int | None = None) -> None:
    """Raise if a row has more or fewer fields than the header, or is blank, or if a quotation never ends."""
    records = _records(file, text, separator)
    width = len(next(records).fields)
    for row, record in enumerate(islice(records, height), 1):
        where, count = f"row {row} (line {record.line} of the file)", len(record.fields)
        if record.blank and width > 1 and height is not None:
            raise InputError(f"{file}: {where} is blank; delete the line.")
        if count != width and not record.blank:
            raise InputError(
                f"{file}: {where} has {counted(count, 'field')}, and the header has {width}; look for a {separator!r} "
                "too many or too few (one that is part of a number or a text needs quotation marks around it)."
            )
