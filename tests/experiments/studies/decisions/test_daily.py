"""Many short series."""

from typing import Any

import numpy as np
import pytest

from driftwise.experiments.contests.contest import OPTIMUM
from driftwise.experiments.studies.decisions.daily import KINDS, LAST, STUDY
from driftwise.experiments.studies.decisions.ours import OURS, SCREAM
from driftwise.experiments.studies.study import Size

TASKS = [(kind, name, 0) for kind, of in KINDS.items() for name in of.series]


def made_up(ours: float, size: float = 1.0) -> dict[str, Any]:
    costs = {OURS: size * ours, LAST: size, SCREAM: 2.0 * size, OPTIMUM: 0.5 * size}
    return {name: np.full(3, cost) for name, cost in costs.items()}


@pytest.mark.usefixtures("stand_ins")
def test_totals_count_and_not_the_number_of_series() -> None:
    results = [made_up(0.9, 100.0) if k % 48 == 0 else made_up(1.5) for k in range(len(TASKS))]
    finding = STUDY.conclude(TASKS, results)
    assert [claim.holds for claim in finding.claims] == [True, True]
    assert finding.tables[0].rows[0][0] == "48 levels"
    assert finding.tables[0].rows[0][-1] == "0.90 to 1.50"


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("kind", KINDS)
def test_each_claim_can_fail_at_one_price_alone(kind: str) -> None:
    results = [made_up(1.0) for _ in TASKS]
    for task, result in zip(TASKS, results, strict=True):
        if task[0] == kind:
            result[OURS][1] = 1.2
    claims = STUDY.conclude(TASKS, results).claims
    assert [claim.holds for claim in claims] == [name != kind for name in KINDS]


@pytest.mark.usefixtures("river_only")
def test_with_river_alone_it_runs_and_claims_nothing() -> None:
    tasks = STUDY.tasks(Size(True))
    assert tasks == [("levels", "poll of five_thirty_eight", 0)]
    finding = STUDY.conclude(tasks, [STUDY.run(*task) for task in tasks])
    (claim,) = finding.claims
    assert claim.holds is None
    assert claim.measured.endswith("1 series, not all are installed: pip install 'driftwise[streams]'")
    assert "Left out" in finding.bullets[-1]
