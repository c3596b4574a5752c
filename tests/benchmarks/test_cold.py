"""The benchmark runs, and measures what it says; how long compilation takes is not a test's business."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "cold.py"


@pytest.fixture(scope="module")
def cold() -> ModuleType:
    """Return the benchmark as a module."""
    from importlib import util

    spec = util.spec_from_file_location("benchmark_of_cold_starts", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_prints_this_version_beside_another() -> None:
    command = [sys.executable, str(SCRIPT), "--quick", "--against", str(ROOT / "src")]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert len(re.findall(r"^import a learner +[\d.]+ +[\d.]+ *$", result.stdout, re.MULTILINE)) == 2


def test_every_row_is_a_program(cold: ModuleType) -> None:
    for row in (*cold.COLD, *cold.WARM):
        compile(row.code, row.label, "exec")
    assert [row.target for row in cold.COLD] == [None, 10.0, 10.0, 10.0, 6.0, 6.0, 3.0, 12.0, 12.0, 4.0, 4.0, 60.0]
    assert len(cold.WARM) == 4


def test_what_does_not_run_has_no_number(cold: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert cold.seconds("raise ValueError", ROOT / "src", "nowhere", "process_time") is None
    row = cold.Row("nothing", "", 1.0)
    cold.report("Title", [(row, [None, 2.0])], ["this", "other"])
    assert re.search(r"^nothing +- +2\.00 +at most 1$", capsys.readouterr().out, re.MULTILINE)


def test_extras_are_counted_from_the_row_without_them(cold: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    base, extra = cold.Row("base", "", 6.0), cold.Row("extra", "", 4.0, "base")
    cold.report("Title", [(base, [5.0]), (extra, [7.5])], ["this"])
    assert re.search(r"^extra: more +2\.50 +at most 4$", capsys.readouterr().out, re.MULTILINE)
