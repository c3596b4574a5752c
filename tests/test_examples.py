"""Every example runs as it stands, and says something; so does the README's picture."""

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LONGEST = 60
"""Lines of an example; more would not be read."""


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert 2 <= len(printed.splitlines()) <= 20
    assert all(file.suffix == ".png" for file in tmp_path.iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_one_sees(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= LONGEST
    assert "You see" in (ast.get_docstring(ast.parse(text)) or "").replace("\n", " ")


def test_the_picture_of_the_readme_can_be_drawn(tmp_path: Path) -> None:
    # The series of the README comes with an extra; this one comes with the package.
    command = [sys.executable, "-W", "error", "docs/pictures.py", "--series", "synthetic-traffic"]
    command += ["--out", str(tmp_path / "picture.png")]
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    assert "SelfTunedScream (ours)" in printed
    assert "Autoscaler rule, tuned in hindsight" in printed
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
