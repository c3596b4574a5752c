"""A digest of a function and of what it uses, to tell whether a kept run was made by the same one."""

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import driftwise
from driftwise._extras import optional


def fingerprint(function: Callable[..., Any]) -> str:
    """Return a digest of a function: its code, the values it carries, and what it uses of its own module.

    Values that it carries are its defaults, the arguments of a partial, those it closes over, and the object of a
    method. Of its own module it may use constants, functions and classes. What it uses of other modules counts by name
    only; driftwise itself is covered by `package_digest`.
    """
    return _digest("\n".join(_traces(function, getattr(function, "__module__", None), set())))


@functools.cache
def package_digest() -> str:
    """Return a digest of the source of driftwise, which changes more often than its version while one works on it."""
    folder = Path(driftwise.__file__).parent
    return _digest("\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))))[:16]


def full_name(function: Callable[..., Any]) -> str:
    """Return module:qualname of a function, or of what a partial or an object calls."""
    while isinstance(function, functools.partial):
        function = function.func
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def _traces(value: Any, home: str | None, seen: set[int]) -> Iterator[str]:
    """Yield what tells a value apart, and what it is made of."""
    if id(value) in seen:
        return
    if isinstance(value, functools.partial):
        yield from _all([value.func, value.args, sorted(value.keywords.items())], home, seen)
    elif isinstance(value, MethodType):
        yield from _all([value.__func__, value.__self__], home, seen)
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, FunctionType | type) and getattr(value, "__module__", None) != home:
        yield f"{value.__module__}:{value.__qualname__}"
    elif isinstance(value, FunctionType):
        seen.add(id(value))
        yield from _code(value.__code__)
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        globals_ = [value.__globals__[name] for name in sorted(_names(value.__code__)) if name in value.__globals__]
        yield from _all([value.__defaults__, value.__kwdefaults__, *cells, *globals_], home, seen)
    elif isinstance(value, type):
        seen.add(id(value))
        yield value.__qualname__
        own = [inspect.unwrap(getattr(part, "__func__", part)) for _, part in sorted(vars(value).items())]
        yield from _all([part for part in own if isinstance(part, FunctionType)], home, seen)
    elif isinstance(value, list | tuple | dict):
        yield f"{type(value).__name__} {len(value)}"
        yield from _all(list(value.items() if isinstance(value, dict) else value), home, seen)
    elif callable(value) and hasattr(value, "__wrapped__"):
        yield from _traces(value.__wrapped__, home, seen)
    elif callable(value) and hasattr(value, "__name__"):
        # Compiled, by numba or before Python was there.
        yield from _traces(getattr(value, "py_func", value.__name__), home, seen)
    else:
        yield from _traces(type(value), home, seen)
        yield _hashed(value)


def _all(values: list[Any], home: str | None, seen: set[int]) -> Iterator[str]:
    for value in values:
        yield from _traces(value, home, seen)


def _code(code: CodeType) -> Iterator[str]:
    """Yield what a function does; names of files and numbers of lines have no part in it."""
    yield f"{code.co_code!r} {code.co_names} {code.co_varnames} {code.co_freevars}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


def _names(code: CodeType) -> set[str]:
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def _hashed(value: object) -> str:
    joblib = optional("sweep", "joblib", "experiments")
    try:
        return str(joblib.hash(value))
    except Exception:
        # What cannot be pickled shows its address, and so never passes for the value of an earlier process.
        return repr(value)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
