"""Tables as frames of pandas and polars, which are imported when they are asked for."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driftwise._extras import optional
from driftwise._frames.given import named_rows
from driftwise._frames.table import KEY, Table, pack, unpack
from driftwise._validate import describe
from driftwise.errors import InputError

if TYPE_CHECKING:
    import polars

EXTRA = "frames"
"""The extra that brings pandas, polars and pyarrow."""

WORDS = ("String", "Categorical", "Enum")
"""What the types of polars begin with that hold words."""


def to_pandas(owner: str, table: Table) -> Any:
    """Return a table as a pandas DataFrame, its settings as JSON in ``attrs["driftwise"]``.

    Examples
    --------
    >>> frame = to_pandas("example", Table({"loss": np.array([1.0, 2.0])}, {"learner": "OGD"}))
    >>> frame["loss"].tolist(), frame.attrs
    ([1.0, 2.0], {'driftwise': '{"learner": "OGD"}'})
    """
    pandas = optional(owner, "pandas", EXTRA)
    index = None
    if table.index is not None:
        index = table.index if isinstance(table.index, pandas.Index) else pandas.Index(table.index.to_pandas())
    frame = pandas.DataFrame({name: values.copy() for name, values in table.columns.items()})
    if index is not None:
        frame.index = index
    frame.attrs[KEY] = pack(table.settings)
    return frame


def from_pandas(owner: str, frame: object) -> Table:
    """Return the columns of a pandas DataFrame, its settings if there are any, and an index that does not only count.

    Examples
    --------
    >>> frame = to_pandas("example", Table({"loss": np.array([1.0, 2.0])}, {"learner": "OGD"}))
    >>> from_pandas("example", frame).settings
    {'learner': 'OGD'}
    """
    given: Any = _frame(owner, "pandas", frame, "")
    if not given.columns.is_unique:
        twice = given.columns[given.columns.duplicated()][0]
        raise InputError(f"{owner}: there are two columns {twice!r:.60}; drop one of them.")
    columns = {name: _numbers(owner, name, given.iloc[:, place]) for place, name in enumerate(given.columns)}
    return Table(columns, unpack(owner, given.attrs.get(KEY)), index=named_rows(given.index))


def to_polars(owner: str, table: Table) -> "polars.DataFrame":
    """Return the columns of a table as a polars DataFrame, which has no place for settings.

    Dates, times and words that the rows are called by are the first column; numbers and indexes of several levels are
    left out, since they could not be told from the columns of the table.

    Examples
    --------
    >>> to_polars("example", Table({"loss": np.array([1.0, 2.0])}))["loss"].to_list()
    [1.0, 2.0]
    """
    package = optional(owner, "polars", EXTRA)
    frame: polars.DataFrame = package.DataFrame({name: values.copy() for name, values in table.columns.items()})
    labels = _as_polars(package, table.index)
    if labels is None or labels.dtype.is_numeric():
        return frame
    name = labels.name or ("time" if labels.dtype.is_temporal() else "index")
    return frame.insert_column(0, labels.alias(f"{name} of the data" if name in frame.columns else name))


def _as_polars(package: Any, index: Any) -> Any:
    """Return what rows are called as a polars Series; None if there is nothing, or several levels."""
    if index is None or isinstance(index, package.Series):
        return index
    if index.nlevels > 1:
        return None
    if hasattr(index, "start_time"):  # periods, which polars does not have
        index = index.start_time.rename(index.name)
    # Of what pandas keeps as objects, and polars has no type for, only the text stays.
    try:
        return package.Series(str(index.name or ""), package.from_pandas(index))
    except Exception:
        return package.Series(str(index.name or ""), [str(label) for label in index])


def from_polars(owner: str, frame: object) -> Table:
    """Return the columns of a polars DataFrame; a single one of dates, times or words is what its rows are called.

    Examples
    --------
    >>> from_polars("example", to_polars("example", Table({"loss": np.array([1.0, 2.0])}))).columns
    {'loss': array([1., 2.])}
    """
    given: Any = _frame(owner, "polars", frame, "; a LazyFrame becomes one by collect()")
    columns = given.get_columns()
    words = [column for column in columns if column.dtype.is_temporal() or str(column.dtype).startswith(WORDS)]
    labels = words[0] if len(words) == 1 else None
    held = [column for column in columns if column is not labels]
    return Table({column.name: _numbers(owner, column.name, column) for column in held}, index=labels)


def _frame(owner: str, package: str, frame: object, hint: str) -> object:
    if isinstance(frame, optional(owner, package, EXTRA).DataFrame):
        return frame
    raise InputError(f"{owner}: frame must be a {package} DataFrame{hint}, got {describe(frame)}.")


def _numbers(owner: str, name: object, column: Any) -> NDArray[Any]:
    """Return a column as an array of whatever type it has; a missing value in it is refused."""
    try:
        missing = int(column.null_count() if hasattr(column, "null_count") else column.isna().sum())
        values = None if missing else np.asarray(column.to_numpy())
    except Exception as error:  # extension types convert by code of their own, which may raise anything
        raise InputError(f"{owner}: the column {name!r:.60} cannot be read as numbers: {error!s:.200}.") from None
    if values is None:
        raise InputError(f"{owner}: the column {name!r:.60} has {missing} missing values; a record has none.")
    return values
