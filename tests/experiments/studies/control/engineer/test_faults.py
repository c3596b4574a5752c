"""Plants that are not what is known of them differ by what their fault says."""

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.experiments.studies.control.engineer.baselines.design import design
from driftwise.experiments.studies.control.engineer.baselines.named import LQR, baseline_cost
from driftwise.experiments.studies.control.engineer.disturbances import disturbances
from driftwise.experiments.studies.control.engineer.faults import FAMILIES, NOMINAL, Fault, regulated, truth
from driftwise.experiments.studies.control.engineer.plants import MAKERS

PLANT = MAKERS["lateral flight"]()


def true(fault: Fault) -> tuple[Array, Array]:
    return truth(PLANT, "lateral flight", fault).augmented


def test_every_entry_is_off_by_the_share_and_the_draw_matters() -> None:
    A, B = true(Fault("", mismatch=0.2))
    moved = PLANT.A - np.eye(4)
    some = np.abs(moved) > 1e-12
    np.testing.assert_allclose(np.abs((A - PLANT.A)[some] / moved[some]), 0.2)
    np.testing.assert_allclose(np.abs(B / PLANT.B - 1.0), 0.2)
    assert 2 < np.sum(B > PLANT.B) < 8 or np.any(A > PLANT.A)
    np.testing.assert_array_equal(A, true(Fault("another name", mismatch=0.2))[0])
    assert not np.array_equal(A, true(Fault("", mismatch=0.2, seed=1))[0])


def test_nothing_is_off_without_a_fault() -> None:
    for made, known in zip(true(NOMINAL), (PLANT.A, PLANT.B), strict=True):
        np.testing.assert_array_equal(made, known)


def test_gain_delay_and_lag_are_those_of_the_fault() -> None:
    A, B = true(Fault("", gain=0.5, delay=1))
    np.testing.assert_array_equal(A[:4, 4:], 0.5 * PLANT.B)
    np.testing.assert_array_equal(B, np.vstack([np.zeros((4, 2)), np.eye(2)]))
    assert truth(PLANT, "", Fault("", delay=5)).delay == 5
    lag = truth(PLANT, "", Fault("", lag=0.9)).lag
    assert lag is not None
    np.testing.assert_array_equal(lag, [0.9, 0.9])


def test_every_fault_has_a_name_of_its_own_and_is_one() -> None:
    for family, faults in FAMILIES.items():
        assert len({fault.name for fault in faults}) == len(faults)
        assert all(fault._replace(name="nominal") != NOMINAL for fault in faults), family


@pytest.mark.parametrize(("delay", "stable"), [(1, True), (2, False)])
def test_lqr_counts_where_its_loop_is_stable(delay: int, stable: bool) -> None:
    plant = MAKERS["crane"]()
    pair = truth(plant, "crane", Fault("", delay=delay)).augmented
    assert regulated(plant, pair) == stable
    rows = disturbances(plant, "crane", "white", "states", 1500)
    usual = baseline_cost(LQR, (plant.A, plant.B), plant, rows)
    assert (baseline_cost(LQR, pair, plant, rows) < 20.0 * usual) == stable
    assert design(plant.A, plant.B).K.shape == (1, 4)
