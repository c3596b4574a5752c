"""One process at a time in a folder: a lock that the system takes away from a process that has died."""

import os
from pathlib import Path
from typing import Any

from driftwise._files import storage_error
from driftwise.errors import StorageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Lock:
    """The right to write in a folder; held until `release`, or until the process is gone.

    Parameters
    ----------
    folder : path
        The folder; its file ``lock`` is made if it is not there, and stays.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / "lock"
        try:
            self._file: Any = open(path, "a+b")  # noqa: SIM115  (it is held open)
        except OSError as error:
            raise storage_error("serve", "written", path, error) from None
        try:
            _take(self._file.fileno())
        except OSError:
            self._file.close()
            raise StorageError(
                f"serve: another process serves {folder}. Two would contradict each other: end that one first, run one "
                "worker only, or give another folder."
            ) from None

    def release(self) -> None:
        """Let others have the folder."""
        self._file.close()


def _take(handle: int) -> None:
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    import msvcrt  # pragma: no cover

    os.lseek(handle, 0, os.SEEK_SET)  # pragma: no cover
    msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # pragma: no cover
