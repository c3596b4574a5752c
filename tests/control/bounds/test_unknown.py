"""Theorem 8: each part of its bound against a plant and an estimate that is off by as much as it may be."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.bounds import unknown_system
from driftwise.control.bounds.unknown import UnknownSystem
from driftwise.errors import ParameterError
from tests.cases import check_refused
from tests.control.cases import policies, roll

COST = control.QuadraticCost(1.0, 1.0)
W, P, EXPLORATION, ROUNDS, H = 0.7, 0.8, 40, 160, 3


class Played(NamedTuple):
    """What a run came to."""

    exploration: float
    commit: float
    mismatch: float
    disturbance: float


def costs_of(states: Array, inputs: Array) -> Array:
    return np.array([COST.value(x, u) for x, u in zip(states, inputs, strict=True)])


def played(seed: int) -> tuple[Played, UnknownSystem]:
    """Explore a random plant, commit to an estimate of it, and compare with policies on the plant and the estimate."""
    rng = np.random.default_rng(seed)
    dx, du = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    plant = control.random_system(dx, du, radius=float(rng.uniform(0.2, 0.7)), seed=seed)
    K, radius = 0.2 * rng.standard_normal((du, dx)) * 0.3, float(10.0 ** rng.uniform(-2, -0.5))
    error = float(10.0 ** rng.uniform(-4, -1.3))
    off = [rng.standard_normal(part.shape) for part in (plant.A, plant.B)]
    A, B = (part + error * d / np.linalg.norm(d, 2) for part, d in zip((plant.A, plant.B), off, strict=True))
    estimate = control.LinearSystem(A, B)
    rows = rng.standard_normal((ROUNDS, dx)) if seed % 2 else np.tile(rng.standard_normal(dx), (ROUNDS, 1))
    rows *= W / np.linalg.norm(rows, axis=1)[:, None]
    bound = unknown_system(
        estimate,
        error=error,
        horizon=ROUNDS,
        exploration=EXPLORATION,
        path_length=1e9,
        memory=H,
        K=K,
        radii=radius,
        disturbance_bound=W,
        probe=P,
    )
    x, states, inputs = np.zeros(dx), np.zeros((ROUNDS, dx)), np.zeros((ROUNDS, du))
    shared: dict[str, Any] = {"scale": "certified", "memory": H, "radii": radius, "start": "random"}
    size = min(bound.disturbance, 1e6)
    mine = control.ScreamController(estimate, ROUNDS - EXPLORATION, K, disturbance_bound=size, **shared)
    for t in range(ROUNDS):
        u = P * rng.choice([-1.0, 1.0], du) - K @ x if t < EXPLORATION else mine.act(x)
        if t >= EXPLORATION:
            mine.observe(COST)
        states[t], inputs[t] = x, u
        x = plant.A @ x + plant.B @ u + rows[t]
    following = np.vstack([states[1:], x])
    seen = (following - states @ A.T - inputs @ B.T)[EXPLORATION:]
    window = policies(rng, 1, H, du, dx, radius)
    window = np.repeat(window, ROUNDS, axis=0)
    true_states, true_inputs = roll(plant, K, window, rows, np.zeros(dx))
    on_plant = costs_of(true_states[:-1], true_inputs)
    their_states, their_inputs = roll(estimate, K, window[EXPLORATION:], seen, states[EXPLORATION])
    on_estimate = costs_of(their_states[:-1], their_inputs)
    own = costs_of(states, inputs)
    parts = Played(
        float(own[:EXPLORATION].sum() - on_plant[:EXPLORATION].sum()),
        float(own[EXPLORATION:].sum() - on_estimate.sum()),
        float(on_estimate.sum() - on_plant[EXPLORATION:].sum()),
        float(np.linalg.norm(seen, axis=1).max()),
    )
    return parts, bound


def test_no_part_is_above_its_bound() -> None:
    finite = 0
    for seed in range(60):
        parts, bound = played(seed)
        assert all(part <= limit for part, limit in zip(parts, bound, strict=True))
        assert sum(parts[:3]) <= bound.total
        finite += math.isfinite(bound.total)
    assert finite >= 30


def certified(system: control.System, **settings: Any) -> control.Controller:
    return control.ScreamController(system, scale="certified", disturbance_bound=2.0, **settings)


def test_a_run_of_explore_then_commit_is_within_the_bound() -> None:
    plant, rounds, exploration, w = control.LinearSystem(0.5, 1.0), 8000, 6000, 0.3
    rows = w * np.sign(np.sin(np.arange(rounds) / 7.0))[:, None]
    mine = control.ExploreThenCommit(
        K=[[0.1]],
        state_dim=1,
        input_dim=1,
        horizon=rounds,
        exploration=exploration,
        method="moments",
        probe=1.0,
        memory=3,
        controller=certified,
        seed=1,
    )
    trace = control.simulate(plant, mine, COST, rows)
    assert mine.guarantee.startswith("Theorem 8")
    assert mine.identified is not None
    assert isinstance(mine.committed, control.ScreamController)
    radii = mine.committed.problem.domain.radii
    policy = control.best_policy(plant, COST, rows, K=mine.K, domain=mine.committed.learner.domain)
    measured = trace.total - policy.total
    error = max(abs(mine.identified.A - plant.A).max(), abs(mine.identified.B - plant.B).max())
    bound = unknown_system(
        mine.identified.system,
        error=error,
        horizon=rounds,
        exploration=exploration,
        path_length=0.0,
        memory=radii.size,
        K=mine.K,
        radii=radii,
        disturbance_bound=w,
        built_for=2.0,
    )
    assert bound.disturbance <= 2.0
    assert 0.0 < measured <= bound.total < math.inf


ESTIMATE = control.LinearSystem([[0.6, 0.2], [0.0, 0.5]], [[0.0], [1.0]])
PROBLEM: dict[str, Any] = {"horizon": 10**6, "exploration": 10**4, "path_length": 0.0, "K": [[0.0, 0.1]], "radii": 0.1}


def test_the_mismatch_is_linear_in_the_error_and_in_the_rounds() -> None:
    held = {**PROBLEM, "memory": 20}
    small, large = (unknown_system(ESTIMATE, error=error, **held).mismatch for error in (1e-6, 1e-5))
    none = unknown_system(ESTIMATE, error=0.0, **held).mismatch
    assert (large - none) / (small - none) == pytest.approx(10.0, rel=1e-3)
    longer = unknown_system(ESTIMATE, error=1e-5, **{**held, "horizon": 2 * 10**6}).mismatch
    assert (longer - none) / (large - none) == pytest.approx(2.0, rel=0.05)


def test_an_exact_estimate_leaves_theorem_7_and_the_way_back_from_the_exploration() -> None:
    found = unknown_system(ESTIMATE, error=0.0, **PROBLEM)
    assert found.disturbance == 1.0
    shared = {name: PROBLEM[name] for name in ("path_length", "K", "radii")}
    known = control.bounds.scream_controller(ESTIMATE, horizon=10**6 - 10**4, **shared)
    assert known < found.commit < 1.01 * known + 1e5


def test_an_estimate_that_is_too_far_off_promises_nothing() -> None:
    assert unknown_system(ESTIMATE, error=1.0, **PROBLEM).total == math.inf


def test_a_controller_must_be_built_for_what_it_sees() -> None:
    seen = unknown_system(ESTIMATE, error=1e-3, **PROBLEM)
    assert unknown_system(ESTIMATE, error=1e-3, built_for=seen.disturbance, **PROBLEM) == seen
    more, less = (unknown_system(ESTIMATE, error=1e-3, built_for=size, **PROBLEM) for size in (2.0, 1.0))
    assert more.commit > seen.commit
    assert more.mismatch == seen.mismatch
    assert less.commit == math.inf


def test_with_two_thirds_of_the_exponent_the_bound_is_of_that_order() -> None:
    totals = []
    for T in (10**9, 10**12):
        T_0 = round(T ** (2.0 / 3.0))
        error = 1.0 / math.sqrt(T_0)
        totals.append(
            unknown_system(ESTIMATE, error=error, **{**PROBLEM, "radii": None, "horizon": T, "exploration": T_0}).total
        )
    assert totals[1] / totals[0] <= 1000.0 ** (2.0 / 3.0) * 1.1


def test_bad_arguments_are_refused() -> None:
    check_refused(lambda: unknown_system(ESTIMATE, error=-1.0, **PROBLEM), "error", kind=ParameterError)
    bad = {**PROBLEM, "exploration": 10**6}
    check_refused(lambda: unknown_system(ESTIMATE, error=0.1, **bad), "exploration", kind=ParameterError)
