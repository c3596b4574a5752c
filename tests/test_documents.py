"""The README and CONTRIBUTING say what is true."""

import inspect
import re
import shlex
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from typer.testing import CliRunner

from driftwise.cli import app
from tests.learners.test_ensemble import compose_ader

ROOT = Path(__file__).parents[1]


def test_the_code_in_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 7
    names = {"__name__": "__main__", "gradient": np.zeros(1)}
    for block in blocks:
        exec(block, names)  # the README's own words
    assert names["trace"].total > 0.0  # type: ignore[attr-defined]
    assert names["best"].optimal  # type: ignore[attr-defined]
    assert len(names["runs"]) == len(list((tmp_path / "my-sweep").glob("*.npz"))) == 15


def test_the_comparison_in_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hours = np.arange(500)
    table = np.stack([np.sin(hours / 24.0), 5.0 + np.sin(hours / 24.0 + hours / 300.0)], axis=1)
    np.savetxt("demand.csv", table, delimiter=",", header="wave,load", comments="")
    (command,) = re.findall(r"^driftwise (compare .*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    result = CliRunner().invoke(app, shlex.split(command))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "comparison" / "report.html").exists()


def test_the_code_in_contributing_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # the second and the third one end with a check


def test_contributing_shows_the_learner_that_is_tested() -> None:
    assert inspect.getsource(compose_ader) in (ROOT / "CONTRIBUTING.md").read_text()


def test_ci_runs_the_readmes_test_command() -> None:
    (command,) = re.findall(r"^python3 .*python -m pytest.*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert command.startswith("python3 -m venv .venv && ")
    assert "grep -m 1 'python -m pytest' README.md" in (ROOT / ".ci" / "run").read_text()
