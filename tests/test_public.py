"""Everything public: it is in the reference, its arguments are documented, and unknown ones are refused."""

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import driftwise as dw
from driftwise import regret
from driftwise._validate import Checked
from driftwise.errors import ArgumentError

REFERENCE = (Path(__file__).parents[1] / "docs" / "reference.rst").read_text()

ROOMS = (
    "",
    "adapters.bytewax",
    "adapters.dask",
    "applications",
    "applications.data",
    "applications.rules",
    "control",
    "control.bounds",
    "control.plots",
    "domains",
    "errors",
    "estimators",
    "experiments",
    "experiments.comparison",
    "learners",
    "losses",
    "mirror",
    "movecost",
    "movers",
    "optimum",
    "regret",
    "regret.adversaries",
    "regret.bounds",
    "regret.plots",
    "report",
    "streams",
    "testing",
    "trace",
    "warmup",
)
"""Where public names are, below driftwise."""

HELPERS = {"driftwise.mirror", "driftwise.movecost", "driftwise.applications.rules", "driftwise.warmup"}
"""Modules with names for other rooms in them; of these, what the reference lists is public."""


def public_names(module: ModuleType) -> list[str]:
    """Return `__all__` of a module, or what is defined in it."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    if module.__name__ in HELPERS:
        return re.findall(rf"^   {re.escape(module.__name__)}\.(\w+)$", REFERENCE, re.MULTILINE)
    return [
        name
        for name, found in vars(module).items()
        if not name.startswith("_") and getattr(found, "__module__", "") == module.__name__
    ]


MODULES = [import_module(f"driftwise.{room}".rstrip(".")) for room in ROOMS]
NAMES = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in MODULES
    for name in public_names(module)
    if not isinstance(getattr(module, name), ModuleType)
}
CALLABLES = {id(found): (name, found) for name, found in NAMES.items() if inspect.isroutine(found)}.values()
CLASSES = {id(found): (name, found) for name, found in NAMES.items() if inspect.isclass(found)}.values()
FUNCTIONS = [found for _, found in CALLABLES]
STRICT = [found for found in FUNCTIONS if hasattr(found, "__wrapped__")]
"""Those whose arguments are bound by driftwise itself."""


def documented_in_source(cls: type) -> set[str]:
    """Return the fields of a record that have a docstring of their own, or stand on a line with one that has."""
    lines = inspect.getsource(cls)
    return set(re.findall(r'^    (\w+): [^\n]*\n    """', lines, re.MULTILINE))


def listed() -> list[str]:
    """Return every name that the reference lists."""
    return re.findall(r"^   (driftwise\.[\w.]+)$", REFERENCE, re.MULTILINE)


def keywords(function: Callable[..., Any]) -> dict[str, Any]:
    """Return a None for every argument that can be given by name."""
    parameters = inspect.signature(function).parameters.values()
    return {one.name: None for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}


def resolve(path: str) -> Any:
    """Return what a dotted name stands for."""
    home, _, name = path.rpartition(".")
    return getattr(import_module(home), name)


def undocumented(function: Callable[..., Any], text: str) -> list[str]:
    """Return the arguments that are not among the headings of a docstring."""
    headings = " ".join(re.findall(r"^\*{0,2}[\w, ]+(?= : |$)", text, re.MULTILINE))
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    return [name for name in names if not re.search(rf"\b{name}\b", headings)]


def test_all_of_them_were_found() -> None:
    names = {function.__name__ for function in STRICT}
    assert {"hindsight_optimum", "certificate", "scream", "ogd_static", "moving_blocks", "costs", "decompose"} <= names
    assert {"play", "simulate", "rounded", "check_learner", "identify", "drifting_regression"} <= names
    assert {f"driftwise.{name}" for name in dw.__all__ if not isinstance(getattr(dw, name), ModuleType)} <= set(NAMES)


def test_the_reference_lists_what_there_is_and_nothing_twice() -> None:
    names = listed()
    assert sorted(set(names)) == sorted(names)
    for name in names:
        resolve(name)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_public_name_is_in_the_reference(name: str) -> None:
    if name.startswith("driftwise.errors."):
        assert ".. automodule:: driftwise.errors" in REFERENCE
        return
    assert any(resolve(path) is NAMES[name] for path in listed())


@pytest.mark.parametrize("function", STRICT, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_an_unknown_keyword_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(ArgumentError, match="no_such_argument"):
        function(**keywords(function), no_such_argument=1)


@pytest.mark.parametrize(
    "cls",
    [cls for _, cls in CLASSES if isinstance(cls, Checked) and not inspect.isabstract(cls)],
    ids=lambda c: c.__name__,
)
def test_an_unknown_keyword_of_a_class_is_refused(cls: type) -> None:
    with pytest.raises(ArgumentError, match="no_such_argument"):
        cls(**keywords(cls), no_such_argument=1)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_every_argument_is_documented(function: Callable[..., Any]) -> None:
    text = inspect.getdoc(function)
    assert text is not None
    borrowed = re.search(r"parameters as in `(\w+)`", text)  # the one function that points to another
    assert borrowed is None or getattr(regret, borrowed[1])
    assert borrowed or undocumented(function, text) == []


@pytest.mark.parametrize("cls", [cls for _, cls in CLASSES], ids=lambda cls: cls.__name__)
def test_every_argument_of_a_class_is_documented(cls: type) -> None:
    if issubclass(cls, Exception):
        return
    text = inspect.getdoc(cls)
    assert text is not None
    own = documented_in_source(cls)
    assert [name for name in undocumented(cls, text) if name not in own] == []
