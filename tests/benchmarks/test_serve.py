"""The measurement of the service runs, and prints what the page quotes."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_all_rows_are_measured() -> None:
    sizes = ["--requests", "20", "--repeats", "1", "--connections", "2", "--learners", "3"]
    result = subprocess.run(
        [sys.executable, "benchmarks/serve.py", *sizes], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    rows = re.findall(r"^(\w.*?) +2 +(\d+) +([\d.]+) +([\d.]+) +([\d.]+)$", result.stdout, re.MULTILINE)
    assert [row[0] for row in rows] == [
        "empty endpoint", "act + observe, no fsync", "act + observe, fsync", "GET of a learner",
    ]  # fmt: skip
    assert rows[0][2] == "1.00"
    assert all(float(row[1]) > 0.0 for row in rows)
    assert re.search(
        r"^a checkpoint of 3 learners: \d+\.\d+ s; none waited longer for it than", result.stdout, re.MULTILINE
    )
    assert re.search(r"after kill -9 with 3 learners \(\d+\.\d MB in the folder\)$", result.stdout, re.MULTILINE)
