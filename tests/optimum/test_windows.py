"""Best fixed decisions of windows: planes that stay below, a bound that meets the minimum, and ways that agree."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.losses.base import DataLoss
from driftwise.optimum import best_fixed, windows
from driftwise.optimum.windows import Windows, fits
from tests.cases import a_third
from tests.optimum.problems import DIM, DOMAINS, QUADRATIC, built_in, held

ROUNDS = 24
KINDS = ("absolute", "quantile", "capacity", "huber", "logistic")
PARTS = (range(3, 4), range(2), range(5, 13), range(ROUNDS))


def losses_of(kind: str, rounds: int = ROUNDS, dim: int = DIM) -> DataLoss:
    if kind == "capacity":
        demands = np.random.default_rng(6).uniform(-0.5, 1.0, (rounds, dim))
        return dw.CapacityLoss(demands.round(1), shortage=np.linspace(1.5, 4.0, dim), price=1.0)
    return built_in(kind, rounds, dim)


@a_third(kind=KINDS, name=DOMAINS, which=range(len(PARTS)))
def test_planes_are_below_and_meet_the_minimum_of_their_window(kind: str, name: str, which: int) -> None:
    losses, domain, rounds = losses_of(kind), DOMAINS[name], PARTS[which]
    problem = Windows(losses, domain)
    point, planes = problem.best(rounds)
    assert domain.contains(point)
    least = problem.value(point, rounds)
    bound = planes.lower_bounds(domain, len(rounds))[rounds.start]
    assert least == pytest.approx(held(losses, point)[rounds.start : rounds.stop].sum(), abs=1e-12)
    assert bound <= least
    assert bound == pytest.approx(least, abs=1e-7 * (1.0 + abs(least)))
    rng = np.random.default_rng(2)
    for v in domain.project(rng.choice([0.1, 1.0, 100.0], (50, 1)) * rng.standard_normal((50, DIM))):
        each = held(losses, v)
        below = np.diff(planes.heights) + np.diff(planes.slopes, axis=0) @ v
        assert np.all(below <= each + 1e-9)
        for length in (1, 2, 7, ROUNDS):
            sums = np.convolve(each, np.ones(length), "valid")
            assert np.all(planes.lower_bounds(domain, length) <= sums + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["ball", "box", "simplex", "product"])
def test_the_minimum_is_that_of_the_bundle_method(kind: str, name: str) -> None:
    losses, domain = losses_of(kind), DOMAINS[name]
    problem = Windows(losses, domain)
    point, _ = problem.best(range(ROUNDS))
    expected = held(losses, best_fixed(losses, domain)).sum()
    assert problem.value(point, range(ROUNDS)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", ["absolute", "quantile", "capacity"])
def test_quantiles_are_what_clarabel_finds(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 12))
    x, y = rng.integers(-2, 3, count).astype(float), rng.integers(-3, 4, count).astype(float)  # with ties and zeros
    losses: DataLoss = {
        "absolute": dw.AbsoluteLoss(x, y),
        "quantile": dw.QuantileLoss(x, y, 0.7),
        "capacity": dw.CapacityLoss(y, shortage=float(rng.integers(0, 4)), price=1.0),
    }[kind]
    for domain in (dw.Box([-2.0], [1.5]), dw.Ball(1, radius=10.0)):
        problem, rounds = Windows(losses, domain), range(count)
        point, planes = problem.best(rounds)
        by_cones, _ = problem._by_cones(rounds)
        least = problem.value(point, rounds)
        assert least == pytest.approx(problem.value(by_cones, rounds), abs=1e-7)
        assert least <= problem.value(by_cones, rounds) + 1e-12
        assert planes.lower_bounds(domain, count)[0] == pytest.approx(least, abs=1e-11)


@pytest.mark.parametrize("kind", ["huber", "logistic"])
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_newton_converges_whatever_the_size_of_the_features(kind: str, size: float) -> None:
    rng = np.random.default_rng(4)
    features = size * rng.standard_normal((60, 3))
    scores = features @ rng.standard_normal(3) + size * rng.standard_normal(60)
    losses: DataLoss = dw.HuberLoss(features, scores, delta=0.3 * size)
    if kind == "logistic":
        losses = dw.LogisticLoss(features, np.sign(scores))
    for domain in (dw.Ball(3), dw.Box([-0.2] * 3, [0.4] * 3)):
        problem = Windows(losses, domain)
        for rounds in (range(60), range(10, 12), range(7, 30)):
            point, planes = problem.best(rounds)
            least = problem.value(point, rounds)
            assert planes.lower_bounds(domain, len(rounds))[rounds.start] == pytest.approx(least, rel=1e-6, abs=1e-8)


def test_targets_far_away_leave_nothing_but_a_slope() -> None:
    losses, domain = dw.HuberLoss(np.eye(3), [50.0, -50.0, 80.0], delta=0.1), dw.Ball(3)
    point, _ = Windows(losses, domain).best(range(3))
    np.testing.assert_allclose(point, np.array([1.0, -1.0, 1.0]) / np.sqrt(3.0), atol=1e-7)


def test_a_domain_that_is_a_single_point() -> None:
    losses, domain = losses_of("absolute", 5), dw.Box([0.3] * DIM, [0.3] * DIM)
    point, planes = Windows(losses, domain).best(range(2, 5))
    np.testing.assert_array_equal(point, domain.low)
    assert planes.lower_bounds(domain, 3)[2] == pytest.approx(held(losses, point)[2:].sum())


def test_when_the_solver_fails_the_bound_is_weak_and_still_true(monkeypatch: pytest.MonkeyPatch) -> None:
    losses, domain = losses_of("absolute"), DOMAINS["ball"]
    good = Windows(losses, domain)
    best, _ = good.best(range(ROUNDS))
    monkeypatch.setattr(windows, "solve_cones", lambda P, q, *rest: (np.full(q.size, np.nan), np.zeros(999), "Failed"))
    point, planes = good.best(range(ROUNDS))
    np.testing.assert_array_equal(point, good.middle)
    assert planes.lower_bounds(domain, ROUNDS)[0] <= good.value(best, range(ROUNDS)) < good.value(point, range(ROUNDS))


def test_what_fits() -> None:
    assert all(fits(losses_of(kind)) for kind in (*KINDS, *QUADRATIC))
    assert not fits(built_in("filtered", ROUNDS))
    own = dw.CustomLoss(lambda t, w: float(w @ w), lambda t, w: 2.0 * w, ROUNDS, DIM, compile="never")
    assert not fits(own)
