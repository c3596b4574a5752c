"""Plants that drift: claims hold, and every one of them can fail."""

import math
from typing import Any

import numpy as np
import pytest

from driftwise.experiments.studies.control.engineer.baselines.named import LQR
from driftwise.experiments.studies.control.engineer.contest import OURS
from driftwise.experiments.studies.control.engineer.drift import (
    ADAPTIVE,
    DRAWS,
    FEW,
    MANY,
    ROUNDS,
    SHARES,
    STUDY,
    drifting,
    ends,
    run,
    stays_regulated,
)
from driftwise.experiments.studies.control.engineer.plants import HELD_OUT, MAKERS
from driftwise.experiments.studies.study import Size
from tests.experiments.claims import BOTH_SIZES, check_claims

FINE: dict[str, Any] = {LQR: 1.0, OURS: 0.5, ADAPTIVE: 0.5, "adopted": 0}


def task(plant: str = "tower", kind: str = "steps", seed: int = 0) -> tuple[Any, ...]:
    """Return a setting."""
    return (plant, 0.2, kind, "load", 10, seed)


@BOTH_SIZES
def test_a_drift_does_no_harm(quick: bool) -> None:
    finding = check_claims(STUDY, quick, count=4)
    assert set(FEW) <= {row[0] for row in finding.tables[1].rows}


def test_only_settings_in_which_lqr_stays_stable_count() -> None:
    tasks = STUDY.tasks(Size())
    assert len(set(tasks)) == len(tasks)
    assert {each[0] for each in tasks} == set(MAKERS)
    known = {(*each[:2], each[-1]) for each in tasks}
    for name, make in MAKERS.items():
        plant = make()
        for share in SHARES:
            for seed in DRAWS:
                assert ((name, share, seed) in known) == stays_regulated(plant, ends(plant, name, share, seed))
    assert {*STUDY.tasks(Size(quick=True))} < {*tasks}
    assert set(FEW) <= set(HELD_OUT)


def test_a_drift_through_which_lqr_is_not_stable_is_left_out() -> None:
    plant = MAKERS["levitation"]()
    nothing = np.zeros_like(plant.A)
    assert stays_regulated(plant, (nothing, np.zeros_like(plant.B)))
    assert not stays_regulated(plant, (nothing, -plant.B))
    assert not stays_regulated(plant, (nothing, -2.0 * plant.B))


def test_every_entry_drifts_by_its_share_and_then_stays() -> None:
    plant = MAKERS["converter"]()
    of_A, of_B = ends(plant, "converter", 0.2, 1)
    np.testing.assert_allclose(np.abs(of_A), 0.2 * np.abs(plant.A - np.eye(2)))
    np.testing.assert_allclose(np.abs(of_B), 0.2 * np.abs(plant.B))
    assert np.ptp(np.sign(of_B[plant.B != 0.0] / plant.B[plant.B != 0.0])) == 0.0
    system = drifting(plant, (of_A, of_B), ROUNDS)
    assert system.changes_A is not None
    assert system.changes_B is not None
    matrices = [(system.changes_A[t], system.changes_B[t]) for t in (0, 1000, 2000, ROUNDS - 1)]
    for share, (A, B) in zip((0.0, 0.5, 1.0, 1.0), matrices, strict=True):
        np.testing.assert_allclose(A, share * of_A, atol=1e-15)
        np.testing.assert_allclose(B, share * of_B, atol=1e-15)


@pytest.mark.parametrize(
    ("ours", "adaptive", "kept"),
    [
        (0.5, 0.5, (True, True, True, True)),
        (0.8, 0.8, (True, False, True, True)),
        (0.5, 0.6, (True, True, False, True)),
        (0.5, 0.8, (True, True, False, False)),
        (0.5, math.inf, (True, True, False, False)),
        (math.inf, 0.5, (False, False, False, True)),
        (math.inf, math.inf, (False, False, False, False)),
    ],
)
def test_a_controller_that_costs_more_is_said_to(ours: float, adaptive: float, kept: tuple[bool, ...]) -> None:
    finding = STUDY.conclude([task(), task(kind="white")], [FINE | {OURS: ours, ADAPTIVE: adaptive}] * 2)
    assert [claim.holds for claim in finding.claims] == [*kept]
    assert len(finding.tables[2].rows) == (0 if ours == adaptive < 1.0 else 2)


def test_one_setting_among_many_is_enough() -> None:
    tasks = [task(seed=seed) for seed in range(50)]
    finding = STUDY.conclude(tasks, [FINE] * 49 + [FINE | {ADAPTIVE: 0.76, "adopted": 2}])
    assert [claim.holds for claim in finding.claims] == [True, True, True, False]
    assert finding.claims[3].measured == "at worst 1.520: tower, 20%, steps, in the load"
    assert finding.tables[2].rows == [["tower", "20%", "steps", "load", "49", "0.500", "1.520", "2"]]
    assert finding.tables[1].rows[0][-2:] == ["1.520", "1"]
    diverging = STUDY.conclude(tasks, [FINE] * 49 + [FINE | {OURS: math.inf}])
    assert [claim.holds for claim in diverging.claims] == [False, False, True, True]


def test_a_mean_over_many_settings_must_be_smaller() -> None:
    tasks, results = [task(seed=seed) for seed in range(MANY)], [FINE | {ADAPTIVE: 0.51}] * MANY
    assert [claim.holds for claim in STUDY.conclude(tasks, results).claims] == [True, True, False, True]
    assert all(claim.holds for claim in STUDY.conclude(tasks[1:], results[1:]).claims)


def test_plants_of_the_design_are_shown_and_not_judged() -> None:
    bad = FINE | {ADAPTIVE: 5.0, "adopted": 1}
    finding = STUDY.conclude([task(), task("reactor")], [FINE, bad])
    assert all(claim.holds for claim in finding.claims)
    assert finding.tables[2].rows[0][0] == "reactor (design)"


def test_savings_are_listed_too() -> None:
    finding = STUDY.conclude([task(), task(seed=1)], [FINE | {ADAPTIVE: 0.4}, FINE | {ADAPTIVE: 0.495}])
    assert [row[6] for row in finding.tables[2].rows] == ["0.800"]


def test_a_run_has_every_contender_and_counts_corrections() -> None:
    result = run("short period", 0.2, "white", "states", 60, 0)
    assert result.keys() == {LQR, OURS, ADAPTIVE, "adopted"}
    assert result["adopted"] == 0
    assert result[ADAPTIVE] == pytest.approx(result[OURS])
