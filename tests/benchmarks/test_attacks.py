"""The attack runs, and nothing it counts as broken happens."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_nothing_is_broken(tmp_path: Path) -> None:
    sizes = ["--rounds", "12", "--crafted", "40", "--kills", "5", "--damage", "9", "--json", str(tmp_path / "totals")]
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "benchmarks/attacks.py", *sizes],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    totals = json.loads((tmp_path / "totals").read_text())
    assert totals["broken"] == 0
    assert totals["faults"] > 2 * totals["rounds"] > 100
    assert totals["refused"] > 40
    assert totals["flipped"] == totals["cut"] > 1000
