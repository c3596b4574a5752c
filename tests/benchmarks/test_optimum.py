"""The benchmark runs and both solvers agree; how fast they are is not a test's business."""

import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "optimum.py"


def test_both_solvers_agree_and_every_size_is_printed() -> None:
    command = [sys.executable, str(SCRIPT), "--rounds", "800", "--beside", "200"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert len(re.findall(r"^ +(?:200|400|800) ", result.stdout, re.MULTILINE)) == 9
    ours, theirs = re.findall(r"cost (\S+)", result.stdout)
    assert abs(float(ours) / float(theirs) - 1.0) <= 1e-6
    assert "cvxpy, Clarabel / active set" in result.stdout
    gaps = re.findall(r"rounds x \d+, .* relative gap (\S+)", result.stdout)
    assert len(gaps) == 3
    assert max(float(gap) for gap in gaps) <= 1e-6
