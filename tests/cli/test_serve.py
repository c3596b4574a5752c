"""`driftwise serve`: its options, and the learner that they make."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.cli import app
from driftwise.errors import DriftwiseError, InputError, StorageError
from tests.cli.small import RUNNER

USUAL = ["serve", "--state", "state", "--low", "0", "--high", "40"]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what the service is given, which is not started."""
    found: dict[str, Any] = {}

    def stub(learner: Any, state: Path, **options: Any) -> None:
        found.update(options, learner=learner, state=state)

    monkeypatch.setattr("driftwise.serve.serve", stub)
    monkeypatch.delenv("DRIFTWISE_TOKEN", raising=False)
    return found


def run(*arguments: str) -> None:
    result = RUNNER.invoke(app, [*USUAL, *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output


def test_the_learner_is_the_one_that_was_described(given: dict[str, Any]) -> None:
    run("--up", "6", "--down", "0", "--start", "10", "--period", "24", "--late", "3")
    learner = given["learner"]
    expected = dw.SelfTunedLearner(
        dw.Box([0.0], [40.0]), switching_cost=dw.MoveCost(up=6.0, down=0.0), start=[10.0], period=24, late=3
    )
    assert learner.to_bytes() == expected.to_bytes()


def test_whole_numbers_are_rounded_for_each_key_in_its_own_way(given: dict[str, Any]) -> None:
    run("--switching-cost", "0.1", "--start", "10", "--whole")
    make = given["learner"]
    found = set()
    for i in range(20):
        learner = make(f"key {i}")
        decisions = []
        for _ in range(4):
            decisions.append(float(learner.act()[0]))
            learner.observe([-1.0])
        assert decisions[0] == 10.0
        assert all(one.is_integer() for one in decisions)
        found.add(tuple(decisions))
    assert len(found) > 1
    assert make("a").to_bytes() == make("a").to_bytes()


def test_several_coordinates(given: dict[str, Any]) -> None:
    run("--low", "-5", "--high", "9", "--up", "1", "--up", "2", "--down", "3")
    learner = given["learner"]
    assert np.array_equal(learner.domain.low, [0.0, -5.0])
    assert np.array_equal(learner.domain.high, [40.0, 9.0])
    assert learner.switching_cost([1.0, 1.0]) == 3.0
    assert learner.switching_cost([-1.0, -1.0]) == 6.0


def test_what_is_usual_is_safe(given: dict[str, Any]) -> None:
    run("--switching-cost", "1")
    del given["learner"], given["ready"]
    assert given == {
        "state": Path("state"),
        "host": "127.0.0.1",
        "port": 8000,
        "token": None,
        "no_token": False,
        "max_body": 65536,
        "max_learners": 10000,
        "every": 10000,
        "sync": True,
    }


def test_the_token_comes_from_a_file_or_from_outside(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTWISE_TOKEN", "from the environment")
    run("--switching-cost", "1")
    assert given["token"] == "from the environment"
    (tmp_path / "token").write_text("from a file, on a line\n")
    run("--switching-cost", "1", "--token-file", str(tmp_path / "token"))
    assert given["token"] == "from a file, on a line"
    for wrong in (b"", b"\n", b"\xff\xfe"):
        (tmp_path / "token").write_bytes(wrong)
        with pytest.raises(InputError, match="token must hold a token"):
            run("--switching-cost", "1", "--token-file", str(tmp_path / "token"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say what a move costs"),
        (["--up", "1"], "say what a move costs"),
        (["--up", "1", "--down", "1", "--switching-cost", "1"], "not both"),
        (["--up", "1", "--switching-cost", "1"], "not both"),
        (["--switching-cost", "1", "--start", "20.5", "--whole"], "--start must be a whole number"),
        (["--switching-cost", "1", "--low", "1"], "Box"),
        (["--switching-cost", "1", "--low", "50", "--high", "1"], "Box"),
        (["--switching-cost", "1", "--start", "90"], "start"),
        (["--switching-cost", "1", "--period", "1"], "period"),
        (["--switching-cost", "1", "--host", "0.0.0.0"], "--no-token"),
        (["--switching-cost", "1", "--low", "0.2", "--high", "0.8", "--whole"], "whole number"),
    ],
)
def test_wrong_options_are_said(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DRIFTWISE_TOKEN", raising=False)
    with pytest.raises(DriftwiseError, match=said):
        run(*arguments)


def test_a_state_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file is not a folder: give another one"):
        run("--switching-cost", "1", "--state", str(tmp_path / "file"))


def test_help_says_what_an_operator_has_to_know() -> None:
    output = re.sub(r"\s+", " ", RUNNER.invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).output)
    for word in (
        "--token-file",
        "DRIFTWISE_TOKEN",
        "--no-token",
        "kill -9",
        "/metrics",
        "/docs",
        "--no-sync",
        "POST",
        "143",
    ):
        assert word in output
