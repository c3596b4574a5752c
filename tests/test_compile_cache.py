"""The disk cache of compiled functions, in processes of their own: what is kept where, and what a person is told."""

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

from driftwise import _compile

KERNELS = """
import numba
from driftwise._compile import compilations, entry, plugin

@entry
def half(x):
    return 0.5 * x

@plugin("int64(P, int64)")
def clear(numbers, size):
    for k in range(size):
        numbers[k] = 0.0
    return 0

@numba.njit(cache=True)
def somebody_elses(x):
    return x + 1.0

if __name__ == "__main__":
    assert compilations() == []
    assert half(3.0) == 1.5 and somebody_elses(1.0) == 2.0 and clear.address > 0
    print("compiled:", *compilations())
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Return a program with two kernels of ours and a compiled function that is not."""
    (tmp_path / "program").mkdir()
    path = tmp_path / "program" / "kernels.py"
    path.write_text(KERNELS)
    return path


def environment(**variables: str) -> dict[str, str]:
    dropped = ("NUMBA_CACHE_DIR", "DRIFTWISE_CACHE_DIR", "NUMBA_DISABLE_JIT")
    return {**{name: value for name, value in os.environ.items() if name not in dropped}, **variables}


def run(script: Path, **variables: str) -> str:
    """Run it as a program that nobody watches, and return what it says."""
    command = [sys.executable, str(script)]
    result = subprocess.run(command, env=environment(**variables), check=True, capture_output=True, text=True)
    assert result.stderr == ""
    return result.stdout


def watched(script: Path, **variables: str) -> str:
    """Run it at a terminal, and return what appears there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, str(script)]
    process = subprocess.Popen(command, env=environment(**variables), stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            read = os.read(ours, 4096)
        except OSError:  # what a terminal on Linux says when the last program has left it
            break
        if not read:
            break
        text += read
    os.close(ours)
    assert process.wait() == 0, text.decode()
    return text.decode()


def files_of(folder: Path, kernel: str) -> list[Path]:
    return list(folder.rglob(f"*{kernel}*.nbi"))


def test_compilations_are_counted_and_happen_once(script: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")
    assert run(script, DRIFTWISE_CACHE_DIR=folder) == "compiled: half clear\n"
    assert run(script, DRIFTWISE_CACHE_DIR=folder) == "compiled:\n"


CLOSED = """
import os, tempfile

def closed(*args, **options):
    raise OSError("read-only file system")

tempfile.TemporaryFile = os.replace = os.makedirs = closed
"""


def test_a_filled_folder_need_not_be_writable(script: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "kept")
    run(script, DRIFTWISE_CACHE_DIR=folder)
    script.write_text(CLOSED + KERNELS.replace("@numba.njit(cache=True)", "@numba.njit"))
    os.utime(script, (1.0, 1.0))
    # The kernels stand a few lines lower now, which numba takes for others: these are compiled, and cannot be kept.
    assert run(script, DRIFTWISE_CACHE_DIR=folder) == "compiled: half clear\n"
    script.write_text(KERNELS)
    sitecustomize = tmp_path / "site"
    sitecustomize.mkdir()
    (sitecustomize / "sitecustomize.py").write_text(CLOSED)
    script.write_text(KERNELS.replace("@numba.njit(cache=True)", "@numba.njit"))
    assert run(script, DRIFTWISE_CACHE_DIR=folder, PYTHONPATH=str(sitecustomize)) == "compiled:\n"


def test_files_that_were_cut_short_are_made_again(script: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    run(script, DRIFTWISE_CACHE_DIR=str(folder))
    for path in folder.rglob("*half*.nb?"):
        path.write_bytes(path.read_bytes()[:20])
    assert run(script, DRIFTWISE_CACHE_DIR=str(folder)) == "compiled: half\n"
    assert run(script, DRIFTWISE_CACHE_DIR=str(folder)) == "compiled:\n"


def test_a_folder_of_ones_own_is_for_our_kernels_alone(script: Path, tmp_path: Path) -> None:
    run(script, DRIFTWISE_CACHE_DIR=str(tmp_path / "kept"))
    assert len(files_of(tmp_path / "kept", "half")) == len(files_of(tmp_path / "kept", "clear")) == 1
    assert not files_of(tmp_path / "kept", "somebody_elses")
    assert files_of(script.parent / "__pycache__", "somebody_elses")
    assert not files_of(script.parent, "half")


def test_numbas_folder_is_for_all(script: Path, tmp_path: Path) -> None:
    run(script, NUMBA_CACHE_DIR=str(tmp_path / "all"))
    assert all(files_of(tmp_path / "all", name) for name in ("half", "clear", "somebody_elses"))


def test_ours_goes_before_numbas(script: Path, tmp_path: Path) -> None:
    run(script, NUMBA_CACHE_DIR=str(tmp_path / "all"), DRIFTWISE_CACHE_DIR=str(tmp_path / "kept"))
    assert files_of(tmp_path / "kept", "half")
    assert files_of(tmp_path / "all", "somebody_elses")
    assert not files_of(tmp_path / "all", "half")


def test_without_either_it_is_kept_beside_the_source(script: Path) -> None:
    run(script)
    assert files_of(script.parent / "__pycache__", "half")


def test_a_person_is_told_once_and_only_if_there_is_something_to_wait_for(script: Path, tmp_path: Path) -> None:
    said = watched(script, DRIFTWISE_CACHE_DIR=str(tmp_path / "kept"))
    assert "compiled: half clear" in said
    assert said.count("driftwise: compiling for this machine") == 1
    assert "happens once" in said
    assert "`driftwise warmup`" in said
    again = watched(script, DRIFTWISE_CACHE_DIR=str(tmp_path / "kept"))
    assert again.split() == ["compiled:"]


def test_a_person_is_told_that_nothing_can_be_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def first(x: Any) -> float:
        return float(x[0])

    kernel: Any = numba.njit(first)  # without a cache
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(_compile, "_said", False)
    monkeypatch.setattr(_compile, "_compiled", [])
    _compile._note(kernel)
    assert _compile.compilations() == ["first"]
    assert "cannot be kept: set DRIFTWISE_CACHE_DIR to a folder that can be written to" in capsys.readouterr().err


def test_who_compiles_on_purpose_is_not_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(_compile, "_said", False)
    _compile.say_nothing()
    _compile._say_once(True)
    assert capsys.readouterr().err == ""


def test_without_a_terminal_an_interpreter_that_is_asked_by_hand_tells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr(_compile, "_said", False)
    for _ in range(2):
        _compile._say_once(True)
    assert capsys.readouterr().err.count("\n") == 1


def test_a_process_with_a_log_tells_there(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delattr(sys, "ps1", raising=False)
    for name in ("_said", "_logged"):
        monkeypatch.setattr(_compile, name, False)
    _compile._say_once(True)
    assert capsys.readouterr().err == ""
    _compile.say_in_logs()
    for _ in range(2):
        _compile._say_once(True)
    assert capsys.readouterr().err.count("driftwise: compiling for this machine") == 1


def test_a_process_without_an_error_stream_compiles_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys, "ps1", raising=False)
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(_compile, "_said", False)
    _compile._say_once(True)
    assert not _compile._said


def test_without_a_compiler_everything_is_plain_python(script: Path) -> None:
    assert run(script, NUMBA_DISABLE_JIT="1") == "compiled:\n"
