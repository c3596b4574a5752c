"""The files around the package: they name the version that it has, and commands that are there."""

import inspect
import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

import driftwise

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def test_the_citation_is_of_this_version() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == driftwise.__version__
    assert citation["references"][0]["title"] in (ROOT / "README.md").read_text("utf-8")


def test_the_changelog_begins_with_this_version_and_the_day_of_its_release() -> None:
    newest = re.search(r"^## (\S+)(.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert newest is not None
    day = read(ROOT / "CITATION.cff")["date-released"]
    assert newest.groups() == (driftwise.__version__, f" ({day})")


def test_there_are_release_notes_of_this_version() -> None:
    notes = (ROOT / "docs" / "releases.rst").read_text("utf-8")
    headings = re.findall(r"^(\d\S+)\n-+$", notes, re.M)
    assert headings[0] == driftwise.__version__


def test_the_page_for_programs_names_what_there_is() -> None:
    text = (ROOT / "llms.txt").read_text("utf-8")
    named = re.findall(r"^- `(driftwise\.[\w.]+)\(([^)]*)\)`", text, re.M)
    assert len(named) >= 30
    for path, arguments in named:
        home, _, name = path.rpartition(".")
        there = inspect.signature(getattr(import_module(home), name)).parameters
        assert set(filter(None, arguments.split(", "))) <= set(there), path
    pages = re.findall(r"\(([\w/]+)\.html\)", text)
    assert [page for page in pages if page != "gallery/index" and not (ROOT / "docs" / f"{page}.rst").exists()] == []


def test_workflows_call_scripts_that_are_there() -> None:
    called = set()
    for path in WORKFLOWS:
        for job in read(path)["jobs"].values():
            assert "runs-on" in job
            for step in job["steps"]:
                assert ("run" in step) != ("uses" in step)
                called |= set(re.findall(r"^\.ci/\w+", step.get("run", ""), re.M))
    assert called == {".ci/run", ".ci/release"}
    assert all(os.access(ROOT / script, os.X_OK) for script in called)


def test_only_the_job_that_publishes_can_and_only_from_a_tag() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]
    assert "tag" in jobs["publish"]["if"]
    assert jobs["publish"]["needs"] == "build"


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_for_issues_ask_something(path: Path) -> None:
    form = read(path)
    assert {"name", "description", "body"} <= set(form)
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert asked
    assert len({part["id"] for part in asked}) == len(asked)
    assert all(part["attributes"]["label"] for part in asked)
    assert any(part.get("validations", {}).get("required") for part in asked)


def test_hooks_use_the_tools_of_the_developers_extra() -> None:
    hooks = read(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    floor = re.search(r'"(ruff>=[\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert floor is not None
    assert {tool for hook in hooks for tool in hook["additional_dependencies"] if "ruff" in tool} == {floor[1]}
