"""Vectors declared by tables, and pointers that check every index when kernels run as plain Python."""

import ast
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from driftwise._compile import entry, plugin
from driftwise._memory import Array, Part, Place, Pointer, Section, call, part

SECTION = Section(
    5,
    [
        Part("first", 2, ("n",)),
        Part("empty", 3, (0, "d")),
        Part("matrix", 4, ("n", "d", 2)),
    ],
)
SIDES = {"n": 3, "d": 4}


def test_a_section_is_as_long_as_its_numbers_and_parts() -> None:
    assert SECTION.size(SIDES) == 5 + 3 + 0 + 24
    assert SECTION.size({"n": 0, "d": 9}) == 5


def test_offsets_stand_in_the_slots() -> None:
    header = np.full(7, -1.0)
    SECTION.write_offsets(header, SIDES)
    assert header.tolist() == [-1.0, -1.0, 5.0, 8.0, 8.0, -1.0, -1.0]


def test_views_are_the_vector_itself_without_gap_or_overlap() -> None:
    vector = np.arange(32.0)
    views = SECTION.views(vector, SIDES)
    assert {name: view.shape for name, view in views.items()} == {"first": (3,), "empty": (0, 4), "matrix": (3, 4, 2)}
    joined = np.concatenate([view.ravel() for view in views.values()])
    assert np.array_equal(joined, vector[5:])
    views["matrix"][2, 3, 1] = -7.0
    assert vector[-1] == -7.0


def test_sides_may_be_flags() -> None:
    section = Section(0, [Part("maybe", 0, ("wanted", 3))])
    assert section.size({"wanted": True}) == 3
    assert section.views(np.empty(0), {"wanted": False})["maybe"].shape == (0, 3)


def test_a_side_that_is_not_known_is_an_error() -> None:
    with pytest.raises(KeyError, match="d"):
        SECTION.size({"n": 3})


def test_a_place_reads_and_writes_where_it_points() -> None:
    numbers = np.arange(6.0)
    place = Place(numbers, 2)
    assert place[0] == 2.0
    assert place[-1] == 1.0
    place[3] = 9.0
    assert numbers[5] == 9.0
    assert place.at(1, 3) == slice(3, 6)


@pytest.mark.parametrize(("index", "count"), [(-3, 1), (4, 1), (1, 4), (100, 0)])
def test_a_place_refuses_what_lies_outside(index: int, count: int) -> None:
    place = Place(np.arange(6.0), 2)
    with pytest.raises(IndexError, match="in a vector of 6"):
        place.at(index, count)
    if count == 1:
        with pytest.raises(IndexError, match="in a vector of 6"):
            place[index]
        with pytest.raises(IndexError, match="in a vector of 6"):
            place[index] = 1.0


@entry
def _through_pointers(numbers: Array, start: int) -> float:
    outer = part(numbers, start)
    inner = part(outer, 1)
    inner[1] = 2.0 * inner[0]
    return float(outer[1] + inner[-1])


def test_compiled_pointers_point_into_the_array() -> None:
    numbers = np.arange(6.0)
    assert _through_pointers(numbers, 2) == 3.0 + 2.0
    assert numbers.tolist() == [0.0, 1.0, 2.0, 3.0, 6.0, 5.0]
    assert _through_pointers(numbers.reshape(2, 3).ravel(), 0) == 1.0 + 0.0


@plugin("int64(P, P, int64)")
def _add(out: Pointer, numbers: Pointer, count: int) -> int:
    """Add up so many numbers."""
    for k in range(count):
        out[0] += numbers[k]
    return count + 1


@entry
def _call(address: int, out: Array, numbers: Array) -> int:
    return int(call(address, part(out, 0), part(numbers, 1), numbers.size - 1))


def test_a_plugin_is_called_by_its_address() -> None:
    out = np.array([100.0])
    assert _call(_add.address, out, np.arange(4.0)) == 4
    assert out[0] == 106.0
    assert _add.address == _add.address
    assert _add.__doc__ == "Add up so many numbers."


INTERPRETED = """
import numpy as np
from driftwise._compile import INTERPRETED
from tests.test_memory import _add, _call, _through_pointers

assert INTERPRETED
numbers, out = np.arange(6.0), np.array([100.0])
found = [_through_pointers(numbers, 2), numbers.tolist(), _call(_add.address, out, np.arange(4.0)), out.tolist()]
try:
    _through_pointers(numbers, 5)
except IndexError as error:
    found.append(str(error))
print(found)
"""


def test_as_plain_python_it_is_the_same_with_indices_checked() -> None:
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(INTERPRETED)],
        env={"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ":".join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = ast.literal_eval(run.stdout)
    assert found == [5.0, [0.0, 1.0, 2.0, 3.0, 6.0, 5.0], 4, [106.0], "1 numbers from 6 on, in a vector of 6"]
