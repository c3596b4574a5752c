"""What a run may return, always as the bytes of an `.npz` file: fresh, sent and kept results are identical."""

import io
import json
import math
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
    """Return the result that was encoded: Python numbers, and arrays of its own that can be written to.

    What `encode` cannot have written raises `InputError`, whatever it is: nothing is unpacked, no more memory is taken
    than there are bytes, and no code in it is run.
    """
    try:
        return _decoded(data)
    except InputError:
        raise
    except Exception as error:  # zipfile, json and numpy raise more than a dozen kinds for bytes made up by others
        raise InputError(f"These bytes are no result of a run ({type(error).__name__}: {error!s:.100}).") from None


def _decoded(data: bytes) -> Result:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        rest = json.loads(_member(archive, "result.json"), object_pairs_hook=_each_once)
        if not isinstance(rest, dict):
            return _number("this one", rest)
        for name, value in rest.items():
            if isinstance(value, list):
                rest[name] = _read_array(_member(archive, f"{name}.npy"))
            elif value is not None and not isinstance(value, str):
                rest[name] = _number(f"its entry {name!r}", value)
        return rest


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a file of the archive, which must be in it as it is: compressed ones can be far larger than they look."""
    found = archive.getinfo(name)
    if found.compress_type != zipfile.ZIP_STORED or found.file_size != found.compress_size:
        raise InputError(f"{name} is compressed, and results of runs are not.")
    return archive.read(found)


def _read_array(member: bytes) -> np.ndarray[Any, Any]:
    """Return the array in the bytes of an `.npy` file, which must be as many as its header says."""
    file = io.BytesIO(member)
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, fortran, dtype = readers[version](file)
    size = math.prod(shape) * dtype.itemsize
    if fortran or dtype.kind not in "biufU" or size != len(member) - file.tell():
        raise InputError(f"An array of shape {shape!s:.60} and type {dtype!s:.60} is not what a run returns.")
    if not size:
        return np.empty(shape, dtype)
    return np.frombuffer(member, dtype, offset=file.tell()).reshape(shape).copy()


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, in which every name must stand once."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise InputError("A name stands twice in one object.")
    return made


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
