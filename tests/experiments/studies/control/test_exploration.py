import math

import numpy as np
import pytest

from driftwise.control import spectral_radius
from driftwise.experiments.studies.control import exploration
from driftwise.experiments.studies.control.exploration import STUDY
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_no_run_diverges(quick: bool) -> None:
    finding = check_claims(STUDY, quick, count=1, keep=lambda task: task[0] < len(exploration.KINDS))
    assert [row[0] for row in finding.tables[0].rows] == list(exploration.KINDS)


def test_the_plants_are_of_the_kinds_that_are_claimed() -> None:
    plants = [exploration.plant(seed) for seed in range(200)]
    assert {plant.state_dim for plant in plants} == {2, 3, 4}
    assert {plant.input_dim for plant in plants} == {1, 2}
    assert 60 <= sum(spectral_radius(plant.A) >= 1.0 for plant in plants) <= 140


@pytest.mark.parametrize("largest", [100.0, math.inf, math.nan])
def test_a_run_away_is_counted(largest: float) -> None:
    fine = {"state": 2.0, "committed": 209, "after": 1.1, "total": 1.3, "fallbacks": 0}
    wild = {"state": largest, "committed": None, "after": math.nan, "total": 2.0, "fallbacks": 1}
    finding = STUDY.conclude([(0, "Gaussian", 10), (1, "Gaussian", 10)], [fine, wild])
    assert finding.claims[0].holds is False
    assert finding.tables[0].rows[0][1] == "1 of 2"
    assert finding.tables[0].rows[0][-1] == "1"


def test_the_same_task_gives_the_same_numbers() -> None:
    first, again = (exploration.run(2, "constant", 600) for _ in range(2))
    np.testing.assert_equal(first, again)
