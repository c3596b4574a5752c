"""A table as it is between an object and a frame or file: columns, settings and attachments."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from driftwise.errors import InputError

KEY = "driftwise"
"""Name of the settings among the attributes of a frame, and in the metadata of a file."""


@dataclass(frozen=True)
class Table:
    """Named columns of one length, with what describes all of them.

    Attributes
    ----------
    columns : mapping of str to array of shape (T,)
        One entry a column.
    settings : mapping of str to plain values, or None
        What can be said as JSON; None where a frame or file came without.
    attachments : mapping of str to bytes
        What only a file can carry, such as the checkpoint of a learner.
    index : pandas Index, polars Series, or None
        What the rows are called, where they are not only counted.
    """

    columns: Mapping[str, NDArray[Any]]
    settings: Mapping[str, Any] | None = None
    attachments: Mapping[str, bytes] = field(default_factory=dict)
    index: Any = field(default=None, repr=False)


def pack(settings: Mapping[str, Any] | None) -> str:
    """Return settings as JSON, in which every float is written so that it is read back bit for bit.

    Examples
    --------
    >>> pack({"learner": "OGD", "switching_cost": 0.1})
    '{"learner": "OGD", "switching_cost": 0.1}'
    """
    return json.dumps(settings, sort_keys=True, allow_nan=False)


def unpack(owner: str, text: object) -> dict[str, Any] | None:
    """Return settings from JSON; None for None, or for "null"."""
    if text is None:
        return None
    try:
        found = json.loads(text)  # type: ignore[arg-type]
    except (TypeError, ValueError, RecursionError):
        found = False
    if not (found is None or isinstance(found, dict)):
        raise InputError(
            f"{owner}: the settings under {KEY!r} are not those that driftwise wrote, but {text!r:.60}; remove them, "
            "and give what they held by keyword."
        )
    return found
