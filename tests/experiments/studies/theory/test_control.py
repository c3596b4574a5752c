"""No cost of control above its bound, on random plants."""

import math
from typing import Any

import numpy as np
import pytest

from driftwise import control as plants
from driftwise.experiments.studies.theory import control
from tests.control.cases import PLANT, UNIT, controller
from tests.experiments.claims import BOTH_SIZES, check_claims


def checks(**ratios: tuple[float, bool]) -> dict[str, Any]:
    """Return what a run gives: the ratio of every check, and whether all assumptions were met."""
    values, sure = zip(*ratios.values(), strict=True)
    columns = {"what": list(ratios), "against": ["moving"] * len(ratios), "ratio": values, "guaranteed": sure}
    return {name: np.array(column) for name, column in columns.items()}


@BOTH_SIZES
def test_no_bound_of_control_is_violated(quick: bool) -> None:
    finding = check_claims(control.STUDY, quick, count=2, keep=lambda task: task[-1] % 2 == 0)
    names = [row[0] for row in finding.tables[0].rows]
    assert names == ["Scream.Control", "OGD.Control", "Lazy Scream.Control", "truncation", "sufficiency"]


def test_a_violation_is_counted_and_said() -> None:
    finding = control.STUDY.conclude([], [checks(truncation=(0.5, True), sufficiency=(1.2, True))])
    assert finding.tables[0].rows[1] == ["sufficiency", "1", "1", "1.2", "moving"]
    assert [claim.holds for claim in finding.claims] == [False, False]


def test_a_check_whose_assumptions_fail_does_not_count() -> None:
    finding = control.STUDY.conclude([], [checks(truncation=(0.5, False))])
    assert [claim.holds for claim in finding.claims] == [False, True]


@pytest.mark.parametrize(("measured", "limit", "ratio"), [(2.0, 4.0, 0.5), (1e-13, 0.0, 0.0), (1e-3, 0.0, math.inf)])
def test_rounding_is_no_violation_and_anything_else_is(measured: float, limit: float, ratio: float) -> None:
    trace = plants.simulate(PLANT, controller("linear"), UNIT, np.zeros((3, 2)))
    assert control._ratio(measured, limit, trace) == pytest.approx(ratio, abs=1e-9)
