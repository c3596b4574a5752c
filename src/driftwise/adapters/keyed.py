"""Learners by key: one fleet whose members have names, for streams of (key, feedback); knows no engine."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from driftwise._compile import LARGEST
from driftwise._container import pack, unpack
from driftwise._validate import Array, choice, describe
from driftwise.checkpoint import from_bytes
from driftwise.errors import CheckpointError, InputError, ParameterError
from driftwise.fleet import Fleet
from driftwise.fleet.source import copies
from driftwise.learners import Learner

Maker = Learner | Callable[[str], Learner]
Reading = Callable[[Array, Any], Any]

SCHEMA = 1

LEAST = 16
"""Members that join at once at least."""


class Keyed:
    """A learner for every key that has been seen, in one fleet.

    Parameters
    ----------
    learner : Learner or callable
        What the learner of a new key begins as; or a function of the key that makes it.
    reading : callable, optional
        ``reading(decision, value)`` makes feedback of the value of an event: a gradient, a loss or None. By default the
        value is the feedback.
    on_bad_input : {"raise", "skip"}, optional
        By default as a learner that is given has it, or "raise". What to do with feedback that is refused: an
        `InputError`, or a round without feedback for its key.

    Examples
    --------
    >>> import driftwise as dw
    >>> from driftwise.adapters.keyed import Keyed
    >>> shops = Keyed(dw.OGD(dw.Box([0.0], [9.0]), step=1.0))
    >>> shops.play([("a", None), ("b", -2.0), ("a", -1.0), ("b", -1.0)])
    [('a', array([0.])), ('b', array([2.])), ('a', array([1.])), ('b', array([3.]))]
    """

    def __init__(self, learner: Maker, reading: Reading | None = None, on_bad_input: str | None = None) -> None:
        if not isinstance(learner, Learner) and not callable(learner):
            raise ParameterError(
                f"Keyed: learner must be a Learner, or a function of the key that makes one, got {describe(learner)}."
            )
        self._make, self._reading = learner, reading
        usual = learner.on_bad_input if isinstance(learner, Learner) else "raise"
        rule = usual if on_bad_input is None else on_bad_input
        self._bad = choice("Keyed", "on_bad_input", rule, ("raise", "skip"))
        self.places: dict[str, int] = {}
        self.fleet: Fleet | None = None
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self.places)

    def learner(self, key: str) -> Learner:
        """Return a copy of the learner of a key, as an ordinary learner."""
        if self.fleet is None or key not in self.places:
            raise InputError(f"Keyed: there has been no event of key {key!r}.")
        found: Learner = self.fleet.member(self.places[key])
        return found

    def play(self, events: Sequence[tuple[str, Any]]) -> list[tuple[str, Array]]:
        """Take in events in their order, and return for each its key and the decision that follows it.

        An event with None asks for the decision and teaches nothing. If one is refused, so are those after it, and
        those before it may have been taken in: whoever calls goes back to what was saved.
        """
        self._welcome(key for key, _ in events)
        found: list[Any] = [None] * len(events)
        for wave in _waves(events):
            self._round([events[i] for i in wave], wave, found)
        return [(key, decision) for (key, _), decision in zip(events, found, strict=True)]

    def _round(self, events: list[tuple[str, Any]], wave: list[int], found: list[Any]) -> None:
        """Take in at most one event of each key."""
        assert self.fleet is not None
        ids = np.array([self.places[key] for key, _ in events], np.int64)
        values = [value for _, value in events]
        if self._reading is not None:
            decisions = self.fleet.act(ids=ids)
            values = [
                None if value is None else self._reading(w, value) for w, value in zip(decisions, values, strict=True)
            ]
        asks = np.array([value is None for value in values], bool)
        if asks.any():
            for i, w in zip(np.flatnonzero(asks).tolist(), self.fleet.act(ids=ids[asks]), strict=True):
                found[wave[i]] = w
        told = np.flatnonzero(~asks)
        if told.size:
            places = told.tolist()
            feedback = self._feedback([events[i][0] for i in places], [values[i] for i in places])
            for i, w in zip(places, self.fleet.step(ids[told], feedback), strict=True):
                found[wave[i]] = w

    def _feedback(self, keys: list[str], values: list[Any]) -> Any:
        """Return what the fleet is to be told."""
        if any(hasattr(value, "gradient") for value in values):
            return values
        assert self.fleet is not None
        rows = self._rows(keys, values, self.fleet.dim or 1)
        if self._bad == "raise" and not np.all(np.abs(rows) <= LARGEST):
            wrong = int(np.argmin(np.all(np.abs(rows) <= LARGEST, axis=1)))
            raise InputError(
                f"Keyed: feedback of key {keys[wrong]!r} must be finite and at most {LARGEST:g}, got "
                f"{describe(values[wrong])}; on_bad_input='skip' passes over such events."
            )
        return rows

    def _rows(self, keys: list[str], values: list[Any], dim: int) -> Array:
        """Return gradients as rows; one of the wrong shape is a row of NaN, if such are to be passed over."""
        try:
            rows = np.array(values, np.float64).reshape(len(values), -1)
            if rows.shape[1] == dim:
                return rows
        except (TypeError, ValueError):
            pass
        rows = np.full((len(values), dim), np.nan)
        for i, (key, value) in enumerate(zip(keys, values, strict=True)):  # slowly: one of them is wrong
            try:
                one = np.asarray(value, np.float64)
            except (TypeError, ValueError):
                one = rows[:0]
            if one.size == dim and one.ndim <= 1:
                rows[i] = one
            elif self._bad == "raise":
                raise InputError(
                    f"Keyed: feedback of key {key!r} must be a gradient of {dim} numbers, a loss or None, got "
                    f"{describe(value)}."
                )
        return rows

    def _welcome(self, keys: Iterable[str]) -> None:
        """Give every new key its learner."""
        new = list(dict.fromkeys(key for key in keys if key not in self.places))
        if not new:
            return
        if isinstance(self._make, Learner):
            ids = self._spares(self._make, len(new))
        else:
            made = [self._new(key) for key in new]
            if self.fleet is None:
                self.fleet = Fleet.of(made, on_bad_input=self._bad, workers=1)
                ids = self.fleet.ids.tolist()
            else:
                ids = self.fleet.add(made).tolist()
        self.places.update(zip(new, ids, strict=True))

    def _spares(self, learner: Learner, count: int) -> list[int]:
        """Return members that have no key yet; more join than are asked for, as many cost little more than one."""
        if self.fleet is None:
            self.fleet = Fleet(learner, 0, on_bad_input=self._bad, workers=1)
        if len(self._free) < count:
            more = max(count - len(self._free), LEAST, len(self.places) // 2)
            self._free += self.fleet._crew.join(copies(learner, more)).tolist()
        given, self._free = self._free[:count], self._free[count:]
        return given

    def _new(self, key: str) -> Learner:
        assert not isinstance(self._make, Learner)
        learner = self._make(key)
        if not isinstance(learner, Learner):
            raise ParameterError(f"Keyed: the function made {describe(learner)} for key {key!r}, which is no Learner.")
        return learner

    def to_bytes(self) -> bytes:
        """Return keys and learners as bytes, without pickle, with a digest over all of it."""
        arrays: dict[str, NDArray[Any]] = {}
        if self.fleet is not None:
            arrays["fleet"] = np.frombuffer(self.fleet.to_bytes(), np.uint8)
            arrays["places"] = np.fromiter(self.places.values(), np.int64, len(self.places))
        return b"".join(pack({"schema": SCHEMA, "kind": "keyed", "keys": list(self.places)}, arrays))

    def resume(self, data: bytes, classes: Sequence[type] = ()) -> Self:
        """Take in what `to_bytes` returned; every learner goes on bit for bit."""
        header, arrays = unpack("Keyed", data)
        if (
            header.get("kind") != "keyed"
            or header.get("schema") != SCHEMA
            or arrays.keys() not in (set(), {"fleet", "places"})
        ):
            raise CheckpointError("Keyed: these bytes are not learners by key that this version reads.")
        fleet = from_bytes(arrays["fleet"].tobytes(), classes=classes) if arrays else None
        keys = header.get("keys")
        places = arrays.get("places", np.empty(0, np.int64))
        ids = fleet.ids if isinstance(fleet, Fleet) else np.empty(0, np.int64)
        if not isinstance(keys, list) or not len(set(map(str, keys))) == len(keys) == np.intersect1d(places, ids).size:
            raise CheckpointError("Keyed: the saved keys are not those of the saved learners.")
        self.fleet, self.places = fleet, dict(zip(keys, places.tolist(), strict=True))
        self._free = np.setdiff1d(ids, places).tolist()
        return self


def _waves(events: Sequence[tuple[str, Any]]) -> list[list[int]]:
    """Return the places of the first events of all keys, those of the second events, and so on."""
    seen: dict[str, int] = {}
    waves: list[list[int]] = []
    for i, (key, _) in enumerate(events):
        turn = seen.get(key, 0)
        seen[key] = turn + 1
        if turn == len(waves):
            waves.append([])
        waves[turn].append(i)
    return waves
