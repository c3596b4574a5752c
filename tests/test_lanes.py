"""Four doubles at once: every operation against NumPy, and compiled against plain Python, bit for bit."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from driftwise._compile import entry
from driftwise._lanes import (
    LOWEST,
    WIDTH,
    any_above,
    exp_less_1_of,
    exp_of,
    greater,
    least_of,
    lesser,
    load,
    most_of,
    root,
    size,
    splat,
    store,
    total,
    totals_of,
    transposed,
    where_above,
)
from driftwise._memory import part
from driftwise._validate import Array

OPERATIONS = (
    "load",
    "splat",
    "add",
    "add a number",
    "subtract",
    "subtract a number",
    "subtract from a number",
    "multiply",
    "multiply a number",
    "divide",
    "divide a number",
    "root",
    "size",
    "lesser",
    "greater",
    "where above",
    "any above",
    "total",
    "least",
    "most",
    "transposed, first",
    "transposed, second",
    "transposed, third",
    "transposed, fourth",
    "totals of",
)


@entry
def _operate(numbers: Array, out: Array) -> None:
    """Do all operations on four rows of four numbers; the first number also stands for itself."""
    x, y, yes, no, number = load(numbers, 0), load(numbers, 4), load(numbers, 8), load(numbers, 12), numbers[0]
    store(out, 0, load(part(numbers, 1), 2))
    store(out, 4, splat(number))
    store(out, 8, x + y)
    store(out, 12, x + number)
    store(out, 16, x - y)
    store(out, 20, y - number)
    store(out, 24, number - y)
    store(out, 28, x * y)
    store(out, 32, number * y)
    store(out, 36, x / y)
    store(out, 40, number / y)
    store(out, 44, root(x))
    store(out, 48, size(x))
    store(out, 52, lesser(x, y))
    store(out, 56, greater(x, y))
    store(out, 60, where_above(x, y, yes, no))
    store(out, 64, splat(1.0 if any_above(x, y) else 0.0))
    store(out, 68, splat(total(x)))
    store(out, 72, splat(least_of(x)))
    store(out, 76, splat(most_of(x)))
    first, second, third, fourth = transposed(x, y, yes, no)
    store(out, 80, first)
    store(out, 84, second)
    store(out, 88, third)
    store(out, 92, fourth)
    store(out, 96, totals_of(x, y, yes, no))


@entry
def _exps(numbers: Array, exps: Array, less_1: Array) -> None:
    for i in range(0, numbers.size, 4):
        store(exps, i, exp_of(load(numbers, i)))
        store(less_1, i, exp_less_1_of(load(numbers, i)))


def _least(x: Array, better: np.ufunc) -> float:
    """Fold as the lanes are folded: (x0, x2) and (x1, x3) first; of equals, the second."""
    a, b = (x[0] if better(x[0], x[2]) else x[2]), (x[1] if better(x[1], x[3]) else x[3])
    return float(a if better(a, b) else b)


def _expected(numbers: Array) -> Array:
    """The same operations, in NumPy."""
    (x, y, yes, no), number = numbers.reshape(4, WIDTH), numbers[0]
    rows = [
        numbers[3:7],
        np.full(4, number),
        x + y,
        x + number,
        x - y,
        y - number,
        number - y,
        x * y,
        number * y,
        x / y,
        number / y,
        np.sqrt(x),
        np.abs(x),
        np.where(x < y, x, y),
        np.where(x > y, x, y),
        np.where(x > y, yes, no),
        np.full(4, float(np.any(x > y))),
        np.full(4, (x[0] + x[2]) + (x[1] + x[3])),
        np.full(4, _least(x, np.less)),
        np.full(4, _least(x, np.greater)),
        *numbers.reshape(4, WIDTH).T,
        [(row[0] + row[2]) + (row[1] + row[3]) for row in (x, y, yes, no)],
    ]
    return np.array(rows)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2e-308, 1e-160, 1e160, -1.7e308, math.inf, -math.inf, 0.1, 1 / 3]


def _cases() -> Array:
    """Return many times sixteen numbers: of all sizes, equal ones, zeros of both signs, infinities."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(200, 16)) * 10.0 ** rng.uniform(-300.0, 300.0, (200, 16))
    near = np.round(rng.normal(size=(100, 16)), 1)
    zeros = rng.choice([0.0, -0.0, 1.0], (50, 16))
    return np.concatenate([wide, near, rng.choice(SPECIAL, (300, 16)), zeros, -zeros])


