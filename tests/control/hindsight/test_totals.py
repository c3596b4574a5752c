"""Total costs as a function of policies, and what a gap says about a region."""

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise.control.hindsight.totals import Found, Region, Totals
from tests.control.cases import ROUNDS
from tests.control.hindsight.problems import played, problem


def totals(kind: str = "stages") -> Totals:
    given = problem("wide", kind)
    starts = np.array([0, 12])
    return Totals(given, control.lqr(given.system)[None], starts, np.repeat([0, 1], [12, ROUNDS - 12]), (2, 3, 2, 3))


def test_the_total_is_that_of_the_run_and_its_gradient_that_of_the_total() -> None:
    function = totals()
    rng = np.random.default_rng(0)
    at, change = rng.standard_normal((2, function.dim))
    value, slope = function.at(at)
    run = played(function.problem, function.gains[0], at.reshape(function.shape)[function.played])
    costs = [cost.value(row[:3], row[3:]) for cost, row in zip(function.problem.costs, run, strict=True)]
    assert value == pytest.approx(sum(costs), rel=1e-12)
    ahead, behind = function.at(at + 1e-5 * change)[0], function.at(at - 1e-5 * change)[0]
    assert slope @ change == pytest.approx((ahead - behind) / 2e-5, rel=1e-7)


@pytest.mark.parametrize("kind", ["quadratic", "absolute", "Huber"])
@pytest.mark.parametrize("domain", [None, dw.SpectralBalls((3, 2, 3), [0.5, 0.3, 0.2]), dw.Ball(18, 0.7)])
def test_no_policy_of_the_region_is_cheaper_by_more_than_the_gap(kind: str, domain: dw.Domain | None) -> None:
    function, region = totals(kind), Region(domain, 2, 1.0)
    rng = np.random.default_rng(1)
    at = 0.1 * rng.standard_normal(function.dim)
    value, slope = function.at(at)
    gap = region.gap(at, slope)
    for other in rng.standard_normal((50, function.dim)):
        if domain is None:
            other *= region.reach(at) / np.linalg.norm(other)
        else:
            other = region.project(other)
            assert region.contains(other)
        assert function.at(other)[0] >= value - gap


def test_the_gap_is_reached_by_a_straight_total() -> None:
    slope = np.random.default_rng(2).standard_normal(36)
    domain = dw.SpectralBalls((3, 2, 3), 0.5)
    region = Region(domain, 2, 1.0)
    U, _, V = np.linalg.svd(slope.reshape(2, 3, 2, 3), full_matrices=False)
    assert region.gap(np.zeros(36), slope) == pytest.approx(0.5 * float(slope @ (U @ V).ravel()), rel=1e-12)


def test_a_gap_is_put_in_words_with_doubts_if_it_is_large() -> None:
    region, at = Region(None, 2, 1.0), np.zeros(36)
    sure, unsure = (Found.told("By magic.", region, at, 100.0, gap) for gap in (1e-5, 1.0))
    assert sure.words == "By magic. No policy of norm up to 10 is cheaper by more than 1e-05."
    assert unsure.words.startswith("By magic. It is not certain to be the best: no policy")
    inside = Found.told("By magic.", region._replace(domain=dw.Ball(18)), at, 1.0, 0.0)
    assert "in the domain" in inside.words
