"""The bytes of a checkpoint: what any safetensors reader sees, and what is refused."""

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load as read_tensors

from driftwise._container import DIGEST, KEY, KINDS, pack, unpack
from driftwise.errors import CheckpointError

HEADER = {"schema": 1, "what": {"a": [1, 2.5, "text", None]}}
ARRAYS = {"x": np.arange(6.0).reshape(2, 3), "flags": np.array([True, False, True]), "empty": np.empty((0, 4))}


def packed() -> bytes:
    return b"".join(pack(HEADER, ARRAYS))


def with_digest(data: bytes) -> bytes:
    """Return bytes whose last 32 are replaced by the digest of the rest."""
    return data[:-32] + hashlib.sha256(data[:-32]).digest()


def crafted(table: object, body: bytes = b"") -> bytes:
    """Return a file with any header that one likes, and a digest that fits."""
    head = table if isinstance(table, bytes) else json.dumps(table).encode()
    return with_digest(len(head).to_bytes(8, "little") + head + body + bytes(32))


def test_what_was_packed_comes_back() -> None:
    header, arrays = unpack("test", packed())
    assert header == HEADER
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].flags.writeable


def test_any_reader_of_safetensors_can_read_it() -> None:
    tensors = read_tensors(packed())
    np.testing.assert_array_equal(tensors["x"], ARRAYS["x"])
    assert tensors[DIGEST].tobytes() == packed()[-32:]


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(
        st.text("abc.", min_size=1, max_size=4),
        st.sampled_from(list(KINDS.values())).flatmap(
            lambda kind: hnp.arrays(np.dtype(kind), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
        ),
        max_size=5,
    )
)
def test_arrays_of_every_type_and_shape(arrays: dict[str, np.ndarray]) -> None:
    _, found = unpack("test", b"".join(pack({}, arrays)))
    for name, array in arrays.items():
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


def test_arrays_that_are_not_contiguous_or_in_another_byte_order() -> None:
    arrays = {"turned": np.arange(6.0).reshape(2, 3).T, "big": np.arange(3, dtype=">i8")}
    _, found = unpack("test", b"".join(pack({}, arrays)))
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_every_flipped_byte_is_found(flip: int) -> None:
    data = packed()
    for i in range(len(data)):
        damaged = bytearray(data)
        damaged[i] ^= flip
        with pytest.raises(CheckpointError, match="not a checkpoint"):
            unpack("test", bytes(damaged))


def test_every_cut_is_found() -> None:
    data = packed()
    for length in range(len(data)):
        with pytest.raises(CheckpointError, match="cut short"):
            unpack("test", data[:length])
    with pytest.raises(CheckpointError, match="cut short"):
        unpack("test", data + b"\0")


NUMBERS = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}
END = {"dtype": "U8", "shape": [32], "data_offsets": [0, 32]}

HOSTILE = {
    "no header": b"",
    "no JSON": b"{" * 40,
    "deep JSON": b"[" * 200_000,
    "deep metadata": json.dumps({"__metadata__": {KEY: "[" * 200_000}, DIGEST: END}).encode(),
    "a list": [1],
    "no metadata": {DIGEST: END},
    "metadata of another library": {"__metadata__": {"format": "pt"}, DIGEST: END},
    "text that is no JSON": {"__metadata__": {KEY: "{"}, DIGEST: END},
    "text that is no object": {"__metadata__": {KEY: "3"}, DIGEST: END},
    "a shape without data": {"__metadata__": {KEY: "{}"}, "x": {**NUMBERS, "shape": [2**40]}, DIGEST: END},
    "a shape that overflows": {"__metadata__": {KEY: "{}"}, "x": {**NUMBERS, "shape": [2**62, 2**62]}, DIGEST: END},
    "offsets outside": {"__metadata__": {KEY: "{}"}, "x": {**NUMBERS, "data_offsets": [0, 2**50]}, DIGEST: END},
    "an unknown type": {"__metadata__": {KEY: "{}"}, "x": {**NUMBERS, "dtype": "BF16"}, DIGEST: END},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_crafted_file_whose_digest_fits_is_refused(name: str) -> None:
    with pytest.raises(CheckpointError):
        unpack("test", crafted(HOSTILE[name]))


def test_a_header_that_claims_to_be_longer_than_the_file() -> None:
    for length in (2**20, 2**40, 2**64 - 1):
        with pytest.raises(CheckpointError):
            unpack("test", with_digest(length.to_bytes(8, "little") + bytes(64)))
