"""Reading the folder of a service: which files count, that none of them is missing or damaged, and what is in them."""

import os
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from driftwise._files import make_folder
from driftwise.errors import CheckpointError, DriftwiseError
from driftwise.serve.records import BEGINNING, OWNER, read

SCHEMA = 1
NAME = re.compile(r"(checkpoint|journal)-(0|[1-9][0-9]{0,15})")

Take = Callable[[dict[str, Any], bytes], None]


class Files:
    """Where the files of a service are, and how far they go.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = make_folder(OWNER, folder)
        self.generation = self.last = self.size = self.covered = 0
        self.digest = BEGINNING
        self.checkpointed = time.time()
        self._name = secrets.token_hex(8)

    @property
    def events(self) -> int:
        """How many events the next start would have to play: those since the last checkpoint that is there."""
        return self.last - self.covered

    def path(self, kind: str, number: int) -> Path:
        """Return the file of a kind and a generation."""
        return self.folder / f"{kind}-{number}"

    def head(self, number: int) -> dict[str, Any]:
        """Return the first record of a file that is begun now."""
        from driftwise import __version__

        return {
            "schema": SCHEMA,
            "state": self._name,
            "generation": number,
            "after": self.last,
            "driftwise": __version__,
        }

    def recover(self, put: Take, apply: Take) -> int | None:
        """Read everything, and return the generation that it begins with; None if there is nothing."""
        found: dict[str, list[int]] = {"checkpoint": [], "journal": []}
        for name in os.listdir(self.folder):
            if match := NAME.fullmatch(name):
                found[match[1]].append(int(match[2]))
        first = max(found["checkpoint"], default=0)
        journals = sorted(number for number in found["journal"] if number >= first)
        if not journals and not found["checkpoint"]:
            return None
        if journals != list(range(first, first + len(journals))) or not journals:
            raise CheckpointError(
                f"{OWNER}: {self.folder} has checkpoint {first} and journals {journals}, of which some are missing. "
                "Put a copy of the whole folder in its place, or begin with an empty folder."
            )
        if found["checkpoint"]:
            self._read_checkpoint(first, put)
        for number in journals:
            self._read_journal(number, apply, known=bool(found["checkpoint"]) or number > first, last=journals[-1])
        return first

    def _read_checkpoint(self, number: int, put: Take) -> None:
        path, count, ended = self.path("checkpoint", number), -1, False
        self.checkpointed = path.stat().st_mtime
        for record in read(path, may_be_cut=False):
            if count < 0:
                self._check(path, record.what, number, known=False)
                self.last = self.covered = record.what["after"]
            elif "end" in record.what:
                ended = record.what["end"] == count
            put(record.what, record.blob)
            count += 1
        if not ended:
            raise CheckpointError(f"{OWNER}: {path} has lost its end. Put a copy of the whole folder in its place.")

    def _read_journal(self, number: int, apply: Take, known: bool, last: int) -> None:
        path, begun, refused = self.path("journal", number), False, ""
        self.size, self.digest, self.generation = 0, BEGINNING, number
        for record in read(path, may_be_cut=number == last):
            if refused:
                raise CheckpointError(f"{OWNER}: {path} has an event that cannot have been taken in: {refused}")
            if not begun:
                self._check(path, record.what, number, known)
                begun = True
                if record.what["after"] != self.last and (known or record.what["after"] != 0):
                    raise CheckpointError(
                        f"{OWNER}: {path} goes on from event {record.what['after']}, and what is before it ends with "
                        f"event {self.last}. Put a copy of the whole folder in its place."
                    )
            else:
                if record.what.get("s") != self.last + 1:
                    raise CheckpointError(f"{OWNER}: {path} has event {record.what.get('s')!r} after {self.last}.")
                try:
                    apply(record.what, record.blob)
                except CheckpointError:
                    raise
                except DriftwiseError as error:
                    # The process was killed before it could say no to it and take it back: only the last can be so.
                    refused = str(error)
                    continue
                self.last += 1
            self.size, self.digest = record.end, record.digest
        if refused and number != last:
            raise CheckpointError(f"{OWNER}: {path} ends with an event that cannot have been taken in: {refused}")
        if not begun:
            raise CheckpointError(f"{OWNER}: {path} is empty. Put a copy of the whole folder in its place.")

    def _check(self, path: Path, head: dict[str, Any], number: int, known: bool) -> None:
        """Refuse a file that was made elsewhere, or by a version that knows more."""
        if head.get("schema") != SCHEMA or not isinstance(head.get("after"), int):
            raise CheckpointError(
                f"{OWNER}: {path} has schema {head.get('schema')!r}, and this version of driftwise reads {SCHEMA}."
            )
        if (known and head.get("state") != self._name) or head.get("generation") != number:
            raise CheckpointError(f"{OWNER}: {path} does not belong to the other files in its folder.")
        self._name = head["state"]
