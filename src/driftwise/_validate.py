"""Validation with one uniform error text: who complains, which argument, what is expected, what was given."""

import difflib
import functools
import inspect
import operator
from abc import ABCMeta
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from driftwise._compile import LARGEST
from driftwise.errors import ArgumentError, InputError, ParameterError

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
P = ParamSpec("P")
R = TypeVar("R")


def describe(value: object) -> str:
    """Say what was given in a few words, for the end of an error message."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def number(
    owner: str, name: str, value: object, *, low: float = -LARGEST, exclusive: bool = False, high: float | None = None
) -> float:
    """Return `value` as a float that is finite and at least (or above) `low`; with `high`, strictly between the two."""
    bound = "finite" if low == -LARGEST else f"{'above' if exclusive else 'at least'} {low:g}"
    expected = f"a number that is {bound} and at most {LARGEST:g} in size"
    if high is not None:
        exclusive, expected = True, f"a number between {low:g} and {high:g}, both excluded"
    try:
        if isinstance(value, str | bytes | bool | np.bool_):
            raise TypeError
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{owner}: {name} must be {expected}, got {describe(value)}.") from None
    above = result >= high if high is not None else False
    if not abs(result) <= LARGEST or result < low or above or (exclusive and result == low):
        raise ParameterError(f"{owner}: {name} must be {expected}, got {describe(value)}.")
    return result


def share(owner: str, name: str, value: object) -> float:
    """Return `value` as a float above 0 and at most 1."""
    part = number(owner, name, value, low=0.0, exclusive=True)
    if part > 1.0:
        raise ParameterError(f"{owner}: {name} must be a number above 0 and at most 1, got {describe(value)}.")
    return part


def whole(owner: str, name: str, value: object, *, low: int = 1, high: int = 2**53) -> int:
    """Return `value` as an int between `low` and `high`."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        result = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        result = low - 1
    if not low <= result <= high:
        limit = f"at least {low}" if result < low else f"at most {high}"
        raise ParameterError(f"{owner}: {name} must be a whole number of {limit}, got {describe(value)}.")
    return result


def choice(owner: str, name: str, value: object, options: Sequence[str]) -> str:
    """Return `value` if it is one of `options`."""
    if isinstance(value, str) and value in options:
        return value
    listed = ", ".join(repr(option) for option in options)
    raise ParameterError(f"{owner}: {name} must be one of {listed}, got {describe(value)}.")


def instance(owner: str, name: str, value: object, kind: type[R], hint: str) -> R:
    """Return `value` if it is a `kind`; `hint` shows how to make one."""
    if isinstance(value, kind):
        return value
    raise ParameterError(f"{owner}: {name} must be a {kind.__name__}, such as {hint}, got {describe(value)}.")


NOT_NUMBERS = (TypeError, ValueError, OverflowError)
"""Errors that NumPy raises for what cannot be an array."""


def _read(value: ArrayLike) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError
    return np.asarray(value)


def loose(
    owner: str, name: str, value: ArrayLike, expected: str = "real numbers in rows of one length"
) -> NDArray[Any]:
    """Return `value` as an array of whatever shape and type it has, for a caller that decides by the shape."""
    try:
        return _read(value)
    except NOT_NUMBERS:
        raise InputError(f"{owner}: {name} must be {expected}, got {describe(value)}.") from None


def array(owner: str, name: str, value: ArrayLike, shape: tuple[int | str, ...], *, copy: bool = False) -> Array:
    """Return `value` as a C-contiguous float64 array of `shape`; a named side may have any positive length.

    Where the shape is (1,), a plain number will do.

    Examples
    --------
    >>> array("OGD.observe", "gradient", 3.0, (1,))
    array([3.])
    """

    def refused(got: str, limit: str = "") -> InputError:
        sides = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        return InputError(f"{owner}: {name} must be finite real numbers of shape ({sides}){limit}, got {got}.")

    try:
        given = _read(value)
    except NOT_NUMBERS:
        raise refused(describe(value)) from None
    if shape == (1,) and given.ndim == 0:
        given = given.reshape(1)
    if given.dtype.kind not in "fiu" or given.ndim != len(shape):
        raise refused(describe(given if np.ndim(value) else value))
    for side, length in zip(shape, given.shape, strict=True):
        if length == 0 or (isinstance(side, int) and side != length):
            raise refused(describe(given))
    read = np.array if copy else np.asarray
    result: Array = read(given, np.float64, order="C")
    if not np.abs(result).max() <= LARGEST:
        where = np.argwhere(~(np.abs(result) <= LARGEST))[0]
        place = f" at [{', '.join(str(int(i)) for i in where)}]" if where.size else ""
        raise refused(f"{result[tuple(where)]}{place}", f", at most {LARGEST:g} in size")
    return result


