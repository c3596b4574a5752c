"""The command line, as a user types it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import driftwise
from driftwise import applications, cli, warmup
from driftwise.applications import forecasts
from driftwise.cli import app, main
from driftwise.errors import RunError
from driftwise.experiments import comparison
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies import catalogue
from driftwise.experiments.studies.catalogue import Experiment
from driftwise.experiments.studies.study import Size, Study, Task

RUNNER = CliRunner(env={"COLUMNS": "200"})


def noisy(rounds: int, seed: int) -> float:
    return float(np.random.default_rng(seed).normal(size=rounds).mean())


def tasks(size: Size) -> list[Task]:
    return [(10, seed) for seed in size.seeds]


def conclude(tasks: list[Task], results: list[Any]) -> Finding:
    rows = [[str(seed), f"{result:.6f}"] for (_, seed), result in zip(tasks, results, strict=True)]
    return Finding(
        "Means",
        "They are near 0, mostly.",
        [Table("Means of ten", ["seed", "mean"], rows), Table("Not printed", ["x"], [["hidden"]], detail=True)],
        [
            Claim("2 is odd", False, "it is not"),
            Claim("2 is even", True, "it is"),
            Claim("2 is large", None, "who knows"),
        ],
        [Panel("Means", "seed", "mean", [Series("mean", [0.0, 1.0], [0.0, 1.0])])],
    )


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let the experiments be quick ones, and return a folder for them."""
    study = Study("means", "Means", tasks, noisy, conclude)
    for name in catalogue.CATALOGUE:
        monkeypatch.setitem(catalogue.CATALOGUE, name, Experiment(f"About {name}", (study,)))
    return tmp_path / "out"


def reproduce(*arguments: str) -> str:
    result = RUNNER.invoke(app, ["reproduce", "--workers", "1", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_reproduce_prints_tables_claims_and_summary_and_leaves_a_report(small: Path) -> None:
    output = reproduce("figure1", "--seeds", "2", "--first-seed", "7", "--out", str(small))
    for seed in (7, 8):
        assert f"{noisy(10, seed):.6f}" in output
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


def test_report_builds_the_page_again(small: Path) -> None:
    reproduce("figure1", "--out", str(small))
    (small / "report.html").unlink()
    result = RUNNER.invoke(app, ["report", str(small)])
    assert result.exit_code == 0
    assert (small / "report.html").exists()


def test_quick_says_so_and_takes_one_seed_unless_told_otherwise(small: Path) -> None:
    output = reproduce("figure1", "--quick", "--out", str(small))
    assert "This was the quick size" in output
    assert "About figure1 (quick size)" in (small / "report.html").read_text()
    assert len(list((small / "runs").rglob("*.npz"))) == 1
    reproduce("figure1", "--quick", "--seeds", "3", "--out", str(small))
    assert len(list((small / "runs").rglob("*.npz"))) == 3


def test_claims_that_fail_are_repeated_at_the_end(small: Path) -> None:
    output = reproduce("figure1", "--out", str(small))
    assert output.rindex("2 is odd: does not hold") > output.index("Of 3 claims")


def test_brackets_in_names_are_shown_as_they_are(tmp_path: Path) -> None:
    data = tmp_path / "load[red].csv"
    data.write_text("[bold]x,y[i]\n" + "1,2\n2,3\n" * 20)
    arguments = ["compare", "--data", str(data), "--target", "y[i]", "--switching-cost", "1", "--out", str(tmp_path)]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "Learners on load[red].csv: y[i]" in result.output
    assert "[bold]x" in result.output


def test_a_command_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["compare", "--data", str(tmp_path / "no.csv"), "--target", "y", "--switching-cost", "1"]
    assert RUNNER.invoke(app, [*arguments, "--out", str(out)]).exit_code == 1
    assert not out.exists()


def test_numbers_are_never_cut(tmp_path: Path) -> None:
    data = tmp_path / "demand.csv"
    data.write_text("x,y\n" + "".join(f"{k % 7},{1e6 + 1000.0 * (k % 11)}\n" for k in range(200)))
    arguments = ["compare", "--data", str(data), "--target", "y", "--switching-cost", "2", "--out", str(tmp_path)]
    output = CliRunner(env={"COLUMNS": "80"}).invoke(app, arguments).output
    assert "…" not in output
    assert "Repeat the last value" in output
    assert "Rounds T" in output
    assert " 200 " in output


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


def test_a_real_interruption_and_going_on(tmp_path: Path) -> None:
    """Stop `driftwise reproduce` in the middle as a terminal does, and let it go on."""
    command = [sys.executable, "-m", "driftwise", "reproduce", "figure2", "--quick", "--out", str(tmp_path)]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    runs = tmp_path / "runs" / "figure2" / "controllers"
    deadline = time.monotonic() + 300.0
    while len(list(runs.glob("*.npz"))) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "Traceback" not in error
    assert error.rstrip().endswith(f"driftwise reproduce figure2 --quick --out {tmp_path} --resume")
    kept = {path: path.stat().st_mtime_ns for path in runs.glob("*.npz")}
    assert len(kept) >= 5
    again = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=True)
    assert "Controllers under changing costs" in again.stdout
    assert again.stderr == ""  # no bars where there is no terminal
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    assert (tmp_path / "report.html").exists()


def test_compare_plays_on_the_users_own_file(tmp_path: Path) -> None:
    data = tmp_path / "demand.csv"
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(300, 2))
    rows = [f"{a:.6f},{b:.6f},{a - b:.6f}" for a, b in x]
    data.write_text("\n".join(["a,b,y", *rows]))
    arguments = ["--data", str(data), "--target", "y", "--switching-cost", "2.0", "--out", str(tmp_path / "out")]
    result = RUNNER.invoke(app, ["compare", "--learner", "scream", "--learner", "ogd", *arguments])
    assert result.exit_code == 0, result.output
    for label in ("Scream, appendix", "OGD", "Hindsight optimum", "Best fixed weights"):
        assert label in result.output
    assert "Ader" not in result.output
    assert "Scream, appendix" in (tmp_path / "out" / "report.html").read_text()


