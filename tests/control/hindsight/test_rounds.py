"""All rounds as one cone problem: its unknowns, its multipliers, and more digits around a first solution."""

import functools

import numpy as np
import pytest

import driftwise as dw
from driftwise.control.hindsight import rounds
from driftwise.control.hindsight.planes import lower_bound
from driftwise.control.hindsight.rounds import past, solve
from driftwise.control.hindsight.totals import Region
from driftwise.optimum import cones
from tests.control.hindsight.problems import CENTRED, problem
from tests.control.hindsight.test_planes import ROUNDS, H, of_rounds


def test_the_past_has_the_latest_disturbance_first() -> None:
    rows = np.arange(1.0, 5.0)[:, None]
    np.testing.assert_array_equal(past(rows, 2)[:, :, 0], [[0, 0], [1, 0], [2, 1], [3, 2]])
    np.testing.assert_array_equal(past(rows[:1], 3), np.zeros((1, 3, 1)))


@pytest.mark.parametrize("kind", CENTRED)
@pytest.mark.parametrize("inside", [False, True])
def test_multipliers_meet_the_cost(kind: str, inside: bool) -> None:
    totals, price = of_rounds(problem("wide", kind, ROUNDS)), 0.1
    T, _, du, dx = totals.shape
    domain = dw.SpectralBalls((H, du, dx), 0.3) if inside else None
    region = Region(domain, T, 1.0)
    answer = solve(totals, region, price, np.zeros((T, H * du * dx)), 1.0)
    assert answer.finite
    assert np.linalg.norm(answer.dual, axis=1).max() <= price * (1.0 + 1e-6)
    np.testing.assert_array_equal(answer.dual[-1], 0.0)
    cost = totals.roll(answer.policies).total
    cost += price * np.linalg.norm(np.diff(answer.policies, axis=0), axis=1).sum()
    bound = max(lower_bound(totals, region, planes, answer.dual, price, 10.0) for planes in answer.planes)
    assert bound <= cost * (1.0 + 1e-7)
    assert bound == pytest.approx(cost, rel=1e-5)


def test_a_second_problem_around_the_first_solution_gains_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    totals, price = of_rounds(problem("double integrator", "scalar", ROUNDS)), 0.1
    region, start = Region(None, ROUNDS, 1.0), np.zeros((ROUNDS, H * 2))
    few_digits = functools.partial(cones.solve_cones, tolerance=1e-4)
    monkeypatch.setattr(rounds, "solve_cones", few_digits)
    first = solve(totals, region, price, start, 1.0)
    second = solve(totals, region, price, first.policies, 1e-2)
    gaps = []
    for answer in (first, second):
        cost = totals.roll(answer.policies).total
        cost += price * np.linalg.norm(np.diff(answer.policies, axis=0), axis=1).sum()
        gaps.append(cost - lower_bound(totals, region, answer.planes[0], None, price, 10.0))
    assert 0.0 <= gaps[1] < 0.5 * gaps[0]


def test_what_is_not_a_number_is_seen() -> None:
    totals = of_rounds(problem("scalar", "scalar", ROUNDS))
    answer = solve(totals, Region(None, ROUNDS, 1.0), 0.1, np.zeros((ROUNDS, H)), 1.0)
    assert answer.finite
    assert not answer._replace(policies=np.nan * answer.policies).finite
    assert not answer._replace(dual=np.nan * answer.dual).finite
