"""Quadratics over domains: minima against cvxpy, and gaps that are never too small."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.optimum import quadratic
from driftwise.optimum.quadratic import Quadratics
from tests.cases import stream
from tests.optimum.problems import CONES, DIM, DOMAINS, GENERAL, QUADRATIC, built_in, cp, held, inside, sequences, solve
from tests.strategies import seeds

RANKS = {"full": DIM, "singular": 2, "a line": 1, "flat": 0}


def bowls(rank: int, pull: float, count: int = 6, seed: int = 0) -> Quadratics:
    """Return random quadratics; a `pull` of less than 1 keeps the minimum inside most domains."""
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((count, DIM, rank))
    b = pull * rng.standard_normal((count, DIM))
    return Quadratics(roots @ roots.transpose(0, 2, 1), b, rng.standard_normal(count))


def least(problem: Quadratics, domain: dw.Domain) -> Array:
    """Return the least value of each quadratic, by cvxpy."""
    found = []
    for A, b, c in zip(*problem, strict=True):
        w = cp.Variable((1, DIM))
        found.append(c + solve(0.5 * cp.quad_form(w[0], cp.psd_wrap(A)) - b @ w[0], inside(domain, w)))
    return np.array(found)


@pytest.mark.parametrize("pull", [0.05, 5.0])
@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("name", DOMAINS)
def test_minima_agree_with_cvxpy(name: str, rank: str, pull: float) -> None:
    problem, domain = bowls(RANKS[rank], pull, count=3), DOMAINS[name]
    points = quadratic.minimise(problem, domain)
    assert domain.contains(points)
    np.testing.assert_allclose(problem.values(points), least(problem, domain), rtol=1e-7, atol=1e-7)
    relative = quadratic.gaps(problem, domain, points) / quadratic.scales(problem, domain)
    assert relative.max() <= 10.0 * quadratic.CLOSE


@pytest.mark.parametrize("name", DOMAINS)
@settings(max_examples=20)
@given(seeds, st.sampled_from(sorted(RANKS)), st.sampled_from([0.0, 0.3, 10.0]))
def test_gaps_are_never_less_than_what_other_points_save(name: str, seed: int, rank: str, pull: float) -> None:
    domain, problem = DOMAINS[name], bowls(RANKS[rank], pull, seed=seed)
    for points in sequences(domain, 6, seed):
        allowed = problem.values(points) - quadratic.gaps(problem, domain, points)
        for others in sequences(domain, 6, seed + 1):
            np.testing.assert_array_less(allowed, problem.values(others) + 1e-10)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
@pytest.mark.parametrize("name", DOMAINS)
def test_minima_do_not_depend_on_the_unit_of_the_losses(name: str, unit: float) -> None:
    A, b, c = bowls(DIM, 2.0)
    expected = quadratic.minimise(Quadratics(A, b, c), DOMAINS[name])
    found = quadratic.minimise(Quadratics(unit * A, unit * b, unit * c), DOMAINS[name])
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("rank", ["full", "singular", "flat"])
def test_minima_in_balls_of_any_size_satisfy_the_conditions_of_optimality(scale: float, rank: str) -> None:
    ball = dw.Ball(DIM, radius=scale, center=scale * np.array([3.0, 0.0, -2.0, 1.0]))
    problem = bowls(RANKS[rank], 2.0 * scale)
    points = quadratic.minimise(problem, ball)
    slopes = np.einsum("nij,nj->ni", problem.A, points) - problem.b
    offsets = points - ball.center
    for slope, offset in zip(slopes, offsets, strict=True):
        if np.linalg.norm(offset) < scale * (1.0 - 1e-9):
            np.testing.assert_allclose(slope, 0.0, atol=1e-9 * scale)
        else:  # the slope points straight to the centre
            inward = np.linalg.norm(slope) * offset / np.linalg.norm(offset)
            np.testing.assert_allclose(-slope, inward, atol=1e-8 * scale)


def test_a_flat_direction_with_a_pull_is_followed_to_the_edge() -> None:
    problem = Quadratics(np.diag([1.0, 0.0])[None], np.array([[0.3, 1e-3]]), np.zeros(1))
    found = quadratic.minimise(problem, dw.Ball(2))[0]
    # (1 + nu) x = 0.3 and nu y = 1e-3 on the unit circle
    nu = 1e-3 / found[1]
    assert found @ found == pytest.approx(1.0, abs=1e-12)
    assert (1.0 + nu) * found[0] == pytest.approx(0.3, abs=1e-9)


def test_a_bowl_without_a_slope_is_least_at_the_centre_of_the_ball() -> None:
    ball = dw.Ball(2, center=[1.0, 2.0])
    flat = Quadratics(np.zeros((1, 2, 2)), np.zeros((1, 2)), np.ones(1))
    np.testing.assert_array_equal(quadratic.minimise(flat, ball), [[1.0, 2.0]])


@pytest.mark.parametrize("kind", [*QUADRATIC, "filtered"])
def test_sums_have_the_values_of_the_losses(kind: str) -> None:
    losses, starts = built_in(kind, 12), np.array([0, 5, 6])
    problem = quadratic.sums(losses, starts)
    points = np.random.default_rng(1).standard_normal((3, DIM))
    expected = [held(losses, w)[a:b].sum() for w, a, b in zip(points, starts, [5, 6, 12], strict=True)]
    np.testing.assert_allclose(problem.values(points), expected, rtol=1e-12)


def test_which_losses_are_quadratic() -> None:
    streams = (*QUADRATIC, *GENERAL, "plain custom")
    found = {kind for kind in streams if quadratic.is_quadratic(stream(kind, DIM, 6))}
    assert found == {*QUADRATIC, "filtered"}


@pytest.mark.parametrize("name", CONES)
def test_what_descending_does_not_pin_down_clarabel_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, domain = bowls(DIM, 2.0, count=3), DOMAINS[name]
    expected = least(problem, domain)
    monkeypatch.setattr(quadratic, "descend", lambda *_: None)
    np.testing.assert_allclose(problem.values(quadratic.minimise(problem, domain)), expected, rtol=1e-6, atol=1e-6)
