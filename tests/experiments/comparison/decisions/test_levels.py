"""Levels and capacities from columns."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError, ParameterError
from tests.experiments.comparison.decisions.players import problem

DEMAND = {"demand": [10.0, 30.0, 20.0], "booked": [25.0, 25.0, 35.0], "plan": [12.0, 99.0, -5.0]}


def test_a_level_is_tracked(tmp_path: Path) -> None:
    made = problem(tmp_path, "level", DEMAND, 3.0, mine="booked", forecasts=["plan"])
    assert isinstance(made.losses, dw.TrackingLoss)
    assert made.mine is not None
    assert made.mine.running == pytest.approx([112.5, 12.5, 112.5])
    assert made.price == 3.0
    assert isinstance(made.domain, dw.Box)
    assert (made.domain.low[0], made.domain.high[0]) == (0.0, 48.0)
    assert made.forecasts["plan"].tolist() == [12.0, 48.0, 0.0]  # cut to the limits


def test_a_capacity_costs_what_is_held_and_what_is_short(tmp_path: Path) -> None:
    made = problem(tmp_path, "capacity", DEMAND, dw.MoveCost(up=6.0, down=0.0), mine="booked", shortage=5.0, idle=0.5)
    assert made.mine is not None
    assert made.mine.running == pytest.approx([12.5, 12.5 + 25.0, 17.5])
    assert "0.5 for every unit held, and 5 for every unit of demand that is not met" in made.row
    assert made.limits.startswith("0 to 53: half as much again as the largest value, which takes hindsight")
    assert problem(tmp_path, "capacity", DEMAND, shortage=5.0).row.startswith("1 for every unit held")


@pytest.mark.parametrize(
    ("options", "start", "words"),
    [
        ({}, 10.0, "the first value of the column, as if it were known"),
        ({"mine": "booked"}, 25.0, "where you began yourself"),
        ({"mine": "booked", "start": 7.0}, 7.0, "chosen with --start"),
        ({"low": 11.0, "high": 40.0}, 11.0, "the first value of the column"),
    ],
)
def test_the_first_decision(tmp_path: Path, options: dict[str, Any], start: float, words: str) -> None:
    made = problem(tmp_path, "level", DEMAND, **options)
    assert made.start.tolist() == [start]
    assert words in made.began
    assert made.now is not None
    assert made.now.tolist() == [35.0 if "mine" in options else 20.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"low": 0.0, "high": 90.0}, "0 to 90: chosen"),
        ({"low": 5.0}, "5 to 40: --low is chosen, the other comes from the file, which takes hindsight; choose with -"),
        ({"high": 60.0}, "0 to 60: --high is chosen"),
    ],
)
def test_where_limits_come_from(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    assert problem(tmp_path, "level", DEMAND, **options).limits.startswith(words)


@pytest.mark.parametrize(
    ("kind", "options", "error", "message"),
    [
        ("capacity", {}, ParameterError, "a capacity needs --shortage, what a unit of demand costs that is not met"),
        ("capacity", {"shortage": 1.0}, ParameterError, "--shortage, 1, must be above --idle, 1: otherwise it is best"),
        ("capacity", {"shortage": -1.0}, ParameterError, "shortage must be a number that is at least 0"),
        (
            "level",
            {"mine": "booked", "high": 30.0},
            InputError,
            r"row 3 .*'booked': your decision 35 is beyond --high, 30",
        ),
        (
            "level",
            {"mine": "booked", "low": 30.0},
            InputError,
            r"row 1 .*'booked': your decision 25 is beyond --low, 30",
        ),
        ("level", {"start": 1e3}, ParameterError, "--start must be from --low, 0, to --high, 40; got 1000"),
        ("level", {"period": 3}, ParameterError, "period must be a whole number of at most 2, got 3"),
        ("level", {"period": 1}, ParameterError, "period must be a whole number of at least 2, got 1"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, kind: str, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        problem(tmp_path, kind, DEMAND, **options)


def test_a_demand_is_not_negative_but_a_level_may_be(tmp_path: Path) -> None:
    columns = {"net": [1.0, -2.0]}
    with pytest.raises(InputError, match=r"row 2 .*column 'net': a demand of -2 is below 0; .*use --problem level"):
        problem(tmp_path, "capacity", columns, shortage=5.0)
    assert problem(tmp_path, "level", columns).values.tolist() == [1.0, -2.0]


@pytest.mark.parametrize("column", ["demand", "booked", "plan"])
@pytest.mark.parametrize("cell", ["", "n.a.", "NaN"])
def test_a_cell_that_is_no_number_is_named(tmp_path: Path, column: str, cell: str) -> None:
    columns = {name: [str(value) for value in values] for name, values in DEMAND.items()}
    columns[column][1] = cell
    with pytest.raises(InputError, match=rf"row 2 \(line 3 of the file\), column '{column}': "):
        problem(tmp_path, "level", columns, mine="booked", forecasts=["plan"])


def test_prices_are_for_one_coordinate(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="for 2 coordinates, and decisions have 1"):
        problem(tmp_path, "level", DEMAND, dw.MoveCost(up=[1.0, 2.0]))


def test_losses_in_the_line_are_those_that_are_played(tmp_path: Path) -> None:
    for kind, options in (("level", {}), ("capacity", {"shortage": 5.0, "idle": 2.0})):
        made = problem(tmp_path, kind, DEMAND, **options)
        for t, value in enumerate(made.values):
            loss = eval(made.outcome, {"dw": dw, "value": value, "demand": value})
            assert loss.value([14.0]) == made.losses.unary_value(t, [14.0])
    assert np.all(made.values == DEMAND["demand"])
