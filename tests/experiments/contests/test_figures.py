"""The cost table and the costs so far."""

import numpy as np
import pytest

from driftwise.experiments.contests.figures import Column, cost_table, costs_so_far
from driftwise.experiments.contests.outcome import HINDSIGHT, MINE, OURS, Outcome

ROUNDS = 1000
ME = Outcome("me", OURS, np.full(ROUNDS, 2.0), np.ones(ROUNDS))
BEST = Outcome("best", HINDSIGHT, np.ones(ROUNDS), np.zeros(ROUNDS))


def test_the_table_has_a_row_for_every_player_and_a_cell_for_every_column() -> None:
    columns: dict[str, Column] = {"overall": lambda one: f"{one.overall:.0f}", "kind": lambda one: one.kind}
    table = cost_table("Costs", "who", [ME, BEST], columns)
    assert table.title == "Costs"
    assert table.header == ["who", "overall", "kind"]
    assert table.rows == [["me", "3000", "ours"], ["best", "1000", "hindsight"]]


def test_costs_so_far_end_at_the_totals_and_references_are_dashed() -> None:
    overall, loss, switching = costs_so_far([ME, BEST], "row")
    for panel, part in ((overall, ME.overall), (loss, ME.total_running), (switching, ME.total_moving)):
        mine, reference = panel.series
        assert panel.x_label == "row"
        assert mine.x[-1] == ROUNDS
        assert mine.y[-1] == pytest.approx(part)
        assert len(mine.x) == len(mine.y) <= 200
        assert (mine.style, reference.style) == ("line", "dashed")


def test_what_the_user_did_is_drawn_like_ours() -> None:
    mine = Outcome("You", MINE, np.ones(ROUNDS), np.zeros(ROUNDS))
    assert [series.style for series in costs_so_far([mine, ME, BEST], "row")[0].series] == ["line", "line", "dashed"]
