"""Weights of forecasts from columns."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError
from tests.experiments.comparison.decisions.players import problem

TABLE: dict[str, list[Any]] = {"y": [1.0, 2.0, 4.0], "a": [1.0, 3.0, 3.0], "b": [0.0, 2.0, 5.0]}


def test_all_other_columns_are_forecasts_or_those_that_are_named(tmp_path: Path) -> None:
    made = problem(tmp_path, "forecasts", TABLE | {"c": [9.0, 9.0, 9.0], "used": [1.0, 2.0, 3.0]}, mine="used")
    assert list(made.forecasts) == ["a", "b", "c"]
    assert made.domain.dim == 3
    assert made.start == pytest.approx([1 / 3] * 3)
    named = problem(tmp_path, "forecasts", TABLE | {"c": ["x", "y", "z"]}, forecasts=["b", "a"])
    assert list(named.forecasts) == ["b", "a"]
    assert named.losses.unary_value(1, [0.5, 0.5]) == pytest.approx(0.125)
    assert eval(named.outcome, {"dw": dw, "forecasts": [2.0, 3.0], "target": 2.0}).value([0.5, 0.5]) == 0.125


def test_what_was_used_as_numbers_has_no_weights(tmp_path: Path) -> None:
    made = problem(tmp_path, "forecasts", TABLE | {"used": [1.0, 4.0, 4.0]}, mine="used")
    assert made.mine is not None
    assert made.mine.decisions is None
    assert made.mine.running.tolist() == [0.0, 2.0, 0.0]


def test_who_was_followed_has(tmp_path: Path) -> None:
    made = problem(tmp_path, "forecasts", TABLE | {"used": ["a", "a", "b"]}, mine="used")
    assert made.mine is not None
    assert made.mine.decisions is not None
    assert made.mine.decisions.tolist() == [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    assert made.mine.running.tolist() == [0.0, 0.5, 0.5]
    always = problem(tmp_path, "forecasts", TABLE, mine="b", forecasts=["a", "b"])
    assert always.mine is not None
    assert np.array_equal(np.asarray(always.mine.decisions), [[0.0, 1.0]] * 3)


@pytest.mark.parametrize("cell", ["c", None])
def test_who_was_followed_is_a_forecast_in_every_row(tmp_path: Path, cell: str | None) -> None:
    with pytest.raises(InputError, match=rf"row 2 .*column 'used': {cell!r} is not one of the forecasts 'a', 'b'; put"):
        problem(tmp_path, "forecasts", TABLE | {"used": ["a", cell, "b"]}, mine="used", forecasts=["a", "b"])


@pytest.mark.parametrize("options", [{"forecasts": ["a"]}, {"forecasts": ["a"], "mine": "b"}, {"forecasts": []}])
def test_one_forecast_is_not_enough(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(
        InputError, match=r"weights need at least two forecasts of 'y', got ('a'|none); name columns with"
    ):
        problem(tmp_path, "forecasts", TABLE, **options)


def test_what_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'Mon' is not a number; name the forecasts to use, as in --forecast a --fore"):
        problem(tmp_path, "forecasts", TABLE | {"day": ["Mon", "Tue", "Wed"]})
    with pytest.raises(InputError, match=r"row 1 .*column 'used': 'x' is not a number; choose another column"):
        problem(tmp_path, "forecasts", TABLE | {"used": ["x", "y", "z"]}, mine="used")
    with pytest.raises(InputError, match=r"beyond 1e\+45 are beyond computing"):
        problem(tmp_path, "forecasts", TABLE | {"c": [1e60, 1.0, 1.0]})
