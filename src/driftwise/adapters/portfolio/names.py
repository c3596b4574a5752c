"""What assets are called, in whatever data have names: nobody's prices are taken for another's because of their order.

Names count as text. Data without names go by position.
"""

from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._frames.given import Labels, labels_of, library_of, named_rows, plain
from driftwise._validate import Array, Indices, array, describe, instance, whole
from driftwise.errors import InputError, ParameterError

Names = tuple[str, ...]

PerAsset = ArrayLike | Mapping[Any, Any]
"""Something for each asset: by position, or by name in a dict, a pandas series or a frame."""


class Named(NamedTuple):
    """What the entries of a round, or the columns of a table, are called."""

    names: Names
    counted: bool = False
    """Whether they only count from 0, as in a frame that was made of an array."""


def read_assets(owner: str, assets: object) -> tuple[Names, bool]:
    """Return the names of assets, and whether somebody has named them, or only said how many there are.

    Examples
    --------
    >>> read_assets("Portfolio", ["bonds", "stocks"]), read_assets("Portfolio", 2)
    ((('bonds', 'stocks'), True), (('0', '1'), False))
    """
    if isinstance(assets, str | bytes | Set | Mapping) or getattr(assets, "ndim", 1) > 1:
        raise ParameterError(
            f'{owner}: assets must be a number or names in their order, such as ["a", "b"], got {describe(assets)}.'
        )
    if not isinstance(assets, Iterable) or getattr(assets, "ndim", 1) == 0:
        return tuple(str(k) for k in range(whole(owner, "assets", assets))), False
    if hasattr(assets, "nlevels"):  # a pandas Index, in which a name may be a number
        names = tuple(str(label) for label in assets)
    else:
        names = tuple(str(instance(owner, "assets", name, str, '["a", "b"]')) for name in assets)
    if (twice := _twice(names)) is not None:
        raise ParameterError(f"{owner}: assets must have different names, and {twice!r:.60} is there twice.")
    return names, True


def _twice(names: Names) -> str | None:
    return (
        next((name for k, name in enumerate(names) if name in names[:k]), None)
        if len(set(names)) < len(names)
        else None
    )


def _labels(given: Any) -> Any:
    if isinstance(given, Mapping):
        return list(given)
    if not library_of(given):
        return None
    return given.columns if hasattr(given, "columns") else getattr(given, "index", None)


def names_in(owner: str, name: str, given: object) -> Named | None:
    """Return what the assets in data are called: of a dict, a pandas series, or a frame; None where nothing says.

    Examples
    --------
    >>> names_in("backtest", "relatives", {"bonds": 1.0, "stocks": 1.1}), names_in("backtest", "relatives", [1.0, 1.1])
    (Named(names=('bonds', 'stocks'), counted=False), None)
    """
    labels, counted = _labels(given), False
    if labels is None:
        return None
    if library_of(given) == "pandas":
        counted = named_rows(labels) is None
    names = tuple(str(label) for label in labels)
    if (twice := _twice(names)) is not None:
        raise InputError(f"{owner}: assets must have different names, and {twice!r:.60} is twice in {name}.")
    return Named(names, counted)


def agreed(owner: str, name: str, given: object) -> Names | None:
    """Return the names that somebody has given to assets in data; None where they only count."""
    found = names_in(owner, name, given)
    return None if found is None or found.counted else found.names


def order_of(owner: str, name: str, found: Named | None, names: Names | None) -> Indices | None:
    """Return where in the data each of these assets is; None where they go by position.

    Examples
    --------
    >>> order_of("backtest", "relatives", Named(("b", "c", "a")), ("a", "b", "c"))
    array([2, 0, 1])
    """
    if found is None or names is None or found.names == names:
        return None
    if set(found.names) == set(names):
        place = {label: k for k, label in enumerate(found.names)}
        return np.array([place[label] for label in names], dtype=np.int64)
    if found.counted:
        return None
    lacking = [label for label in names if label not in set(found.names)]
    beyond = [label for label in found.names if label not in set(names)]
    said = [f"lacks {_some(lacking)}"] if lacking else []
    said += [f"has {_some(beyond)}, which {'is' if len(beyond) == 1 else 'are'} none of them"] if beyond else []
    raise InputError(
        f"{owner}: {name} must be of the assets {_some(names)}, and {' and '.join(said)}. Name them alike, or give "
        "plain arrays in that order."
    )


def _some(names: Iterable[str], most: int = 6) -> str:
    every = list(names)
    return ", ".join(f"{name!r:.40}" for name in every[:most]) + (", ..." if len(every) > most else "")


def lined_up(owner: str, name: str, given: Any, names: Names | None) -> Any:
    """Return what there is one of for each asset, without names and in the order of these.

    Examples
    --------
    >>> lined_up("Portfolio.observe", "relatives", {"b": 1.0, "a": 2.0}, ("a", "b"))
    array([2., 1.])
    """
    found = names_in(owner, name, given)
    if isinstance(given, Mapping):
        values: Any = list(given.values())
    else:
        values = plain(owner, name, given, gaps=True)
        if hasattr(given, "columns") and np.shape(values)[:1] == (1,):  # a frame of one row
            values = values[0]
    order = order_of(owner, name, found, names)
    return values if order is None else array(owner, name, values, (len(order),))[order]


def read_table(owner: str, name: str, given: Any) -> Array:
    """Return a row for each round and a column for each asset, nobody else's; of a dict its values are the columns."""
    if isinstance(given, Mapping):
        columns: Any = [plain(owner, name, column) for column in given.values()]
        return np.ascontiguousarray(array(owner, name, columns, ("dim", "rounds"), copy=True).T)
    return array(owner, name, plain(owner, name, given), ("rounds", "dim"), copy=True)


def rows_of(owner: str, **given: Any) -> Labels:
    """Return what the rows of tables are called, such as dates; None if they are only counted."""
    parts: dict[str, Any] = {}
    for name, value in given.items():
        one = isinstance(value, Mapping)
        parts.update({f"{name}[{label!r}]": column for label, column in value.items()} if one else {name: value})
    return labels_of(owner, **parts)
