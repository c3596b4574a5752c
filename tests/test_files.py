import errno
import gzip
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from driftwise import _files
from driftwise._files import append_durably, make_folder, read_limited, unpack_gzip, write_atomically
from driftwise.errors import InputError, StorageError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_parts_are_joined_and_an_old_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "state"
    write_atomically("save", path, b"old")
    write_atomically("save", str(path), b"one ", memoryview(b"two"), b"")
    assert path.read_bytes() == b"one two"
    assert names(tmp_path) == ["state"]


def test_a_link_is_followed_and_permissions_are_kept(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "state").write_bytes(b"old")
    (tmp_path / "inner" / "state").chmod(0o600)
    (tmp_path / "link").symlink_to(tmp_path / "inner" / "state")
    write_atomically("save", tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "inner" / "state").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "inner" / "state").stat().st_mode) == 0o600
    assert names(tmp_path / "inner") == ["state"]


def test_names_as_long_as_the_system_allows_are_written(tmp_path: Path) -> None:
    write_atomically("save", tmp_path / ("n" * 255), b"x")
    with pytest.raises(StorageError, match=r"save: .* cannot be written"):
        write_atomically("save", tmp_path / ("n" * 256), b"x")
    assert names(tmp_path) == ["n" * 255]


@pytest.mark.parametrize("place", ["fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS, None])
def test_what_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, code: int | None
) -> None:
    path = tmp_path / "state"
    path.write_bytes(b"old")

    def fail(*args: object) -> None:
        raise KeyboardInterrupt if code is None else OSError(code, os.strerror(code))

    monkeypatch.setattr(os, place, fail)
    with pytest.raises(KeyboardInterrupt if code is None else StorageError) as caught:
        write_atomically("save", path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["state"]
    if isinstance(caught.value, StorageError):
        assert caught.value.errno == code
        assert str(tmp_path) in str(caught.value)
        assert "unchanged" in str(caught.value)


SMALL_DISK = """
import resource, signal, sys
from driftwise._files import append_durably, write_atomically
from driftwise.errors import StorageError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
write_atomically("save", sys.argv[1], b"x" * 9_000)
for write in (write_atomically, append_durably):
    try:
        write("save", sys.argv[1], bytes(200_000))
    except StorageError as error:
        print(error)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs a limit on the size of files")
def test_a_disk_that_is_full_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", SMALL_DISK, str(tmp_path / "state")], capture_output=True, text=True, check=True
    )
    said = run.stdout.splitlines()
    assert len(said) == 2
    assert all(f"There is no room left in {tmp_path}: make room" in line for line in said)
    assert (tmp_path / "state").read_bytes() == b"x" * 9_000
    assert names(tmp_path) == ["state"]


def test_what_cannot_be_written_is_said_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"none does not exist: make it first"):
        write_atomically("save", tmp_path / "none" / "state", b"x")
    (tmp_path / "file").write_bytes(b"x")
    for write in (write_atomically, append_durably):
        with pytest.raises(StorageError, match=r"save: .* cannot be written"):
            write("save", tmp_path / "file" / "state", b"x")
        with pytest.raises(StorageError, match=r"save: .* cannot be written"):
            write("save", tmp_path, b"x")
        for wrong in (3, "", None, "a\0b", b"bytes"):
            with pytest.raises(InputError, match=r"save: path must be the name of a file"):
                write("save", wrong, b"x")  # type: ignore[arg-type]
    with pytest.raises(StorageError, match=r"not a regular file"):
        write_atomically("save", os.devnull, b"x")
    for place in (tmp_path / "file" / "inner", tmp_path / "file"):
        with pytest.raises(
            StorageError, match=rf"sweep: {place} cannot be written: .*{tmp_path}/file is not a folder: gi"
        ):
            make_folder("sweep", place)
    assert names(tmp_path) == ["file"]


def test_a_place_where_no_folder_can_be_is_not_said_to_be_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")  # as in /proc

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(
        StorageError, match=r"x cannot be written: No such .* A folder cannot be made there: give another"
    ):
        make_folder("serve", tmp_path / "x")


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_read_only_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(_files, "open", refuse, raising=False)
    for write in (write_atomically, append_durably):
        with pytest.raises(StorageError, match=rf"The folder {tmp_path} is read-only for you"):
            write("save", tmp_path / "state", b"x")


def test_appending_adds_and_a_failure_takes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "manifest"
    append_durably("sweep", path, b"one\n")
    append_durably("sweep", path, b"two\n")

    def fail(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match="No space left"):
        append_durably("sweep", path, b"three\n")
    assert path.read_bytes() == b"one\ntwo\n"


def test_reading_ends_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.write_bytes(b"x" * 100)
    assert read_limited("load", path) == read_limited("load", path, 100) == b"x" * 100
    with pytest.raises(InputError, match=r"load: .* has 100 bytes, and at most 99 are read"):
        read_limited("load", path, 99)
    path.write_bytes(b"")
    assert read_limited("load", path, 0) == b""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs a file that does not tell its size")
def test_a_file_that_does_not_tell_its_size_is_not_read_beyond_the_limit() -> None:
    assert len(read_limited("load", "/proc/self/maps", 2**24)) > 0
    with pytest.raises(InputError, match="more than 10 bytes"):
        read_limited("load", "/proc/self/maps", 10)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"load: .*none cannot be read: No such file"):
        read_limited("load", tmp_path / "none")
    with pytest.raises(InputError, match="is not a file"):
        read_limited("load", tmp_path)
    with pytest.raises(InputError, match="name of a file"):
        read_limited("load", "a\0b")
    with pytest.raises(InputError, match="is not a file"):
        read_limited("load", os.devnull)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="is not a file"):
            read_limited("load", tmp_path / "pipe")


def test_gzip_is_unpacked_member_by_member_up_to_a_limit() -> None:
    text = bytes(range(256)) * 10_000
    packed = gzip.compress(text)
    assert unpack_gzip("load", "f", packed, len(text)) == text
    assert unpack_gzip("load", "f", packed + packed, 2 * len(text)) == 2 * text
    assert unpack_gzip("load", "f", packed + bytes(512), len(text)) == text
    assert unpack_gzip("load", "f", gzip.compress(b""), 1) == b""
    for limit in (1, len(text) - 1):
        with pytest.raises(InputError, match=f"f holds more than {limit} bytes when it is unpacked"):
            unpack_gzip("load", "f", packed, limit)


@pytest.mark.parametrize("harm", ["cut", "flip", "garbage", "header"])
def test_damaged_gzip_is_refused(harm: str) -> None:
    packed = bytearray(gzip.compress(b"1,2\n" * 1000))
    if harm == "cut":
        del packed[-3:]
    elif harm == "flip":
        packed[-6] ^= 1
    elif harm == "garbage":
        packed += b"garbage"
    else:
        packed[0] ^= 1
    with pytest.raises(InputError, match="f is damaged, or not compressed with gzip"):
        unpack_gzip("load", "f", bytes(packed), 10**6)
