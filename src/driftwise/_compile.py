"""The one place where driftwise meets numba: kernels that are typed, and cached on disk without going stale."""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

LARGEST = 1e100
"""Largest magnitude accepted in any number: squares and sums of such numbers still do not overflow."""


def _fingerprint(package: Path) -> str:
    """Return a digest of every source file that takes part in compiled code."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if path.name == "_compile.py" or b"from driftwise._compile import" in source:
            digest.update(source)
    return digest.hexdigest()


_FINGERPRINT = _fingerprint(Path(__file__).parent)


def _kernel(function: F, **options: Any) -> F:
    """Compile on first use and keep the machine code in numba's disk cache.

    Arithmetic follows IEEE order (no fast-math), which is what lets one round and a whole run agree bit for bit.
    ``error_model="numpy"`` makes division by zero give inf instead of raising, so inner loops carry no checks.

    numba throws cached code away when the file of the kernel itself has changed, but not when the kernel calls one of
    another file that has. Ours do, so the stamp that numba compares is extended by the digest of all of them. Where no
    folder can be written to, or numba no longer keeps its stamp there, every process compiles for itself.
    """
    compiler = functools.partial(numba.njit, error_model="numpy", nogil=True, **options)
    try:
        kernel: Any = compiler(cache=True)(function)
        index = kernel._cache._cache_file
        index._source_stamp = (index._source_stamp, _FINGERPRINT)
    except (AttributeError, RuntimeError):
        kernel = compiler()(function)
    return cast(F, kernel)


def compiled(function: F) -> F:
    """Compile a kernel that may allocate and return arrays."""
    return _kernel(function, _nrt=True)


def hot(function: F) -> F:
    """Compile an inner loop without reference counting; it may not allocate, nor return arrays.

    Counting references to its arguments would cost such a kernel more than its arithmetic.
    """
    return _kernel(function, _nrt=False)


def inlined(function: F) -> F:
    """Compile a few lines that become part of their caller, under the caller's rules."""
    return _kernel(function, _nrt=False, inline="always")


def compile_user_function(function: Callable[..., Any], signature: Any) -> Callable[..., Any]:
    """Compile a user's function for one signature, with index checks, or raise numba's error."""
    return cast(
        Callable[..., Any],
        numba.njit(signature, boundscheck=True, error_model="python")(function),
    )
