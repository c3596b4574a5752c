"""Learners by key that outlive their process: every event is written down before it is taken in.

An event that a learner refuses is taken back from the journal, in the same step, so that nothing has happened. One that
it takes in is acknowledged when it is on the disk. All of this runs in one event loop, and no step waits in the middle.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from pydantic import ValidationError

from driftwise._validate import describe, instance, whole
from driftwise.adapters.keyed import Maker
from driftwise.errors import CheckpointError, DriftwiseError, OrderError, ParameterError
from driftwise.learners import Learner
from driftwise.losses import CapacityLoss, TrackingLoss
from driftwise.serve.begin import prototype_of, settings_of
from driftwise.serve.entry import Entry
from driftwise.serve.shapes import Asked, Decided, Learnt, State, Told
from driftwise.serve.store import Store

Saved = tuple[dict[str, Any], bytes]


class Refusal(Exception):
    """A request that cannot be met, with its HTTP status."""

    def __init__(self, status: int, kind: str, text: str) -> None:
        super().__init__(text)
        self.status, self.kind = status, kind


class Service:
    """Learners by key, and the folder that they are kept in.

    Parameters
    ----------
    learner : Learner or callable
        What the learner of a new key begins as; or a function of the key that makes it.
    state : path
        The folder.
    max_learners : int
        Most keys.
    every : int
        Events after which a checkpoint is made; more if there are many learners, as that writes all of them.
    sync : bool
        Whether an event is on the disk before it is acknowledged.
    classes : sequence of types
        Classes of learners that are not driftwise's own.
    """

    def __init__(
        self,
        learner: Maker,
        state: str | os.PathLike[str],
        *,
        max_learners: int,
        every: int,
        sync: bool,
        classes: Sequence[type],
    ) -> None:
        if not isinstance(learner, Learner) and not callable(learner):
            raise ParameterError(
                f"serve: learner must be a Learner, or a function of the key that makes one, got {describe(learner)}."
            )
        self._make, self._classes = learner, tuple(classes)
        self.max_learners = whole("serve", "max_learners", max_learners)
        self.every = whole("serve", "every", every)
        self._state, self._sync = state, instance("serve", "sync", sync, bool, "True")
        self.entries: dict[str, Entry] = {}
        self.counts = {"rounds": 0, "skipped": 0, "repeated": 0, "begun": 0, "forgotten": 0, "checkpoint_failures": 0}
        self._gone: dict[str, int] = {}
        """Keys that were forgotten while the checkpoint is made, and the events that did it."""
        self._due = asyncio.Event()
        self._store: Store | None = None

    # Coming and going.

    def open(self) -> None:
        """Take the folder, bring back what is in it, and compile what a request will need; nothing if that is done."""
        if self._store is not None:
            return
        asked = prototype_of(self._make)
        if asked is not None:
            self._warm(asked)
        self.entries, self._gone = {}, {}
        store = Store(self._state, self._sync)
        store.open(self._put, self._apply)
        if any(entry.event > store.last for entry in self.entries.values()):
            store.close()
            raise CheckpointError(f"serve: the journals in {store.folder} have lost events that the checkpoint knows.")
        self._store, self._gone, self._due = store, {}, asyncio.Event()
        if asked is not None:
            self._compare(asked)

    @property
    def store(self) -> Store:
        """The folder, once it is open."""
        if self._store is None:
            raise OrderError("serve: the service is not open.")
        return self._store

    def close(self) -> None:
        """Let others have the folder."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _new(self, key: str) -> Learner:
        try:
            made = self._make.clone() if isinstance(self._make, Learner) else self._make(key)
        except LookupError as error:
            text = error.args[0] if error.args else type(error).__name__
            raise Refusal(404, "UnknownKey", f"There is no learner for {key!r}: {text}") from None
        if not isinstance(made, Learner):
            raise ParameterError(f"serve: the function made {describe(made)} for key {key!r}, which is no Learner.")
        return made

    def _warm(self, learner: Learner) -> None:
        learner.to_bytes()  # one that cannot be saved says so here
        rows = np.zeros((1, learner.domain.dim))
        for feedback in (CapacityLoss(rows)[0], TrackingLoss(rows)[0], rows[0]):
            one = learner.clone()
            with contextlib.suppress(DriftwiseError):
                for _ in range(2):
                    one.act()
                    one.observe(feedback)

    def _compare(self, asked: Learner) -> None:
        """Say that learners were made with other settings than new ones are, if some were."""
        wanted = settings_of(asked)
        others = [key for key, entry in self.entries.items() if settings_of(entry.learner) != wanted]
        if others:
            print(
                f"driftwise: serve: {len(others)} of {len(self.entries)} learners in {self.store.folder} keep the "
                f"settings that they were made with, which are others than those of new keys now; among them "
                f"{min(others)!r}: GET shows them, and DELETE lets a key begin anew.",
                file=sys.stderr,
                flush=True,
            )

    # The verbs.

    async def act(self, key: str, asked: Asked) -> Decided:
        """Return the decision of a key's round, and open that round if it is not."""
        entry, begins = self.entries.get(key), []
        if entry is None:
            if len(self.entries) >= self.max_learners:
                raise Refusal(
                    429,
                    "TooManyLearners",
                    f"There are {self.max_learners} learners, which is the most; DELETE one that is not needed, or "
                    "start with a larger --max-learners.",
                )
            entry = Entry(key, self._new(key))
            begins = [({"key": key, "do": "begin"}, entry.learner.to_bytes())]
        if not entry.is_repeated(asked):
            new = entry

            def taken() -> None:
                new.act(asked)
                self.entries[key] = new

            self._write(entry, [*begins, ({"key": key, "do": "act", "asked": asked.given()}, b"")], taken)
            self.counts["begun"] += bool(begins)
        answer = entry.decided()
        await self.store.durable()
        return answer

    async def observe(self, key: str, told: Told) -> Learnt:
        """End a key's round with what its decision has cost."""
        entry = self.entry(key)
        knows = None if entry.decision is None else entry.decision.tolist()
        event = {"key": key, "do": "observe", "told": told.model_dump(exclude_none=True), "decision": knows}
        repeated = entry.has_learnt(told)
        if not repeated:
            self._write(entry, [(event, b"")], lambda: entry.observe(told))
        self.counts["repeated" if repeated else "rounds"] += 1
        self.counts["skipped"] += bool(told.skip) and not repeated
        answer = entry.learnt(told, repeated)
        await self.store.durable()
        return answer

    async def forget(self, key: str) -> int:
        """Forget a key, and return how many rounds it had."""
        entry = self.entry(key)
        self._write(entry, [({"key": key, "do": "forget"}, b"")], lambda: self.entries.pop(key))
        self._gone[key] = entry.event
        self.counts["forgotten"] += 1
        await self.store.durable()
        return entry.learner.round

    def entry(self, key: str) -> Entry:
        """Return what is known of a key."""
        if key not in self.entries:
            raise Refusal(404, "UnknownKey", f"There is no learner {key!r}; POST /learners/{key}/act makes one.")
        return self.entries[key]

    def state(self, key: str) -> State:
        """Return a key's state for those who only look."""
        return self.entry(key).state()

    def _write(self, entry: Entry, events: list[Saved], take: Callable[[], object]) -> None:
        """Write events down and take them in; if they are refused, they never were."""
        store = self.store
        mark = store.append(*events)
        try:
            take()
        except DriftwiseError:
            store.back_to(mark)
            raise
        except BaseException as error:
            store.back_to(mark)
            store.fail(f"an error in the learner of {entry.key}: {type(error).__name__}: {error}")
            raise
        entry.event = store.last
        if self._is_due():
            self._due.set()

    # What is brought back.

    def _put(self, what: dict[str, Any], data: bytes) -> None:
        """Take in a learner of a checkpoint."""
        if "key" in what:
            self.entries[what["key"]] = Entry.loaded(what, data, self._classes)
        for key, event in what.get("gone", {}).items():
            self._gone[key] = event
            if key in self.entries and self.entries[key].event < event:
                del self.entries[key]  # it was written before it was forgotten

    def _apply(self, what: dict[str, Any], data: bytes) -> None:
        """Take in an event again."""
        try:
            key, verb, event = what["key"], what["do"], what["s"]
            entry = self.entries.get(key)
            if event <= max(entry.event if entry else 0, self._gone.get(key, 0)):
                return  # the checkpoint knows it
            if verb == "begin":
                entry = self.entries[key] = Entry.loaded(_unused(key), data, self._classes)
            elif entry is None:
                raise CheckpointError(f"serve: event {event} is about key {key!r}, which there is not.")
            elif verb == "act":
                entry.act(Asked.model_validate(what["asked"]))
            elif verb == "observe":
                told, then = Told.model_validate(what["told"]), what["decision"]
                if entry.decision is not None and not np.allclose(entry.decision, then, rtol=1e-9, atol=1e-12):
                    raise CheckpointError(
                        f"serve: in event {event}, key {key!r} decides {entry.decision.tolist()}, and it had decided "
                        f"{then}. After a crash, start with the version of driftwise and the kind of processor that "
                        "served before; let that end by SIGTERM, and change them then."
                    )
                entry.observe(told)
            elif verb == "forget":
                del self.entries[key]
            else:
                raise CheckpointError(f"serve: event {event} is {verb!r}, which this version does not know.")
            entry.event = event
        except DriftwiseError:
            raise
        except (KeyError, TypeError, ValueError, ValidationError) as error:
            raise CheckpointError(f"serve: an event of the journal is none of this version's: {error}") from None

    # Checkpoints.

    async def checkpoint(self) -> None:
        """Write all learners, letting requests in between."""
        self._gone = {}
        await self.store.checkpoint(self._learners())

    def _learners(self) -> Iterator[Saved]:
        count = 0
        for key in list(self.entries):
            if key in self.entries:
                count += 1
                yield self.entries[key].saved()
        yield {"end": count, "gone": self._gone}, b""

    async def keep(self) -> None:
        """Make a checkpoint whenever one is due, for ever."""
        failed = 0
        while True:
            if not self._is_due():
                self._due.clear()
                await self._due.wait()
            try:
                await self.checkpoint()
                failed = 0
            except Exception as error:
                failed += 1
                self._complain(error)
                await asyncio.sleep(min(2.0**failed, 60.0))

    async def finish(self) -> None:
        """Make a last checkpoint, if anything has happened since the one before, and let others have the folder."""
        try:
            if self.store.events and not self.store.failed:
                await self.checkpoint()
        except Exception as error:
            self._complain(error)
        self.close()

    def _complain(self, error: Exception) -> None:
        """Say that a checkpoint could not be made; nothing is lost, as the journals have it."""
        self.counts["checkpoint_failures"] += 1
        print(f"driftwise: {type(error).__name__}: {error}", file=sys.stderr, flush=True)

    def _is_due(self) -> bool:
        """Tell whether there is so much to take in again that writing all learners costs less than it."""
        return self.store.events >= max(self.every, 4 * len(self.entries)) and not self.store.failed


def _unused(key: str) -> dict[str, Any]:
    """Return what is saved of an entry that has not begun."""
    blank: dict[str, Any] = {"event": 0, "asked": None, "last": None, "names": [], "moves": 0, "counted": 0}
    return {"key": key, "decision": None, **blank, "running": 0.0, "moving": 0.0}
