"""Files of a sweep that somebody has made up, and disks that fail: run again, or said; what was kept stays."""

import errno
import io
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftwise.errors import InputError, StorageError
from driftwise.experiments.sweep import sweep
from driftwise.experiments.sweep.result import decode, encode
from driftwise.experiments.sweep.store import _digest
from tests.experiments.runs import solve

RESULT = {"total": 2.5, "curve": np.arange(4.0)}


def archive(packing: int = zipfile.ZIP_STORED, **members: bytes | str) -> bytes:
    """Return a zip archive; of `result_json` and `curve_npy` the line stands for a dot."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as made:
        for name, content in members.items():
            made.writestr(name.replace("_", "."), content)
    return file.getvalue()


def npy(descr: str = "<f8", shape: str = "(4,)", payload: bytes = bytes(32), order: str = "False") -> bytes:
    """Return an `.npy` file whose header says what one likes."""
    header = f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + payload


class Evil:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def pickled(path: Path) -> bytes:
    return npy("|O", "()", pickle.dumps(Evil(path)))


CURVE = '{"curve": ["float64", [4]]}'
CRAFTED: dict[str, Callable[[Path], bytes]] = {
    "huge shape": lambda path: archive(result_json=CURVE, curve_npy=npy(shape="(4000000000000,)")),
    "many huge sides": lambda path: archive(result_json=CURVE, curve_npy=npy(shape="(99999999999, 99999999999, 9)")),
    "negative side": lambda path: archive(result_json=CURVE, curve_npy=npy(shape="(-4,)")),
    "a text of gigabytes": lambda path: archive(result_json=CURVE, curve_npy=npy("<U1000000000", "(4,)")),
    "object array": lambda path: archive(result_json=CURVE, curve_npy=npy("|O")),
    "pickle": lambda path: archive(result_json=CURVE, curve_npy=pickled(path / "run")),
    "deep header": lambda path: archive(result_json=CURVE, curve_npy=npy(shape="(" * 4000 + ")" * 4000)),
    "deep JSON": lambda path: archive(result_json="[" * 10**6),
    "deep object": lambda path: archive(result_json='{"a":' * 10**5 + "1" + "}" * 10**5),
    "huge integer": lambda path: archive(result_json="9" * 10**5),
    "twice": lambda path: archive(result_json='{"a": 1, "a": 2}'),
    "list": lambda path: archive(result_json="[1, 2]"),
    "text": lambda path: archive(result_json='"text"'),
    "inner object": lambda path: archive(result_json='{"a": {"b": 1}}'),
    "no array": lambda path: archive(result_json=CURVE),
    "no result": lambda path: archive(curve_npy=npy()),
    "bomb": lambda path: archive(zipfile.ZIP_DEFLATED, result_json=" " * 10**8 + "1"),
    "bomb, bzip2": lambda path: archive(zipfile.ZIP_BZIP2, result_json=" " * 10**8 + "1"),
    "not UTF-8": lambda path: archive(result_json=b"\xff\xff"),
    "no archive": lambda path: b"PK\3\4" + bytes(100),
    "nothing": lambda path: b"",
    "other version": lambda path: archive(result_json=CURVE, curve_npy=npy().replace(b"\x01\x00", b"\x09\x00", 1)),
    "column order": lambda path: archive(result_json=CURVE, curve_npy=npy(order="True")),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_what_no_run_has_returned_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        decode(CRAFTED[name](tmp_path))
    assert not (tmp_path / "run").exists()


def test_the_made_up_files_are_read_if_they_are_right() -> None:
    assert decode(archive(result_json=CURVE, curve_npy=npy()))["curve"].tolist() == [0.0] * 4
    back = decode(encode(RESULT))["curve"]
    assert back.flags.writeable
    assert back.flags.owndata


def kept(folder: Path) -> tuple[Path, Path]:
    """Return the file of a run that is kept in a folder, and the manifest."""
    sweep(solve, {"dim": [3]}, seeds=[7], out=folder, workers=1)
    (file,) = folder.glob("*.npz")
    return file, folder / "manifest.jsonl"


def again(folder: Path) -> Any:
    return sweep(solve, {"dim": [3]}, seeds=[7], out=folder, workers=1, resume=True)[0].row


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_file_whose_digest_fits_is_run_again(name: str, tmp_path: Path) -> None:
    file, manifest = kept(tmp_path)
    before, data = file.read_bytes(), CRAFTED[name](tmp_path)
    file.write_bytes(data)
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "digest": _digest(data)}) + "\n")
    with pytest.warns(UserWarning, match="run again"):
        again(tmp_path)
    assert file.read_bytes() == before
    assert not (tmp_path / "run").exists()
    again(tmp_path)  # without a warning


LINES: dict[str, Callable[[dict[str, Any]], str]] = {
    "deep": lambda line: "[" * 10**6,
    "deep configuration": lambda line: json.dumps(line)[:-1] + ', "configuration": ' + "[" * 900 + "]" * 900 + "}",
    "NaN": lambda line: json.dumps({**line, "digest": float("nan")}),
    "wrong types": lambda line: json.dumps({**line, "configuration": 3, "digest": [1]}),
    "huge integer": lambda line: json.dumps({**line, "seed": 0})[:-1] + ', "seed": ' + "9" * 10**5 + "}",
    "no digest": lambda line: json.dumps({name: part for name, part in line.items() if name != "digest"}),
    "file is a list": lambda line: json.dumps({**line, "file": ["a"]}),
    "not UTF-8": lambda line: "\udcff",
}


@pytest.mark.filterwarnings("ignore:.*run again")
@pytest.mark.parametrize("name", LINES)
def test_a_line_that_nobody_has_written_makes_a_run_again(name: str, tmp_path: Path) -> None:
    file, manifest = kept(tmp_path)
    before, lines = file.read_bytes(), LINES[name](json.loads(manifest.read_text()))
    manifest.write_bytes(lines.encode(errors="surrogateescape") + b"\n")
    file.write_bytes(b"to be replaced")
    again(tmp_path)
    assert file.read_bytes() == before


@pytest.mark.parametrize("kind", ["folder", "loop", "pipe", "endless"])
def test_what_is_no_file_is_said_or_run_again(kind: str, tmp_path: Path) -> None:
    file, manifest = kept(tmp_path)

    def replace(path: Path) -> None:
        path.unlink()
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero" if kind == "endless" else path)

    replace(file)
    # The run is made again, and there is no room for it where something else is.
    with pytest.warns(UserWarning, match="run again"), pytest.raises(StorageError, match=str(file)):
        again(tmp_path)
    replace(manifest)
    with pytest.raises((StorageError, InputError), match=str(manifest)):
        again(tmp_path)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_full_disk_is_said_and_earlier_runs_stay(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(StorageError, match=f"No space left on device. There is no room left in {tmp_path}: make room"):
        sweep(solve, {"dim": [3]}, seeds=[7, 8], out=tmp_path, workers=1, resume=True)
    monkeypatch.undo()
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


SMALL = """
import resource, signal, sys
import numpy as np
from driftwise.errors import StorageError
from driftwise.experiments.sweep import sweep

def large(seed):
    return {"curve": np.full(100 if seed == 0 else 10**6, float(seed))}

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for resume in (False, True):
    try:
        sweep(large, {}, seeds=2, out=sys.argv[1], workers=1, resume=resume)
    except StorageError as error:
        print(error)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs a limit on the size of files")
def test_a_disk_that_is_full_in_the_middle_of_a_sweep(tmp_path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)
    ran = subprocess.run([sys.executable, "-c", SMALL, str(tmp_path)], capture_output=True, text=True, check=True)
    assert ran.stdout.count(f"There is no room left in {tmp_path}: make room") == 2
    assert len(list(tmp_path.glob("*.npz"))) == 1
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".jsonl", ".npz"]


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StorageError, match="cannot be written"):
        sweep(solve, {"dim": [3]}, seeds=1, out=tmp_path / "file" / "inner", workers=1)
    assert (tmp_path / "file").read_text() == "mine"
