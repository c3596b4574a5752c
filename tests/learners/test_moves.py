"""The constants of prices: never passed by any move in the domain, reached by one, and enough for Scream's theorem."""

import math
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.learners import Ensemble, Surrogate, move_constants
from driftwise.learners.scream import scream_parts
from driftwise.regret import bounds, certificate
from tests.cases import check_refused

UP, DOWN = np.array([3.0, 0.2, 1.0, 0.0]), np.array([1.0, 2.0, 1.0, 0.5])
COSTS = {
    "l1": dw.MoveCost(UP, DOWN),
    "l1 even": dw.MoveCost(UP),
    "l2": dw.MoveCost(UP, DOWN, norm="l2"),
    "one price": dw.MoveCost(2.0, 0.5),
}
DOMAINS: dict[str, dw.Domain] = {
    "ball": dw.Ball(4, 0.7, [1.0, 0.0, 0.0, 5.0]),
    "box": dw.Box([-1.0, 0.0, 2.0, 0.0], [4.0, 0.5, 3.0, 0.1]),
    "simplex": dw.Simplex(4, 1.5),
    "product": dw.Product(dw.Simplex(2), dw.Box([0.0, 0.0], [3.0, 0.3])),
    "spectral": dw.SpectralBalls((1, 2, 2), radii=0.8),
}
EXACT = ("ball", "box", "simplex")


def _members(domain: dw.Domain, rng: np.random.Generator, count: int = 30_000) -> Array:
    """Return members of a domain, most of them at its edge."""
    return domain.project(3.0 * domain.diameter * rng.standard_normal((count, domain.dim)) + rng.normal(size=4))


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("where", DOMAINS)
def test_no_move_in_the_domain_costs_more_and_one_nearly_does(where: str, cost: str) -> None:
    domain, found = DOMAINS[where], move_constants(DOMAINS[where], COSTS[cost])
    a, b = (_members(domain, np.random.default_rng(seed)) for seed in (0, 1))
    paid = np.asarray(found.cost(a - b))
    assert paid.max() <= found.diameter * (1.0 + 1e-12)
    assert np.all(paid <= found.per_unit * np.linalg.norm(a - b, axis=1) * (1.0 + 1e-12))
    assert found.diameter <= found.per_unit * domain.diameter * (1.0 + 1e-12)
    if where in EXACT:
        assert paid.max() >= 0.93 * found.diameter
    assert found.per_unit <= COSTS[cost].largest(4) * (1.0 + 1e-12)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("where", DOMAINS)
def test_a_run_costs_at_most_this_much_more_than_at_the_means_of_up_and_down(where: str, cost: str) -> None:
    domain, given = DOMAINS[where], COSTS[cost]
    found, rng = move_constants(domain, given), np.random.default_rng(2)
    for count in (2, 5, 40):
        path = _members(domain, rng, count)
        extra = float(given.along(path).sum() - found.cost.along(path).sum())
        assert abs(extra) <= found.once + 1e-9
        there_and_back = np.vstack([path, path[::-1]])
        if given.norm == "l1":
            both = given.along(there_and_back).sum(), found.cost.along(there_and_back).sum()
            assert both[0] == pytest.approx(both[1], rel=1e-12)
    assert (found.once > 0.0) is (cost in ("l1", "one price") and not (where == "simplex" and cost == "one price"))


def test_a_number_has_the_constants_of_the_paper() -> None:
    found = move_constants(dw.Box([0.0, 0.0], [3.0, 4.0]), 2.0)
    assert (found.per_unit, found.diameter, found.once) == (2.0, 10.0, 0.0)
    assert found.cost == 2.0
    assert move_constants(dw.Simplex(1), dw.MoveCost(3.0)).diameter == 0.0


@pytest.mark.parametrize("kind", [dw.Scream, dw.LazyScream])
@pytest.mark.parametrize("rate", ["appendix", "theorem"])
def test_one_coordinate_at_one_price_is_the_learner_for_a_number(kind: Any, rate: str) -> None:
    domain, losses = dw.Box([-0.3], [0.9]), dw.TrackingLoss(np.sin(np.arange(300.0))[:, None])
    usual: dict[str, Any] = {"gradient_bound": 2.0, "horizon": 300, "rate": rate}
    plain = dw.play(kind(domain, switching_cost=3.0, **usual), losses).decisions
    priced = dw.play(kind(domain, switching_cost=dw.MoveCost(3.0), **usual), losses).decisions
    assert plain.tobytes() == priced.tobytes()


