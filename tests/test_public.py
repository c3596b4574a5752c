"""Everything public: it is in the reference, documented with its arguments and an example, and refuses unknown ones."""

import ast
import doctest
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
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
    "adapters.control",
    "adapters.dask",
    "adapters.gymnasium",
    "adapters.jax",
    "adapters.portfolio",
    "adapters.river",
    "adapters.sklearn",
    "applications",
    "applications.data",
    "applications.rules",
    "control",
    "control.bounds",
    "control.costs",
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
    "serve",
    "streams",
    "testing",
    "trace",
    "warmup",
)
"""Where public names are, below driftwise."""

HELPERS = {
    "driftwise.control.costs",
    "driftwise.mirror",
    "driftwise.movecost",
    "driftwise.applications.rules",
    "driftwise.warmup",
}
"""Modules with names for other rooms in them; of these, what the reference lists is public."""


def public_names(module: ModuleType) -> list[str]:
    """Return `__all__` of a module, or what is defined in it."""
    if module.__name__ in HELPERS:
        return re.findall(rf"^   {re.escape(module.__name__)}\.(\w+)$", REFERENCE, re.MULTILINE)
    if hasattr(module, "__all__"):
        return list(module.__all__)
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
DOCUMENTED = dict(sorted((*CALLABLES, *CLASSES)))
"""Functions and classes, each once, whatever the number of its names."""
CONSTANTS = {name for name, found in NAMES.items() if not (inspect.isroutine(found) or inspect.isclass(found))}
"""Tables and numbers: they take nothing and have no docstring of their own, but one below them in the source."""

BETWEEN_ROOMS = {
    "Block": {"check", "nearest"},
    "CostSequence": {"from_data"},
    "DaskFleet": {"cut"},
    "DataCost": {"bend", "expression", "of_round", "smoothed", "with_data"},
    "DataLoss": {"admissible", "bends", "conjugates", "expression", "pulls", "scores", "units"},
    "DisturbanceActionController": {"runs_compiled"},
    "Ensemble": {"adopt", "price_round", "runs_compiled"},
    "PolicyLoop": {"adopt", "attend", "plugins", "runs_compiled"},
    "SelfTunedController": {"attend"},
    "SelfTunedLearner": {"prepare", "ran", "ready", "runs_compiled"},
}
"""Methods that rooms of driftwise call on each other's objects, compiled runs and solvers above all, and no user has a
reason to: for these a sentence is enough."""


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


