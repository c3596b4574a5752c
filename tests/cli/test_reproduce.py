"""`driftwise reproduce`, as a user types it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from driftwise.cli import app
from driftwise.experiments.findings.finding import Finding
from driftwise.experiments.studies import catalogue
from driftwise.experiments.studies.catalogue import Experiment
from driftwise.experiments.studies.study import Study
from tests.cli.small import RUNNER, noisy, reproduce, tasks


def test_reproduce_prints_tables_claims_and_summary_and_leaves_a_report(small: Path) -> None:
    output = reproduce("figure1", "--seeds", "2", "--first-seed", "7", "--out", str(small))
    for seed in (7, 8):
        assert f"{noisy(10, seed):.6f}" in output
    assert output.startswith("Running figure1 (2 runs).")
    assert "2 is odd: does not hold (it is not)" in output
    assert "They are near 0, mostly." in output
    assert "hidden" not in output
    assert "Of 3 claims: 1 hold, 1 do not hold, 1 not checked." in output
    assert f"Report: {small / 'report.html'}; 1 figure as PNG and PDF in {small / 'figures'}" in output
    page = (small / "report.html").read_text()
    assert "About figure1" in page
    assert "hidden" in page
    assert len(list((small / "runs" / "figure1" / "means").glob("*.npz"))) == 2
    assert json.loads((small / "findings" / "figure1.json").read_text())["provenance"]["runs"] == 2


def test_everything_is_figure_1_figure_2_and_theory(small: Path) -> None:
    reproduce("--out", str(small))
    assert {path.stem for path in (small / "findings").iterdir()} == {"figure1", "figure2", "theory"}


def test_what_is_named_twice_is_run_once(small: Path) -> None:
    assert reproduce("theory", "theory", "--out", str(small)).count("They are near 0") == 1


def test_a_second_experiment_joins_the_report(small: Path) -> None:
    reproduce("figure2", "--out", str(small))
    reproduce("figure1", "--out", str(small))
    page = (small / "report.html").read_text()
    assert 0 < page.index("About figure1") < page.index("About figure2")


def test_resume_does_not_run_again_what_is_there(small: Path) -> None:
    reproduce("figure1", "--seeds", "2", "--out", str(small))
    before = {path: path.stat().st_mtime_ns for path in (small / "runs").rglob("*.npz")}
    reproduce("figure1", "--seeds", "3", "--out", str(small), "--resume")
    after = {path: path.stat().st_mtime_ns for path in (small / "runs").rglob("*.npz")}
    assert before.items() < after.items()
    assert len(after) == 3


def test_quick_says_so_and_takes_one_seed_unless_told_otherwise(small: Path) -> None:
    output = reproduce("figure1", "--quick", "--out", str(small))
    assert "This was the quick size" in output
    assert "About figure1 (quick size: not to conclude from)" in (small / "report.html").read_text()
    assert len(list((small / "runs").rglob("*.npz"))) == 1
    reproduce("figure1", "--quick", "--seeds", "3", "--out", str(small))
    assert len(list((small / "runs").rglob("*.npz"))) == 3


def test_claims_that_fail_are_repeated_at_the_end(small: Path) -> None:
    output = reproduce("figure1", "--out", str(small))
    assert output.rindex("2 is odd: does not hold") > output.index("Of 3 claims")


def test_interruption_exits_with_130_and_says_how_to_go_on(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> Finding:
        raise KeyboardInterrupt

    study = Study("means", "Means", tasks, noisy, interrupted)
    monkeypatch.setitem(catalogue.CATALOGUE, "figure1", Experiment("About", (study,)))
    monkeypatch.setattr(sys, "argv", ["driftwise", "reproduce", "figure1", "--out", str(small)])
    result = RUNNER.invoke(app, sys.argv[1:])
    assert result.exit_code == 130
    assert f"kept in {small}" in result.output
    assert f"driftwise reproduce figure1 --out {small} --resume" in result.output


ONE_STUDY = """
from dataclasses import replace

from driftwise.cli import main
from driftwise.experiments.studies.catalogue import CATALOGUE
from driftwise.experiments.studies.theory.lower_bounds import EXPERTS

fewer = replace(EXPERTS, tasks=lambda size: EXPERTS.tasks(size)[::4])
CATALOGUE["theory"] = CATALOGUE["theory"]._replace(studies=(fewer,))
main()
"""
"""The command line with one of the many studies of theory, and a part of its tasks."""


def test_a_real_interruption_and_going_on(tmp_path: Path) -> None:
    """Stop `driftwise reproduce` in the middle as a terminal does, and let it go on."""
    command = [sys.executable, "-c", ONE_STUDY, "reproduce", "theory", "--quick", "--out", str(tmp_path)]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    runs = tmp_path / "runs" / "theory" / "experts"
    deadline = time.monotonic() + 300.0
    while len(list(runs.glob("*.npz"))) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "Traceback" not in error
    assert error.rstrip().endswith(f"driftwise reproduce theory --quick --out {tmp_path} --resume")
    # A run counts once it has its line, which is written after its file: one file may have been cut off from it.
    listed = (runs / "manifest.jsonl").read_text()
    kept = {path: path.stat().st_mtime_ns for path in runs.glob("*.npz") if path.name in listed}
    assert len(kept) >= 4
    again = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=True)
    assert "Hedge on the experts of Theorem 3" in again.stdout
    assert again.stderr == ""  # no bars where there is no terminal
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    assert (tmp_path / "report.html").exists()
