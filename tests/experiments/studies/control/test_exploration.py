import math
from typing import Any

import numpy as np
import pytest

from driftwise.control import spectral_radius
from driftwise.experiments.studies.control import exploration
from driftwise.experiments.studies.control.exploration import STUDY
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_runs_commit_and_do_no_harm(quick: bool) -> None:
    finding = check_claims(STUDY, quick, count=4, keep=lambda task: task[0] < len(exploration.KINDS))
    assert [row[0] for row in finding.tables[0].rows] == list(exploration.KINDS)


def test_the_plants_are_of_the_kinds_that_are_claimed() -> None:
    plants = [exploration.plant(seed) for seed in range(200)]
    assert {plant.state_dim for plant in plants} == {2, 3, 4, 5, 6}
    assert {plant.input_dim for plant in plants} == {1, 2}
    assert 60 <= sum(spectral_radius(plant.A) >= 1.0 for plant in plants) <= 140


FINE = {"state": 2.0, "committed": 209, "before": 1.2, "after": 0.9, "total": 1.0, "fallbacks": 0}


@pytest.mark.parametrize(
    ("wrong", "claim"),
    [
        ({"state": 100.0}, 0),
        ({"state": math.inf}, 0),
        ({"state": math.nan}, 0),
        ({"committed": None, "after": math.nan}, 1),
        ({"before": 1.6}, 2),
        ({"after": 1.2}, 3),
    ],
)
@pytest.mark.parametrize("kind", ["Gaussian", "sinusoid"])
def test_what_goes_wrong_is_counted(wrong: dict[str, Any], claim: int, kind: str) -> None:
    tasks: list[tuple[object, ...]] = [(0, kind, 10), (1, kind, 10)]
    finding = STUDY.conclude(tasks, [FINE, {**FINE, **wrong, "fallbacks": 1}])
    assert [each.holds for each in finding.claims] == [i != claim for i in range(4)]
    assert finding.tables[0].rows[0][1] == ("1 of 2" if claim == 1 else "2 of 2")
    assert finding.tables[0].rows[0][-1] == "1"


def test_disturbances_that_tell_nothing_may_make_it_a_little_worse() -> None:
    tasks: list[tuple[object, ...]] = [(0, kind, 10) for kind in ("uniform", "constant")]
    mean = {**FINE, "after": 1.01}
    assert [claim.holds for claim in STUDY.conclude(tasks[:1], [mean]).claims] == [True] * 4
    assert STUDY.conclude(tasks, [mean, mean]).claims[-1].holds is False


def test_the_same_task_gives_the_same_numbers() -> None:
    first, again = (exploration.run(2, "constant", 600) for _ in range(2))
    np.testing.assert_equal(first, again)
