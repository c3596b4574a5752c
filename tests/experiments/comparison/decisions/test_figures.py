"""Tables and panels of decisions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.experiments.comparison.decisions.contest import LEARNERS, Comparison, hold_contest
from driftwise.experiments.comparison.decisions.figures import (
    cost_table,
    panels,
    priced,
    problem_table,
    settings_table,
    telling,
)
from tests.experiments.comparison.decisions.players import problem, steps

SERIES = steps()


def hold(folder: Path, kind: str, columns: dict[str, Any], price: Any = 2.0, **options: Any) -> Comparison:
    hindsight = options.pop("hindsight", True)
    return hold_contest(problem(folder, kind, columns, price, **options), list(LEARNERS), hindsight, lambda text: None)


def test_the_table_has_everyone_with_costs_that_add_up(tmp_path: Path) -> None:
    held = hold(tmp_path, "capacity", {"load": SERIES, "held": np.full(60, 44.0)}, shortage=5.0, mine="held")
    table = cost_table(held)
    assert table.header == ["who", "overall", "running", "moving", "moves", "x hindsight"]
    assert table.rows[0][0] == "You"
    assert table.rows[-1][0] == "Hindsight optimum"
    assert table.rows[-1][-1] == "1.000"
    assert len(table.rows) == len(held.outcomes) + 1
    for row in table.rows:
        assert float(row[1]) == pytest.approx(float(row[2]) + float(row[3]), rel=1e-3)


def test_settings_name_what_was_picked(tmp_path: Path) -> None:
    held = hold(tmp_path, "level", {"load": SERIES})
    rows = {row[0]: row[1:] for row in settings_table(held).rows}
    assert set(rows) == {"Exponential smoothing", "Moving average", "Dead band"}
    assert rows["Moving average"][0] == "mean of 20"
    assert rows["Moving average"][1] == held.picked["Moving average, tuned"]


@pytest.mark.parametrize(
    ("price", "words"),
    [(2.0, "moves at 2"), (dw.MoveCost(up=6.0, down=0.0), "moves at 6 up and 0 down")],
)
def test_prices_in_words(tmp_path: Path, price: Any, words: str) -> None:
    held = hold(tmp_path, "level", {"load": SERIES}, price)
    assert priced(held.problem) == words
    rows = {row[0]: row[1] for row in problem_table(held).rows}
    assert rows["A move costs"] == f"{words.removeprefix('moves at ')}, for a unit"
    assert rows["Rows"] == "60, of d.csv, in their order"


def test_weights_move_a_euclidean_distance_unless_prices_add_up(tmp_path: Path) -> None:
    columns = {"y": SERIES, "a": SERIES + 1.0, "b": SERIES - 1.0}
    for price, words in (
        (2.0, "2, for a Euclidean distance of 1 between weights"),
        (dw.MoveCost(2.0), "2 up and 2 down"),
    ):
        held = hold(tmp_path, "forecasts", columns, price)
        assert {row[0]: row[1] for row in problem_table(held).rows}["A move costs"].startswith(words)


def test_the_level_and_what_was_decided_are_drawn(tmp_path: Path) -> None:
    held = hold(tmp_path, "level", {"load": SERIES, "held": SERIES}, mine="held")
    decided, overall, running, moving = panels(held)
    assert decided.title == "What was decided, 60 rows"
    assert [(series.name, series.style) for series in decided.series] == [
        ("load", "dashed"),
        ("You", "line"),
        ("Self-tuned learner", "line"),
        ("Hindsight optimum", "dashed"),
    ]
    assert decided.series[0].y == SERIES.tolist()
    names = [one.label for one in telling(held)]
    for panel in (overall, running, moving):
        assert [series.name for series in panel.series] == names
    assert overall.series[0].y[-1] == pytest.approx(running.series[0].y[-1] + moving.series[0].y[-1])


def test_of_many_rows_the_last_are_drawn(tmp_path: Path) -> None:
    decided = panels(hold(tmp_path, "level", {"load": steps(600)}, hindsight=False))[0]
    assert decided.title == "What was decided, the last 200 of 600 rows"
    assert {(series.x[0], series.x[-1], len(series.y)) for series in decided.series} == {(401, 600, 200)}


def test_weights_are_drawn_for_everyone_who_has_some(tmp_path: Path) -> None:
    columns: dict[str, Any] = {"y": SERIES} | {f"f{k}": SERIES + k for k in range(1, 9)}
    used = columns | {"used": ["f1"] * 30 + ["f2"] * 30}
    titles = [panel.title for panel in panels(hold(tmp_path, "forecasts", used, mine="used"))]
    assert titles[:3] == [f"Weights: {who}, 6 of 8" for who in ("You", "Self-tuned learner", "Hindsight optimum")]
    numbers = hold(tmp_path, "forecasts", columns | {"used": SERIES}, mine="used", hindsight=False)
    assert [panel.title for panel in panels(numbers)][:2] == [
        "Weights: Self-tuned learner, 6 of 8",
        "Overall cost so far",
    ]
    assert cost_table(numbers).rows[0][3:5] == ["-", "-"]
    assert cost_table(numbers).header[-1] == "x best in hindsight"
