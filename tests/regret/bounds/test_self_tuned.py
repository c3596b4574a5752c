"""The bound of self-tuned Scream: its formula, every step of its proof on runs that try to break it, and its units."""

import math
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.engine.reference import Reference
from driftwise.errors import InputError, ParameterError
from driftwise.learners import Ensemble, Meta, Pool, Surrogate
from driftwise.regret import bounds, certificate
from driftwise.regret.bounds.self_tuned import (
    Clipped,
    bounded_gradients,
    clipped,
    overhead_bound,
    seen_gradients,
    self_tuned_births,
)
from tests.cases import check_refused

USUAL: dict[str, Any] = {"horizon": 50, "path_length": 3.0, "diameter": 2.0, "switching_cost": 1.5}


def _gradients(rng: np.random.Generator, T: int, dim: int) -> Array:
    """Return gradients with heavy tails, drift, or blocks: what self-tuned rates are hardest to make for."""
    kind = int(rng.integers(4))
    rows = rng.standard_normal((T, dim))
    if kind == 0:
        rows *= rng.pareto(1.1, (T, 1))
    elif kind == 1:
        rows *= np.geomspace(1e-3, 1.0, T)[:, None] ** rng.choice([-1.0, 1.0])
    elif kind == 2:
        rows = np.repeat(rows[:: max(T // 5, 1)], max(T // 5, 1), axis=0)[:T]
    else:
        rows = np.where((np.arange(T) // 7) % 2, 1.0, -1.0)[:, None] * np.ones(dim)
        rows[rng.random(T) < 0.02] *= 100.0
    return np.asarray(rows[:T])


def _problem(seed: int) -> tuple[dw.Domain, Array, float]:
    rng = np.random.default_rng(seed)
    T, dim = int(rng.integers(2, 400)), int(rng.integers(1, 4))
    domains: list[dw.Domain] = [dw.Ball(dim), dw.Box([-1.0] * dim, [0.5] * dim), dw.Simplex(dim + 1)]
    domain = domains[rng.integers(3)]
    return (
        domain,
        _gradients(rng, T, domain.dim),
        float(rng.choice([0.0, 10.0 ** rng.uniform(-2.0, 3.0)], p=[0.1, 0.9])),
    )


def _literally(sizes: Array, P: float, D: float, lambda_: float) -> float:
    """Return the bound, round by round, as the proof has it."""
    T = sizes.size
    count = [1 + sum(t >= 2**i and 4.0 ** (i - 1) < 1 + 256 * t for i in range(1, 60)) for t in range(1, T + 1)]
    births = [next(t for t in range(1, T + 1) if count[t - 1] > i) for i in range(count[-1])]
    V = np.cumsum(sizes**2 + lambda_ * sizes)
    move = [0.0]
    for t in range(1, T):
        g = sizes[t - 1]
        largest = D * 2.0 ** (count[t - 1] - 5)
        eta = largest / math.sqrt(V[t - 1]) if V[t - 1] else 0.0
        move.append(min(D, eta * g))
    s = [D * sizes[t] + lambda_ * move[t] for t in range(T)]

    def A(last: int) -> tuple[float, float]:
        N = count[last - 1] * (2 if lambda_ else 1)
        Q = sum(s[t] * (s[t] / 2 + 2 * lambda_ * D) for t in range(last))
        B = max(s[:last]) + 2 * lambda_ * D * (3 + 2 * math.log(N) + 2 / math.e)
        return (B + math.sqrt(B * B + 4 * Q)) / 2, math.log(N)

    def best(last: int) -> float:
        if last == 0:
            return 0.0
        ways = [sum(s[:last]) + (A(T)[0] / 2 if last == T else 0.0)]
        for i, first in enumerate(births):
            if first <= last:
                c, (overhead, log) = D * 2.0 ** (i - 4), A(last)
                walk = sum(
                    c * (sizes[t - 1] ** 2 / 2 + lambda_ * sizes[t - 1]) / math.sqrt(V[t - 1])
                    for t in range(first, last + 1)
                    if V[t - 1]
                )
                settle = (D * D + 2 * D * min(P, D * (last - 1))) / (2 * c) * math.sqrt(V[last - 1])
                ways.append(best(first - 1) + settle + walk + (1 + log / 2) * overhead)
        return float(min(ways))

    zone = 0.0
    if lambda_:
        for t in range(1, T):
            radius = D / (4 * math.sqrt(t)) * lambda_ / (lambda_ + math.sqrt((sizes[:t] ** 2).sum() / t))
            zone += sizes[t] * radius
    return float(best(T) + lambda_ * sum(move[first - 1] for first in set(births)) + zone)


@pytest.mark.parametrize("seed", range(8))
def test_the_formula_is_that_of_the_proof(seed: int) -> None:
    domain, gradients, lambda_ = _problem(seed)
    sizes = np.linalg.norm(gradients, axis=1)[:60]
    P = 0.4 * domain.diameter * (sizes.size - 1)
    problem: dict[str, Any] = {"horizon": sizes.size, "path_length": P, "diameter": domain.diameter}
    found = bounds.self_tuned_scream(**problem, gradient_bound=sizes, switching_cost=lambda_)
    (left,) = clipped(sizes)
    expected = _literally(left.kept, P, domain.diameter, lambda_) + domain.diameter * left.cut
    assert left.first is None
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(30))
def test_what_is_left_is_what_the_learner_gives_to_its_base_learners(seed: int) -> None:
    """Also that clipping takes off at most the root of the rounds times the largest."""
    domain, gradients, lambda_ = _problem(seed)
    if seed % 3 == 0:
        gradients[0] *= 1e3
    tangent = gradients - gradients.mean(axis=1, keepdims=True) if isinstance(domain, dw.Simplex) else gradients
    sizes, kept = np.linalg.norm(tangent, axis=1), []
    learner = dw.SelfTunedScream(domain, switching_cost=lambda_)
    for t, gradient in enumerate(gradients):
        learner.act()
        learner.observe(gradient)
        kept.append(float(np.linalg.norm(learner.program.last_gradient(learner.cell))))
        assert learner.clipping <= math.sqrt(t + 1) * sizes[: t + 1].max() * (1.0 + 1e-12)
    (left,) = clipped(sizes)
    if left.first is not None:
        first, size = left.first
        assert kept[first] == pytest.approx(size, rel=1e-12)
        kept[first] = 0.0
    np.testing.assert_allclose(left.kept, kept, rtol=1e-9)
    assert learner.clipping == pytest.approx(left.cut, rel=1e-9)


def test_a_first_gradient_is_taken_back_if_the_second_is_far_smaller() -> None:
    (left,) = clipped(np.array([0.0, 50.0, 0.0, 1.0, 2.0]))
    assert left.first == (1, 50.0)
    assert left.cut == 50.0
    assert left.kept.tolist() == [0.0, 0.0, 0.0, 1.0, 2.0]
    steady, _ = (seen_gradients(left, 2.0, 3.0, steady=steady) for steady in (True, False))
    move = 4.0 / 16.0 * 50.0 / math.sqrt(50.0**2 + 3.0 * 50.0)
    assert steady.clipping == pytest.approx(2.0 * 50.0 + 3.0 * move, rel=1e-12)


def test_rounding_on_a_limit_gives_two_answers() -> None:
    assert [left.first for left in clipped(np.array([10.0, 1.0]))] == [(0, 10.0), None]


@pytest.mark.parametrize("seed", range(60))
def test_regret_and_overhead_stay_below_their_bounds(seed: int) -> None:
    domain, gradients, lambda_ = _problem(seed)
    rng = np.random.default_rng(1000 + seed)
    losses, T = dw.LinearLoss(gradients), len(gradients)
    learner = dw.SelfTunedScream(domain, switching_cost=lambda_)
    trace = dw.play(learner, losses, lambda_)
    length = int(rng.integers(1, T + 1))
    blocks = [gradients[t : t + length].sum(axis=0) for t in range(0, T, length)]
    chasing = np.repeat([domain.project(-1e6 * block) for block in blocks], length, axis=0)[:T]
    fixed = np.tile(domain.project(-1e6 * gradients.sum(axis=0)), (T, 1))
    for comparators in (chasing, fixed):
        found = certificate(trace, comparators)
        assert found.guaranteed, str(found)
        assert found.within, str(found)
    tangent = gradients - gradients.mean(axis=1, keepdims=True) if isinstance(domain, dw.Simplex) else gradients
    sizes, D = np.linalg.norm(tangent, axis=1), domain.diameter
    seen = seen_gradients(Clipped(sizes, 0.0), D, lambda_)
    assert learner.overhead <= overhead_bound(seen.sums(T), lambda_ * D, learner.weights.size)


def test_the_pool_grows_as_the_proof_has_it() -> None:
    learner = dw.SelfTunedScream(dw.Ball(1), switching_cost=1.0)
    births = self_tuned_births(700)
    for t in range(1, 701):
        learner.act()
        assert learner.weights.size == 2 * np.searchsorted(births, t, side="right")
        learner.observe([1.0])


def test_multiplying_losses_and_prices_multiplies_the_bound() -> None:
    sizes = np.random.default_rng(0).pareto(1.5, 50)
    one = bounds.self_tuned_scream(**USUAL, gradient_bound=sizes)
    many = bounds.self_tuned_scream(**{**USUAL, "switching_cost": 1500.0}, gradient_bound=1000.0 * sizes)
    assert many == pytest.approx(1000.0 * one, rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_moves_add_up_to_no_more_than_the_bound_on_gradients_lets_them(seed: int) -> None:
    """The sums of moves that give lambda^(3/4), against sizes that are made to move far: bursts after silence."""
    rng = np.random.default_rng(seed)
    T, D, lambda_ = int(rng.integers(2, 3000)), 1.0, float(10.0 ** rng.uniform(-1.0, 3.0))
    sizes = rng.random(T) ** rng.choice([0.1, 3.0, 30.0])
    if seed % 2:
        sizes *= np.geomspace(1e-9, 1.0, T)
    most = bounded_gradients(T, 1.0, D, lambda_)
    for last in (1, 2, T // 2 + 1, T):
        found, allowed = seen_gradients(Clipped(sizes, 0.0), D, lambda_).sums(last), most.sums(last)
        assert all(mine <= theirs * (1.0 + 1e-12) for mine, theirs in zip(found, allowed, strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_a_bound_on_gradients_covers_all_that_keep_to_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    T, lambda_ = int(rng.integers(1, 300)), float(10.0 ** rng.uniform(-2.0, 2.0))
    sizes = rng.random(T) ** rng.integers(1, 30)
    sizes[rng.random(T) < 0.1] = 1.0
    if seed % 2:  # nothing happens until late
        sizes[: 3 * T // 4] = 0.0
    usual: dict[str, Any] = {"horizon": T, "path_length": 0.3 * (T - 1), "diameter": 1.0, "switching_cost": lambda_}
    known = bounds.self_tuned_scream(**usual, gradient_bound=sizes)
    assert known <= bounds.self_tuned_scream(**usual, gradient_bound=1.0) * (1.0 + 1e-12)


def test_it_grows_with_lambda_to_the_three_quarters() -> None:
    def bound(lambda_: float) -> float:
        return bounds.self_tuned_scream(
            horizon=10**6, path_length=0.0, gradient_bound=1.0, diameter=1.0, switching_cost=lambda_
        )

    slope = math.log(bound(1e4) / bound(1e2)) / math.log(1e2)
    assert 0.7 < slope < 0.8


@pytest.mark.parametrize("seed", range(20))
def test_a_patient_base_learner_keeps_to_its_own_bound(seed: int) -> None:
    """Regret and own moves <= (D^2 + 2 D P) / (2 eta_T) + sum eta |b|^2 / 2 + lambda (2 moves + P + D)."""
    rng = np.random.default_rng(seed)
    T, D, lambda_ = 200, 2.0, float(10.0 ** rng.uniform(-1.0, 1.5))
    gradients = _gradients(rng, T, 2)
    c = float(10.0 ** rng.uniform(-1.0, 1.0))
    pool, surrogate = Pool(c, patience=1.0), Surrogate(lambda_)
    single = Ensemble(dw.Ball(2), pool=pool, meta=Meta(2.0), surrogate=surrogate, horizon_free="self-tuned")
    player = Reference(single.program, np.zeros(2))
    v = dw.Ball(2).project(np.cumsum(0.05 * rng.standard_normal((T, 2)), axis=0))
    P, suffered, moves, squares, eta = float(np.linalg.norm(np.diff(v, axis=0), axis=1).sum()), 0.0, 0.0, 0.0, math.inf
    for t, g in enumerate(gradients):
        before, held = player.points[0].copy(), player.waiting[0].copy()
        suffered += float(g @ (before - v[t]))
        player.observe(g)
        eta = c / math.sqrt(player.sizes)
        acted = held + g - player.waiting[0]
        assert np.linalg.norm(player.waiting[0]) <= lambda_ * (1.0 + 1e-12)
        assert np.linalg.norm(acted) <= np.linalg.norm(g) * (1.0 + 1e-9)
        squares += eta * float(acted @ acted)
        moves += float(np.linalg.norm(player.points[0] - before))
    allowed = (D**2 + 2 * D * P) / (2 * eta) + 0.5 * squares + lambda_ * (2 * moves + P + D)
    assert suffered + lambda_ * moves <= allowed


@pytest.mark.parametrize("price", [1.5, dw.MoveCost(up=[2.0, 0.1, 0.4], down=0.7)], ids=str)
def test_the_dead_zone_never_moves_more_than_the_mixture(price: float | dw.MoveCost) -> None:
    rng = np.random.default_rng(3)
    cost = price if isinstance(price, dw.MoveCost) else dw.MoveCost(price, norm="l2")
    learner = dw.SelfTunedScream(dw.Ball(3), switching_cost=price)
    played, centres = [], []
    for g in _gradients(rng, 300, 3):
        played.append(learner.act())
        centres.append(learner.weights @ learner.base_decisions)
        learner.observe(g)
    assert cost.along(np.array(played)).sum() <= cost.along(np.array(centres)).sum() + 1e-12


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"gradient_bound": 0.0}, ("gradient_bound", "0.0")),
        ({"gradient_bound": -np.ones(50)}, ("gradient_bound", "at least 0", "-1")),
        ({"horizon": 0}, ("horizon", "0")),
        ({"path_length": 1e9}, ("path_length", "at most")),
        ({"diameter": math.nan}, ("diameter", "nan")),
        ({"switching_cost": -1.0}, ("switching_cost", "-1")),
        ({"policy": 1}, ("policy", "1")),
    ],
)
def test_impossible_problems_are_refused(changed: dict[str, Any], words: tuple[str, ...]) -> None:
    problem = {**USUAL, "gradient_bound": 1.0, **changed}
    check_refused(lambda: bounds.self_tuned_scream(**problem), "bounds.self_tuned_scream", *words, kind=ParameterError)


@pytest.mark.parametrize("wrong", [np.ones(49), np.full(50, np.nan), "steep"])
def test_gradients_of_another_length_are_refused(wrong: Any) -> None:
    check_refused(
        lambda: bounds.self_tuned_scream(**USUAL, gradient_bound=wrong),
        "gradient_bound",
        kind=(InputError, ParameterError),  # type: ignore[arg-type]
    )
