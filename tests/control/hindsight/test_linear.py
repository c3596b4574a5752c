"""The best linear controller: against a grid, against LQR, and its gradient against differences."""

from typing import Any

import numpy as np
import pytest

from driftwise import control
from driftwise.control.hindsight import best_linear
from driftwise.control.hindsight.linear import _total
from driftwise.control.hindsight.rollout import read_problem
from driftwise.errors import InputError, StabilityError
from tests.cases import check_refused
from tests.control.cases import DATA, PLANT, UNIT
from tests.control.hindsight.problems import CENTRED, SYSTEMS, given, problem, waves


@pytest.mark.parametrize("kind", CENTRED)
def test_with_one_state_no_gain_of_a_grid_is_better(kind: str) -> None:
    asked = problem("scalar", kind)
    found = best_linear(*given(asked), start=asked.start)
    grid = np.linspace(-0.19, 3.79, 4001)  # all gains that stabilise
    totals = [_total(asked, np.array([[gain]]))[0] for gain in grid]
    assert found.total <= min(totals) + 1e-9
    assert found.total == pytest.approx(min(totals), rel=1e-5)


@pytest.mark.parametrize("kind", CENTRED)
@pytest.mark.parametrize("name", SYSTEMS)
def test_it_is_no_worse_than_lqr_and_as_simulated(name: str, kind: str) -> None:
    asked = problem(name, kind)
    found = best_linear(*given(asked), start=asked.start)

    def simulated(K: Any) -> float:
        player = control.LinearController(asked.system, K)
        return control.simulate(asked.system, player, asked.costs, asked.disturbances, start=asked.start).total

    assert simulated(found.K) == pytest.approx(found.total, rel=1e-10)
    assert found.total <= simulated(None)
    assert control.spectral_radius(asked.system.A - asked.system.B @ found.K) < 1.0
    assert found.gap is None
    assert "local search" in found.status
    assert "without a certificate" in found.status
    assert "gap=unknown" in repr(found)


@pytest.mark.parametrize("kind", ["quadratic", "Huber", "scaled"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_gradient_is_that_of_the_total(name: str, kind: str) -> None:
    asked = problem(name, kind)
    rng = np.random.default_rng(0)
    K, change = control.lqr(asked.system), rng.standard_normal((asked.system.input_dim, asked.system.state_dim))
    slope = float(_total(asked, K)[1] @ change.ravel())
    ahead, behind = (_total(asked, K + step * change)[0] for step in (1e-6, -1e-6))
    assert slope == pytest.approx((ahead - behind) / 2e-6, rel=1e-5)


def test_at_the_end_the_gradient_vanishes() -> None:
    asked = read_problem("asker", PLANT, UNIT, np.load(DATA)["double_integrator_random_walk"], None)
    found = best_linear(*given(asked))
    first = np.linalg.norm(_total(asked, control.lqr(PLANT))[1])
    assert np.linalg.norm(_total(asked, np.array(found.K))[1]) < 1e-9 * first


def test_a_gain_that_does_not_stabilise_costs_infinity() -> None:
    assert _total(problem("double integrator", "scalar"), np.zeros((1, 2)))[0] == np.inf


def test_it_beats_lqr_by_far_where_disturbances_are_correlated() -> None:
    rows = np.load(DATA)["double_integrator_sinusoid"]
    assert best_linear(PLANT, UNIT, rows).total < 900.0  # LQR: 4065, the best policy: 502


def test_the_gain_given_is_where_a_search_begins() -> None:
    asked = problem("double integrator", "scalar")
    best = best_linear(*given(asked))
    again = best_linear(*given(asked), K=best.K)
    assert again.total <= best.total
    check_refused(lambda: best_linear(*given(asked), K=[[0.0, 0.0]]), "stabilise", kind=StabilityError)


def test_bad_problems_are_refused() -> None:
    check_refused(lambda: best_linear(PLANT, UNIT, waves(3)), "best_linear", "(T, 2)", kind=InputError)
    limited = control.LinearSystem(PLANT.A, PLANT.B, input_limit=1.0)
    check_refused(lambda: best_linear(limited, UNIT, waves(2)), "input limit", kind=InputError)
