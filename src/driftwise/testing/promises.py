"""What the checks have in common: promises and how to say that one was broken, copies, good and bad input."""

import copy
import functools
import math
import random
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from driftwise._protocol import Actor
from driftwise._validate import Array
from driftwise.errors import InputError

NORMALISED = 1e-12
"""Largest distance of the sum of the weights from 1."""

EXTREMES: tuple[tuple[float, ...], ...] = ((1e90,), (1e-90,), (1e90, 1e-90, 1.0))
"""Sizes of numbers that must not lead to NaN, alone and in turn."""

RAISES = """
Raises
------
AssertionError
    If a promise is broken; the message says which one, and by how much.
"""
"""The Raises section of the docstrings of checks."""

A = TypeVar("A", bound=Actor)


class _Weighted(Protocol):
    @property
    def weights(self) -> Array: ...


def promise(kept: object, who: object, broken: str, *values: object) -> None:
    """Raise AssertionError unless a promise is kept; values are formatted into the message only then."""
    if not kept:
        raise AssertionError(f"{_name(who)} {broken.format(*values) if values else broken}.")


def _name(who: object) -> str:
    """Return a name for messages: the class of a learner or controller, the repr of anything else."""
    return type(who).__name__ if isinstance(who, Actor) else repr(who)


def same(a: Array, b: Array) -> bool:
    """Tell whether two arrays are the same, bit for bit."""
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def check_alike(who: object, expected: Array, found: Array, what: str) -> None:
    """Check that two runs are the same, bit for bit."""
    if not same(expected, found):
        gap = np.abs(expected - found) if expected.shape == found.shape else np.array([np.inf])
        gap = gap.reshape(len(gap), -1).max(axis=1)
        first = int(np.argmax(gap != 0.0))
        promise(False, who, f"{what}: they differ by up to {gap.max():g}, first at index {first}")


def check_unchanged(who: object, given: list[Array], then: list[Array], what: str) -> None:
    """Check that what was returned in every round has not changed since."""
    for t, (now, before) in enumerate(zip(given, then, strict=True)):
        changed = "changed the {} of round {} after giving it: it was {}, is {}"
        promise(same(now, before), who, changed, what, t, before, now)


def check_vector(who: _Weighted, given: Array, size: int, when: str, words: tuple[str, str, str]) -> None:
    """Check a decision or an input, and the weights behind it; `words` are such as act with, input, gave the input."""
    verb, noun, gave = words
    shaped = isinstance(given, np.ndarray) and given.shape == (size,) and given.dtype == np.float64
    expected = "did not {} a float64 array of shape ({},) {} but {} {!r}"
    promise(shaped, who, expected, verb, size, when, verb.split()[-1], given)
    promise(not given.flags.writeable, who, f"gave {noun} {when} that can be written to")
    promise(bool(np.isfinite(given).all()), who, "{} {} {}, which is not finite", gave, given, when)
    weights = who.weights
    promise(bool(np.all(weights >= 0.0)), who, "has a weight below 0 {}: {}", when, weights)
    error = abs(float(weights.sum()) - 1.0)
    promise(error <= NORMALISED, who, "has weights {} whose sum is off 1 by {:g}: {}", when, error, weights)


def check_error(
    kind: type[Exception], who: Actor, verb: Callable[[], object], when: str, *, to_the_bit: bool = False
) -> None:
    """Check that a call raises `kind` and is not counted as a round; and, with `to_the_bit`, that it changes no bit."""
    before, rounds = saved(who) if to_the_bit else None, who.round
    raises(kind, who, when, verb)
    promise(who.round == rounds, who, f"went from round {rounds} to {who.round} {when}, though it refused")
    unchanged = not to_the_bit or saved(who) == before
    promise(unchanged, who, f"was not left unchanged by the {kind.__name__} it raised {when}")


def acted(who: object, act: Callable[[], Array], when: str) -> Array:
    """Return what `act` gives, or raise AssertionError if it refuses."""
    try:
        return act()
    except InputError as error:
        raise AssertionError(f"{_name(who)} could not act {when}: {error}") from error


