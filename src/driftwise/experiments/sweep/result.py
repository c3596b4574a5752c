"""What a run may return, always as the bytes of an `.npz` file: fresh, sent and kept results are identical."""

import io
import json
import zipfile
from typing import Any

import numpy as np

from driftwise.errors import InputError

Result = Any
"""What a run returns: a number, or a dict of numbers, texts, None and arrays."""

ALLOWED = "a run returns a number, or a dict of numbers, texts, None and arrays of numbers, bools or texts"


def encode(result: Result) -> bytes:
    """Return a result as the bytes of an `.npz` file: every array under its name, and the rest in ``result.json``.

    The same result always gives the same bytes. `numpy.load` can read them, and no part of them is a pickle.
    """
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    rest: Any
    if isinstance(result, dict):
        rest = {}
        for name, value in result.items():
            # A zip archive cuts names at a null byte.
            if not isinstance(name, str) or not name.isprintable():
                raise InputError(f"{ALLOWED}; {name!r} is not a name.")
            if isinstance(value, np.ndarray):
                arrays[name] = _array(name, value)
                rest[name] = [str(arrays[name].dtype), list(arrays[name].shape)]
            elif value is None or isinstance(value, str):
                rest[name] = value
            else:
                rest[name] = _number(f"its entry {name!r}", value)
    else:
        rest = _number("this one", result)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        with archive.open("result.json", "w") as member:
            member.write(json.dumps(rest).encode())
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return file.getvalue()


def decode(data: bytes) -> Result:
    """Return the result that was encoded: Python numbers, and arrays of its own that can be written to."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        rest = json.loads(archive.read("result.json"))
        if isinstance(rest, dict):
            for name in [name for name, value in rest.items() if isinstance(value, list)]:
                with archive.open(f"{name}.npy") as member:
                    rest[name] = np.lib.format.read_array(member, allow_pickle=False)
        return rest


def _number(what: str, value: object) -> bool | int | float:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | float):
        return value
    raise InputError(f"{ALLOWED}; {what} is of type {type(value).__name__}.")


def _array(name: str, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if value.dtype.kind not in "biufU" or isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{ALLOWED}; {name!r} is a {type(value).__name__} of dtype {value.dtype}.")
    return np.array(value, value.dtype.newbyteorder("="), order="C")
