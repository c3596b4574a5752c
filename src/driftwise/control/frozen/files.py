"""Text files of policies: written whole or not at all, and read up to a limit."""

from driftwise._files import read_limited, write_atomically
from driftwise.errors import InputError


def write_text(owner: str, path: object, text: str) -> None:
    """Write a file: first under another name beside it, down to the disk, and then in its place."""
    write_atomically(owner, path, text.encode())  # type: ignore[arg-type]


def read_text(owner: str, path: object, most: int) -> str:
    """Return the text of a regular file of at most so many bytes."""
    try:
        return read_limited(owner, path, most).decode()  # type: ignore[arg-type]
    except UnicodeDecodeError:
        raise InputError(f"{owner}: {path} is not a text file; give the file that was saved.") from None
