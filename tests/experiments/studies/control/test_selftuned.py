"""Control without knobs: the claims hold at both sizes, on seeds that nothing was developed on, and can fail."""

import numpy as np
import pytest

from driftwise.experiments.studies.control import selftuned
from driftwise.experiments.studies.control.selftuned import CHANGES, EXPONENTS, KINDS, OTHERS, STUDY
from driftwise.experiments.studies.study import Size
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_tuning_in_hindsight_is_matched(quick: bool) -> None:
    finding = check_claims(STUDY, quick, count=4)
    assert [row[0] for row in finding.tables[0].rows] == [*KINDS, "all"]
    assert [row[0] for row in finding.tables[1].rows] == [*CHANGES, "all"]


def test_seeds_are_held_out_and_every_setting_is_there() -> None:
    full = selftuned.tasks(Size())
    assert min(seed for seed, *_ in full) >= 1000
    assert len({seed for seed, *_ in full}) >= 20
    assert len(full) == len({task[:3] for task in full}) == 24 * len(KINDS) * len(CHANGES)
    assert {task[1] for task in selftuned.tasks(Size(quick=True))} == set(KINDS)


def test_a_controller_that_costs_more_is_said_to() -> None:
    fine = dict.fromkeys(OTHERS, 1.0) | {"tuned": 1.0, "exponent": 0.0}
    dear = fine | {"self-tuned": 1.2, "exponent": float(EXPONENTS[-1])}
    tasks = [(1000, "Gaussian", "fixed", 10), (1001, "constant", "abrupt", 10)]
    assert [claim.holds for claim in STUDY.conclude(tasks, [fine, fine]).claims] == [True, True, True, True]
    assert [claim.holds for claim in STUDY.conclude(tasks, [dear, fine]).claims] == [False, False, False, False]
    on_waves = STUDY.conclude(tasks, [fine, dear | {"exponent": 0.0}])
    assert [claim.holds for claim in on_waves.claims] == [False, False, True, True]
    assert on_waves.claims[1].measured == "at worst +20.0%: constant disturbance, abrupt costs, seed 1001"
    assert on_waves.tables[0].rows[-1][1] == "+10.0%"


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_task_is_the_same_setting(kind: str) -> None:
    for change in CHANGES:
        (plant, costs, rows), (again, _, others) = (selftuned.setting(1003, kind, change, 50) for _ in range(2))
        np.testing.assert_array_equal(rows, others)
        np.testing.assert_array_equal(plant.A, again.A)
        assert len(costs) == len(rows) == 50