def _operated(cases: Array) -> Array:
    out = np.full((len(cases), len(OPERATIONS), WIDTH), -7.0)
    with np.errstate(all="ignore"):
        for row, numbers in zip(out, cases, strict=True):
            _operate(numbers.copy(), row.reshape(-1))
    return out


def _grid() -> Array:
    """Return numbers from -inf to 0: near 0, near multiples of ln 2 / 2, and all over the range."""
    rng = np.random.default_rng(1)
    edges = -np.arange(2100) * (0.5 * math.log(2.0))
    parts = [
        [0.0, -0.0, -5e-324, -math.inf, -1e308, -745.0, -708.0, LOWEST, np.nextafter(LOWEST, -800.0), -706.9999],
        -(10.0 ** rng.uniform(-320.0, 0.0, 2000)),
        -rng.uniform(0.0, 707.0, 5000),
        edges[edges > LOWEST],
        np.nextafter(edges, -1000.0)[edges > LOWEST + 1.0],
    ]
    grid = np.concatenate(parts)
    return grid[: grid.size // WIDTH * WIDTH]


def _exps_of(grid: Array) -> tuple[Array, Array]:
    exps, less_1 = np.empty((2, grid.size))
    _exps(grid, exps, less_1)
    return exps, less_1


def _bits(numbers: Array) -> bytes:
    """Return the bytes of numbers, all NaNs alike."""
    return np.where(np.isnan(numbers), np.nan, numbers).tobytes()


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_is_that_of_numpy_bit_for_bit(name: str) -> None:
    cases, at = _cases(), OPERATIONS.index(name)
    with np.errstate(all="ignore"):
        expected = np.array([_expected(numbers) for numbers in cases])[:, at]
    assert _bits(_operated(cases)[:, at]) == _bits(expected)


def test_comparisons_with_nan_are_false() -> None:
    numbers = np.arange(16.0)
    numbers[:4] = math.nan
    out = _operated(numbers[None])[0]
    assert np.array_equal(out[OPERATIONS.index("lesser")], numbers[4:8])
    assert np.array_equal(out[OPERATIONS.index("greater")], numbers[4:8])
    assert np.array_equal(out[OPERATIONS.index("where above")], numbers[12:])
    assert not out[OPERATIONS.index("any above")].any()


def _ulps(found: Array, exact: Array) -> Array:
    return np.asarray(np.abs(found - exact) / np.spacing(np.abs(exact)))


def test_exp_is_within_2_ulp() -> None:
    grid = _grid()
    exps, _ = _exps_of(grid)
    low = grid < LOWEST
    assert not exps[low].any()
    assert _ulps(exps[~low], np.array([math.exp(x) for x in grid[~low]])).max() <= 2.0
    assert exps[:2].tolist() == [1.0, 1.0]


def test_exp_less_1_is_within_2_ulp_down_to_the_smallest_numbers() -> None:
    grid = _grid()
    _, less_1 = _exps_of(grid)
    assert _ulps(less_1, np.array([math.expm1(x) for x in grid])).max() <= 2.0
    assert np.all((less_1 <= 0.0) & (less_1 >= -1.0))


def test_exp_never_rises_above_1_and_never_goes_below_0() -> None:
    exps, _ = _exps_of(_grid())
    assert np.all((exps >= 0.0) & (exps <= 1.0))


PRINT_BITS = """
import sys
from tests.test_lanes import _bits, _cases, _exps_of, _grid, _operated

sys.stdout.buffer.write(_bits(_operated(_cases())) + b"".join(_bits(part) for part in _exps_of(_grid())))
"""


@pytest.mark.parametrize(
    "setting", [{"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}], ids=str
)
def test_plain_python_and_a_generic_processor_give_the_same_bits(setting: dict[str, str], tmp_path: Path) -> None:
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(tmp_path), **setting}
    run = subprocess.run([sys.executable, "-c", PRINT_BITS], env=environment, capture_output=True, check=True)
    here = _bits(_operated(_cases())) + b"".join(_bits(numbers) for numbers in _exps_of(_grid()))
    assert run.stdout == here