def global_random_state() -> tuple[Any, ...]:
    """Return the state of the global random generators."""
    name, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002
    return (random.getstate(), name, np.asarray(keys).tobytes(), *rest)


def check_random_state(who: object, before: tuple[Any, ...]) -> None:
    """Raise AssertionError if the state of the global generators is no longer what it was before."""
    promise(global_random_state() == before, who, "changed the global random state; use a generator of its own")


def saved(who: object) -> bytes | None:
    """Return the whole state of a learner or controller as bytes, or None if it cannot be pickled."""
    try:
        return bytes(ForkingPickler.dumps(who))
    except Exception:  # whatever its parts raise
        return None


def copies(who: A) -> dict[str, Callable[[A], A]]:
    """Return the ways to copy, by name; what cannot be pickled is cloned instead."""

    def pickled(original: A) -> A:
        known = saved(original)
        twin: A = original.clone() if known is None else ForkingPickler.loads(known)
        return twin

    return {"clone()": lambda original: original.clone(), "copy.deepcopy": copy.deepcopy, "pickle": pickled}


def forms(values: Array) -> dict[str, Any]:
    """Return the same numbers, rounded to single precision, in every form that is to be accepted."""
    exact: NDArray[np.float32] = values.astype(np.float32)
    double = exact.astype(np.float64)
    frozen = double.copy()
    frozen.setflags(write=False)
    return {
        "an array": double,
        "a list": double.tolist(),
        "a float32 array": exact,
        "a strided array": np.repeat(double, 2)[::2],
        "a read-only array": frozen,
    }


def check_untouched(who: object, given: Any, values: Array, modified: str) -> None:
    """Check that a form of some values was not modified, then overwrite it, which shows later if it was kept."""
    promise(bool(np.all(np.asarray(given) == values.astype(np.float32))), who, modified)
    if isinstance(given, np.ndarray) and given.flags.writeable:
        given[...] = 7.0


def bad_rows(good: Array) -> list[tuple[str, Any]]:
    """Return inputs to be refused where `good`, of shape (d,) or (n, d), is right; each with its name."""

    def broken(value: float) -> Array:
        rows = good.copy()
        rows.flat[-1] = value
        return rows

    longer = np.concatenate([good, good[..., :1]], axis=-1)
    return [
        ("NaN", broken(math.nan)),
        ("infinity", broken(math.inf)),
        ("minus infinity", broken(-math.inf)),
        ("one coordinate too many", longer),
        ("four dimensions", good.reshape(1, 1, 1, -1)),
        ("no coordinates", good[..., :0]),
        # Where there is one coordinate, a number is a decision.
        *([("a single number", np.float64(0.0))] if good.shape[-1] > 1 else []),
        ("complex numbers", good.astype(np.complex128)),
        ("text", good.astype(str)),
        ("truth values", good > 0.0),
        ("rows of unequal length", [[0.0], [0.0, 0.0]]),
    ]


def raises(kind: type[Exception], who: object, when: str, call: Callable[[], object]) -> None:
    """Raise AssertionError unless the call raises an error of this kind."""
    should = f"{_name(who)} should raise {kind.__name__} {when}, but"
    try:
        result = call()
    except kind:
        return
    except Exception as error:
        raise AssertionError(f"{should} raised {type(error).__name__}: {error}.") from error
    raise AssertionError(f"{should} returned {result!r}.")


def refused(who: object, verb: str, function: Callable[[Any], object], cases: list[tuple[str, Any]]) -> None:
    """Require that `function` raises `InputError` for every case, and leaves it as it was."""
    for name, given in cases:
        before = given.copy() if isinstance(given, np.ndarray) else None
        raises(InputError, who, f"when {verb} is given {name}", functools.partial(function, given))
        kept = before is None or given.tobytes() == before.tobytes()
        promise(kept, who, f"should not modify what {verb} is given, but changed {name}")
