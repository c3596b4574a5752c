"""Tables and panels show the numbers of the contest."""

import dataclasses

import numpy as np
import pytest

from driftwise.applications.figures import cost_table, panels, problem_table, settings_table
from driftwise.applications.ours import SELF_TUNED
from tests.applications.cases import MAKERS, contest


@pytest.mark.parametrize("application", MAKERS)
def test_everyone_is_in_the_table_with_multiples_of_the_optimum(application: str) -> None:
    held = contest(application, 20.0)
    table = cost_table(held)
    assert [row[0] for row in table.rows] == [*(one.label for one in held.outcomes), "Hindsight optimum"]
    assert table.rows[-1][7] == "1.000"
    for row, one in zip(table.rows, [*held.outcomes, held.optimum], strict=True):
        assert int(row[4]) == one.moves
        assert float(row[7]) == pytest.approx(one.overall / held.optimum.overall, abs=6e-4)
        assert float(row[5]) + float(row[6]) == pytest.approx(float(row[7]), abs=2e-3)


def test_the_problem_is_told_with_source_and_licence() -> None:
    case = contest("energy", 0.5).case
    shown = {row[0]: row[1] for row in problem_table(case).rows}
    assert shown["What is decided"] == case.what
    assert shown["A move cost of 1"] == case.moving
    assert shown["Source"] == "made up, seed 0"
    assert "0.001" in shown["What counts as a move"]
    assert shown["Shipped by"] == "driftwise, which makes it up"
    gaps = dataclasses.replace(case, data=dataclasses.replace(case.data, gaps=(3, 4), package="numpy"))
    assert ["Shipped by", f"numpy {np.__version__}"] in problem_table(gaps).rows
    assert any("240 hours, 2 of them filled" in text for _, text in problem_table(gaps).rows)


def test_what_was_picked_in_hindsight_is_shown_to_those_who_check() -> None:
    held = contest("capacity", 0.5)
    table = settings_table([held])
    assert table.detail
    shown = {row[1]: row[2] for row in table.rows}
    assert shown["Autoscaler, tuned in hindsight"] == held.settings["Autoscaler, tuned in hindsight"]
    assert shown["Best member of the committee"] == held.best_member.label
    assert "certified" in shown["Hindsight optimum"]


def test_panels_show_multiples_and_the_last_rounds() -> None:
    held = [contest("capacity", cost) for cost in (0.5, 20.0)]
    costs, decisions = panels(held)
    mine = next(series for series in costs.series if series.name == SELF_TUNED)
    assert list(mine.y) == [one.multiple(one[SELF_TUNED]) for one in held]
    assert costs.log
    demand = decisions.series[0]
    assert demand.name == "The series"
    assert held[0].case.observed is not None
    assert list(demand.y) == held[0].case.observed[-168:].tolist()


def test_weights_are_not_drawn_and_a_price_of_zero_is_not_put_on_a_logarithmic_axis() -> None:
    (costs,) = panels([contest("forecasts", 0.0), contest("forecasts", 5.0)])
    assert not costs.log
    assert panels([contest("forecasts", 5.0)]) == []
