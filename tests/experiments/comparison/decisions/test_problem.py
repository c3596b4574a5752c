"""Columns of a problem, and what counts as a move."""

from pathlib import Path

import numpy as np
import pytest

from driftwise.errors import InputError
from driftwise.experiments.comparison.decisions.problem import Options, columns, smallest_move
from driftwise.experiments.comparison.sheet import read_sheet
from tests.experiments.comparison.files import write


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(mine="nope"), r"no column 'nope' for the decisions of yours \(--mine\)"),
        (Options(forecasts=["load", "plann"]), "no column 'plann' for the forecasts; did you mean 'plan'"),
        (Options(mine="y"), "'y' is the target and cannot be what you did"),
        (Options(forecasts=["y"]), "'y' is the target and cannot be a forecast, too"),
        (Options(forecasts=["plan", "plan"]), "the forecast 'plan' is named more than once"),
    ],
)
def test_columns_that_do_not_fit(tmp_path: Path, options: Options, message: str) -> None:
    sheet = read_sheet(write(tmp_path / "d.csv", "y,plan,load\n1,2,3\n"))
    with pytest.raises(InputError, match=message):
        columns(sheet, "y", options)


def test_columns_that_do(tmp_path: Path) -> None:
    sheet = read_sheet(write(tmp_path / "d.csv", "y,plan,load\n1,2,3\n"))
    assert columns(sheet, "y", Options()) == ("y", None, [])
    assert columns(sheet, "y", Options(mine="load", forecasts=["plan", "load"])) == ("y", "load", ["plan", "load"])


def test_moves_of_the_users_own_are_all_counted() -> None:
    assert smallest_move(1000.0, None) == 1.0
    assert smallest_move(1000.0, np.array([[5.0], [5.0], [25.0]])) == 1.0
    assert smallest_move(1000.0, np.array([[5.0], [5.5], [25.0]])) == 0.25
    assert smallest_move(1000.0, np.array([[5.0], [5.0]])) == 1.0
