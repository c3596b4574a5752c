"""The cheapest inputs by Clarabel: kinks and bounds on inputs, against the problem written out."""

import sys
from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise.control.hindsight import clairvoyant
from driftwise.errors import MissingExtraError
from tests.cases import check_refused, every_pair
from tests.control.cases import COSTS, DATA, PLANT, UNIT
from tests.control.hindsight.problems import SYSTEMS, given, least, of_inputs, problem, waves


@every_pair(name=SYSTEMS, kind=COSTS, bound=[None, 0.25])
def test_the_total_is_the_least(name: str, kind: str, bound: float | None) -> None:
    asked = problem(name, kind)

    def limits(v: Any) -> list[Any]:
        return [] if bound is None else [v <= bound, v >= -bound]

    found = clairvoyant(*given(asked), start=asked.start, input_bound=bound)
    assert found.total == pytest.approx(least(asked, *of_inputs(asked), limits), rel=1e-6)
    assert found.gap is not None
    assert found.gap <= 1e-6 * found.total
    if bound is not None:
        assert np.abs(found.inputs).max() <= bound
        assert np.abs(found.inputs).max() == pytest.approx(bound)
    led_to = found.states @ asked.A.T + found.inputs @ asked.B.T + asked.disturbances
    np.testing.assert_allclose(led_to[:-1], found.states[1:], rtol=0, atol=1e-12)


def test_a_bound_that_is_never_met_makes_no_difference() -> None:
    asked = problem("wide", "stages")
    free = clairvoyant(*given(asked), start=asked.start)
    bounded = clairvoyant(*given(asked), start=asked.start, input_bound=[50.0, 60.0])
    assert bounded.total == pytest.approx(free.total, rel=1e-7)
    assert "Clarabel" in bounded.status


@pytest.mark.parametrize("bound", [0.3, 0.6])
def test_a_long_run_at_the_limit_keeps_to_its_plan(bound: float) -> None:
    rows = np.load(DATA)["double_integrator_sinusoid"]
    found = clairvoyant(PLANT, UNIT, rows, input_bound=bound)
    assert found.gap is not None
    assert found.gap <= 1e-4 * found.total


def test_an_unstable_plant_keeps_to_its_plan() -> None:
    system = control.random_system(3, 2, radius=1.2, seed=1)
    rows = 0.1 * np.random.default_rng(0).standard_normal((500, 3))
    found = clairvoyant(system, control.AbsoluteCost(1.0, 1.0), rows)
    assert found.gap is not None
    assert found.gap <= 1e-6 * found.total


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_units_do_not_matter(size: float) -> None:
    asked = problem("wide", "Huber")
    usual = clairvoyant(asked.system, control.AbsoluteCost(1.0, 2.0), asked.disturbances)
    scaled = clairvoyant(asked.system, control.AbsoluteCost(1.0, 2.0), size * asked.disturbances)
    assert scaled.total == pytest.approx(size * usual.total, rel=1e-6)


def test_a_single_round_costs_what_its_state_costs() -> None:
    found = clairvoyant(PLANT, control.AbsoluteCost(1.0, 1.0), waves(2, 1), start=[1.0, -2.0])
    assert found.total == pytest.approx(3.0, rel=1e-7)
    assert clairvoyant(PLANT, UNIT, waves(2, 1), start=[1.0, -2.0]).total == pytest.approx(5.0)


def test_without_disturbances_nothing_costs_anything() -> None:
    assert clairvoyant(PLANT, control.AbsoluteCost(1.0, 1.0), np.zeros((5, 2))).total == pytest.approx(0.0, abs=1e-7)


def test_without_cvxpy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    rows = waves(2)
    call = lambda: clairvoyant(PLANT, UNIT, rows, input_bound=1.0)  # noqa: E731
    check_refused(call, "clairvoyant", "pip install 'driftwise[convex]'", kind=MissingExtraError)
    assert clairvoyant(PLANT, UNIT, rows).total > 0.0