def seeded(owner: str, seed: object) -> np.random.Generator:
    """Return a generator: the one given, or a new one from a whole number."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(whole(owner, "seed", seed, low=0, high=2**128))


def read_only(values: Array) -> Array:
    """Mark an array as read-only and return it."""
    values.flags.writeable = False
    return values


def _bind(name: str, signature: inspect.Signature, args: Any, kwargs: Any) -> inspect.BoundArguments:
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        empty = inspect.Parameter.empty
        plain = [parameter.replace(annotation=empty) for parameter in signature.parameters.values()]
        shown = signature.replace(parameters=plain, return_annotation=empty)
        unknown = [word for word in kwargs if word not in signature.parameters]
        near = difflib.get_close_matches(unknown[0], signature.parameters, 1) if unknown else []
        hint = f" Did you mean {near[0]}?" if near else ""
        wrong = f"got an unexpected keyword argument {unknown[0]!r}" if unknown else error
        raise ArgumentError(f"{name}: {wrong}; the call is {name}{shown}.{hint}") from None


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Turn a call with unknown or missing arguments into an `ArgumentError` that shows the signature."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        _bind(function.__name__, signature, args, kwargs)
        return function(*args, **kwargs)

    return call


@functools.cache
def _constructor(cls: type) -> inspect.Signature:
    """Return the signature of a class's constructor, with shared options by name."""
    if cls.__init__ is object.__init__:  # type: ignore[misc]
        return inspect.Signature(return_annotation=cls)
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]  # type: ignore[misc]
    if parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        parameters[-1:] = _shared(cls, parameters[-1])
    return inspect.Signature([*parameters, *_apart(cls, parameters).values()], return_annotation=cls)


def _apart(cls: type, parameters: Sequence[inspect.Parameter]) -> dict[str, inspect.Parameter]:
    """Return the options that all subclasses take, and which a class's own constructor does not name."""
    names = {parameter.name for parameter in parameters}
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return {}
    parents = [inspect.signature(kind.__init__).parameters for kind in cls.__mro__]  # type: ignore[misc]
    wanted = [name for name in getattr(cls, "_for_all", ()) if name not in names]
    return {name: next(parent[name] for parent in parents if name in parent) for name in wanted}


@functools.cache
def taken_apart(cls: type) -> tuple[str, ...]:
    """Return the options of a class that its metaclass takes, as its own constructor does not name them."""
    own = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
    return tuple(_apart(cls, list(own)))


def _shared(cls: type, options: inspect.Parameter) -> list[inspect.Parameter]:
    """Return the parameters that ``**options: Unpack[SomeTypedDict]`` stands for, as a parent class declares them."""
    names = [name for kind in get_args(options.annotation) for name in kind.__annotations__]
    parents = [inspect.signature(kind.__init__).parameters for kind in cls.__mro__[1:]]  # type: ignore[misc]
    return [next(parent[name] for parent in parents if name in parent) for name in names] or [options]


class Checked(ABCMeta):
    """Metaclass of every public class: a wrong call to the constructor is an `ArgumentError`."""

    @property
    def __signature__(cls) -> inspect.Signature:
        """Show the constructor's signature in `help`, not that of `__call__` below."""
        return _constructor(cls)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Check the arguments against the constructor's signature, then construct."""
        return cls._made(args, kwargs)[0]

    def _made(cls, args: Any, kwargs: Any) -> tuple[Any, inspect.BoundArguments]:
        """Return an object, and the arguments that it was built with."""
        given = _bind(cls.__name__, cls.__signature__, args, kwargs)
        apart = taken_apart(cls)
        own = {name: value for name, value in kwargs.items() if name not in apart} if apart else kwargs
        return super().__call__(*args, **own), given