def section(text: str, name: str) -> str:
    """Return a section of a numpydoc docstring, without its heading."""
    found = re.search(rf"^{name}\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


@cache
def examples(module: str) -> dict[str, list[doctest.Example]]:
    """Return the examples that doctest finds in a module, by the name of what they belong to."""
    return {test.name: test.examples for test in doctest.DocTestFinder().find(sys.modules[module])}


def states(signature: inspect.Signature, entry: str) -> Iterator[str]:
    """Yield what an entry of Parameters, such as ``size : int, default 3``, says that the signature does not."""
    head, _, kind = entry.partition(" : ")
    names = [name.strip(" *") for name in head.split(",")]
    said = re.search(r"\bdefault (.+)$", kind)
    values = said[1].split(" and ") if said else []
    for name, value in zip(
        names, values * len(names) if len(values) == 1 else values or [None] * len(names), strict=True
    ):
        if name not in signature.parameters:
            yield f"there is no {name}"
            continue
        default = signature.parameters[name].default
        if value is not None:
            known = getattr(dw.control, value, None) or eval(value, {})  # a class, or a number or text
            if type(known) is not type(default) or known != default:
                yield f"{name}: not {default!r}"
        elif kind.endswith("optional"):
            # What is left out is nothing, or something that is not a number or a text.
            if default is inspect.Parameter.empty or (default and isinstance(default, float | int | str)):
                yield f"{name}: {default!r} is left out"
        elif kind and default is not inspect.Parameter.empty:
            yield f"{name}: {default!r} is not said"


def methods(cls: type) -> Iterator[tuple[type, Callable[..., Any]]]:
    """Yield the public methods of a class that driftwise wrote, with the classes that they are of."""
    for name in dir(cls):
        owner = next((kind for kind in cls.__mro__ if name in vars(kind)), object)
        found = inspect.getattr_static(cls, name)
        function = getattr(found, "__func__", found)  # of a class method
        if not name.startswith("_") and owner.__module__.startswith("driftwise") and inspect.isfunction(function):
            yield owner, function


def properties(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public properties of a class, cached ones included."""
    for name in dir(cls):
        found = inspect.getattr_static(cls, name)
        function = getattr(found, "fget", None) or getattr(found, "func", None)
        if not name.startswith("_") and getattr(function, "__module__", "").startswith("driftwise"):
            yield name, found


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


@pytest.mark.parametrize("name", DOCUMENTED)
def test_everything_has_a_summary_what_it_takes_and_an_example_that_runs(name: str) -> None:
    found = DOCUMENTED[name]
    text = inspect.getdoc(found) or ""
    assert found.__doc__, "there is only the docstring of a parent"
    assert re.match(r"[^\n]+\.(\n\n|$)", text), "a sentence or a formula in one line comes first"
    # An error takes its message, as those of Python do.
    takes = [] if inspect.isclass(found) and issubclass(found, Exception) else list(inspect.signature(found).parameters)
    assert not takes or section(text, "Parameters") or section(text, "Attributes")
    assert ">>>" in section(text, "Examples")
    run = examples(found.__module__)[f"{found.__module__}.{found.__qualname__}"]
    assert run
    assert not any(example.options.get(doctest.SKIP) for example in run)


@pytest.mark.parametrize("name", sorted(CONSTANTS))
def test_a_constant_says_what_it_is(name: str) -> None:
    home, _, short = name.rpartition(".")
    told = []
    for path, module in list(sys.modules.items()):
        if path.startswith("driftwise") and getattr(module, short, None) is NAMES[name]:
            lines = ast.parse(inspect.getsource(module)).body
            for line, following in itertools.pairwise(lines):
                targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
                if short in [getattr(target, "id", "") for target in targets]:
                    told.append(isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant))
    assert any(told), f"{short} of {home} has no docstring below it"


@pytest.mark.parametrize("name", DOCUMENTED)
def test_names_and_defaults_are_those_of_the_signature(name: str) -> None:
    found = DOCUMENTED[name]
    if inspect.isclass(found) and issubclass(found, Exception):
        return
    entries = re.findall(r"^\S.*$", section(inspect.getdoc(found) or "", "Parameters"), re.MULTILINE)
    wrong = {entry: list(states(inspect.signature(found), entry)) for entry in entries}
    assert {entry: what for entry, what in wrong.items() if what} == {}


@pytest.mark.parametrize("cls", [cls for _, cls in CLASSES], ids=lambda cls: cls.__name__)
def test_every_method_is_documented_with_its_arguments(cls: type) -> None:
    """They may be documented where a parent first has the method."""
    missing = []
    for owner, method in methods(cls):
        texts = [
            inspect.getdoc(vars(kind)[method.__name__]) or "" for kind in cls.__mro__ if method.__name__ in vars(kind)
        ]
        internal = any(method.__name__ in BETWEEN_ROOMS.get(kind.__name__, ()) for kind in cls.__mro__)
        arguments = set.intersection(*(set(undocumented(method, text)) for text in texts)) - {"cls"}
        if not any(texts) or (arguments and not internal):
            missing.append(f"{owner.__name__}.{method.__name__}: {sorted(arguments)}")
    assert missing == []
    assert [name for name, found in properties(cls) if not inspect.getdoc(found)] == []


def test_what_rooms_do_with_each_other_exists() -> None:
    """A method that is gone, or has its arguments documented by now, needs no entry."""
    ours = [owner for _, cls in CLASSES for owner in cls.__mro__ if owner.__module__.startswith("driftwise")]
    every = {owner.__name__: owner for owner in ours}
    for name, short in ((name, short) for name, group in BETWEEN_ROOMS.items() for short in group):
        method = inspect.unwrap(getattr(every[name], short))
        assert undocumented(method, inspect.getdoc(method) or ""), f"{name}.{short}"
