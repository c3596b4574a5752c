"""The one place where driftwise meets numba: three kinds of compiled function, cached on disk without going stale.

Users wait for compilation, so each kind compiles as little as its job allows:

* an **entry** is called from Python. It is kept on disk, so it is compiled once per machine;
* a **helper** is called from compiled code only and is inlined into its caller: no Python wrapper, no file; one that
  is called rarely, or from several places, is set **aside**, which does not force it inline;
* a **plugin** is called by its address, as a C function of pointers and integers. It is kept on disk like an entry, and
  all its callers share its machine code: a round of a family is compiled once for the two verbs and for whole runs, and
  a domain or a mirror map that nobody uses is not compiled at all.

numba discards cached code when the kernel's own file has changed, but not when a kernel that it calls from another file
has. Ours call across files, so the stamp that numba compares is a digest of all of them: it does not depend on
timestamps, which installing and copying change. The folder in ``DRIFTWISE_CACHE_DIR`` need not be writable, so a
container can ship a filled one. Without a folder, every process compiles for itself.

Arithmetic follows IEEE order (no fast-math, no fused operations), which is what lets one round and a whole run agree
bit for bit. ``error_model="numpy"`` makes division by zero give inf instead of raising, so inner loops carry no checks.

With ``NUMBA_DISABLE_JIT=1`` everything here is plain Python: slow, and with every index checked (see `_memory`).
"""

import contextlib
import functools
import hashlib
import os
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import caching, event, sigutils
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.compiler import Compiler

F = TypeVar("F", bound=Callable[..., Any])

LARGEST = 1e100
"""Largest magnitude accepted in any number: squares and sums of such numbers still do not overflow."""

_config: Any = numba.config

INTERPRETED = bool(_config.DISABLE_JIT)
"""Whether kernels run as plain Python."""

RULES = {"error_model": "numpy", "boundscheck": False}

_OURS: set[Any] = set()

_LOCK = threading.RLock()

_lost: list[str] = []


def _fingerprint(package: Path) -> str:
    """Return a digest of every source file that takes part in compiled code."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if path.name == "_compile.py" or re.search(rb"from driftwise\._(compile|memory|lanes) import", source):
            digest.update(source)
    return digest.hexdigest()


_FINGERPRINT = _fingerprint(Path(__file__).parent)


_numba: Any = caching
_Compiler: Any = Compiler
_Locator: Any = getattr(_numba, "UserProvidedCacheLocator", None) or _numba._UserProvidedCacheLocator


class _GivenFolder(_Locator):  # type: ignore[misc]
    """The folder in ``DRIFTWISE_CACHE_DIR``; if it exists, it need not be writable."""

    def ensure_cache_path(self) -> None:
        if not os.path.isdir(self.get_cache_path()):
            super().ensure_cache_path()


class _Files(_numba.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [_GivenFolder, *_numba.CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class _Cache(_numba.FunctionCache):  # type: ignore[misc]
    _impl_class = _Files

    def load_overload(self, sig: Any, target: Any) -> Any:
        try:
            return super().load_overload(sig, target)
        except Exception:  # such as a truncated file: what is on disk is only a copy, and is rebuilt
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:  # the folder cannot be written to, or the disk is full
            _lost.append(self._py_func.__name__)


def _keep(kernel: Any, function: Callable[..., Any]) -> None:
    """Let numba keep a kernel on disk under the digest of all sources; without a folder, do nothing."""
    with _LOCK:
        usual = _config.CACHE_DIR
        try:
            _config.CACHE_DIR = os.environ.get("DRIFTWISE_CACHE_DIR") or usual
            kernel._cache = _Cache(function)
            kernel._cache._cache_file._source_stamp = _FINGERPRINT
        except (AttributeError, RuntimeError):
            kernel._cache = NullCache()
        finally:
            _config.CACHE_DIR = usual


def _entry(function: F, **options: Any) -> F:
    compiler: Any = numba.njit
    kernel: Any = compiler(no_cfunc_wrapper=True, **options, **RULES)(function)
    if not INTERPRETED:
        _keep(kernel, function)
        _OURS.add(kernel)
    return cast(F, kernel)


def entry(function: F) -> F:
    """Compile a function that Python calls; it may neither allocate nor return arrays."""
    return _entry(function, nogil=True, _nrt=False)


def brief(function: F) -> F:
    """Compile an entry that is too short to be worth releasing the interpreter lock for."""
    return _entry(function, _nrt=False)


def allocating(function: F) -> F:
    """Compile an entry that may allocate and return arrays, at the cost of reference counting."""
    return _entry(function, nogil=True)


class _PartCompiler(_Compiler):  # type: ignore[misc]
    """Leaves the optimisation of an inlined function to its caller: once, not once per level of inlining."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = target.codegen().create_library("part")
            library._optimize_final_module = lambda: None
        super().__init__(typing, target, library, *rest)


