"""The benchmark runs and its contenders agree; how fast they are is not a test's business."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "rounds.py"


def test_every_contender_agrees_and_every_ratio_is_printed() -> None:
    result = subprocess.run(
        [sys.executable, str(SCRIPT), "--rounds", "300"], check=True, capture_output=True, text=True
    )
    for label in ("NumPy / play", "NumPy / act + observe", "import a learner", "first play"):
        assert label in result.stdout