def test_compare_names_all_learners_in_its_help() -> None:
    assert set(cli.LEARNERS) == set(comparison.CONTENDERS)
    output = RUNNER.invoke(app, ["compare", "--help"]).output
    assert all(name in output for name in cli.LEARNERS)


def test_apply_plays_prints_and_leaves_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasts, "LONGEST", 150)
    arguments = ["apply", "forecasts", "--data", "synthetic-polls", "--move-cost", "5", "--out", str(tmp_path)]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    for text in (
        "Equal weights",
        "SelfTunedScream",
        "Committee, blind to moves",
        "Hindsight optimum",
        "SYNTHETIC DATA",
    ):
        assert text in result.output
    assert "overall x" in result.output
    page = (tmp_path / "report.html").read_text()
    assert "Combining forecasts" in page
    assert "SYNTHETIC DATA" in page
    assert [path.stem for path in (tmp_path / "findings").iterdir()] == ["forecasts"]


def test_apply_lists_applications_and_series_and_names_them_in_its_help(tmp_path: Path) -> None:
    output = RUNNER.invoke(app, ["apply", "--list", "--out", str(tmp_path / "out")]).output
    assert all(name in output for name in (*applications.NAMES, "synthetic-polls", "Road traffic", "built in"))
    assert not (tmp_path / "out").exists()
    assert [name.value for name in cli.Application] == list(applications.NAMES)
    shown = RUNNER.invoke(app, ["apply", "--help"]).output
    assert all(name in shown for name in applications.NAMES)


