"""The benchmark runs, and its blocks do what `simulate` does; how fast they are is not a test's business."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_controller_has_a_row_and_is_where_simulate_is() -> None:
    command = [sys.executable, "benchmarks/blocks.py", "--rounds", "30"]
    result = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    rows = re.findall(r"^(\w+) +(\d+) +(\d+) +(\d+) +(\d+) +(\S+)$", result.stdout, re.MULTILINE)
    assert [row[0] for row in rows] == [
        "LinearController",
        "GradientController",
        "ScreamController",
        "SelfTunedController",
        "OutputFeedback",
    ]
    for *_, kept, difference in rows:
        assert float(difference) < 1e-9
        assert int(kept) > 100
