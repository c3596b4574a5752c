"""The folder of a service: what is in it after any end, and what is refused."""

import asyncio
import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from driftwise.errors import CheckpointError, InputError, StorageError
from driftwise.serve import store as store_module
from driftwise.serve.records import BEGINNING, frame
from driftwise.serve.store import Store

OPENED: list[Store] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


class Ledger:
    """Numbers by name, in place of learners."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.rows: dict[str, list[int]] = {}
        self.store = Store(folder, **options)
        OPENED.append(self.store)

    def open(self) -> "Ledger":
        self.store.open(self.put, self.apply)
        return self

    def put(self, what: dict[str, Any], blob: bytes) -> None:
        if "key" in what:
            self.rows[what["key"]] = [*what["row"]]
            assert blob == b"blob of " + what["key"].encode()

    def apply(self, what: dict[str, Any], blob: bytes) -> None:
        if what["number"] < 0:
            raise InputError("negative")
        row = self.rows.setdefault(what["key"], [])
        if what["s"] not in row:
            row.append(what["s"])

    def add(self, key: str) -> None:
        self.store.append(({"key": key, "number": 1}, b"the event's own bytes"))
        self.rows.setdefault(key, []).append(self.store.last)

    def everything(self) -> Iterator[tuple[dict[str, Any], bytes]]:
        keys = list(self.rows)
        for key in keys:
            yield {"key": key, "row": [*self.rows[key]]}, b"blob of " + key.encode()
        yield {"end": len(keys)}, b""


def found_in(folder: Path) -> dict[str, list[int]]:
    """Return what the next process finds."""
    ledger = Ledger(folder).open()
    ledger.store.close()
    return ledger.rows


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_events_come_back(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path).open()
    for key in "abab":
        ledger.add(key)
    ledger.store.close()
    again = Ledger(tmp_path).open()
    assert again.rows == ledger.rows == {"a": [1, 3], "b": [2, 4]}
    assert names(tmp_path) == ["journal-0", "lock"]
    again.add("c")
    again.store.close()
    assert found_in(tmp_path)["c"] == [5]


def test_a_checkpoint_takes_the_place_of_the_journal(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path).open()
    for key in "aba":
        ledger.add(key)
    asyncio.run(ledger.store.checkpoint(ledger.everything()))
    assert names(tmp_path) == ["checkpoint-1", "journal-1", "lock"]
    assert ledger.store.events == 0
    ledger.add("b")
    ledger.store.close()
    assert found_in(tmp_path) == {"a": [1, 3], "b": [2, 4]}


def test_a_crash_at_any_moment_of_a_checkpoint_loses_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "state").open()
    for key in "abcdef":
        ledger.add(key)
    copies: list[dict[str, list[int]]] = []

    def crash() -> None:
        shutil.copytree(tmp_path / "state", tmp_path / f"{len(copies)}")
        copies.append({key: [*row] for key, row in ledger.rows.items()})

    async def busy() -> None:
        for _ in range(3):
            task = asyncio.create_task(ledger.store.checkpoint(ledger.everything()))
            while not task.done():
                crash()
                ledger.add("abcdefgh"[len(copies) % 8])
                crash()
                await asyncio.sleep(0)
            await task
            crash()

    asyncio.run(busy())
    assert len(copies) > 30
    assert len({tuple(names(tmp_path / f"{i}")) for i in range(len(copies))}) >= 6
    for i, rows in enumerate(copies):
        again = Ledger(tmp_path / f"{i}").open()
        assert again.rows == rows
        again.add("z")
        again.store.close()
        assert found_in(tmp_path / f"{i}") == {**rows, "z": [again.store.last]}


def test_a_checkpoint_that_fails_leaves_all_that_there_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")
    real = os.replace
    for _ in range(2):
        monkeypatch.setattr(os, "replace", fails_for("checkpoint", real))
        with pytest.raises(StorageError, match="There is no room left"):
            asyncio.run(ledger.store.checkpoint(ledger.everything()))
        monkeypatch.setattr(os, "replace", real)
        ledger.add("a")
    assert names(tmp_path) == ["journal-0", "journal-1", "journal-2", "lock"]
    ledger.store.close()
    ledger = Ledger(tmp_path).open()
    assert ledger.rows == {"a": [1, 2, 3]}
    asyncio.run(ledger.store.checkpoint(ledger.everything()))
    assert names(tmp_path) == ["checkpoint-3", "journal-3", "lock"]


def fails_for(word: str, real: Callable[..., None]) -> Callable[..., None]:
    def replace(source: Any, target: Any) -> None:
        if Path(target).name.startswith(word):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(source, target)

    return replace


class Full:
    """A file on a disk that is full after some bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def write(self, data: memoryview) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        done: int = self.file.write(data[: self.room])
        self.room -= done
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("room", [0, 1, 20])
def test_an_event_that_does_not_fit_is_not_there_at_all(tmp_path: Path, room: int) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")
    before, real = (tmp_path / "journal-0").read_bytes(), ledger.store._file
    ledger.store._file = Full(real, room)
    with pytest.raises(StorageError, match="There is no room left"):
        ledger.add("b")
    assert (tmp_path / "journal-0").read_bytes() == before
    ledger.store._file = real
    ledger.add("c")
    ledger.store.close()
    assert found_in(tmp_path) == {"a": [1], "c": [2]}


