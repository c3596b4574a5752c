"""Records one after another in a file, each with a digest over itself and all before it.

A record is a JSON text, and bytes after it if there are any. What is written last may be cut short by a crash, and is
then left out; anything else that does not fit is damage, and is refused. The length of a record has a checksum of its
own, so that a flipped bit in it is not taken for such a cut.
"""

import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from driftwise._files import storage_error
from driftwise.errors import CheckpointError

OWNER = "serve"
BEGINNING = hashlib.sha256(b"driftwise serve").digest()
"""What the digest of the first record goes on from."""

_HEAD, _DIGEST = 8, 32


class Record(NamedTuple):
    """A record that was read: its JSON, the bytes after it, and where it ends and with which digest."""

    what: dict[str, Any]
    blob: bytes
    end: int
    digest: bytes


def frame(digest: bytes, what: dict[str, Any], blob: bytes = b"") -> tuple[bytes, bytes]:
    """Return a record as it is written after one with the given digest, and its own digest.

    Examples
    --------
    >>> written, digest = frame(BEGINNING, {"one": 1})
    >>> len(written), written[8:17]
    (49, b'{"one":1}')
    """
    body = json.dumps(what, allow_nan=False, separators=(",", ":")).encode()
    body += b"\0" + blob if blob else b""
    size = len(body).to_bytes(4, "little")
    digest = hashlib.sha256(digest + body).digest()
    return size + zlib.crc32(size).to_bytes(4, "little") + body + digest, digest


def read(path: Path, *, may_be_cut: bool) -> Iterator[Record]:
    """Yield the records of a file; with `may_be_cut`, one at the end that is not there whole is left out.

    Raises
    ------
    CheckpointError
        If it is damaged, or cut short where it must not be.
    StorageError
        If it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            left, end, digest = path.stat().st_size, 0, BEGINNING
            while left:
                head = file.read(min(_HEAD, left))
                size = int.from_bytes(head[:4], "little")
                if len(head) == _HEAD and zlib.crc32(head[:4]).to_bytes(4, "little") != head[4:]:
                    if may_be_cut and not any(head) and _all_zero(file):
                        return  # room that was made for a record which never came
                    raise _damaged(path, end)
                if len(head) < _HEAD or left < _HEAD + size + _DIGEST:
                    if may_be_cut:
                        return
                    raise _damaged(path, end)
                body, claimed = file.read(size), file.read(_DIGEST)
                digest = hashlib.sha256(digest + body).digest()
                if digest != claimed:
                    raise _damaged(path, end)
                left, end = left - _HEAD - size - _DIGEST, end + _HEAD + size + _DIGEST
                text, _, blob = body.partition(b"\0")
                yield Record(_parsed(path, text), blob, end, digest)
    except OSError as error:
        raise storage_error(OWNER, "read", path, error) from None


def _all_zero(file: Any) -> bool:
    return not any(any(piece) for piece in iter(lambda: file.read(65536), b""))


def _parsed(path: Path, text: bytes) -> dict[str, Any]:
    try:
        what = json.loads(text)
    except (ValueError, RecursionError):
        what = None
    if not isinstance(what, dict):
        raise CheckpointError(f"{OWNER}: {path} has a record that no version of driftwise wrote, although it is whole.")
    return what


def _damaged(path: Path, place: int) -> CheckpointError:
    return CheckpointError(
        f"{OWNER}: {path} is damaged at byte {place} or after it: the digest there is not that of what stands before "
        "it. Put a copy of the whole folder in its place, or begin with an empty folder."
    )
