"""`driftwise warmup`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from driftwise import warmup
from driftwise.cli import app
from driftwise.cli.warmup import FAMILIES
from driftwise.errors import RunError
from tests.cli.small import RUNNER


def test_warmup_says_what_it_compiles_and_where_it_keeps_that(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "driftwise", "warmup", "--family", "committee", "--family", "committee"]
    environment = {**os.environ, "DRIFTWISE_CACHE_DIR": str(tmp_path), "COLUMNS": "200"}
    first = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert re.search(r"^committee +[1-9]\d* compiled +\d+\.\d CPU s$", first.stdout, re.MULTILINE)
    assert first.stdout.count("committee ") == 1
    closing = rf"^Ready: [1-9]\d* kernels compiled in \d+\.\d s \(\d+\.\d CPU s\), kept in {tmp_path}$"
    assert re.search(closing, first.stdout, re.MULTILINE)
    assert first.stderr == ""
    assert list(tmp_path.rglob("*.nbi"))
    second = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert "Ready: 0 kernels compiled in" in second.stdout


def test_warmup_help_says_when_it_pays() -> None:
    output = RUNNER.invoke(app, ["warmup", "--help"]).output
    for word in ("container", "serverless", "DRIFTWISE_CACHE_DIR", "NUMBA_CPU_NAME", *FAMILIES):
        assert word in re.sub(r"-\s+", "-", output)  # names are broken at their hyphens


@pytest.mark.parametrize(
    ("arguments", "variables", "code", "message"),
    [
        (["--family", "lerners"], {}, 2, "driftwise: warmup: there is no family 'lerners'; did you mean learners? "),
        ([], {"NUMBA_DISABLE_JIT": "1"}, 2, "driftwise: warmup: NUMBA_DISABLE_JIT is set"),
    ],
)
def test_warmup_exit_codes(arguments: list[str], variables: dict[str, str], code: int, message: str) -> None:
    command = [sys.executable, "-m", "driftwise", "warmup", *arguments]
    result = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    assert result.returncode == code
    assert result.stderr.startswith(message)
    assert result.stdout == ""


def test_warmup_fails_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "machine_code_folder", lambda: None)
    monkeypatch.setattr(warmup, "warm_up", pytest.fail)
    result = RUNNER.invoke(app, ["warmup"])
    assert isinstance(result.exception, RunError)
    assert "set DRIFTWISE_CACHE_DIR" in str(result.exception)


def test_warmup_can_be_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stop(families: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(warmup, "machine_code_folder", lambda: tmp_path)
    monkeypatch.setattr(warmup, "warm_up", stop)
    result = RUNNER.invoke(app, ["warmup"])
    assert result.exit_code == 130
    assert f"What has been compiled is kept in {tmp_path}" in result.output