def test_a_disk_that_fails_ends_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")

    def broken(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StorageError, match=r"nothing is taken in any more, because of .*Input/output error"):
        asyncio.run(ledger.store.durable())
    monkeypatch.undo()
    with pytest.raises(StorageError, match="start again"):
        ledger.add("b")
    with pytest.raises(StorageError, match="start again"):
        asyncio.run(ledger.store.checkpoint(ledger.everything()))


def test_many_wait_for_one_write_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, real, done = Ledger(tmp_path).open(), os.fsync, []

    def counted(handle: int) -> None:
        done.append(handle)
        real(handle)

    async def one() -> None:
        ledger.add("a")
        await ledger.store.durable()

    async def many() -> None:
        await asyncio.gather(*(one() for _ in range(50)))

    monkeypatch.setattr(os, "fsync", counted)
    asyncio.run(many())
    assert 1 <= len(done) <= 2
    relaxed = Ledger(tmp_path / "other", sync=False).open()
    relaxed.add("a")
    done.clear()
    asyncio.run(relaxed.store.durable())
    assert done == []


def test_what_was_cut_short_is_left_out_and_gone_on_from(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")
    size = (tmp_path / "journal-0").stat().st_size
    ledger.add("b")
    ledger.store.close()
    whole = (tmp_path / "journal-0").read_bytes()
    for cut in range(size, len(whole)):
        (tmp_path / "journal-0").write_bytes(whole[:cut])
        again = Ledger(tmp_path).open()
        assert again.rows == {"a": [1]}
        again.add("c")
        again.store.close()
        assert found_in(tmp_path) == {"a": [1], "c": [2]}


def test_an_event_that_was_refused_when_the_process_died_is_taken_back(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")
    ledger.store.append(({"key": "a", "number": -1}, b""))
    ledger.store.close()
    shutil.copytree(tmp_path, tmp_path / "copy")
    again = Ledger(tmp_path).open()
    again.add("b")
    again.store.close()
    assert found_in(tmp_path) == {"a": [1], "b": [2]}
    ledger = Ledger(tmp_path / "copy")
    ledger.apply = lambda what, blob: None  # type: ignore[method-assign]  # one that took it in, and went on
    ledger.open().add("b")
    ledger.store.close()
    with pytest.raises(CheckpointError, match="an event that cannot have been taken in: negative"):
        Ledger(tmp_path / "copy").open()


@pytest.mark.parametrize("name", ["checkpoint-1", "journal-1"])
def test_every_flipped_byte_is_refused(tmp_path: Path, name: str) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")
    asyncio.run(ledger.store.checkpoint(ledger.everything()))
    ledger.add("b")
    ledger.store.close()
    path = tmp_path / name
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(CheckpointError, match="is damaged at byte"):
            Ledger(tmp_path).open()
    path.write_bytes(whole)
    assert found_in(tmp_path) == {"a": [1], "b": [2]}


def test_every_cut_of_a_checkpoint_is_refused(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")
    asyncio.run(ledger.store.checkpoint(ledger.everything()))
    ledger.store.close()
    path = tmp_path / "checkpoint-1"
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match=r"is damaged|has lost its end"):
            Ledger(tmp_path).open()


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("journal-2", "of which some are missing"),
        ("checkpoint-2", "of which some are missing"),
    ],
)
def test_a_missing_file_is_refused(tmp_path: Path, gone: str, said: str) -> None:
    ledger = Ledger(tmp_path).open()
    for _ in range(2):
        ledger.add("a")
        asyncio.run(ledger.store.checkpoint(ledger.everything()))
    ledger.add("a")
    ledger.store.close()
    (tmp_path / gone).unlink()
    with pytest.raises(CheckpointError, match=said):
        Ledger(tmp_path).open()


def test_a_file_of_another_folder_or_another_time_is_refused(tmp_path: Path) -> None:
    for name in ("one", "other"):
        ledger = Ledger(tmp_path / name).open()
        ledger.add("a")
        asyncio.run(ledger.store.checkpoint(ledger.everything()))
        ledger.add("a")
        ledger.store.close()
    one, other = tmp_path / "one", tmp_path / "other"
    mine = (one / "journal-1").read_bytes()
    shutil.copy(other / "journal-1", one)
    with pytest.raises(CheckpointError, match="does not belong to the other files"):
        Ledger(one).open()
    (one / "journal-1").write_bytes(mine)
    (one / "journal-2").write_bytes(mine)
    with pytest.raises(CheckpointError, match="does not belong to the other files"):
        Ledger(one).open()


