"""Plants that are not what is known of them: claims hold, and every one of them can fail."""

import math

import pytest

from driftwise.experiments.studies.control.engineer.baselines.named import ARF, LQR
from driftwise.experiments.studies.control.engineer.contest import OURS
from driftwise.experiments.studies.control.engineer.faults import FAMILIES, regulated, truth
from driftwise.experiments.studies.control.engineer.plants import MAKERS
from driftwise.experiments.studies.control.engineer.wrong import ACTUATOR, BARS, MISMATCH, find, run
from driftwise.experiments.studies.study import Size, Study
from tests.experiments.claims import BOTH_SIZES, check_claims

FINE = {OURS: 0.5, LQR: 1.0, ARF: math.inf}


@BOTH_SIZES
def test_a_wrong_model_does_no_harm(quick: bool) -> None:
    finding = check_claims(MISMATCH, quick, count=3)
    assert {row[0] for row in finding.tables[0].rows} == {"mismatch"}


@BOTH_SIZES
def test_delays_gains_and_lags_do_no_harm(quick: bool) -> None:
    finding = check_claims(ACTUATOR, quick, count=8)
    assert {row[0] for row in finding.tables[0].rows} == {"delay", "gain", "beyond"}


@pytest.mark.parametrize("study", [MISMATCH, ACTUATOR])
def test_only_settings_in_which_lqr_is_stable_count(study: Study) -> None:
    tasks = study.tasks(Size())
    assert len(set(tasks)) == len(tasks)
    assert {task[0] for task in tasks} == set(MAKERS)
    known = {task[:3] for task in tasks}
    for name, make in MAKERS.items():
        plant = make()
        for family in {task[1] for task in tasks}:
            for fault in FAMILIES[family]:
                stable = regulated(plant, truth(plant, name, fault).augmented)
                assert ((name, family, fault.name) in known) == stable
    assert {*study.tasks(Size(quick=True))} < {*tasks}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("ratio", "kept"), [(0.5, (True, True, True)), (1.6, (True, False, False)), (math.inf, (False, False, False))]
)
def test_a_controller_that_costs_more_is_said_to(family: str, ratio: float, kept: tuple[bool, bool, bool]) -> None:
    study = MISMATCH if family == "mismatch" else ACTUATOR
    tasks = [("drone", family, FAMILIES[family][0].name, kind, "load", 10, 0) for kind in ("steps", "white")]
    for results in ([FINE | {OURS: ratio}] * 2, [FINE | {OURS: ratio}, FINE | {OURS: ratio * 0.999}]):
        finding = study.conclude(tasks, results)
        assert [claim.holds for claim in finding.claims] == list(kept[: 3 if BARS[family].mean else 2])
    assert len(finding.tables[1].rows) == (0 if ratio < 1.0 else 2)


def test_one_divergence_among_many_is_enough() -> None:
    tasks = [("drone", "delay", "delay 1", "steps", "load", 10, 0)] * 20
    finding = ACTUATOR.conclude(tasks, [FINE] * 19 + [FINE | {OURS: math.inf}])
    assert [claim.holds for claim in finding.claims] == [False, False, False]
    assert finding.claims[0].measured == "1 of 20 settings"
    assert finding.claims[1].measured == "at worst diverges: drone, delay 1, steps, in the load"
    assert finding.tables[0].rows[0][3:6] == ["0.500", "diverges", "1"]


def test_claims_are_about_plants_that_are_held_out() -> None:
    tasks = [(name, "delay", "delay 1", "steps", "load", 10, 0) for name in ("drone", "reactor")]
    finding = ACTUATOR.conclude(tasks, [FINE, FINE | {OURS: math.inf}])
    assert [claim.holds for claim in finding.claims] == [True, True, True]
    assert finding.tables[1].rows[0][0] == "reactor"  # and is listed all the same


def test_a_fault_is_found_by_its_name() -> None:
    assert find("gain", "gain x 2, delay 1")[3:5] == (2.0, 1)
    assert run("short period", "delay", "delay 3", "white", "load", 60, 0).keys() == {OURS, LQR, ARF}
