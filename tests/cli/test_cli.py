"""The command line as a whole: exit codes, one-line errors, help that imports next to nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

import driftwise
from driftwise.cli import app, main
from driftwise.experiments.findings.finding import Finding
from driftwise.experiments.studies import catalogue
from driftwise.experiments.studies.catalogue import Experiment
from driftwise.experiments.studies.study import Study
from driftwise.experiments.sweep import cluster
from tests.cli.small import RUNNER, noisy, tasks

COMPARE = ("--data", "no.csv", "--target", "y", "--switching-cost", "1")


@pytest.mark.parametrize(
    "arguments",
    [
        ["apply", "--move-cost", "-1"],
        ["reproduce", "--seeds", "0"],
        ["reproduce", "--bogus"],
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
        (["compare", *COMPARE, "--out", "file"], 2, "file is not a folder"),
        (["reproduce", "--dask", "nonsense"], 2, "looks like tcp://host:8786, got 'nonsense'"),
        (["reproduce", "--dask", "tcp://127.0.0.1:1"], 1, "no Dask scheduler at tcp://127.0.0.1:1; `dask scheduler`"),
        (["reproduce", "--workers", "2", "--dask", "tcp://127.0.0.1:1"], 2, "workers"),
        (["compare", *COMPARE], 2, "no.csv"),
        (["reproduce", "figur1"], 2, "there is no experiment 'figur1'; did you mean figure1? There are figure1, fig"),
        (["reproduce", "bogus"], 2, "there is no experiment 'bogus'. There are figure1, "),
        (["apply", "capasity"], 2, "there is no application 'capasity'; did you mean capacity? There are capacity, "),
        (["compare", *COMPARE, "--learner", "screem"], 2, "there is no learner 'screem'; did you mean scream? There"),
        (["apply", "--data", "bogus"], 2, "there is no series 'bogus'. There are traffic, "),
        (["apply", "--data", "trafic"], 2, "there is no series 'trafic'; did you mean traffic? There are "),
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
    monkeypatch.setattr(cluster, "PATIENCE", 1)
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


@pytest.mark.parametrize(
    ("words", "names"), [("reproduce fig", ["figure1", "figure2"]), ("apply en", ["energy"]), ("apply x", [])]
)
def test_a_shell_completes_names(words: str, names: list[str]) -> None:
    variables = {"_DRIFTWISE_COMPLETE": "complete_bash", "COMP_WORDS": f"driftwise {words}", "COMP_CWORD": "2"}
    assert RUNNER.invoke(app, [], prog_name="driftwise", env=variables).output.split() == names


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
