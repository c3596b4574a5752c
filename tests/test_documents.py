"""The README, the pages of the documentation and CONTRIBUTING say what is true."""

import contextlib
import doctest
import inspect
import re
import shlex
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from typer.testing import CliRunner

from driftwise.cli import app
from tests.learners.test_ensemble import compose_ader

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = sorted(path.stem for path in (ROOT / "docs").glob("*.rst"))
LISTS = {"reference", "benchmarks"}
"""Pages without code of their own."""


def text_of(page: str) -> str:
    """Return the source of a page."""
    return (ROOT / "docs" / f"{page}.rst").read_text()


def resolves(name: str) -> bool:
    """Tell whether a dotted name stands for something: a module, or what is in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        with contextlib.suppress(ImportError):
            found: Any = import_module(".".join(parts[:length]))
            for part in parts[length:]:
                # A field of a record without a default is an annotation only.
                if not hasattr(found, part):
                    return part in getattr(found, "__annotations__", {})
                found = getattr(found, part)
            return True
    return False


def blocks_of(page: str, language: str) -> list[str]:
    """Return the code blocks of a page in one language."""
    text = text_of(page)
    found = re.findall(rf"^\.\. code-block:: (?:{language})\n\n((?:(?: .*)?\n)+)", text, re.MULTILINE)
    return [textwrap.dedent(block) for block in found]


def test_the_code_in_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 3
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks:
        exec(block, names)  # the README's own words
    assert 0.0 <= names["w"][0] <= 40.0
    assert names["committee"].round == names["controller"].round == 3


@pytest.mark.parametrize("page", [page for page in PAGES if page not in LISTS])
def test_the_code_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRIFTWISE_TOKEN", "")  # a page sets it
    names: dict[str, Any] = {"__name__": "page" if page == "serve" else "__main__"}  # a script is on it, run elsewhere
    for block in blocks_of(page, "python|pycon"):
        if block.startswith(">>>"):
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            runner.run(doctest.DocTestParser().get_doctest(block, names, page, None, None))
            assert runner.summarize(verbose=False).failed == 0
        else:
            exec(block, names)  # the page's own words
    plt.close("all")
    if page == "regret":
        assert names["trace"].total > 0.0
        assert names["best"].optimal
    if page == "reproduction":
        assert len(names["runs"]) == len(list((tmp_path / "my-sweep").glob("*.npz"))) == 15
        assert (tmp_path / "my-sweep" / "report.html").exists()


def test_pages_have_code() -> None:
    assert sum(len(blocks_of(page, "python")) for page in PAGES) >= 15


def test_the_comparison_in_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hours = np.arange(500)
    table = np.stack([np.sin(hours / 24.0), 5.0 + np.sin(hours / 24.0 + hours / 300.0)], axis=1)
    np.savetxt("demand.csv", table, delimiter=",", header="wave,load", comments="")
    (command,) = [block for block in blocks_of("compare", "sh") if "demand.csv" in block]
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "comparison" / "report.html").exists()


def test_the_code_in_contributing_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert len(blocks) >= 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # every one but the first ends with a check


def test_contributing_shows_the_learner_that_is_tested() -> None:
    assert inspect.getsource(compose_ader) in (ROOT / "CONTRIBUTING.md").read_text()


def test_contributing_has_every_room_on_its_map() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    package = ROOT / "src" / "driftwise"
    rooms = [path.name for path in package.iterdir() if (path / "__init__.py").exists()]
    rooms += [path.stem for path in package.glob("*.py") if not path.stem.startswith("__")]
    assert [room for room in rooms if not re.search(rf"`{room}/?`", text)] == []


def test_ci_runs_the_readmes_test_command() -> None:
    (command,) = re.findall(r"^python3 .*python -m pytest.*$", README, re.MULTILINE)
    assert command.startswith("python3 -m venv .venv && ")
    assert "grep -m 1 'python -m pytest' README.md" in (ROOT / ".ci" / "run").read_text()


def test_the_readme_can_be_read_in_two_minutes() -> None:
    assert 100 <= len(README.splitlines()) <= 150
    (command,) = re.findall(r"^python3 .*driftwise reproduce$", README, re.MULTILINE)
    assert command.startswith("python3 -m venv .venv && ")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (ROOT / name).read_text())
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


TESTS_NAMED = r"``(tests/[\w/]+\.py)(?:::(\w+))?``"


@pytest.mark.parametrize("page", [page for page in PAGES if "``tests/" in text_of(page)])
def test_every_test_that_a_page_names_exists(page: str) -> None:
    for path, test in re.findall(TESTS_NAMED, text_of(page)):
        source = (ROOT / path).read_text()
        assert not test or f"def {test}(" in source, f"{path}::{test}"


def test_every_promise_has_two_tests() -> None:
    assert len(re.findall(TESTS_NAMED, text_of("promises"))) >= 2 * 19


def test_every_theorem_has_its_place_in_the_code_and_its_test() -> None:
    rows = [
        row for row in re.split(r"^   \* - ", text_of("theory"), flags=re.MULTILINE)[1:] if row.count("\n     - ") >= 3
    ]
    theorems = [row for row in rows if not row.startswith(("in the paper", "name"))]
    assert len(theorems) >= 9 + 10
    for row in theorems:
        assert re.search(TESTS_NAMED, row), row
        assert re.search(r":(class|func):|certificate|lipschitz|overhead", row), row


@pytest.mark.parametrize("page", PAGES)
def test_every_name_that_a_page_links_to_exists(page: str) -> None:
    linked = set(re.findall(r":(?:class|func|meth|mod|data|attr|exc):`~?\.?(driftwise[\w.]*)`", text_of(page)))
    assert [name for name in sorted(linked) if not resolves(name)] == []
