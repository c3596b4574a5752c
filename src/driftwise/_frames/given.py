"""Data that users give as pandas or polars objects: their numbers as arrays, and what their rows are called.

Neither package is imported here: a value can only be one of theirs if somebody has imported it already.
"""

import sys
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from driftwise._validate import describe
from driftwise.errors import InputError, ParameterError

Labels = Any
"""What rows are called: a pandas Index, a polars Series, or None where they are only numbered."""


def library_of(value: object) -> str:
    """Return "pandas" or "polars" for a series or frame of theirs, "" for anything else."""
    for name in ("pandas", "polars"):
        package: Any = sys.modules.get(name)
        kinds = tuple(getattr(package, kind) for kind in ("DataFrame", "Series") if hasattr(package, kind))
        if isinstance(value, kinds):
            return name
    return ""


def plain(owner: str, name: str, value: Any) -> Any:
    """Return the numbers of a series or frame as an array; anything else is returned as it is.

    Raises
    ------
    InputError
        For a column that does not hold numbers, and for missing values, by the name of the column and of the row.

    Examples
    --------
    >>> import pandas as pd
    >>> plain("TrackingLoss", "targets", pd.Series([1, 2], dtype="Int64"))
    array([1., 2.])
    >>> plain("TrackingLoss", "targets", pd.DataFrame({"load": [1.0, None]}, index=["mon", "tue"]))
    Traceback (most recent call last):
    ...
    driftwise.errors.InputError: TrackingLoss: targets has 1 missing value in the column 'load', the first in row 'tue'.
    Fill it, as with ffill(), or drop the row from all of the data; in a run by hand, observe(None) ends a round without
    feedback.
    """
    package: Any = sys.modules.get("polars")
    if package is not None and isinstance(value, getattr(package, "LazyFrame", ())):
        raise InputError(f"{owner}: {name} is a polars LazyFrame; collect() makes a frame of it.")
    library = library_of(value)
    if not library:
        return value
    if value.ndim == 1 if library == "pandas" else isinstance(value, package.Series):
        return _numbers(owner, name, "", value, library)
    columns = value.items() if library == "pandas" else ((each.name, each) for each in value.get_columns())
    read = [_numbers(owner, name, f" in the column {label!r:.60}", each, library) for label, each in columns]
    return np.stack(read, axis=1) if read else np.empty((len(value), 0))


def _numbers(owner: str, name: str, where: str, column: Any, library: str) -> Any:
    """Return one column as float64."""
    if library == "pandas":
        kind = sys.modules["pandas"].api.types
        numeric = kind.is_numeric_dtype(column) and not kind.is_bool_dtype(column) and not kind.is_complex_dtype(column)
        missing = column.isna().to_numpy()
    else:
        numeric = column.dtype.is_numeric()
        missing = (column.is_null() | (column.is_nan() if column.dtype.is_float() else False)).to_numpy()
    if not numeric:
        raise InputError(
            f"{owner}: {name} must be numbers, got {column.dtype}{where}. Leave out what is no number; what says when "
            "each round is goes into the index of a pandas frame, or into time= of from_frame."
        )
    if missing.any():
        row, count = int(missing.argmax()), int(missing.sum())
        label = column.index[row] if library == "pandas" else row
        raise InputError(
            f"{owner}: {name} has {count} missing value{'s' if count > 1 else ''}{where}, the first in row "
            f"{_shown(label)}. Fill {'them' if count > 1 else 'it'}, as with "
            f"{'ffill()' if library == 'pandas' else 'forward_fill()'}, or drop the row{'s' if count > 1 else ''} from "
            "all of the data; in a run by hand, observe(None) ends a round without feedback."
        )
    return column.to_numpy(dtype=np.float64) if library == "pandas" else column.to_numpy().astype(np.float64)


