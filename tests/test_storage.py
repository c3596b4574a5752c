"""Everything that writes files, on a disk that is full or read-only: a typed error, and the old files stay."""

import errno
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import driftwise as dw
from driftwise import control, report
from driftwise.control.frozen.export import export_c
from driftwise.errors import StorageError
from driftwise.experiments.findings.finding import Chapter, Finding, Panel, Series
from driftwise.experiments.sweep import sweep
from driftwise.report.bars import Bar, draw_bars
from tests.report.chapters import SOURCE


def _chapter(folder: Path, size: int) -> None:
    curve = Series("a", list(range(size)), list(np.linspace(0.0, 1.0, size)))
    Chapter("one", "One", SOURCE, [Finding("Numbers", "", [], [], [Panel("", "", "", [curve])])]).write(folder)


def _report(folder: Path, size: int) -> None:
    _chapter(folder, size)
    report.build(folder)


def _run(size: int, seed: int) -> dict[str, np.ndarray]:
    return {"curve": np.arange(float(size))}


def _trace(size: int) -> dw.Trace:
    return dw.play(dw.OGD(dw.Ball(1), step=0.5), dw.TrackingLoss(np.linspace(0.0, 1.0, size)))


def _policy(size: int) -> control.FrozenPolicy:
    plant = control.double_integrator()
    M = np.full((size, 1, 2), 1e-9)
    return control.FrozenPolicy(plant.A, plant.B, control.lqr(plant), M)


WRITERS: dict[str, Callable[[Path, int], object]] = {
    "learner": lambda folder, size: dw.OGD(dw.Ball(size), step=0.5).save(folder / "learner"),
    "trace": lambda folder, size: _trace(size).to_parquet(folder / "trace.parquet"),
    "policy": lambda folder, size: _policy(size).save(folder / "policy.json"),
    "C": lambda folder, size: export_c(_policy(size), folder / "policy.c"),
    "sweep": lambda folder, size: sweep(_run, {"size": [size]}, seeds=1, out=folder / "runs", workers=1),
    "chapter": _chapter,
    "report": _report,
    "bars": lambda folder, size: draw_bars([Bar("a", float(size), 1.0, "2")], "Bars", folder / "figures" / "costs"),
}
"""What writes into a folder, more for a larger size."""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_fails_is_said_and_old_files_stay(
    name: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    WRITERS[name](tmp_path, 20)
    before = contents(tmp_path)
    assert before

    def fail(*args: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match=os.strerror(code)) as caught:
        WRITERS[name](tmp_path, 30)
    monkeypatch.undo()
    assert str(tmp_path) in str(caught.value)
    assert {errno.ENOSPC: "make room", errno.EROFS: "change its permissions"}[code] in str(caught.value)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_in_place_of_the_folder_is_said(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StorageError, match="cannot be written"):
        WRITERS[name](tmp_path / "file", 20)
    assert contents(tmp_path) == {"file": b"mine"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of 300 kB, where that is allowed."""
    folder, mount = tmp_path / "disk", shutil.which("mount")
    folder.mkdir()
    command = [str(mount), "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("name", ["learner", "trace", "sweep", "chapter"])
def test_a_real_disk_that_is_full(name: str, small_disk: Path) -> None:
    WRITERS[name](small_disk, 20)
    before = contents(small_disk)
    with pytest.raises(StorageError, match=r"No space left on device.*make room"):
        WRITERS[name](small_disk, 100_000)
    assert contents(small_disk) == before
    WRITERS[name](small_disk, 30)


@pytest.mark.parametrize("name", WRITERS)
def test_a_real_disk_that_is_read_only(name: str, small_disk: Path) -> None:
    made = subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("needs the right to mount a disk")
    with pytest.raises(StorageError, match="cannot be written: Read-only file system"):
        WRITERS[name](small_disk, 20)
