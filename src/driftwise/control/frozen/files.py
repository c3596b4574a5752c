"""Text files that are there whole or not at all: a new one replaces the old one in a single step."""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from driftwise.errors import InputError


def read_path(owner: str, path: object) -> Path:
    """Return what was given as a path."""
    if isinstance(path, str | os.PathLike) and str(path):
        return Path(path)
    raise InputError(f"{owner}: path must be the name of a file, got {path!r:.60}.")


def write_text(owner: str, path: object, text: str) -> None:
    """Write a file: first under another name beside it, down to the disk, and then in its place."""
    target = read_path(owner, path)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        try:
            with open(draft, "xb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, target)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
    except (OSError, ValueError) as error:
        raise InputError(
            f"{owner}: {target} cannot be written: {error}. Give a file in a folder that exists, can be written to and "
            "has room; what was there before is unchanged."
        ) from None
    _keep_folder(target.parent)


def _keep_folder(folder: Path) -> None:
    """Bring the folder's own entry to the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_text(owner: str, path: object, most: int) -> str:
    """Return the text of a regular file of at most so many bytes."""
    source = read_path(owner, path)
    try:
        found = source.stat()
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{owner}: {source} is not a file; give the file that was saved.")
        if found.st_size > most:
            raise InputError(
                f"{owner}: {source} has {found.st_size} bytes, more than the {most} that are read; it is not a saved "
                "policy."
            )
        with open(source, "rb") as file:
            data = file.read(most + 1)[:most]
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{owner}: {source} cannot be read: {error}. Give the file that was saved.") from None
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InputError(f"{owner}: {source} is not a text file; give the file that was saved.") from None
