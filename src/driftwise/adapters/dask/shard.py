"""One shard of a fleet, on a worker: takes in numbered calls, each exactly once however often it is sent."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftwise.checkpoint import from_bytes, load
from driftwise.errors import HorizonError

Buffer = NDArray[np.uint8]


class Outcome(NamedTuple):
    """What a call has come to; what a worker raises by itself is never mistaken for a lost connection."""

    value: Any
    error: Exception | None = None


class Shard:
    """Some members of a fleet, which live where this object lives: the class of a Dask actor.

    It is empty until `begin`, so that to make one cannot fail.
    """

    def __init__(self) -> None:
        self.fleet: Any = None
        self.done = 0
        self.last: Any = None

    def begin(self, source: Buffer | str, done: int, classes: Sequence[type]) -> Outcome:
        """Take in the state after call number `done`, from its bytes or from a file on a folder that all share."""
        return tried(self._begin, source, done, classes)

    def _begin(self, source: Buffer | str, done: int, classes: Sequence[type]) -> int:
        read = load(source, classes=classes) if isinstance(source, str) else from_bytes(bytes(source), classes=classes)
        self.fleet, self.done, self.last = read, done, None
        return len(read)

    def call(self, number: int, verb: str, *given: Any) -> Outcome:
        """Make a call that changes the members; one that has been made before gives its answer again."""
        return tried(self._call, number, verb, given)

    def _call(self, number: int, verb: str, given: tuple[Any, ...]) -> Any:
        if number != self.done:
            if number != self.done + 1:
                raise RuntimeError(f"a shard that has made {self.done} calls was sent number {number}")
            self.last = VERBS[verb](self.fleet, *given)
            self.done = number
        return self.last

    def ask(self, question: str, *given: Any) -> Outcome:
        """Answer a question, which changes no member."""
        return tried(QUESTIONS[question], self.fleet, *given)


def tried(function: Callable[..., Any], *given: Any) -> Outcome:
    """Return what a function returns, or the error that it raises."""
    try:
        return Outcome(function(*given))
    except Exception as error:
        return Outcome(None, error)


def as_buffer(data: bytes) -> Buffer:
    """Return bytes as an array, which Dask sends as it is."""
    return np.frombuffer(data, np.uint8)


def _decided(fleet: Any) -> Any:
    """Return the decisions of the round that follows, or None if there is none."""
    try:
        return fleet.act()
    except HorizonError:
        return None


def _observe(fleet: Any, gradients: Any) -> Any:
    fleet.act()  # as the front has done; after a restart nobody has
    fleet.observe(gradients)
    return _decided(fleet)


def _step(fleet: Any, ids: Any, gradients: Any) -> Any:
    return fleet.step(ids, gradients)


def _skip(fleet: Any, ids: Any) -> Any:
    fleet.skip(ids)
    return _decided(fleet)


def _add(fleet: Any, data: Buffer, classes: Sequence[type]) -> Any:
    return np.asarray(fleet.add(from_bytes(bytes(data), classes=classes)))


def _remove(fleet: Any, ids: Any) -> None:
    fleet.remove(ids)


def _replace(fleet: Any, member: int, data: Buffer, classes: Sequence[type]) -> None:
    fleet.replace(member, from_bytes(bytes(data), classes=classes))


VERBS: dict[str, Callable[..., Any]] = {
    "observe": _observe,
    "step": _step,
    "skip": _skip,
    "add": _add,
    "remove": _remove,
    "replace": _replace,
}
"""Calls that change members; the front keeps each until the next checkpoint."""

QUESTIONS: dict[str, Callable[..., Any]] = {
    "size": len,
    "act": lambda fleet: fleet.act(),
    "act ids": lambda fleet, ids: fleet.act(ids=ids),
    "bytes": lambda fleet: as_buffer(fleet.to_bytes()),
    "save": lambda fleet, path: fleet.save(path),
    "member": lambda fleet, member: as_buffer(fleet.member(member).to_bytes()),
}
"""Calls that change no member."""
