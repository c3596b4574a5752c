"""Control from outputs: claims hold on plants that were run after the controller was chosen, and can fail."""

import math
from typing import Any

import numpy as np
import pytest

from driftwise.errors import InputError
from driftwise.experiments.studies.control.engineer import output
from driftwise.experiments.studies.control.engineer.baselines.law import total_cost, trajectory
from driftwise.experiments.studies.control.engineer.contest import OURS
from driftwise.experiments.studies.control.engineer.disturbances import disturbances, seed_of
from driftwise.experiments.studies.control.engineer.output import FILTER, FREE, JUDGED, LOADS, LQG, NOISE, SEEN, STUDY
from driftwise.experiments.studies.control.engineer.plants import MAKERS
from driftwise.experiments.studies.study import Size
from tests.experiments.claims import BOTH_SIZES, check_claims

TASKS = [("drone", "AR(1)", 10, 0), ("tower", "AR(1)", 10, 0), ("two masses", "AR(1)", 10, 0)]
FINE = {OURS: 1.0, LQG: 2.0, FREE: 1.0, LQG + FILTER: 1.8, FREE + FILTER: 0.9}


@BOTH_SIZES
def test_the_better_of_the_two_is_matched(quick: bool) -> None:
    finding = check_claims(STUDY, quick, count=2)
    assert len(finding.tables[0].rows) == 2 * (2 if quick else 12) + 1


def test_every_setting_is_there() -> None:
    full = STUDY.tasks(Size())
    assert {task[:2] for task in full} == {(name, kind) for name in SEEN + JUDGED for kind in LOADS}
    assert not {*SEEN} & {*JUDGED}
    assert {task[0] for task in STUDY.tasks(Size(quick=True))} < {*JUDGED}


def test_a_run_takes_the_best_version_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "our_cost", lambda plant, rows, noise: float(len(rows)))
    totals = output.run("two masses", "AR(1)", 300, 0)
    assert totals.keys() == FINE.keys()
    assert totals[OURS] == 300.0
    plant = MAKERS["two masses"]()
    rows = disturbances(plant, "two masses", "AR(1)", "load", 300)
    noise = NOISE * seed_of("two masses", "AR(1)", "noise", 0).normal(size=(300, 2))
    for name, laws in output.laws(plant).items():
        each = [total_cost(*trajectory(plant.A, plant.B, law, rows, plant.measured, noise), 4) for law in laws]
        np.testing.assert_allclose(totals[name], min(each))
        assert len(set(each)) == (1 if LQG in (name, name.removesuffix(FILTER)) else 2)


def test_a_run_that_diverges_costs_infinitely_much(monkeypatch: pytest.MonkeyPatch) -> None:
    def diverge(*args: object, **options: object) -> None:
        raise InputError("the plant diverges")

    monkeypatch.setattr(output, "simulate", diverge)
    assert output.run("two masses", "AR(1)", 20, 0)[OURS] == math.inf


@pytest.mark.parametrize(
    ("totals", "holds"),
    [
        ((1.0, 1.0, 9.0), [True, True]),
        ((1.04, 1.04, 0.1), [False, True]),
        ((0.5, 1.2, 0.1), [True, False]),
        ((1.0, math.inf, 0.1), [True, False]),
        ((1.3, 1.2, 0.1), [False, False]),
    ],
)
def test_a_controller_that_costs_more_on_plants_that_are_judged_is_said_to(
    totals: tuple[float, float, float], holds: list[bool]
) -> None:
    results: list[dict[str, Any]] = [FINE | {OURS: total} for total in totals]
    finding = STUDY.conclude(TASKS, results)
    assert [claim.holds for claim in finding.claims] == holds
    rows = finding.tables[0].rows
    assert rows[0] == ["drone", "AR(1)", f"{totals[0]:.3f}", "2.000", "1.000", "1.800", "0.900"]
    assert rows[2][0] == "two masses (seen)"
