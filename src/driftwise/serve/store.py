"""The folder of a service: what was acknowledged is in it, whatever becomes of the process.

A *journal* has every event since the last *checkpoint*, which has every learner. Both have a number, their generation::

    checkpoint-3   every learner, each at some event while the checkpoint was made
    journal-3      events from the moment on when that checkpoint was begun
    journal-4      the same of the next one, if it was begun and is not there yet

Events are numbered without a gap. A learner in a checkpoint says which was its last one, so that what it already knows
is not taught again, and a checkpoint can be made between requests, one learner at a time. A journal says which event
it goes on from, so that no journal can be missing unnoticed, and all files say which folder they were made in.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from driftwise._files import storage_error, sync_folder, write_atomically
from driftwise.errors import StorageError
from driftwise.serve.lock import Lock
from driftwise.serve.records import BEGINNING, OWNER, frame
from driftwise.serve.recovery import NAME, Files, Take


class Mark(NamedTuple):
    """A place in the journal to go back to."""

    size: int
    last: int
    digest: bytes


class Store(Files):
    """The files of a service.

    Parameters
    ----------
    folder : path
        Where they are; made if it is not there.
    sync : bool, default True
        Whether `durable` waits for the disk. Without, what was acknowledged survives the process, but a machine that
        loses power loses the last seconds.
    """

    def __init__(self, folder: str | os.PathLike[str], sync: bool = True) -> None:
        super().__init__(folder)
        self.sync, self.failed = sync, ""
        self._on_disk = 0
        self._syncing = asyncio.Lock()
        self._file: Any = None
        self._lock: Lock | None = None

    def open(self, put: Take, apply: Take) -> None:
        """Take the folder, and hand over all that is in it: `put` gets every learner, `apply` every event since."""
        self._lock = Lock(self.folder)
        try:
            first = self.recover(put, apply)
            if first is None:
                self._begin(0)
            else:
                self._reopen()
                self._tidy(first)
        except BaseException:
            self.close()
            raise

    def append(self, *records: tuple[dict[str, Any], bytes]) -> Mark:
        """Write events; they are on the disk when `durable` returns. If that fails, there are none of them."""
        self._expect_working()
        before = Mark(self.size, self.last, self.digest)
        data = b""
        for what, blob in records:
            self.last += 1
            piece, self.digest = frame(self.digest, {"s": self.last, **what}, blob)
            data += piece
        self.size += len(data)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self.back_to(before)
            raise storage_error(OWNER, "written", self.path("journal", self.generation), error) from None
        return before

    def back_to(self, mark: Mark) -> None:
        """Take back the events since a mark; nothing may have been awaited in between."""
        try:
            self._file.truncate(mark.size)
        except OSError as error:
            self.fail(error)
        self.size, self.last, self.digest = mark

    def fail(self, why: object) -> None:
        """Take in no event any more: whether memory and disk agree is not known, and a new process has to look."""
        self.failed = f"{OWNER}: nothing is taken in any more, because of {why}; mend that, and start again."

    def _expect_working(self) -> None:
        if self.failed:
            raise StorageError(self.failed)

    async def durable(self) -> None:
        """Wait until all events so far are on the disk; many requests wait for one write."""
        if not self.sync:
            return
        wanted = self.last
        while self._on_disk < wanted:
            async with self._syncing:
                self._expect_working()
                if self._on_disk < wanted:
                    so_far = self.last
                    try:
                        await asyncio.to_thread(os.fsync, self._file.fileno())
                    except OSError as error:
                        self.fail(error)
                        self._expect_working()
                    self._on_disk = so_far

    def _begin(self, number: int) -> None:
        """Begin a journal; what is in the one before is on the disk then."""
        path = self.path("journal", number)
        self._flush()
        written, digest = frame(BEGINNING, self.head(number))
        write_atomically(OWNER, path, written)
        try:
            file = open(path, "ab", buffering=0)  # noqa: SIM115  (it is held open)
        except OSError as error:
            try:
                path.unlink()  # it says where it goes on from, and the one before goes on
            except OSError:
                self.fail(error)
            raise
        if self._file is not None:
            self._file.close()
        self._file, self.generation, self.size, self.digest = file, number, len(written), digest
        self._on_disk = self.last

    def _flush(self) -> None:
        """Bring the journal to the disk, waiting for it."""
        if self._file is not None:
            try:
                os.fsync(self._file.fileno())
            except OSError as error:
                self.fail(error)
                self._expect_working()

    def _reopen(self) -> None:
        """Go on with the last journal, without what a crash has cut short."""
        path = self.path("journal", self.generation)
        try:
            self._file = open(path, "ab", buffering=0)  # noqa: SIM115  (it is held open)
            self._file.truncate(self.size)
            os.fsync(self._file.fileno())
        except OSError as error:
            raise storage_error(OWNER, "written", path, error) from None
        self._on_disk = self.last

    # Checkpoints.

    async def checkpoint(self, learners: Iterator[tuple[dict[str, Any], bytes]]) -> None:
        """Write every learner, letting requests in between, and leave out the journal of what they know.

        The last that `learners` yields is the record with which the checkpoint ends.
        """
        self._expect_working()
        number = self.generation + 1
        path, draft = self.path("checkpoint", number), self.folder / f".checkpoint-{number}.part"
        try:
            async with self._syncing:  # the journal must not change under one who waits for it
                self._begin(number)
                begun_after = self.last
            with open(draft, "wb") as file:
                piece, digest = frame(BEGINNING, self.head(number))
                file.write(piece)
                for what, blob in learners:
                    piece, digest = frame(digest, what, blob)
                    file.write(piece)
                    await asyncio.sleep(0)
                file.flush()
                await asyncio.to_thread(os.fsync, file.fileno())
            self._flush()  # a checkpoint must not know an event that the journal could still lose
            os.replace(draft, path)
        except OSError as error:
            raise storage_error(OWNER, "written", path, error) from None
        finally:
            with contextlib.suppress(OSError):
                draft.unlink()
        sync_folder(self.folder)
        self.checkpointed, self.covered = time.time(), begun_after
        self._tidy(number)

    def _tidy(self, first: int) -> None:
        """Remove what came before a checkpoint, and drafts."""
        for name in os.listdir(self.folder):
            match = NAME.fullmatch(name)
            if (name[0] == "." and name.endswith(".part")) or (match and int(match[2]) < first):
                with contextlib.suppress(OSError):
                    (self.folder / name).unlink()

    def close(self) -> None:
        """Let others have the folder."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None
