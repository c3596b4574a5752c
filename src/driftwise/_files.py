"""Files that are there whole or not at all, and reading that ends at a limit: every file of ours goes through here.

A file is written under another name beside its place, brought to the disk and then put in its place in a single step.
A process that is killed in between leaves the old file as it was, and at worst a hidden ``.part`` file beside it.
"""

import contextlib
import errno
import gzip
import io
import os
import secrets
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

from driftwise.errors import InputError, StorageError

FULL = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))
LOCKED = (errno.EACCES, errno.EPERM, errno.EROFS)
ABSENT = (errno.ENOENT, errno.ENOTDIR)


def read_path(owner: str, path: object) -> Path:
    """Return what was given as a path."""
    if isinstance(path, str | os.PathLike) and isinstance(os.fspath(path), str) and str(path) and "\0" not in str(path):
        return Path(path)
    raise InputError(f"{owner}: path must be the name of a file, got {path!r:.60}.")


def storage_error(owner: str, verb: str, path: Path, error: OSError) -> StorageError:
    """Return the error to raise when a file cannot be read or written: what happened, where, and what to do."""
    if isinstance(error, StorageError):
        return error
    if verb == "read":
        remedy = "Give a file that exists and that you may read."
    elif error.errno in FULL:
        remedy = f"There is no room left in {path.parent}: make room, or give another folder."
    elif error.errno in LOCKED:
        remedy = f"The folder {path.parent} is read-only for you: change its permissions, or give another folder."
    elif error.errno in ABSENT:
        remedy = f"The folder {path.parent} does not exist: make it first, or give another folder."
    else:
        remedy = f"Give a file in a folder that can be written to and has room, other than {path.parent}."
    kept = "" if verb == "read" else " What was there before is unchanged."
    reason = error.strerror or str(error) or type(error).__name__
    result = StorageError(f"{owner}: {path} cannot be {verb}: {reason}. {remedy}{kept}")
    result.errno = error.errno
    return result


def write_atomically(owner: str, path: str | os.PathLike[str], *parts: bytes | memoryview) -> None:
    """Write a file whole, or leave what was there: a draft beside it, down to the disk, and then in its place.

    Parameters
    ----------
    owner : str
        Who writes, for messages.
    path : str or path
        The file; one that exists is replaced and keeps its permissions, and a link is followed.
    *parts : bytes or memoryview
        Its contents, one after another.

    Raises
    ------
    StorageError
        If the disk is full, or the folder is read-only or absent; no draft is left.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically("save", f"{folder}/state", b"one ", b"two")
    ...     read_limited("load", f"{folder}/state", 100)
    b'one two'
    """
    given = read_path(owner, path)
    try:
        target = Path(os.path.realpath(given))
        mode = _mode(target)
        draft = target.with_name(f".{secrets.token_hex(8)}.part")
        try:
            with open(draft, "xb") as file:
                for part in parts:
                    file.write(part)
                file.flush()
                if mode is not None:
                    with contextlib.suppress(OSError):
                        os.chmod(draft, mode)
                os.fsync(file.fileno())
            os.replace(draft, target)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
    except OSError as error:
        raise storage_error(owner, "written", given, error) from None
    sync_folder(target.parent)


def _mode(target: Path) -> int | None:
    """Return the permissions of a file that is to be replaced; what is no regular file must not be."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it exists and is not a regular file")
    return stat.S_IMODE(found.st_mode)


def sync_folder(folder: Path) -> None:
    """Bring a folder's own entries to the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def append_durably(owner: str, path: str | os.PathLike[str], data: bytes) -> None:
    """Add to the end of a file, down to the disk; if that fails, cut off what was added of it.

    Raises
    ------
    StorageError
        If the disk is full, or the file or its folder is read-only.
    """
    target = read_path(owner, path)
    try:
        with open(target, "ab", buffering=0) as file:
            before = file.tell()
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
            except BaseException:
                with contextlib.suppress(OSError):
                    file.truncate(before)
                raise
    except OSError as error:
        raise storage_error(owner, "written", target, error) from None


