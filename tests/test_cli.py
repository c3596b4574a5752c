"""The command line, as a user types it."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import driftwise
from driftwise.cli import app, main
from driftwise.experiments import figure1, theory
from driftwise.experiments.study import Claim, Finding, Study
from driftwise.experiments.theory import growth, optimum

RUNNER = CliRunner()


def test_reproduce_prints_every_learner_and_every_claim() -> None:
    result = RUNNER.invoke(app, ["reproduce", "--seeds", "2", "--rounds", "400", "--first-seed", "7"])
    assert result.exit_code == 0
    for name in figure1.CONTENDERS:
        assert name in result.output
    assert result.output.count("hold") == 3
    assert "400 rounds, 10 dimensions, seeds 7 to 8" in result.output


def test_reproduce_prints_the_means_it_measured() -> None:
    result = RUNNER.invoke(app, ["reproduce", "--seeds", "1", "--rounds", "2000"])
    (row,) = [r for r in figure1.runs([0], 2000) if r.learner == "Scream" and r.alpha == 2.0]
    assert f"{row.overall:.0f} ({row.loss:.0f} + {row.switching:.0f})" in result.output


@pytest.mark.parametrize("arguments", [["reproduce", "--seeds", "0"], ["reproduce", "--bogus"], ["bogus"]])
def test_wrong_arguments_exit_with_2(arguments: list[str]) -> None:
    assert RUNNER.invoke(app, arguments).exit_code == 2


def test_version_and_help() -> None:
    assert RUNNER.invoke(app, ["--version"]).output == f"driftwise {driftwise.__version__}\n"
    assert "reproduce" in RUNNER.invoke(app, ["--help"]).output


def test_interruption_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(figure1, "runs", interrupted)
    result = RUNNER.invoke(app, ["reproduce"])
    assert result.exit_code == 130
    assert "Stopped" in result.output


def test_errors_are_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def failing(*_: object) -> None:
        raise driftwise.errors.InputError("the numbers are wrong.")

    monkeypatch.setattr(figure1, "runs", failing)
    monkeypatch.setattr(sys, "argv", ["driftwise", "reproduce"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert capsys.readouterr().err == "driftwise: the numbers are wrong.\n"


def test_importing_driftwise_stays_light() -> None:
    heavy = ["matplotlib", "plotly", "polars", "pandas", "typer", "rich", "scipy.optimize"]
    code = f"import sys, driftwise; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout == "[]\n"


def test_reproduce_theory_prints_every_study_and_its_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory, "STUDIES", (growth.IN_ROUNDS, optimum.OPTIMUM))
    result = RUNNER.invoke(app, ["reproduce", "theory", "--quick"])
    assert result.exit_code == 0
    for study in (growth.IN_ROUNDS, optimum.OPTIMUM):
        assert study.title in result.output
    assert "Every hindsight optimum certified to 1e-6: holds (3 of 3)" in result.output
    assert "Of 2 claims: 2 hold." in result.output


def test_reproduce_theory_counts_claims_that_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = Claim("2 is odd", False, "it is not")
    study = Study(
        "numbers",
        lambda _: [()],
        lambda: None,
        lambda *_: Finding(["n"], [["2"]], [claim, claim._replace(holds=None)]),
    )
    monkeypatch.setattr(theory, "STUDIES", (study,))
    result = RUNNER.invoke(app, ["reproduce", "theory"])
    assert "2 is odd: does not hold (it is not)" in result.output
    assert "Of 2 claims: 1 do not hold, 1 not checked." in result.output
