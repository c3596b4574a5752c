"""The benchmark runs, and its rows are what they say; how fast they are is not a test's business."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import driftwise as dw

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "pairs.py"


@pytest.fixture(scope="module")
def pairs() -> ModuleType:
    """Return the benchmark as a module."""
    from importlib import util

    spec = util.spec_from_file_location("benchmark_of_pairs", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_row_is_printed() -> None:
    command = [sys.executable, str(SCRIPT), "--rounds", "20", "--turns", "1"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert re.search(r"^squared losses, d = 10 +\d+ +[\d.]+    at most 12$", result.stdout, re.MULTILINE)
    assert len(re.findall(r"^\d+ proposals +\d+ +[\d.]+ +-?[\d.]+$", result.stdout, re.MULTILINE)) == 3
    assert len(re.findall(r"^d = \d+ +\d+ +[\d.]+ ", result.stdout, re.MULTILINE)) == 8


def test_the_rows_are_what_they_say(pairs: ModuleType) -> None:
    few, *more = pairs.with_more_pairs(20)
    counts = [pairs.played(case)[1] for case in (few, *more)]
    assert [count - counts[0] for count in counts] == [8 * proposals for proposals in pairs.MORE]
    for case in pairs.usual(20):
        assert pairs.played(case)[1] > 90 or isinstance(case.losses, dw.LinearLoss)
    assert max(pairs.FULL) == 64 < min(pairs.DIAGONAL)


def test_the_power_of_growth(pairs: ModuleType) -> None:
    assert pairs.rate((8, 3.0), (16, 12.0)) == pytest.approx(2.0)
    assert pairs.rate((128, 3.0), (256, 6.0)) == pytest.approx(1.0)
