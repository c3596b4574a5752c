"""The benchmark runs and prints every row; how fast they are is not a test's business."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fleet.py"


def test_every_row_is_printed(tmp_path: Path) -> None:
    sizes = ["--members", "20", "--many", "50", "--turns", "1", "--folder", str(tmp_path)]
    result = subprocess.run([sys.executable, str(SCRIPT), *sizes], check=True, capture_output=True, text=True)
    lines = result.stdout.splitlines()
    assert len(lines) == 17
    assert sum("(goal " in line for line in lines) == 8
