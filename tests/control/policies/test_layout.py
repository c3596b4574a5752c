"""The vector of a controller: parts that do not overlap, and copies without room."""

import numpy as np
import pytest

from driftwise._compile import brief
from driftwise._memory import at, part, whole_at
from driftwise._validate import Array
from driftwise.control.policies.layout import (
    CELL,
    DX,
    HEAD,
    HEADER,
    LAGS,
    ROOM_AT,
    new_cell,
    sides_of,
    views,
)

SIZES = [(1, 1, 1, 3), (2, 1, 5, 75), (3, 2, 4, 20)]


@brief
def _first_of(vector: Array, slot: int) -> float:
    first: float = at(part(vector, 0), slot)[0]
    return first


@brief
def _whole_of(vector: Array, slot: int) -> int:
    number: int = whole_at(part(vector, 0), slot)
    return number


@pytest.mark.parametrize("size", SIZES)
def test_every_number_of_a_cell_belongs_to_one_part(size: tuple[int, int, int, int]) -> None:
    cell = new_cell(*size)
    header = cell[:HEADER].copy()
    for number, view in enumerate(views(cell).values(), start=1):
        assert not view.any(), "parts overlap"
        view[...] = number
    np.testing.assert_array_equal(cell[:HEADER], header)
    assert cell[HEADER:].all(), "something belongs to no part"


@pytest.mark.parametrize("size", SIZES)
def test_the_header_says_where_the_parts_are(size: tuple[int, int, int, int]) -> None:
    cell = new_cell(*size)
    parts = views(cell)
    for number, item in enumerate(CELL.parts, start=1):
        parts[item.name][...] = number
        assert _first_of(cell, item.slot) == number, item.name
    assert (_whole_of(cell, DX), _whole_of(cell, LAGS)) == (size[0], size[2])
    assert _whole_of(cell, HEAD) == size[3] - 2 * size[2] - 1


@pytest.mark.parametrize("size", SIZES)
def test_room_is_left_out_of_copies_and_comes_back_empty(size: tuple[int, int, int, int]) -> None:
    cell = new_cell(*size)
    for view in views(cell).values():
        view[...] = 7.0
    short = CELL.kept(cell)
    assert short.size == cell[ROOM_AT]
    short[HEADER] = 8.0
    assert cell[HEADER] == 7.0
    again = CELL.with_room(short, sides_of(short))
    assert again.shape == cell.shape
    assert not again[short.size :].any()
    assert again[: short.size].tobytes() == short.tobytes()
