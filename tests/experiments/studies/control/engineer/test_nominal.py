"""Plants as they are known: every setting is there, claims hold, and can fail."""

import math

import pytest

from driftwise.experiments.studies.control.engineer import nominal
from driftwise.experiments.studies.control.engineer.baselines.named import BASELINES
from driftwise.experiments.studies.control.engineer.contest import OURS, QUICK
from driftwise.experiments.studies.control.engineer.disturbances import KINDS
from driftwise.experiments.studies.control.engineer.nominal import STUDY
from driftwise.experiments.studies.control.engineer.plants import HELD_OUT, MAKERS
from driftwise.experiments.studies.study import Size
from tests.experiments.claims import BOTH_SIZES, check_claims

TASKS = [("drone", "steps", "load", 10, 0), ("tower", "white", "states", 10, 1), ("cart-pole", "white", "load", 10, 0)]
FINE = {OURS: 0.99, "LQR": 2.0, "LQI": 1.5, "DOB": math.inf, "AR-preview": 1.0}


@BOTH_SIZES
def test_the_best_alternative_is_matched(quick: bool) -> None:
    finding = check_claims(STUDY, quick, count=2)
    assert [row[0] for row in finding.tables[0].rows] == list(KINDS)
    assert [row[0].removesuffix(" (design)") for row in finding.tables[1].rows] == list(QUICK if quick else MAKERS)


def test_every_setting_is_there() -> None:
    full = nominal.tasks(Size())
    assert len(full) == len(set(full)) == 19 * 8 * 2 * 2
    assert len({task[0] for task in full} & {*HELD_OUT}) == 7
    quick = nominal.tasks(Size(quick=True))
    assert {task[1] for task in quick} == set(KINDS)
    assert {task[0] for task in quick} <= {*HELD_OUT}


def test_a_controller_that_costs_more_is_said_to() -> None:
    assert [claim.holds for claim in STUDY.conclude(TASKS, [FINE, FINE, FINE]).claims] == [True, True]
    dear = STUDY.conclude(TASKS, [FINE, FINE | {OURS: 1.6}, FINE])
    assert [claim.holds for claim in dear.claims] == [False, False]
    assert dear.claims[1].measured == "at worst 1.600: tower, white, in the states"
    assert [row[:5] for row in dear.tables[-1].rows] == [["tower", "white", "states", "1", "1.600"]]
    often = STUDY.conclude(TASKS, [FINE | {OURS: 1.01}, FINE | {OURS: 1.01}, FINE])
    assert [claim.holds for claim in often.claims] == [False, True]
    lost = STUDY.conclude(TASKS, [FINE, FINE | {OURS: math.inf}, FINE])
    assert lost.claims[1].holds is False
    assert "diverges" in lost.claims[1].measured
    assert lost.tables[-1].rows[0][4] == "diverges"


def test_claims_are_about_plants_that_are_held_out() -> None:
    finding = STUDY.conclude(TASKS, [FINE, FINE, FINE | {OURS: 3.0}])
    assert [claim.holds for claim in finding.claims] == [True, True]
    assert finding.tables[1].rows[-1][0] == "cart-pole (design)"
    assert finding.tables[-1].rows[0][0] == "cart-pole"  # and is listed all the same


def test_a_run_has_every_alternative() -> None:
    totals = nominal.run("short period", "constant", "load", 200, 0)
    assert list(totals) == [OURS, *BASELINES]
    assert totals["DOB"] == pytest.approx(min(totals[name] for name in BASELINES))