@pytest.mark.parametrize("rate", ["appendix", "theorem"])
def test_pool_and_rate_are_made_for_the_prices(rate: str) -> None:
    """On the simplex of 9 with mean prices of 2: a unit of distance costs at most 6, and no move more than 4."""
    domain, G, T = dw.Simplex(9), 2.0, 100
    D, far = math.sqrt(2.0), 4.0
    learner = dw.Scream(domain, switching_cost=dw.MoveCost(3.0, 1.0), gradient_bound=G, horizon=T, rate=rate)
    assert learner.step_sizes[0] == pytest.approx(D / math.sqrt((6.0 * G + G**2) * T), rel=1e-12)
    Gm = G * D * (1.0 + 12.0 / math.sqrt(6.0 * G + G**2))
    of_theorem = (2.0 * far + G * D) * (far + G * D)
    eps = math.sqrt(2.0 / ((Gm * (far + Gm) if rate == "appendix" else of_theorem) * T))
    assert learner.program.rate / math.sqrt(T) == pytest.approx(eps, rel=1e-12)
    assert learner.program.switching_cost == dw.MoveCost(2.0)
    assert learner.switching_cost == dw.MoveCost(3.0, 1.0)


def _crude(domain: dw.Domain, cost: dw.MoveCost, G: float, T: int) -> Ensemble:
    """Return Scream with every constant made from the most that a unit of distance costs."""
    pool, meta, _ = scream_parts(domain.diameter, G, cost.largest(domain.dim), "appendix")
    return Ensemble(domain, pool=pool, meta=meta, surrogate=Surrogate(cost), horizon=T)


def _problem(seed: int) -> tuple[dw.Domain, dw.LossStream, dw.MoveCost, Array]:
    rng = np.random.default_rng(seed)
    T, d = int(rng.integers(50, 400)), int(rng.integers(2, 7))
    domains = [dw.Ball(d), dw.Box(-rng.random(d), 3.0 * rng.random(d) ** 3), dw.Simplex(d, 2.0)]
    domain = domains[seed % 3]
    signs = dw.LinearLoss(rng.choice([-1.0, 1.0], (T, d)) + np.sin(np.arange(T) / 20.0)[:, None])
    walk = dw.streams.drifting_regression(T, d, max(T // 5, 1), seed=rng)
    losses: dw.LossStream = signs if seed % 2 else dw.TrackingLoss(walk.generator)
    up, down = 10.0 ** rng.uniform(-2.0, 1.5, (2, d))
    cost = dw.MoveCost(up, down if rng.random() < 0.7 else up, norm="l1" if rng.random() < 0.7 else "l2")
    return domain, losses, cost, domain.project(walk.generator)


@pytest.mark.parametrize("seed", range(24))
def test_certificates_hold_and_are_never_wider_than_by_the_price_of_a_unit_of_distance(seed: int) -> None:
    domain, losses, cost, walk = _problem(seed)
    G, T = losses.gradient_bound(domain), len(losses)
    makers: list[tuple[Any, Any]] = [(dw.Scream, bounds.scream), (dw.LazyScream, bounds.lazy_scream)]
    for kind, bound in makers:
        learner = kind(domain, switching_cost=cost, gradient_bound=G, horizon=T)
        for v in (walk, domain.project(np.zeros(losses.dim))):
            found = certificate(dw.play(learner.clone(), losses, cost), v)
            assert found.guaranteed
            assert found.ratio <= 1.0
            usual = {"horizon": T, "gradient_bound": G, "diameter": domain.diameter, "path_length": found.path_length}
            assert found.bound <= bound(**usual, switching_cost=cost.largest(losses.dim)) * (1.0 + 1e-12)


def test_where_up_and_down_are_far_apart_the_bound_is_much_smaller() -> None:
    domain, G, T = dw.Simplex(8), 1.0, 10_000
    cost = dw.MoveCost(up=20.0, down=0.0)
    found = move_constants(domain, cost)
    usual: dict[str, Any] = {"horizon": T, "gradient_bound": G, "diameter": domain.diameter, "path_length": 5.0}
    tight = bounds.scream(**usual, switching_cost=found.per_unit, move_diameter=found.diameter) + found.once
    assert tight <= 0.63 * bounds.scream(**usual, switching_cost=cost.largest(8))


def test_prices_up_and_down_that_are_far_apart_cost_less_than_by_the_larger_one() -> None:
    domain, cost, T = dw.Ball(8), dw.MoveCost(up=1.0, down=0.0), 3000
    walk = dw.streams.drifting_regression(T, 8, 300, seed=3).generator
    losses = dw.TrackingLoss(1.5 * walk + 0.1 * np.random.default_rng(3).normal(size=(T, 8)))
    G = losses.gradient_bound(domain)
    crude = dw.play(_crude(domain, cost, G, T), losses, cost)
    tuned = dw.play(dw.Scream(domain, switching_cost=cost, gradient_bound=G, horizon=T), losses, cost)
    assert tuned.total < 0.97 * crude.total


def test_what_is_not_a_domain_or_a_price_is_refused() -> None:
    untyped: Any = move_constants
    check_refused(lambda: untyped("box", 1.0), "move_constants", "domain")
    check_refused(lambda: untyped(dw.Ball(3), dw.MoveCost([1.0, 2.0])), "2 coordinates")
    check_refused(lambda: untyped(dw.Ball(3), -1.0), "switching_cost")