def _part(function: F, **options: Any) -> F:
    compiler: Any = numba.njit
    kind = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False, "pipeline_class": _PartCompiler}
    return cast(F, compiler(**kind, **options, **RULES)(function))


def helper(function: F) -> F:
    """Compile a function for compiled callers only, and inline it into them."""
    return _part(function, forceinline=True)


def aside(function: F) -> F:
    """Compile a helper that is called rarely, or from several places, without forcing it inline."""
    return _part(function)


class Plugin:
    """A function that compiled code calls by its address, compiled when the address is first asked for."""

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        self.function, self.signature = function, signature
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    @functools.cached_property
    def address(self) -> int:
        """Address of the machine code in this process."""
        if INTERPRETED:
            _PLAIN_PLUGINS.append(self.function)
            return len(_PLAIN_PLUGINS)
        options = {"nopython": True, "_nrt": False, **RULES}
        with _LOCK:
            if not hasattr(self, "kernel"):
                kernel: Any = _Kernel(self.function, sigutils.normalize_signature(self.signature), {}, options)
                _keep(kernel, self.function)
                kernel.compile()
                self.kernel = kernel
        return cast(int, self.kernel.address)


_PLAIN_PLUGINS: list[Callable[..., Any]] = []


def plain_plugin(address: int) -> Callable[..., Any]:
    """Return the function behind an address, where kernels run as plain Python."""
    return _PLAIN_PLUGINS[address - 1]


def plugin(signature: str) -> Callable[[Callable[..., Any]], Plugin]:
    """Make a C function with a signature such as ``"void(P, P, int64)"``, where P is a pointer to doubles."""
    full = signature.replace("P", "CPointer(float64)")
    return lambda function: Plugin(function, full)


def compile_user_function(function: Callable[..., Any], signature: Any) -> Callable[..., Any]:
    """Compile a user's function for one signature, with index checks, or raise numba's error."""
    return cast(
        Callable[..., Any],
        numba.njit(signature, boundscheck=True, error_model="python")(function),
    )


def compile_around(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that takes a user's compiled functions; the result cannot be kept on disk."""
    return cast(Callable[..., Any], numba.njit(nogil=True, error_model="numpy")(function))


_compiled: list[str] = []
_said = False
_logged = False


def compilations() -> list[str]:
    """Return the names of the kernels that this process has compiled rather than read from disk."""
    return list(_compiled)


def lost() -> list[str]:
    """Return the names of the kernels that this process has compiled and could not keep on disk."""
    return list(_lost)


def say_nothing() -> None:
    """Turn off the notice about compiling, in a process that compiles on purpose."""
    global _said
    _said = True


def say_in_logs() -> None:
    """Give the notice about compiling without a terminal too, in a process whose log is what people read."""
    global _logged
    _logged = True


def _say_once(kept: bool) -> None:
    """Tell a waiting user, once per process, that kernels are being compiled."""
    global _said
    someone = hasattr(sys, "ps1") or (sys.stderr is not None and (_logged or sys.stderr.isatty()))
    if _said or not someone:
        return
    _said = True
    if kept:
        how_often = "happens once. `driftwise warmup` compiles everything beforehand."
    else:
        how_often = "cannot be kept: set DRIFTWISE_CACHE_DIR to a folder that can be written to."
    print(f"driftwise: compiling for this machine, which takes seconds and {how_often}", file=sys.stderr)


def _note(kernel: Any) -> None:
    """Record a compilation that is about to begin."""
    _compiled.append(kernel.__name__)
    folder = kernel._cache.cache_path
    _say_once(folder is not None and (not os.path.isdir(folder) or os.access(folder, os.W_OK)))


class _Kernel(CFunc):
    """The kernel of a plugin, which records its compilation when it is not on disk."""

    def _compile_uncached(self) -> Any:
        _note(self)
        return super()._compile_uncached()  # type: ignore[misc]


class _Listener(event.Listener):
    """Records every compilation of an entry that was not on disk."""

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"] in _OURS:
            _note(event.data["dispatcher"])

    def on_end(self, event: Any) -> None:
        """Nothing to do."""


event.register("numba:compile", _Listener())