@pytest.mark.parametrize(
    "arguments",
    [
        ["apply", "bogus"],
        ["apply", "--move-cost", "-1"],
        ["reproduce", "--seeds", "0"],
        ["reproduce", "--bogus"],
        ["reproduce", "figure3"],
        ["reproduce", "--workers", "0"],
        ["bogus"],
        ["report"],
        ["compare", "--data", "x.csv"],
    ],
)
def test_wrong_arguments_exit_with_2(arguments: list[str]) -> None:
    assert RUNNER.invoke(app, arguments).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["report", "nowhere"], 2, "nowhere has no findings to show"),
        (["reproduce", "--out", "file"], 2, "file is not a folder to write to"),
        (
            ["compare", "--data", "a", "--target", "y", "--switching-cost", "1", "--out", "file"],
            2,
            "file is not a folder",
        ),
        (["reproduce", "--dask", "nonsense"], 2, "looks like tcp://host:8786, got 'nonsense'"),
        (["reproduce", "--dask", "tcp://127.0.0.1:1"], 1, "no Dask scheduler at tcp://127.0.0.1:1; `dask scheduler`"),
        (["reproduce", "--workers", "2", "--dask", "tcp://127.0.0.1:1"], 2, "workers"),
        (["compare", "--data", "no.csv", "--target", "y", "--switching-cost", "1"], 2, "no.csv"),
        (["apply", "--data", "bogus"], 2, "there is no series 'bogus'"),
        (["apply", "energy", "--data", "synthetic-polls"], 2, "energy cannot be played on 'synthetic-polls'"),
        (["apply", "--out", "file"], 2, "file is not a folder to write to"),
    ],
)
def test_errors_are_one_line(
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(small.parent)
    Path("file").write_text("")
    monkeypatch.setattr(sys, "argv", ["driftwise", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    error = capsys.readouterr().err
    assert exit_.value.code == code
    assert error.startswith("driftwise: ")
    assert error.count("\n") == 1
    assert message in error


@pytest.mark.parametrize("error", [driftwise.errors.RunError("run 3 failed."), OSError("disk full")])
def test_what_fails_on_the_way_exits_with_1(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def failing(*_: object) -> Finding:
        raise error

    study = Study("means", "Means", tasks, noisy, failing)
    monkeypatch.setitem(catalogue.CATALOGUE, "figure1", Experiment("About", (study,)))
    monkeypatch.setattr(sys, "argv", ["driftwise", "reproduce", "figure1", "--out", str(small)])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 1
    assert capsys.readouterr().err == f"driftwise: {error}\n"


def test_version_and_help() -> None:
    assert RUNNER.invoke(app, ["--version"]).output == f"driftwise {driftwise.__version__}\n"
    output = RUNNER.invoke(app, ["--help"]).output
    assert all(command in output for command in ("reproduce", "report", "compare", "apply"))
    assert all(name in RUNNER.invoke(app, ["reproduce", "--help"]).output for name in catalogue.CATALOGUE)


def modules(code: str) -> set[str]:
    """Return what is imported after running some code in a fresh Python."""
    result = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"], check=True, capture_output=True, text=True
    )
    return set(result.stdout.splitlines()[-1].split())


HEAVY = {"matplotlib", "plotly", "polars", "pandas", "joblib", "distributed", "scipy.optimize"}


def test_importing_driftwise_stays_light() -> None:
    assert modules("import driftwise") & (HEAVY | {"numpy", "numba", "scipy", "typer", "rich"}) == set()
    assert modules("import driftwise; driftwise.Scream, driftwise.play") & (HEAVY | {"typer", "rich"}) == set()


def test_help_does_not_import_what_computes() -> None:
    code = "import driftwise.cli\nsys.argv = ['driftwise', '--help']\n"
    code += "try:\n    driftwise.cli.main()\nexcept SystemExit: pass"
    assert modules(code) & (HEAVY | {"numpy", "numba", "scipy"}) == set()


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
    for word in ("container", "serverless", "DRIFTWISE_CACHE_DIR", "NUMBA_CPU_NAME", *cli.FAMILIES):
        assert word in re.sub(r"-\s+", "-", output)  # names are broken at their hyphens


@pytest.mark.parametrize(
    ("arguments", "variables", "code", "message"),
    [
        (["--family", "lerners"], {}, 2, "driftwise: warmup: there is no family 'lerners'; there are learners, "),
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
