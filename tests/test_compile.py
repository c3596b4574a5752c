"""The disk cache of compiled kernels does not go stale."""

import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from driftwise import _compile, mirror
from driftwise._compile import _FINGERPRINT, _fingerprint, compile_user_function
from driftwise.domains import kernels as domain_kernels
from driftwise.engine import kernels as engine_kernels
from driftwise.engine import layout, run, steps, tuning
from driftwise.losses import kernels as loss_kernels

SOURCE = Path(_compile.__file__).parent
MODULES = (domain_kernels, loss_kernels, mirror, engine_kernels, layout, run, steps, tuning)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the package's sources, to be changed."""
    shutil.copytree(SOURCE, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "copy"


def append(path: Path) -> None:
    path.write_text(path.read_text() + "\n# changed\n")


def test_a_copy_has_the_same_fingerprint(package: Path) -> None:
    assert _fingerprint(package) == _FINGERPRINT == _fingerprint(SOURCE)


@pytest.mark.parametrize(
    "name",
    ["_compile.py", "mirror.py", "domains/kernels.py", "losses/kernels.py", "engine/kernels.py", "engine/steps.py"],
)
def test_a_changed_kernel_file_changes_it(package: Path, name: str) -> None:
    append(package / name)
    assert _fingerprint(package) != _FINGERPRINT


@pytest.mark.parametrize("name", ["errors.py", "domains/ball.py", "losses/tracking.py"])
def test_an_unrelated_file_does_not(package: Path, name: str) -> None:
    append(package / name)
    assert _fingerprint(package) == _FINGERPRINT


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_cached_kernel_is_stamped_with_it(module: ModuleType) -> None:
    kernels: list[Any] = [value for value in vars(module).values() if isinstance(value, CPUDispatcher)]
    cached = [kernel for kernel in kernels if kernel._cache.cache_path is not None]
    assert cached
    for kernel in cached:
        assert kernel._cache._cache_file._source_stamp[1] == _FINGERPRINT, kernel.__name__


def test_every_module_with_kernels_is_in_the_fingerprint() -> None:
    """Kernels are compiled through `_compile` alone, or else their files would be missing from the digest."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        assert "njit" not in text or "_compile" in text, path


def test_user_functions_are_compiled_with_index_checks() -> None:
    function = compile_user_function(lambda t, w: w[t], numba.float64(numba.int64, numba.float64[::1]))
    assert function(1, np.array([3.0, 4.0])) == 4.0
    with pytest.raises(IndexError):
        function(2, np.array([3.0, 4.0]))


def double(x: float) -> float:
    return 2.0 * x


@pytest.mark.parametrize("error", [RuntimeError, AttributeError])
def test_kernels_work_where_nothing_can_be_cached(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def nowhere(self: object) -> None:
        raise error("no locator available")

    monkeypatch.setattr(CPUDispatcher, "enable_caching", nowhere)
    assert _compile.hot(double)(3.0) == 6.0
