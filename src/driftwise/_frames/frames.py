"""Tables as frames of pandas and polars, which are imported when they are asked for."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driftwise._extras import optional
from driftwise._frames.table import KEY, Table, pack, unpack
from driftwise._validate import describe
from driftwise.errors import InputError

if TYPE_CHECKING:
    import polars

EXTRA = "frames"
"""The extra that brings pandas, polars and pyarrow."""


def to_pandas(owner: str, table: Table) -> Any:
    """Return a table as a pandas DataFrame, its settings as JSON in ``attrs["driftwise"]``.

    Examples
    --------
    >>> frame = to_pandas("example", Table({"loss": np.array([1.0, 2.0])}, {"learner": "OGD"}))
    >>> frame["loss"].tolist(), frame.attrs
    ([1.0, 2.0], {'driftwise': '{"learner": "OGD"}'})
    """
    frame = optional(owner, "pandas", EXTRA).DataFrame({name: values.copy() for name, values in table.columns.items()})
    frame.attrs[KEY] = pack(table.settings)
    return frame


def from_pandas(owner: str, frame: object) -> Table:
    """Return the columns of a pandas DataFrame, and its settings if it still has them; its index does not matter.

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
    return Table(columns, unpack(owner, given.attrs.get(KEY)))


def to_polars(owner: str, table: Table) -> "polars.DataFrame":
    """Return the columns of a table as a polars DataFrame, which has no place for settings.

    Examples
    --------
    >>> to_polars("example", Table({"loss": np.array([1.0, 2.0])}))["loss"].to_list()
    [1.0, 2.0]
    """
    frame: polars.DataFrame = optional(owner, "polars", EXTRA).DataFrame(
        {name: values.copy() for name, values in table.columns.items()}
    )
    return frame


def from_polars(owner: str, frame: object) -> Table:
    """Return the columns of a polars DataFrame.

    Examples
    --------
    >>> from_polars("example", to_polars("example", Table({"loss": np.array([1.0, 2.0])}))).columns
    {'loss': array([1., 2.])}
    """
    given: Any = _frame(owner, "polars", frame, "; a LazyFrame becomes one by collect()")
    return Table({column.name: _numbers(owner, column.name, column) for column in given.get_columns()})


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
