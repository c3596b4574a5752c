"""The benchmark runs, and finds a key that is wrong."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("bytewax")

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "streams.py"


def test_every_row_is_printed_and_no_key_is_wrong() -> None:
    command = [sys.executable, str(SCRIPT), "--events", "3000", "--keys", "200"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert len(re.findall(r"^(?:empty|a learner).+ 3000 +\d+ +[02] +[\d.]+ +\d+$", result.stdout, re.MULTILINE)) == 3
    assert re.search(r"^keys 200, wrong after 2 aborts: 0$", result.stdout, re.MULTILINE)


def test_wrong_keys_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import util

    spec = util.spec_from_file_location("benchmark_of_streams", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    streams = util.module_from_spec(spec)
    spec.loader.exec_module(streams)
    given = streams.events(300, 20)
    last, _, _ = streams.run(streams.deciding, given, 1)
    assert streams.wrong_keys(given, last.last) == 0
    last.last["key-3"] = np.nextafter(last.last["key-3"], np.inf)
    del last.last["key-5"]
    assert streams.wrong_keys(given, last.last) == 2
