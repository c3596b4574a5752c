"""The kinds of compiled function do what they promise, and their disk cache neither goes stale nor gets in the way."""

import ast
import ctypes
import importlib
import inspect
import pkgutil
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import driftwise
from driftwise import _compile
from driftwise._compile import (
    _FINGERPRINT,
    Plugin,
    _fingerprint,
    allocating,
    brief,
    compile_user_function,
    entry,
    helper,
    plugin,
)
from driftwise._memory import call, part
from driftwise.domains import kernels as domain_kernels

SOURCE = Path(_compile.__file__).parent
NAMES = [
    module.name
    for module in pkgutil.walk_packages(driftwise.__path__, "driftwise.")
    if not module.name.endswith("__main__")
]
compiled_only = pytest.mark.skipif(_compile.INTERPRETED, reason="kernels run as plain Python")


def modules_with_kernels() -> list[ModuleType]:
    """Return every module that makes compiled functions."""
    modules = [importlib.import_module(name) for name in NAMES]
    return [module for module in modules if kernels_of(module)]


def kernels_of(module: ModuleType) -> dict[str, Any]:
    """Return the plain functions behind the kernels that a module defines."""
    functions = {
        name: value.function if isinstance(value, Plugin) else value.py_func
        for name, value in vars(module).items()
        if isinstance(value, Plugin | Dispatcher)
    }
    return {name: function for name, function in functions.items() if function.__module__ == module.__name__}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the package's sources, to be changed."""
    shutil.copytree(SOURCE, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "copy"


def counts(package: Path, name: str) -> bool:
    """Tell whether a change of a file would be noticed."""
    path = package / name
    text = path.read_text()
    path.write_text(f"{text}\n# changed\n")
    changed = _fingerprint(package) != _FINGERPRINT
    path.write_text(text)
    return changed


def test_a_copy_has_the_same_fingerprint(package: Path) -> None:
    assert _fingerprint(package) == _FINGERPRINT == _fingerprint(SOURCE)


@pytest.mark.parametrize(
    "name",
    [
        "_compile.py",
        "_memory.py",
        "_lanes.py",
        "mirror.py",
        "domains/kernels.py",
        "losses/kernels.py",
        "engine/hedge.py",
        "engine/layout.py",
        "engine/rounds.py",
        "engine/run.py",
        "control/policies/layout.py",
        "control/policies/engine.py",
    ],
)
def test_a_changed_kernel_file_changes_it(package: Path, name: str) -> None:
    assert counts(package, name)


@pytest.mark.parametrize("name", ["errors.py", "domains/ball.py", "losses/tracking.py"])
def test_an_unrelated_file_does_not(package: Path, name: str) -> None:
    assert not counts(package, name)


@compiled_only
def test_every_module_with_kernels_is_in_the_fingerprint(package: Path) -> None:
    names = [Path(str(module.__file__)).relative_to(SOURCE) for module in modules_with_kernels()]
    assert len(names) > 10
    missing = [str(name) for name in names if not counts(package, str(name))]
    assert not missing


@compiled_only
def test_every_file_that_kernels_take_something_from_is_in_the_fingerprint(package: Path) -> None:
    """Numbers and functions of another file become part of the machine code, which must not outlive them."""
    sources = set[str]()
    for module in modules_with_kernels():
        used = {name for function in kernels_of(module).values() for name in function.__code__.co_names}
        for statement in ast.walk(ast.parse(inspect.getsource(module))):
            if not (isinstance(statement, ast.ImportFrom) and str(statement.module).startswith("driftwise.")):
                continue
            if used & {alias.asname or alias.name for alias in statement.names}:
                home = SOURCE / str(statement.module).removeprefix("driftwise.").replace(".", "/")
                files = [home / f"{alias.name}.py" for alias in statement.names] if home.is_dir() else []
                files = [file for file in files if file.exists()] or [home.with_suffix(".py")]
                sources.update(str(file.relative_to(SOURCE)) for file in files)
    assert "engine/layout.py" in sources
    missing = sorted(name for name in sources if not counts(package, name))
    assert not missing


@compiled_only
def test_every_entry_is_stamped_with_it() -> None:
    modules_with_kernels()
    ours = [kernel for kernel in _compile._OURS if kernel.py_func.__module__.startswith("driftwise.")]
    assert len(ours) > 20
    for kernel in ours:
        assert _FINGERPRINT in kernel._cache._cache_file._source_stamp, kernel.__name__


@compiled_only
@pytest.mark.parametrize("name", ["project_ball", "project_box"])
def test_every_plugin_is_stamped_with_it(name: str) -> None:
    chosen = getattr(domain_kernels, name)
    assert chosen.address > 0
    assert _FINGERPRINT in chosen.kernel._cache._cache_file._source_stamp


def test_kernels_are_compiled_through_one_file_alone() -> None:
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert "njit" not in text or "_compile" in text, path
        assert 'inline="always"' not in text, path


# The kinds.


@helper
def twice(x: float) -> float:
    return 2.0 * x


@plugin("int64(P, int64)")
def count_up(numbers: Any, size: int) -> int:
    for k in range(size):
        numbers[k] = twice(float(k))
    return size


@entry
def total_by_address(address: int, numbers: Any) -> float:
    call(address, part(numbers, 0), numbers.size)
    total = 0.0
    for k in range(numbers.size):
        total += numbers[k]
    return total


def first(x: Any) -> float:
    return float(x[0])


def doubled(x: Any) -> Any:
    return 2.0 * x


@pytest.mark.parametrize("kind", [entry, brief, allocating])
def test_python_calls_entries(kind: Any) -> None:
    assert kind(first)(np.array([3.0, 4.0])) == 3.0


def test_an_allocating_entry_returns_arrays() -> None:
    np.testing.assert_array_equal(allocating(doubled)(np.array([3.0, 4.0])), [6.0, 8.0])


@compiled_only
def test_a_helper_is_for_compiled_callers() -> None:
    dispatcher: Any = twice
    assert dispatcher.py_func(3.0) == 6.0
    assert dispatcher.targetoptions["no_cpython_wrapper"]
    assert dispatcher._cache.cache_path is None


def test_a_plugin_is_called_by_its_address() -> None:
    assert "address" not in vars(plugin("int64(P, int64)")(count_up.function))
    assert total_by_address(count_up.address, np.zeros(4)) == 2.0 * (0 + 1 + 2 + 3)
    assert count_up.address == count_up.address


@compiled_only
def test_a_plugin_is_a_c_function() -> None:
    numbers = np.zeros(3)
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
    assert prototype(count_up.address)(numbers.ctypes.data, 3) == 3
    np.testing.assert_array_equal(numbers, [0.0, 2.0, 4.0])


def test_user_functions_are_compiled_with_index_checks() -> None:
    function = compile_user_function(lambda t, w: w[t], numba.float64(numba.int64, numba.float64[::1]))
    assert function(1, np.array([3.0, 4.0])) == 4.0
    with pytest.raises(IndexError):
        function(2, np.array([3.0, 4.0]))


@compiled_only
@pytest.mark.parametrize("error", [RuntimeError, AttributeError])
def test_kernels_work_where_nothing_can_be_cached(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def nowhere(function: object) -> None:
        raise error("no locator available")

    monkeypatch.setattr(_compile, "_Cache", nowhere)
    assert entry(first)(np.array([3.0])) == 3.0
    fresh = plugin("int64(P, int64)")(count_up.function)
    assert total_by_address(fresh.address, np.zeros(3)) == 6.0
    assert fresh.kernel._cache.cache_path is None
