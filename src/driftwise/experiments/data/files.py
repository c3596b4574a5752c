"""Files inside installed packages, found and read without importing the package."""

import csv
import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from driftwise._files import read_limited, unpack_gzip
from driftwise._validate import Array
from driftwise.errors import DriftwiseError, InputError

MAX_BYTES = 2**28
"""Largest file that is read, unpacked: the largest of those that are wanted has a tenth of it."""

GAPS = 0.02
"""Share of the cells that may be empty."""


def installed(package: str) -> bool:
    """Tell whether a package is there; it is not imported."""
    return _folder(package) is not None


def read_columns(package: str, file: str, columns: Sequence[str], rows: tuple[str, str] | None = None) -> Array:
    """Return columns of a CSV file of a package, shape (T, k), NaN where a cell is empty; gzip and zip are unpacked.

    Parameters
    ----------
    package, file : str
        An installed package, and the path of the file in it.
    columns : sequence of str
        Names of the columns.
    rows : pair of str, optional
        A column, and a text that its cells begin with in the rows that are wanted; rows are separated by ``|``.
    """
    path = _path(package, file)
    with _told(package, file):
        table = csv.DictReader(io.StringIO(_text(path)))
        needed = columns if rows is None else (*columns, rows[0])
        lacking = [name for name in needed if name not in (table.fieldnames or ())]
        if lacking:
            raise InputError(f"{file} of the installed {package}{version(package)} has no column {lacking[0]!r}.")
        wanted = tuple(rows[1].split("|")) if rows else ()
        picked = [
            [row[name] or "nan" for name in columns]
            for row in table
            if rows is None or (row[rows[0]] or "").startswith(wanted)
        ]
    return _numbers(package, file, picked, len(columns))


def read_table(package: str, file: str, skip: Sequence[str] = ()) -> tuple[tuple[str, ...], Array]:
    """Return the names of the columns of a CSV file of a package, and all of them but some, as `read_columns` does.

    Names may be empty, and several columns may have the same.

    Parameters
    ----------
    package, file : str
        An installed package, and the path of the file in it.
    skip : sequence of str
        Names of columns that are left out, such as dates.
    """
    path = _path(package, file)
    with _told(package, file):
        table = list(csv.reader(io.StringIO(_text(path))))
        places = [i for i, name in enumerate(table[0]) if name not in skip]
        picked = [[row[i] or "nan" for i in places] for row in table[1:]]
    return tuple(table[0][i] for i in places), _numbers(package, file, picked, len(places))


def _path(package: str, file: str) -> Path:
    folder = _folder(package)
    path = None if folder is None else folder / file
    if path is None or not path.is_file():
        raise InputError(
            f"The installed {package}{version(package)} has no file {file}; another version of it may: "
            f"pip install --upgrade {package}."
        )
    return path


@contextmanager
def _told(package: str, file: str) -> Iterator[None]:
    """Say of whatever goes wrong with a file that it is damaged."""
    try:
        yield
    except DriftwiseError:
        raise
    except (
        csv.Error,
        ValueError,
        OSError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        RuntimeError,
        IndexError,
    ) as error:
        raise InputError(
            f"{file} of the installed {package}{version(package)} is damaged ({type(error).__name__}: {error!s:.100}); "
            "install the package again."
        ) from None


def _numbers(package: str, file: str, picked: Sequence[Sequence[str]], width: int) -> Array:
    """Return cells as numbers, if nearly all of them are some."""
    try:
        values = np.array(picked, dtype=np.float64).reshape(len(picked), width)
    except ValueError:
        values = np.empty((0, width))
    if not len(values) or np.isnan(values[0]).any() or np.isnan(values).mean() > GAPS:
        raise InputError(
            f"{file} of the installed {package}{version(package)} is not as expected: too many numbers are missing; "
            "install the package again."
        )
    return values


def _folder(package: str) -> Path | None:
    spec = find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) if places else None


def version(package: str) -> str:
    """Return the version of an installed package after a space, or nothing if it has none."""
    try:
        return f" {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return ""


def _text(path: Path) -> str:
    """Return the text of a file; of an archive, that of the only file in it."""
    data = read_limited("read_columns", path, MAX_BYTES)
    if path.suffix == ".gz":
        data = unpack_gzip("read_columns", path.name, data, MAX_BYTES)
    elif path.suffix == ".zip":
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(archive.infolist()[0]) as member:
            data = member.read(MAX_BYTES + 1)  # what an archive says about sizes need not be so
        if len(data) > MAX_BYTES:
            raise InputError(f"{path.name} holds more than {MAX_BYTES} bytes when it is unpacked, which are not read.")
    return data.decode("utf-8-sig")
