"""What a run gives a learner besides losses, one row a round: hints, and proposals that come as a frame."""

from typing import Any

import numpy as np

from driftwise._frames.given import Labels, check_rows, library_of, plain
from driftwise._validate import Array, array, loose, read_only
from driftwise.errors import InputError


def read_hints(owner: str, given: Any, rounds: int, dim: int, index: Labels = None) -> Array | None:
    """Return the hints of a run, a new array of shape (T, dim) in which a row of NaN is none; None if there are none.

    Parameters
    ----------
    owner : str
        Who asks, for messages.
    given : array of shape (T, dim), series, frame, or list in which None is no hint; or None
        With one coordinate, also of shape (T,).
    rounds, dim : int
        T, and the number of coordinates.
    index : pandas Index or anything else, optional
        What the rounds of the losses are called; those of a pandas object must be called the same.

    Examples
    --------
    >>> read_hints("play", [None, 1.0, 2.0], rounds=3, dim=1).ravel()
    array([nan,  1.,  2.])
    >>> read_hints("play", [[1.0, float("nan")], [0.0, 0.0]], rounds=2, dim=2)
    Traceback (most recent call last):
    ...
    driftwise.errors.InputError: play: the hint of round 0 has NaN beside numbers; a row that is NaN throughout is a
    round without a hint.
    """
    if given is None:
        return None
    check_rows(owner, "losses", index, "hints", given)
    if isinstance(given, list | tuple):
        gap: Any = np.nan if dim == 1 and not any(np.ndim(row) for row in given if _one(row)) else [np.nan] * dim
        given = [gap if row is None else row for row in given]
    rows = loose(owner, "hints", plain(owner, "hints", given, gaps=True))
    if rows.ndim == 1 and dim == 1:
        rows = rows[:, None]
    if rows.dtype.kind != "f" or rows.ndim != 2:
        return read_only(array(owner, "hints", rows, (rounds, dim), copy=True))
    missing = np.isnan(rows)
    none, part = missing.all(axis=1), missing.any(axis=1)
    if rows.shape == (rounds, dim) and (torn := np.flatnonzero(part & ~none)).size:
        raise InputError(
            f"{owner}: the hint of round {torn[0]} has NaN beside numbers; a row that is NaN throughout is a round "
            "without a hint."
        )
    found = array(owner, "hints", np.where(none[:, None], 0.0, rows), (rounds, dim), copy=True)
    found[none] = np.nan
    return read_only(found)


def _one(row: Any) -> bool:
    """Tell whether something can be asked for its number of sides."""
    return row is not None and isinstance(row, int | float | list | tuple | np.ndarray | np.generic)


def by_member(owner: str, given: Any, index: Labels) -> Any:
    """Return the proposals of a committee's members, of a frame with a column for each; an empty cell is a sleeper.

    Examples
    --------
    >>> import pandas as pd
    >>> by_member("play", pd.DataFrame({"last": [1.0, 2.0], "model": [None, 3.0]}), None)
    [[1.0, None], [2.0, 3.0]]
    """
    if not library_of(given):
        return given
    check_rows(owner, "losses", index, "proposals", given)
    rows = plain(owner, "proposals", given, gaps=True)
    if rows.ndim == 1:
        rows = rows[:, None]
    return [[None if np.isnan(one) else one for one in row] for row in rows.tolist()]


def by_name(owner: str, given: Any, index: Labels, dim: int) -> Any:
    """Return forecasts that come as pandas or polars objects as arrays, by name.

    With one coordinate every column of a frame is a forecast of its own.

    Examples
    --------
    >>> import pandas as pd
    >>> by_name("play", pd.DataFrame({"last": [1.0, 2.0], "model": [None, 3.0]}), None, dim=1)
    {'last': array([1., 2.]), 'model': array([nan,  3.])}
    """
    if isinstance(given, dict):
        return {name: by_name(owner, values, index, 0) for name, values in given.items()}
    if not library_of(given):
        return given
    check_rows(owner, "losses", index, "proposals", given)
    rows = plain(owner, "proposals", given, gaps=True)
    if rows.ndim == 2 and dim == 1:
        return {str(name): np.ascontiguousarray(rows[:, k]) for k, name in enumerate(given.columns)}
    return rows