def make_folder(owner: str, folder: str | os.PathLike[str]) -> Path:
    """Make a folder and those above it, or raise `StorageError`."""
    made = read_path(owner, folder)
    try:
        made.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _no_folder(owner, made, error) from None
    return made


def _no_folder(owner: str, folder: Path, error: OSError) -> StorageError:
    """Return the error to raise when a folder cannot be made: there is a file in its place, or nobody may."""
    if error.errno in (*FULL, *LOCKED):
        return storage_error(owner, "written", folder, error)
    in_the_way = [str(place) for place in (folder, *folder.parents) if place.exists() and not place.is_dir()]
    said = f"{in_the_way[0]} is not a folder" if in_the_way else "A folder cannot be made there"
    result = StorageError(f"{owner}: {folder} cannot be written: {error.strerror}. {said}: give another one.")
    result.errno = error.errno
    return result


def read_limited(owner: str, path: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """Return the bytes of a regular file, at most `limit` of them.

    Parameters
    ----------
    owner : str
        Who reads, for messages.
    path : str or path
        The file. Folders, pipes and devices are refused without being opened.
    limit : int, optional
        Largest size that is read, in bytes; by default any that fits into memory.

    Raises
    ------
    StorageError
        If the file does not exist or cannot be read.
    InputError
        If it is not a regular file, or larger than the limit, or than memory.
    """
    source = read_path(owner, path)
    try:
        found = source.stat()
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{owner}: {source} is not a file; give the file itself.")
        if limit is not None and found.st_size > limit:
            raise _too_large(owner, source, f"{found.st_size} bytes", limit)
        with open(source, "rb") as file:
            data = file.read() if limit is None else file.read(min(limit, found.st_size) + 1)
            if limit is not None and len(data) > found.st_size:  # it has grown meanwhile, or does not tell its size
                data += file.read(limit + 1 - len(data))
    except OSError as error:
        raise storage_error(owner, "read", source, error) from None
    except MemoryError:
        raise InputError(f"{owner}: {source} does not fit into memory; give a smaller file.") from None
    if limit is not None and len(data) > limit:
        raise _too_large(owner, source, f"more than {limit} bytes", limit)
    return data


def unpack_gzip(owner: str, name: str, data: bytes, limit: int) -> bytes:
    """Return what is packed in the bytes of a gzip file, at most `limit` of it.

    A few bytes can stand for billions. So they are gone through once without being kept, and what is larger than the
    limit is refused before it takes any memory.

    Parameters
    ----------
    owner : str
        Who reads, for messages.
    name : str
        Name of the file, for messages.
    data : bytes
        The file; members that follow each other are put together, as gzip does it.
    limit : int
        Largest number of bytes that is returned.

    Raises
    ------
    InputError
        If it is no gzip file, damaged, cut short, followed by something else, or larger than the limit.

    Examples
    --------
    >>> import gzip
    >>> unpack_gzip("load", "numbers.csv.gz", gzip.compress(b"1,2"), 100)
    b'1,2'
    """
    size = 0
    for piece in _gunzipped(owner, name, data):
        size += len(piece)
        if size > limit:
            raise InputError(
                f"{owner}: {name} holds more than {limit} bytes when it is unpacked, and at most that many are read; "
                "give a smaller file, or a larger max_bytes if you trust it."
            )
    return b"".join(_gunzipped(owner, name, data))


def _gunzipped(owner: str, name: str, data: bytes) -> Iterator[bytes]:
    """Return the contents of a gzip file in pieces of at most a megabyte."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while piece := file.read(2**20):
                yield piece
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{owner}: {name} is damaged, or not compressed with gzip ({error}); make it again, or take .gz off its "
            "name if it is not compressed."
        ) from None


def _too_large(owner: str, path: Path, size: str, limit: int) -> InputError:
    return InputError(f"{owner}: {path} has {size}, and at most {limit} are read; give a smaller file.")
