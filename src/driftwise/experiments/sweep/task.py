"""One task is one whole run: what is sent to a worker as bytes, what is done there, and what comes back."""

import functools
import pickle
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from driftwise._extras import optional
from driftwise._validate import describe
from driftwise.errors import RunError
from driftwise.experiments.sweep.result import Result, encode

Configuration = Mapping[str, Any]


class Attempt(NamedTuple):
    """The outcome of one run, in a form that can be sent between processes."""

    payload: bytes | None
    """The encoded result, or None if the run failed."""
    seconds: float
    error: BaseException | bytes | None = None
    """Error that a failed run raised; in bytes if it comes from another process."""


def attempt(function: Callable[..., Result], configuration: Configuration) -> Attempt:
    """Make one run and return its outcome; with BLAS on one thread, as its sums depend on the number of threads."""
    libraries(len(sys.modules)).limit(limits=1)
    start = time.perf_counter()
    try:
        payload = encode(function(**configuration))
    except (Exception, SystemExit) as error:
        return Attempt(None, time.perf_counter() - start, error)
    return Attempt(payload, time.perf_counter() - start)


def attempt_packed(function: bytes, configuration: bytes) -> Attempt:
    """Make one run in a worker, with a function that is unpacked once and not for every run."""
    try:
        tried = attempt(_unpack(function), pickle.loads(configuration))
    except Exception as error:
        tried = Attempt(None, 0.0, error)
    return tried._replace(error=_portable(tried.error)) if isinstance(tried.error, BaseException) else tried


def pack(function: Callable[..., Any], what: object) -> bytes:
    """Return the function or one of its configurations as bytes for a worker."""
    cloudpickle = optional("sweep", "cloudpickle", "experiments")
    try:
        return bytes(cloudpickle.dumps(what))
    except Exception as error:
        raise RunError(
            f"{name(function)} and its arguments cannot be sent to a worker ({error}); workers=1 needs no sending."
        ) from error


def failure(function: Callable[..., Any], configuration: Configuration, tried: Attempt) -> RunError:
    """Return the error to raise for a run that failed, with the run's own error as its cause."""
    cause = tried.error
    if isinstance(cause, bytes):
        summary, trace, data = pickle.loads(cause)
        try:
            cause = pickle.loads(data)
        except Exception:
            cause = RuntimeError(trace)
    else:
        summary = _summary(cause)
    error = RunError(f"{call(function, configuration)} failed: {summary}")
    error.__cause__ = cause
    return error


def killers(function: Callable[..., Any], suspects: list[Configuration]) -> RunError:
    """Return the error to raise for runs that seem to kill their workers."""
    shown = " or ".join(call(function, configuration) for configuration in suspects[:4])
    return RunError(
        f"Worker processes died again and again during {shown}: it crashes, or there is too little memory for as many "
        "runs at once as there are workers."
    )


def name(function: Callable[..., Any]) -> str:
    """Return the short name of a function, for messages."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__)


def call(function: Callable[..., Any], configuration: Configuration) -> str:
    """Return the call of a run as text, for messages."""
    arguments = ", ".join(f"{key}={describe(value)}" for key, value in configuration.items())
    return f"{name(function)}({arguments})"


_unpack = functools.lru_cache(maxsize=1)(pickle.loads)


@functools.lru_cache(maxsize=1)
def libraries(modules: int) -> Any:
    """Return the control of all BLAS libraries; looked up again when the number of modules has changed."""
    # scipy has a BLAS of its own, which must be there before a run is the first to use it.
    import_module("scipy.linalg")
    return optional("sweep", "threadpoolctl", "experiments").ThreadpoolController()


def _portable(error: BaseException) -> bytes:
    """Return an exception as bytes, with its texts in case it cannot be rebuilt in another process."""
    summary, trace = _summary(error), "".join(traceback.format_exception(error))
    error.add_note(f"In the worker:\n{trace}")
    try:
        data = pickle.dumps(error)
    except Exception:
        data = b""
    return pickle.dumps((summary, trace, data))


def _summary(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}"
