"""The bytes of a checkpoint: a safetensors file whose last tensor is a digest of everything before it.

Any safetensors reader can open one. Arrays are tensors, and the rest is a JSON text under ``driftwise`` in the file's
metadata. Plain safetensors loads a flipped byte of an array silently, so the last 32 bytes, which are the tensor
`DIGEST`, are the SHA-256 of all bytes before them, header included: a file that was damaged or cut short anywhere is
refused before anything in it is read.

The digest is no signature: who can write the file can write a digest that fits. So nothing in a file is code, and what
is loaded is checked as any other input is.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize

from driftwise.errors import CheckpointError

DIGEST = "~sha256"
"""Name of the tensor that is the digest; no other tensor may begin with a tilde."""

KEY = "driftwise"
"""Where in the metadata the JSON text is."""

_SIZE = hashlib.sha256().digest_size

KINDS = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U64": "<u8", "U32": "<u4", "U8": "|u1", "BOOL": "|b1"}
"""Types of arrays that can be saved, as safetensors and as NumPy name them."""

_NAMES = {np.dtype(kind): name for name, kind in KINDS.items()}


def can_be_saved(array: NDArray[Any]) -> bool:
    """Tell whether an array is of a type that a file can hold."""
    return array.dtype.newbyteorder("<") in _NAMES


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> list[bytes | memoryview]:
    """Return a checkpoint as pieces to be written one after another; arrays are not copied if they are contiguous."""
    text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    # Wide numbers first, so that every array is aligned; the digest, a byte wide and last by name, ends the file.
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    table: dict[str, Any] = {"__metadata__": {KEY: text}}
    pieces: list[bytes | memoryview] = []
    end = 0
    for name in order:
        part = np.ascontiguousarray(arrays[name])
        part = part.astype(part.dtype.newbyteorder("<"), copy=False)
        start, end = end, end + part.nbytes
        table[name] = {"dtype": _NAMES[part.dtype], "shape": list(arrays[name].shape), "data_offsets": [start, end]}
        if part.nbytes:
            pieces.append(part.reshape(-1).view(np.uint8).data)
    table[DIGEST] = {"dtype": "U8", "shape": [_SIZE], "data_offsets": [end, end + _SIZE]}
    head = json.dumps(table, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    pieces[:0] = [len(head).to_bytes(8, "little"), head]
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return [*pieces, digest.digest()]


def unpack(owner: str, data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the JSON header and the arrays of a checkpoint, or raise `CheckpointError`.

    The arrays are writable and own their memory.
    """
    if len(data) <= _SIZE + 8 or hashlib.sha256(memoryview(data)[:-_SIZE]).digest() != data[-_SIZE:]:
        raise CheckpointError(
            f"{owner}: these {len(data)} bytes are not a checkpoint of driftwise, or they are damaged or cut short: "
            "the digest at their end is not that of what stands before it. Use an earlier copy."
        )
    try:
        tensors = dict(deserialize(data))  # type: ignore[no-untyped-call]
        length = int.from_bytes(data[:8], "little")
        header = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][KEY])
        arrays = {name: _array(tensor) for name, tensor in tensors.items() if name != DIGEST}
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise CheckpointError(
            f"{owner}: these bytes are not a checkpoint of driftwise, although their digest fits: "
            f"{type(error).__name__}: {str(error)[:200]}."
        ) from None
    if not isinstance(header, dict):
        raise CheckpointError(f"{owner}: these bytes are not a checkpoint of driftwise: their header is no object.")
    return header, arrays


def _array(tensor: dict[str, Any]) -> NDArray[Any]:
    return np.frombuffer(tensor["data"], dtype=KINDS[tensor["dtype"]]).reshape(tensor["shape"])
