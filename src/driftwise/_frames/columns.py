"""Arrays as named columns, one row a round, and back, bit for bit.

An array of shape (T,) is the column ``name``; one of shape (T, a, b) is a * b columns ``name_0_0``, ``name_0_1``, ...
The column ``round`` counts the rows from 0. Nothing here knows of pandas, polars or parquet.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftwise._validate import Array
from driftwise.errors import InputError

ROUND = "round"
"""Name of the column that counts the rows."""


class Part(NamedTuple):
    """What a record holds for every round under one name."""

    name: str
    """Name of its column, or what the names of its columns begin with."""
    sides: int = 0
    """Number of indices in the names of its columns: 0 for a number a round, 1 for a vector, and so on."""
    required: bool = True
    """Whether a table must have it."""

    def place(self, column: str) -> tuple[int, ...] | None:
        """Return the indices in the name of a column of this part; None for a column of another."""
        found = re.fullmatch(re.escape(self.name) + r"((?:_(?:0|[1-9][0-9]{0,8}))*)", column)
        indices = found[1].split("_")[1:] if found else []
        return tuple(map(int, indices)) if found and len(indices) == self.sides else None

    @property
    def pattern(self) -> str:
        """The name of its first column."""
        return self.name + "_0" * self.sides


def flatten(parts: Mapping[str, "NDArray[Any] | None"]) -> dict[str, NDArray[Any]]:
    """Return arrays of T rows as columns; what is None has none.

    Examples
    --------
    >>> flatten({"loss": np.array([1.0, 2.0]), "w": np.array([[3.0, 4.0], [5.0, 6.0]]), "weight": None})
    {'round': array([0, 1]), 'loss': array([1., 2.]), 'w_0': array([3., 5.]), 'w_1': array([4., 6.])}
    """
    held = {name: values for name, values in parts.items() if values is not None}
    rounds = len(next(iter(held.values())))
    columns: dict[str, NDArray[Any]] = {ROUND: np.arange(rounds)}
    for name, values in held.items():
        for index in np.ndindex(values.shape[1:]):
            columns["_".join([name, *map(str, index)])] = np.ascontiguousarray(values[:, *index])
    return columns


def gather(owner: str, columns: Mapping[str, NDArray[Any]], layout: Sequence[Part]) -> dict[str, "Array | None"]:
    """Return the arrays that columns were made of, in whatever order they come; None for a part that is not there.

    Parameters
    ----------
    owner : str
        Who reads, for messages.
    columns : mapping of str to array of shape (T,)
        The columns of a table.
    layout : sequence of Part
        What there may be, and what there must be.

    Raises
    ------
    InputError
        For a column that is missing, of an unknown name, of another type than float64 or not finite, for columns of
        different lengths, and for rows that are not rounds 0, 1, 2, ... in this order.

    Examples
    --------
    >>> layout = Part("loss"), Part("w", 1), Part("weight", 1, required=False)
    >>> columns = {"w_1": np.array([4.0]), "w_0": np.array([3.0]), "round": np.array([0]), "loss": np.array([1.0])}
    >>> gather("Trace.from_pandas", columns, layout)
    {'loss': array([1.]), 'w': array([[3., 4.]]), 'weight': None}
    """
    found = _sort(owner, columns, layout)
    rounds = _rounds(owner, columns)
    result: dict[str, Array | None] = {}
    for part in layout:
        places = found[part.name]
        result[part.name] = None
        if places:
            values = np.empty((rounds, *_sides(owner, part, places)))
            by_place = np.moveaxis(values, 0, -1)
            for place, column in places.items():
                by_place[place] = _floats(owner, column, columns[column], rounds)
            result[part.name] = values
    return result


def _sort(owner: str, columns: Mapping[str, Any], layout: Sequence[Part]) -> dict[str, dict[tuple[int, ...], str]]:
    """Return which columns belong to which part, by index; refuse names that belong to none, and parts without."""
    found: dict[str, dict[tuple[int, ...], str]] = {part.name: {} for part in layout}
    for column in columns:
        homes = [(part, index) for part in layout if (index := part.place(str(column))) is not None]
        if homes and isinstance(column, str):
            found[homes[0][0].name][homes[0][1]] = column
        elif column != ROUND:
            near = get_close_matches(str(column)[:100], [ROUND, *(part.pattern for part in layout)], 1)
            raise InputError(
                f"{owner}: there is a column {column!r:.60}, which is not one of a record"
                f"{f'; did you mean {near[0]}?' if near else '.'} There are {_names(layout)}; rename it, or drop it."
            )
    missing = [part.pattern for part in layout if part.required and not found[part.name]]
    if missing := [*([ROUND] if ROUND not in columns else []), *missing]:
        raise InputError(f"{owner}: the column {missing[0]} is missing; a record needs {_names(layout, True)}.")
    return found


def _names(layout: Sequence[Part], required: bool = False) -> str:
    shown = [part for part in layout if part.required or not required]
    return ", ".join([ROUND, *(part.pattern + (", ..." if part.sides else "") for part in shown)])


def _sides(owner: str, part: Part, places: Mapping[tuple[int, ...], str]) -> tuple[int, ...]:
    """Return the shape that the indices of a part span, all of which must be there."""
    sides = tuple(max(along) + 1 for along in zip(*places, strict=True))
    if gap := next((index for index in _indices(sides) if index not in places), None):
        name = "_".join([part.name, *map(str, gap)])
        raise InputError(f"{owner}: the column {name} is missing, although there is {places[max(places)]}.")
    return sides


def _indices(sides: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Count through a shape, one index at a time: with `itertools.product` an index of a billion would fill memory."""
    if not sides:
        yield ()
        return
    for first in range(sides[0]):
        for rest in _indices(sides[1:]):
            yield first, *rest


def _rounds(owner: str, columns: Mapping[str, NDArray[Any]]) -> int:
    """Return the number of rows, which must be the rounds from 0 on."""
    given = columns[ROUND]
    if given.dtype.kind not in "iu" or given.ndim != 1 or not given.size:
        raise InputError(
            f"{owner}: the column {ROUND} must be the whole numbers 0, 1, 2, ..., got {given.size} values of dtype "
            f"{given.dtype}."
        )
    wrong = np.flatnonzero(given != np.arange(given.size))
    if wrong.size:
        sorted_ = np.array_equal(np.sort(given), np.arange(given.size))
        remedy = f"sort the rows by {ROUND}" if sorted_ else "a record has every round once, from round 0 on"
        raise InputError(f"{owner}: row {wrong[0]} is round {given[wrong[0]]}; {remedy}.")
    return int(given.size)


def _floats(owner: str, name: str, values: NDArray[Any], rounds: int) -> NDArray[Any]:
    """Return a column of finite float64, or of whole numbers, which are exact as float64 as well."""
    exact = values.dtype == np.float64 or (
        values.dtype.kind in "iu" and bool(np.all((values <= 2**53) & (values >= -(2**53))))
    )
    if not exact:
        raise InputError(
            f"{owner}: the column {name} must be float64, in which a record is kept without rounding, got "
            f"{values.dtype}."
        )
    if values.shape != (rounds,):
        raise InputError(f"{owner}: the column {name} has {values.size} rows, and {ROUND} has {rounds}.")
    if not np.all(np.isfinite(values)):
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"{owner}: the column {name} is {values[row]} in row {row}; a record has finite numbers only.")
    return values
