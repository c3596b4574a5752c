"""The README and CONTRIBUTING say what is true."""

import inspect
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np

from tests.learners.test_ensemble import compose_ader

ROOT = Path(__file__).parents[1]


def test_the_code_in_the_readme_runs() -> None:
    mpl.use("Agg")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 6
    names = {"gradient": np.zeros(10)}
    for block in blocks:
        exec(block, names)  # the README's own words
    assert names["trace"].total > 0.0  # type: ignore[attr-defined]
    assert names["best"].optimal  # type: ignore[attr-defined]


def test_the_code_in_contributing_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # the second and the third one end with a check


def test_contributing_shows_the_learner_that_is_tested() -> None:
    assert inspect.getsource(compose_ader) in (ROOT / "CONTRIBUTING.md").read_text()


def test_ci_runs_the_readmes_test_command() -> None:
    (command,) = re.findall(r"^python3 .*pytest$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert command.startswith("python3 -m venv .venv && ")
    assert "grep -m 1 'pytest$' README.md" in (ROOT / ".ci" / "run").read_text()
