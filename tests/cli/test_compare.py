"""`driftwise compare`."""

import re
import shlex
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.cli import app
from driftwise.cli.compare import LEARNERS, PROBLEMS, read_price
from driftwise.errors import DriftwiseError, ParameterError
from driftwise.experiments import comparison
from driftwise.experiments.comparison import options, regression
from tests.cli.small import RUNNER


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
    assert set(LEARNERS) == set(comparison.CONTENDERS)
    assert LEARNERS[:6] == regression.DEFAULT
    assert PROBLEMS == options.PROBLEMS
    output = RUNNER.invoke(app, ["compare", "--help"]).output
    assert all(name in re.sub(r"-\s+", "-", output) for name in LEARNERS)  # names are broken at their hyphens


def test_a_command_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["compare", "--data", str(tmp_path / "no.csv"), "--target", "y", "--switching-cost", "1"]
    assert RUNNER.invoke(app, [*arguments, "--out", str(out)]).exit_code == 1
    assert not out.exists()


COLUMNS = ("demand", "booked", "plan", "low_plan", "who")


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    """Return a file of demand, what was booked, two forecasts and which of them was followed."""
    rng, path = np.random.default_rng(0), tmp_path / "orders.csv"
    demand = np.repeat([20, 50, 30], 20) + rng.integers(-2, 3, 60)
    rows = [f"{d},{40},{d + 3},{d - 4},{'plan' if t < 30 else 'low_plan'}" for t, d in enumerate(demand)]
    path.write_text("\n".join([",".join(COLUMNS), *rows]))
    return path


COMMANDS = {
    "level": ["--switching-cost", "3", "--mine", "booked", "--period", "7", "--forecast", "plan"],
    "capacity": ["--shortage", "5", "--idle", "2", "--up", "6", "--down", "0", "--mine", "booked", "--start", "40"],
    "whole": [
        "--problem",
        "capacity",
        "--shortage",
        "5",
        "--switching-cost",
        "2",
        "--whole",
        "--low",
        "0",
        "--high",
        "90",
    ],
    "forecasts": ["--switching-cost", "9", "--mine", "who", "--forecast", "plan", "--forecast", "low_plan"],
}


@pytest.mark.parametrize("case", COMMANDS)
def test_compare_plays_every_problem(orders: Path, case: str) -> None:
    out = orders.parent / "out"
    problem = [] if case == "whole" else ["--problem", case]
    arguments = ["compare", "--data", str(orders), "--target", "demand", *problem, *COMMANDS[case], "--out", str(out)]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    for label in ("Self-tuned learner", "Self-tuned Scream", "Hindsight optimum", ", tuned", "Settings of the simple"):
        assert label in result.output
    assert ("You paid " in result.output) == (case != "whole")
    page = (out / "report.html").read_text()
    assert "Run it live, in Python" in page
    assert "What it cost: overall = running + moving" in page
    assert len(list((out / "figures").glob("*.png"))) == len(list((out / "figures").glob("*.pdf"))) == 2
    assert "2 figures as PNG and PDF" in result.output
    lines = re.search(r"Run it live, in Python\n((?:    .*\n)+)", result.output)
    assert lines is not None
    names = {"value": 20.0, "demand": 20.0, "forecast": 22.0, "forecasts": np.array([22.0, 18.0]), "target": 20.0}
    exec("\n".join(line.strip() for line in lines.group(1).splitlines()), names)
    assert names["learner"].round == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--shortage", "5", "--switching-cost", "1"],
            "--shortage goes with the problem capacity, and this one is reg",
        ),
        (["--problem", "capacity", "--switching-cost", "1"], "a capacity needs --shortage"),
        (["--problem", "level"], "say what a move costs, with --switching-cost PRICE, or with --up PRICE and --down"),
        (["--problem", "level", "--up", "1"], "--up and --down go together; give 0 for a side that is free"),
        (
            ["--problem", "level", "--up", "1", "--switching-cost", "1"],
            "give --switching-cost, or --up and --down, but",
        ),
        (["--up", "1", "--down", "1"], "a regression takes one --switching-cost"),
        (["--problem", "leval", "--switching-cost", "1"], "problem must be one of 'regression', 'level', 'capacity'"),
        (["--problem", "level", "--switching-cost", "1", "--learner", "ogd"], "'ogd' plays --problem regression only"),
        (["--problem", "level", "--switching-cost", "1", "--mine", "bookd"], "no column 'bookd' .* mean 'booked'"),
        (["--problem", "level", "--switching-cost", "1", "--mine", "who"], "row 1 .*column 'who': 'plan' is not a num"),
        (
            ["--problem", "level", "--switching-cost", "1", "--intercept"],
            "--intercept goes with the problem regression",
        ),
        (["--problem", "forecasts", "--switching-cost", "1", "--start", "1"], "--start goes with the problem level or"),
    ],
)
def test_wrong_combinations_say_what_to_do(orders: Path, arguments: list[str], message: str) -> None:
    out = orders.parent / "out"
    common = ["compare", "--data", str(orders), "--target", "demand", "--out", str(out)]
    result = RUNNER.invoke(app, [*common, *arguments])
    assert result.exit_code == 1
    assert isinstance(result.exception, DriftwiseError)
    assert re.search(message, str(result.exception))
    assert not out.exists()


def test_prices() -> None:
    assert read_price(2.0, None, None) == 2.0
    assert read_price(None, 6.0, 0.0) == dw.MoveCost(up=6.0, down=0.0)
    with pytest.raises(ParameterError, match="say what a move costs"):
        read_price(None, None, None)


def test_help_says_which_option_is_for_which_problem() -> None:
    output = re.sub(r"\s+", " ", RUNNER.invoke(app, ["compare", "--help"]).output)
    for option, problems in options.TAKES.items():
        assert re.search(rf"{options.flag(option)} (?:[A-Z]+ )?\[{', '.join(problems)}\]", output), option


def test_the_page_about_it_shows_what_the_command_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "compare.rst").read_text()
    blocks = {
        language: [
            textwrap.dedent(block) for block in re.findall(rf"code-block:: {language}\n\n((?:(?: .*)?\n)+)", page)
        ]
        for language in ("python", "sh")
    }
    names: dict[str, Any] = {}
    exec(blocks["python"][0], names)
    (command,) = [block for block in blocks["sh"] if "--problem capacity" in block]
    result = RUNNER.invoke(app, shlex.split(command)[1:])
    assert result.exit_code == 0, result.output
    shown = textwrap.dedent(re.search(r"among other things::\n\n((?:(?: .*)?\n)+)", page).group(1))  # type: ignore[union-attr]
    table, _, live = shown.partition("Run it live")
    players = re.findall(r"^ {2}(\S.*?) {2,}\d+ ", table, re.MULTILINE)
    assert len(players) == 19
    for words in (*players, *(line for line in live.splitlines()[1:] if line)):
        assert words in result.output
    exec(blocks["python"][1], names)
    assert names["finding"].bullets[0].startswith("You paid 57712, 51172 of it running and 6540 for 41 moves; ours")
