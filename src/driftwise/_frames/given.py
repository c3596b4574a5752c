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


def plain(owner: str, name: str, value: Any, *, gaps: bool = False) -> Any:
    """Return the numbers of a series or frame as a new array; anything else is returned as it is.

    With `gaps` what is missing is NaN; without, it is refused.

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
        return _numbers(owner, name, "", value, library, gaps)
    columns = value.items() if library == "pandas" else ((each.name, each) for each in value.get_columns())
    read = [_numbers(owner, name, f" in the column {label!r:.60}", each, library, gaps) for label, each in columns]
    return np.stack(read, axis=1) if read else np.empty((len(value), 0))


def _numbers(owner: str, name: str, where: str, column: Any, library: str, gaps: bool) -> Any:
    """Return one column as float64, a copy."""
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
    if missing.any() and not gaps:
        row, count = int(missing.argmax()), int(missing.sum())
        label = column.index[row] if library == "pandas" else row
        raise InputError(
            f"{owner}: {name} has {count} missing value{'s' if count > 1 else ''}{where}, the first in row "
            f"{_shown(label)}. Fill {'them' if count > 1 else 'it'}, as with "
            f"{'ffill()' if library == 'pandas' else 'forward_fill()'}, or drop the row{'s' if count > 1 else ''} from "
            "all of the data; in a run by hand, observe(None) ends a round without feedback."
        )
    if library == "pandas":
        return column.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    return column.to_numpy().astype(np.float64)


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
            check_order(owner, f"the index of {name}", labels, f"{name}.sort_index(), or give {name}.to_numpy()")
            found = name, labels
        else:
            _check_same(owner, found[0], found[1], name, labels)
    return None if found is None else found[1]


def check_rows(owner: str, first: str, index: Labels, name: str, value: Any) -> None:
    """Raise for a pandas value whose rows are called other than those of the data that it goes with.

    Examples
    --------
    >>> import pandas as pd
    >>> days = pd.Index(["mon", "tue"])
    >>> check_rows("play", "losses", days, "hints", pd.Series([1.0, 2.0], index=days[::-1]))
    Traceback (most recent call last):
    ...
    driftwise.errors.InputError: play: losses and hints have different indexes: row 0 is 'mon' in one and 'tue' in the
    other. Align them first, as with hints.reindex(losses.index), or give hints.to_numpy().
    """
    labels = named_rows(value.index) if library_of(value) == "pandas" else None
    if labels is not None and hasattr(index, "nlevels"):
        _check_same(owner, first, index, name, labels)


def _check_same(owner: str, first: str, other: Labels, name: str, labels: Labels) -> None:
    """Raise unless two pandas indexes are the same."""
    if labels.equals(other):
        return
    row = next((k for k, pair in enumerate(zip(other, labels, strict=False)) if pair[0] != pair[1]), -1)
    differ = f": row {row} is {_shown(other[row])} in one and {_shown(labels[row])} in the other"
    raise InputError(
        f"{owner}: {first} and {name} have different indexes{differ if row >= 0 else ''}. Align them first, as "
        f"with {name}.reindex({first}.index), or give {name}.to_numpy()."
    )


def named_rows(index: Any) -> Labels:
    """Return a pandas index, or None for one that only counts the rows from 0."""
    counts = index.nlevels == 1 and index.dtype.kind in "iu" and np.array_equal(index, np.arange(len(index)))
    return None if counts else index


def _shown(label: object) -> str:
    """Write the name of a row: dates as dates, all else as Python does."""
    label = label.item() if isinstance(label, np.number) else label
    return str(label) if hasattr(label, "isoformat") else f"{label!r:.60}"


def taken_from(owner: str, frame: Any, time: str | None, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], Labels]:
    """Return arguments with columns of a frame where they name some, and what the rows of the frame are called."""
    library = library_of(frame)
    if not library or not hasattr(frame, "columns"):
        lazy = "; collect() makes one of a LazyFrame" if hasattr(frame, "collect") else ""
        raise InputError(f"{owner}: frame must be a pandas or polars DataFrame{lazy}, got {describe(frame)}.")
    labels = None
    if time is not None:
        _check_columns(owner, frame, "time", [time])
        labels = frame[time]
        if library == "pandas":
            frame = frame.set_index(time)
            labels = frame.index
        check_order(owner, f"the column {time!r:.60}", labels, "sorting the frame by it", timed=True)
    elif library == "pandas":
        labels = named_rows(frame.index)
        if labels is not None:
            check_order(owner, "the index of the frame", labels, "sort_index()")
    given = dict(arguments)
    for name, value in arguments.items():
        several = isinstance(value, list | tuple) and bool(value) and all(isinstance(each, str) for each in value)
        if several or isinstance(value, str):
            _check_columns(owner, frame, name, list(value) if several else [value])
            given[name] = frame[list(value) if several else value]
    return given, labels


def _check_columns(owner: str, frame: Any, name: str, wanted: list[str]) -> None:
    """Raise for a column that is not there, or is there twice."""
    if not all(isinstance(each, str) for each in wanted):
        raise ParameterError(f"{owner}: {name} must be the name of a column, got {describe(wanted[0])}.")
    columns = list(frame.columns)
    for each in wanted:
        if each not in frame.columns:
            near = get_close_matches(each, [str(column) for column in columns], 1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            shown = ", ".join(repr(column) for column in columns[:20])
            raise InputError(f"{owner}: there is no column {each!r:.60} for {name}{hint} There are {shown}.")
        if columns.count(each) > 1:
            raise InputError(f"{owner}: there are {columns.count(each)} columns {each!r:.60} for {name}; rename them.")


def check_order(owner: str, what: str, labels: Labels, remedy: str, *, timed: bool = False) -> None:
    """Raise unless times are all there and never go backwards; words and numbers are only names, unless `timed`.

    Two rounds at the same time are two rounds.

    Examples
    --------
    >>> import pandas as pd
    >>> days = pd.to_datetime(["2024-03-02", "2024-03-01"])
    >>> check_order("TrackingLoss", "the index of targets", days, "targets.sort_index()")
    Traceback (most recent call last):
    ...
    driftwise.errors.InputError: TrackingLoss: time goes backwards in the index of targets, from 2024-03-02 00:00:00 to
    2024-03-01 00:00:00 in row 1. Rounds are in the order of time; put them into it by targets.sort_index().
    """
    pandas = hasattr(labels, "nlevels")
    if pandas and labels.nlevels > 1:
        return
    # Of pandas, periods too.
    temporal = labels.dtype.kind in "mM" or hasattr(labels, "start_time") if pandas else labels.dtype.is_temporal()
    if not (temporal or timed):
        return
    missing = (labels.isna() if pandas else labels.is_null().to_numpy()).nonzero()[0]
    if missing.size:
        raise InputError(f"{owner}: {what} has no value in row {int(missing[0])}; drop the row.")
    later = labels.to_series() if pandas else labels
    try:
        back = np.flatnonzero((later.shift(-1) < later).to_numpy()[:-1])
    except TypeError:
        raise InputError(f"{owner}: {what} has values of several types, of which none is the later one.") from None
    if back.size:
        row = int(back[0])
        raise InputError(
            f"{owner}: time goes backwards in {what}, from {_shown(labels[row])} to {_shown(labels[row + 1])} in row "
            f"{row + 1}. Rounds are in the order of time; put them into it by {remedy}."
        )