def test_a_journal_that_lost_its_end_to_another_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")
    before = (tmp_path / "journal-0").read_bytes()
    ledger.add("a")
    monkeypatch.setattr(os, "replace", fails_for("checkpoint", os.replace))
    with pytest.raises(StorageError):
        asyncio.run(ledger.store.checkpoint(ledger.everything()))
    ledger.store.close()
    (tmp_path / "journal-0").write_bytes(before)
    with pytest.raises(CheckpointError, match="goes on from event 2, and what is before it ends with event 1"):
        Ledger(tmp_path).open()


def test_what_a_later_version_wrote_is_refused(tmp_path: Path) -> None:
    piece, _ = frame(BEGINNING, {"schema": 2, "after": 0, "generation": 0, "state": "x"})
    (tmp_path / "journal-0").write_bytes(piece)
    with pytest.raises(CheckpointError, match="has schema 2, and this version of driftwise reads 1"):
        Ledger(tmp_path).open()


def test_a_journal_without_anything_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "journal-0").write_bytes(b"")
    with pytest.raises(CheckpointError, match="is empty"):
        Ledger(tmp_path).open()


def test_one_at_a_time_in_a_folder(tmp_path: Path) -> None:
    first = Ledger(tmp_path).open()
    with pytest.raises(StorageError, match="another process serves"):
        Ledger(tmp_path).open()
    code = f"from tests.serve.test_store import Ledger, Path; Ledger(Path({str(tmp_path)!r})).open()"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "another process serves" in other.stderr
    first.store.close()
    Ledger(tmp_path).open().store.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"):
        Store(tmp_path / "file")


class Stuck(Full):
    """One that cannot even be cut."""

    def truncate(self, size: int) -> None:
        raise OSError(errno.EIO, "Input/output error")


def test_what_can_be_neither_written_nor_taken_back_ends_everything(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")
    real = ledger.store._file
    ledger.store._file = Stuck(real, 20)
    with pytest.raises(StorageError, match="There is no room left"):
        ledger.add("b")
    ledger.store._file = real
    with pytest.raises(StorageError, match=r"nothing is taken in any more, because of .*Input/output error"):
        ledger.add("c")
    ledger.store.close()
    assert found_in(tmp_path) == {"a": [1]}  # what was half written is cut off by the next process


def test_a_disk_that_fails_when_a_checkpoint_begins_ends_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")

    def broken(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StorageError, match="start again"):
        asyncio.run(ledger.store.checkpoint(ledger.everything()))
    monkeypatch.undo()
    with pytest.raises(StorageError, match="start again"):
        ledger.add("b")
    ledger.store.close()
    assert found_in(tmp_path) == {"a": [1]}


@pytest.mark.parametrize("kept", [False, True])
def test_a_journal_that_cannot_be_gone_on_with_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")

    def refuses(path: Any, *mode: Any, **more: Any) -> Any:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(store_module, "open", refuses, raising=False)
        if kept:
            patch.setattr(Path, "unlink", refuses)
        with pytest.raises(StorageError, match="Too many open files"):
            asyncio.run(ledger.store.checkpoint(ledger.everything()))
    assert ("journal-1" in names(tmp_path)) == kept
    if kept:  # nothing more may go into the one before, as the new one goes on from it
        with pytest.raises(StorageError, match="start again"):
            ledger.add("b")
    else:
        ledger.add("b")
    ledger.store.close()
    assert found_in(tmp_path) == ({"a": [1]} if kept else {"a": [1], "b": [2]})


def test_a_journal_that_cannot_be_opened_again_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.add("a")
    ledger.store.close()

    def refuses(path: Any, *mode: Any, **more: Any) -> Any:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(store_module, "open", refuses, raising=False)
    with pytest.raises(StorageError, match=r"journal-0 cannot be written: Read-only file system\. The folder"):
        Ledger(tmp_path).open()


def test_a_refused_event_may_end_the_last_journal_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path).open()
    ledger.store.append(({"key": "a", "number": -1}, b""))
    monkeypatch.setattr(os, "replace", fails_for("checkpoint", os.replace))
    with pytest.raises(StorageError):
        asyncio.run(ledger.store.checkpoint(iter([({"end": 0}, b"")])))
    ledger.store.close()
    with pytest.raises(CheckpointError, match="journal-0 ends with an event that cannot have been taken in: negative"):
        Ledger(tmp_path).open()
