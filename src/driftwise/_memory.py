"""Memory of compiled code: pointers, calls by address, and vectors whose parts are declared in a table.

A kernel that is called by address takes pointers to doubles. `part` makes one from an array or from another pointer,
and `call` calls a `Plugin` by its address. The layout of a vector is declared once, as a `Section`: a few numbers at
fixed places, and parts with names and shapes. Offsets follow from the table once the sides are known, and are written
into slots of a header, where kernels `find` them: no offset is computed by hand.

Under ``NUMBA_DISABLE_JIT=1`` a pointer is a `Place`, which checks every index: kernels then run bounds-checked.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numpy.typing import NDArray

from driftwise._compile import INTERPRETED, plain_plugin

Array = NDArray[np.float64]
Pointer = Any
"""A pointer to doubles in compiled code, a `Place` in plain Python."""

POINTER = types.CPointer(types.float64)


class Place:
    """A pointer in plain Python: an array and an offset. Every index is checked, and none counts from the end."""

    def __init__(self, numbers: Array, start: int) -> None:
        self.numbers, self.start = numbers, start

    def at(self, index: int, count: int) -> slice:
        """Return the slice of `count` numbers from `index` on, if they are there."""
        first = self.start + int(index)
        if not 0 <= first <= first + count <= self.numbers.size:
            raise IndexError(f"{count} numbers from {first} on, in a vector of {self.numbers.size}")
        return slice(first, first + count)

    def __getitem__(self, index: int) -> float:
        return float(self.numbers[self.at(index, 1)][0])

    def __setitem__(self, index: int, value: float) -> None:
        self.numbers[self.at(index, 1)] = value


def built_in(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Pair an operation of compiled code with its plain Python form, which is used when kernels are not compiled."""
    return lambda typed: plain if INTERPRETED else intrinsic(typed)


def pointer_to(context: Any, builder: Any, kind: Any, value: Any, index: Any) -> Any:
    """Return the address of an entry of an array or behind a pointer, as generated code."""
    data = value if isinstance(kind, types.CPointer) else context.make_array(kind)(context, builder, value).data
    return builder.gep(data, [index], inbounds=True)


def _plain_part(numbers: Any, start: int) -> Place:
    if isinstance(numbers, Place):
        return Place(numbers.numbers, numbers.start + int(start))
    return Place(np.asarray(numbers).reshape(-1), int(start))


@built_in(_plain_part)
def part(typing: Any, numbers: Any, start: Any) -> Any:
    """Return a pointer to ``numbers[start]``; an array must hold contiguous doubles."""
    if isinstance(numbers, types.Array) and (numbers.layout != "C" or numbers.dtype != types.float64):
        raise TypingError(f"a kernel reads contiguous arrays of float64, not {numbers}")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return pointer_to(context, builder, signature.args[0], *args)

    return POINTER(numbers, types.intp), generate


_PLAIN_ARRAYS: dict[int, Array] = {}
"""Arrays by their addresses, where kernels run as plain Python."""


def address_of(array: Array) -> int:
    """Return the address of an array of contiguous doubles, for `pointer_at`; whoever asks must keep the array."""
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise TypeError(f"a kernel reads contiguous arrays of float64, not {array.dtype}")
    address = int(array.__array_interface__["data"][0])
    if INTERPRETED:
        _PLAIN_ARRAYS[address] = array
    return address


@built_in(lambda address: _plain_part(_PLAIN_ARRAYS[int(address)], 0))
def pointer_at(typing: Any, address: Any) -> Any:
    """Return a pointer to the array at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], ir.DoubleType().as_pointer())

    return POINTER(types.int64), generate


@built_in(lambda vector, header, slot: _plain_part(vector, int(header[slot])))
def find(typing: Any, vector: Any, header: Any, slot: Any) -> Any:
    """Return a pointer to the part of a vector whose offset is in a slot of a header."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.load(pointer_to(context, builder, signature.args[1], args[1], args[2]))
        return pointer_to(context, builder, signature.args[0], args[0], builder.fptosi(place, ir.IntType(64)))

    return POINTER(vector, header, types.intp), generate


