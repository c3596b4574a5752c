"""Every example runs as it stands, in a process of its own, and says something; so does the README's picture."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LONGEST = 60
"""Lines of an example; more would not be read."""


def run(folder: Path, *command: str) -> str:
    """Run a script in a folder, and return what it printed; a warning is an error."""
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-W", "error", *command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    printed = run(tmp_path, str(path))
    assert 2 <= len(printed.splitlines()) <= 20
    assert all(file.suffix == ".png" for file in tmp_path.iterdir())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_says_what_one_sees_and_is_on_its_page(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= LONGEST
    assert "You see" in (ast.get_docstring(ast.parse(text)) or "").replace("\n", " ")
    assert f"../examples/{path.name}\n" in (ROOT / "docs" / "examples.rst").read_text()


def test_the_picture_of_the_readme_can_be_drawn(tmp_path: Path) -> None:
    # The series of the README comes with an extra; this one comes with the package.
    script = str(ROOT / "docs" / "pictures.py")
    printed = run(tmp_path, script, "--series", "synthetic-traffic", "--out", "picture.png")
    assert "SelfTunedScream (ours)" in printed
    assert "Autoscaler rule, tuned in hindsight" in printed
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