def labels_of(owner: str, **given: Any) -> Labels:
    """Return the index that pandas arguments share; None if there is none, or if it only counts from 0.

    Examples
    --------
    >>> import pandas as pd
    >>> labels_of("SquaredLoss", features=[1.0, 2.0], targets=pd.Series([3.0, 4.0], index=["mon", "tue"])).tolist()
    ['mon', 'tue']
    >>> early, late = (pd.Series([3.0, 4.0], index=days) for days in (["mon", "tue"], ["tue", "wed"]))
    >>> labels_of("SquaredLoss", features=early, targets=late)
    Traceback (most recent call last):
    ...
    driftwise.errors.InputError: SquaredLoss: features and targets have different indexes: row 0 is 'mon' in one and
    'tue' in the other. Align them first, as with targets.reindex(features.index), or give targets.to_numpy().
    """
    found: tuple[str, Any] | None = None
    for name, value in given.items():
        labels = named_rows(value.index) if library_of(value) == "pandas" else None
        if labels is None:
            continue
        if found is None:
            found = name, labels
        elif not labels.equals(found[1]):
            first, other = found
            row = next((k for k, pair in enumerate(zip(other, labels, strict=False)) if pair[0] != pair[1]), -1)
            differ = f": row {row} is {_shown(other[row])} in one and {_shown(labels[row])} in the other"
            raise InputError(
                f"{owner}: {first} and {name} have different indexes{differ if row >= 0 else ''}. Align them first, as "
                f"with {name}.reindex({first}.index), or give {name}.to_numpy()."
            )
    return None if found is None else found[1]


def named_rows(index: Any) -> Labels:
    """Return a pandas index, or None for one that only counts the rows from 0."""
    counts = index.nlevels == 1 and index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index)))
    return None if counts else index


def _shown(label: object) -> str:
    """Write the name of a row: dates as dates, all else as Python does."""
    return str(label) if hasattr(label, "isoformat") else f"{label!r:.60}"


def taken_from(owner: str, frame: Any, time: str | None, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], Labels]:
    """Return arguments with columns of a frame where they name some, and what the rows of the frame are called."""
    library = library_of(frame)
    if not library or not hasattr(frame, "columns"):
        raise InputError(f"{owner}: frame must be a pandas or polars DataFrame, got {describe(frame)}.")
    labels = None
    if time is not None:
        _check_columns(owner, frame, "time", [time])
        labels = frame[time]
        _check_order(owner, time, labels, library)
        if library == "pandas":
            frame = frame.set_index(time)
    elif library == "pandas":
        labels = named_rows(frame.index)
    given = dict(arguments)
    for name, value in arguments.items():
        several = isinstance(value, list | tuple) and bool(value) and all(isinstance(each, str) for each in value)
        if several or isinstance(value, str):
            _check_columns(owner, frame, name, list(value) if several else [value])
            given[name] = frame[list(value) if several else value]
    return given, frame.index if library == "pandas" and time is not None else labels


def _check_columns(owner: str, frame: Any, name: str, wanted: list[str]) -> None:
    """Raise for a column that is not there."""
    if not isinstance(name, str) or not all(isinstance(each, str) for each in wanted):
        raise ParameterError(f"{owner}: {name} must be the name of a column, got {describe(wanted[0])}.")
    for each in wanted:
        if each not in frame.columns:
            near = get_close_matches(each, [str(column) for column in frame.columns], 1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            shown = ", ".join(repr(column) for column in list(frame.columns)[:20])
            raise InputError(f"{owner}: there is no column {each!r:.60} for {name}{hint} There are {shown}.")


def _check_order(owner: str, time: str, column: Any, library: str) -> None:
    """Raise unless times are all there and never go backwards."""
    missing = (column.isna() if library == "pandas" else column.is_null()).to_numpy()
    if missing.any():
        raise InputError(f"{owner}: the column {time!r:.60} has no value in row {int(missing.argmax())}; drop the row.")
    back = np.flatnonzero((column.shift(-1) < column).to_numpy()[:-1])
    if back.size:
        row = int(back[0])
        later = [_shown(column.iloc[k] if library == "pandas" else column[k]) for k in (row, row + 1)]
        raise InputError(
            f"{owner}: time goes backwards in the column {time!r:.60}, from {later[0]} to {later[1]} in row {row + 1}; "
            f"sort the frame by it first."
        )