@built_in(lambda vector, slot: _plain_part(vector, int(vector[slot])))
def at(typing: Any, vector: Any, slot: Any) -> Any:
    """Return a pointer to the part of a vector whose offset is in a slot of its own header.

    Not a helper, because numba compiles a helper again for every constant that is passed to it.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        offset = builder.load(pointer_to(context, builder, signature.args[0], *args))
        return builder.gep(args[0], [builder.fptosi(offset, args[1].type)], inbounds=True)

    return POINTER(POINTER, types.intp), generate


@built_in(lambda vector, slot: int(vector[slot]))
def whole_at(typing: Any, vector: Any, slot: Any) -> Any:
    """Return the integer in a slot; written with ``int``, it takes much longer to compile."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = builder.load(pointer_to(context, builder, signature.args[0], *args))
        return builder.fptosi(number, args[1].type)

    return types.intp(POINTER, types.intp), generate


def _plain_call(address: float, *args: Any) -> int:
    return int(plain_plugin(int(address))(*args) or 0)


@built_in(_plain_call)
def call(typing: Any, address: Any, *args: Any) -> Any:
    """Call the plugin at an address with pointers and integers, and return its integer result."""
    given = types.StarArgTuple(args)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        unpacked = cgutils.unpack_tuple(builder, values[1])
        whole, pointer = ir.IntType(64), ir.DoubleType().as_pointer()
        kinds = [pointer if isinstance(kind, types.CPointer) else whole for kind in given.types]
        function = builder.inttoptr(values[0], ir.FunctionType(whole, kinds).as_pointer())
        return builder.call(function, unpacked)

    return types.int64(types.intp, given), generate


class Part(NamedTuple):
    """One part of a vector."""

    name: str
    slot: int
    """Slot of the header that holds its offset."""
    shape: tuple[str | int, ...]
    """Sides of the part: numbers, or names of numbers that are known when the vector is made."""


class Section:
    """A vector of doubles described by a table: single numbers at fixed places first, then the parts."""

    def __init__(self, numbers: int, parts: Sequence[Part]) -> None:
        self.numbers, self.parts = numbers, tuple(parts)

    def _places(self, sides: Mapping[str, int]) -> tuple[tuple[tuple[str, slice, tuple[int, ...]], ...], int]:
        """Return name, place and shape of every part, and where the last one ends."""
        return _places(self, tuple(sides.items()))

    def size(self, sides: Mapping[str, int]) -> int:
        """Return the length of the vector."""
        return self._places(sides)[1]

    def write_offsets(self, header: Array, sides: Mapping[str, int]) -> None:
        """Write the offsets of the parts into a header, where kernels find them."""
        for item, (_, place, _) in zip(self.parts, self._places(sides)[0], strict=True):
            header[item.slot] = place.start

    def views(self, vector: Array, sides: Mapping[str, int]) -> dict[str, Array]:
        """Return the parts of a vector by name, as views."""
        return {name: vector[place].reshape(shape) for name, place, shape in self._places(sides)[0]}


@functools.lru_cache(maxsize=256)
def _places(
    section: Section, sides: tuple[tuple[str, int], ...]
) -> tuple[tuple[tuple[str, slice, tuple[int, ...]], ...], int]:
    known, places, end = dict(sides), [], section.numbers
    for part in section.parts:
        shape = tuple(int(known[side]) if isinstance(side, str) else side for side in part.shape)
        start, end = end, end + math.prod(shape)
        places.append((part.name, slice(start, end), shape))
    return tuple(places), end


class Workspace(Section):
    """A vector that ends with scratch space, its *room*, which is not kept from one round to the next.

    Parameters
    ----------
    numbers : int
        Length of the header.
    room_at : int
        Slot of the header that says where the room begins.
    kept, room : sequence of Part
        The parts that are copied and saved, and those that are not.
    """

    def __init__(self, numbers: int, room_at: int, kept: Sequence[Part], room: Sequence[Part]) -> None:
        super().__init__(numbers, [*kept, *room])
        self.room_at, self._kept = room_at, Section(numbers, kept)

    def new(self, sides: Mapping[str, int]) -> Array:
        """Return a vector of zeros whose header says where the parts are."""
        vector = np.zeros(self.size(sides))
        self.write_offsets(vector, sides)
        vector[self.room_at] = self._kept.size(sides)
        return vector

    def kept(self, vector: Array) -> Array:
        """Return a copy of a vector without its room."""
        return vector[: int(vector[self.room_at])].copy()

    def with_room(self, kept: Array, sides: Mapping[str, int]) -> Array:
        """Return a kept vector with its room added again."""
        return np.concatenate([kept, np.zeros(self.size(sides) - kept.size)])
