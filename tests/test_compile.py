"""The kinds of compiled function do what they promise, and their disk cache neither goes stale nor gets in the way."""

import ast
import ctypes
import importlib
import inspect
import os
import pkgutil
import pty
import shutil
import subprocess
import sys
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


# Processes of their own: what is kept where, and what a person is told.

KERNELS = """
import numba
from driftwise._compile import compilations, entry, plugin

@entry
def half(x):
    return 0.5 * x

@plugin("int64(P, int64)")
def clear(numbers, size):
    for k in range(size):
        numbers[k] = 0.0
    return 0

@numba.njit(cache=True)
def somebody_elses(x):
    return x + 1.0

if __name__ == "__main__":
    assert compilations() == []
    assert half(3.0) == 1.5 and somebody_elses(1.0) == 2.0 and clear.address > 0
    print("compiled:", *compilations())
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Return a program with two kernels of ours and a compiled function that is not."""
    (tmp_path / "program").mkdir()
    path = tmp_path / "program" / "kernels.py"
    path.write_text(KERNELS)
    return path


def environment(**variables: str) -> dict[str, str]:
    dropped = ("NUMBA_CACHE_DIR", "DRIFTWISE_CACHE_DIR", "NUMBA_DISABLE_JIT")
    return {**{name: value for name, value in os.environ.items() if name not in dropped}, **variables}


def run(script: Path, **variables: str) -> str:
    """Run it as a program that nobody watches, and return what it says."""
    command = [sys.executable, str(script)]
    result = subprocess.run(command, env=environment(**variables), check=True, capture_output=True, text=True)
    assert result.stderr == ""
    return result.stdout


def watched(script: Path, **variables: str) -> str:
    """Run it at a terminal, and return what appears there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, str(script)]
    process = subprocess.Popen(command, env=environment(**variables), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            read = os.read(ours, 4096)
        except OSError:  # what a terminal on Linux says when the last program has left it
            break
        if not read:
            break
        text += read
    os.close(ours)
    assert process.wait() == 0, text.decode()
    return text.decode()


def files_of(folder: Path, kernel: str) -> list[Path]:
    return list(folder.rglob(f"*{kernel}*.nbi"))


def test_compilations_are_counted_and_happen_once(script: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")
    assert run(script, DRIFTWISE_CACHE_DIR=folder) == "compiled: half clear\n"
    assert run(script, DRIFTWISE_CACHE_DIR=folder) == "compiled:\n"


CLOSED = """
import os, tempfile

def closed(*args, **options):
    raise OSError("read-only file system")

tempfile.TemporaryFile = os.replace = os.makedirs = closed
"""


def test_a_filled_folder_need_not_be_writable(script: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")
    run(script, DRIFTWISE_CACHE_DIR=folder)
    script.write_text(CLOSED + KERNELS.replace("@numba.njit(cache=True)", "@numba.njit"))
    os.utime(script, (1.0, 1.0))
    # The kernels stand a few lines lower now, which numba takes for others: these are compiled, and cannot be kept.
    assert run(script, DRIFTWISE_CACHE_DIR=folder) == "compiled: half clear\n"
    script.write_text(KERNELS)
    sitecustomize = tmp_path / "site"
    sitecustomize.mkdir()
    (sitecustomize / "sitecustomize.py").write_text(CLOSED)
    script.write_text(KERNELS.replace("@numba.njit(cache=True)", "@numba.njit"))
    assert run(script, DRIFTWISE_CACHE_DIR=folder, PYTHONPATH=str(sitecustomize)) == "compiled:\n"


def test_files_that_were_cut_short_are_made_again(script: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    run(script, DRIFTWISE_CACHE_DIR=str(folder))
    for path in folder.rglob("*half*.nb?"):
        path.write_bytes(path.read_bytes()[:20])
    assert run(script, DRIFTWISE_CACHE_DIR=str(folder)) == "compiled: half\n"
    assert run(script, DRIFTWISE_CACHE_DIR=str(folder)) == "compiled:\n"


def test_a_folder_of_ones_own_is_for_our_kernels_alone(script: Path, tmp_path: Path) -> None:
    run(script, DRIFTWISE_CACHE_DIR=str(tmp_path / "kept"))
    assert len(files_of(tmp_path / "kept", "half")) == len(files_of(tmp_path / "kept", "clear")) == 1
    assert not files_of(tmp_path / "kept", "somebody_elses")
    assert files_of(script.parent / "__pycache__", "somebody_elses")
    assert not files_of(script.parent, "half")


def test_numbas_folder_is_for_all(script: Path, tmp_path: Path) -> None:
    run(script, NUMBA_CACHE_DIR=str(tmp_path / "all"))
    assert all(files_of(tmp_path / "all", name) for name in ("half", "clear", "somebody_elses"))


def test_ours_goes_before_numbas(script: Path, tmp_path: Path) -> None:
    run(script, NUMBA_CACHE_DIR=str(tmp_path / "all"), DRIFTWISE_CACHE_DIR=str(tmp_path / "kept"))
    assert files_of(tmp_path / "kept", "half")
    assert files_of(tmp_path / "all", "somebody_elses")
    assert not files_of(tmp_path / "all", "half")


def test_without_either_it_is_kept_beside_the_source(script: Path) -> None:
    run(script)
    assert files_of(script.parent / "__pycache__", "half")


def test_a_person_is_told_once_and_only_if_there_is_something_to_wait_for(script: Path, tmp_path: Path) -> None:
    said = watched(script, DRIFTWISE_CACHE_DIR=str(tmp_path / "kept"))
    assert "compiled: half clear" in said
    assert said.count("driftwise: compiling for this machine") == 1
    assert "happens once" in said
    assert "`driftwise warmup`" in said
    again = watched(script, DRIFTWISE_CACHE_DIR=str(tmp_path / "kept"))
    assert again.split() == ["compiled:"]


def test_a_person_is_told_that_nothing_can_be_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel: Any = numba.njit(first)  # without a cache
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(_compile, "_said", False)
    monkeypatch.setattr(_compile, "_compiled", [])
    _compile._note(kernel)
    assert _compile.compilations() == ["first"]
    assert "cannot be kept: set DRIFTWISE_CACHE_DIR to a folder that can be written to" in capsys.readouterr().err


def test_who_compiles_on_purpose_is_not_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(_compile, "_said", False)
    _compile.say_nothing()
    _compile._say_once(True)
    assert capsys.readouterr().err == ""


def test_without_a_terminal_an_interpreter_that_is_asked_by_hand_tells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(_compile, "_said", False)
    for _ in range(2):
        _compile._say_once(True)
    assert capsys.readouterr().err.count("\n") == 1


def test_a_process_without_an_error_stream_compiles_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys, "ps1", raising=False)
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(_compile, "_said", False)
    _compile._say_once(True)
    assert not _compile._said


def test_without_a_compiler_everything_is_plain_python(script: Path) -> None:
    assert run(script, NUMBA_DISABLE_JIT="1") == "compiled:\n"
