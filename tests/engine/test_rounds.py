"""The compiled round against its statement in NumPy, and what keeps it sound over long and odd runs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._validate import Array
from driftwise.engine import layout, run
from driftwise.engine.program import pool_size
from driftwise.engine.reference import Reference
from driftwise.engine.rounds import REFUSED
from driftwise.learners import Ensemble, Meta, Pool, Surrogate
from tests.cases import DOMAINS, EUCLIDEAN, SCHEDULES, every_pair, maker, paper_pool, squared

ROUNDS = 70


LONG = {
    "ball of 41": dw.Ball(41),
    "spectral balls of 36": dw.SpectralBalls((6, 2, 3), 0.3),
    "box of 32": dw.Box(np.full(32, -0.2), np.full(32, 0.3)),
}
"""Domains of many coordinates."""


@every_pair(name=EUCLIDEAN, where=[*DOMAINS, *LONG], schedule=SCHEDULES)
def test_every_round_is_the_reference_round(name: str, where: str, schedule: str) -> None:
    domain = {**DOMAINS, **LONG}[where]
    losses = squared(domain.dim, ROUNDS)
    learner = maker(name, domain, ROUNDS, schedule)()
    reference = Reference(learner.program, learner.act())
    for t in range(ROUNDS):
        np.testing.assert_allclose(learner.act(), reference.decision, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(learner.weights, reference.weights, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(learner.base_decisions, reference.points, rtol=0.0, atol=1e-12)
        if learner.program.own_gradients:
            gradients = np.array([losses.gradient(t, w) for w in reference.points])
            reference.update(gradients, np.array([losses.unary_value(t, w) for w in reference.points]))
        else:
            reference.observe(losses.gradient(t, reference.decision))
        learner.observe(losses[t])
    assert np.ptp(reference.points, axis=0).max() > 1e-3 or reference.points.shape[0] == 1


@pytest.mark.parametrize("growth", [1.0, 4.0 / 7.0, 3.0])
def test_pool_size_is_the_formula_of_the_paper(growth: float) -> None:
    rounds = np.unique(np.concatenate([np.arange(1, 300), np.geomspace(300, 1e12, 400).astype(int)]))
    # Near a power of 4 the formula itself needs more digits than a logarithm of floats has; those follow below.
    clear = [T for T in rounds.tolist() if abs(math.log(1 + growth * T, 4) % 1.0 - 0.5) < 0.499]
    assert len(clear) > 600
    assert [pool_size(T, growth) for T in clear] == [paper_pool(T, growth) for T in clear]


@pytest.mark.parametrize("k", range(1, 26))
def test_pool_size_is_exact_at_the_powers_of_four(k: int) -> None:
    assert pool_size(4**k - 1, 1.0) == k + 1
    assert pool_size(4**k, 1.0) == k + 2
    assert pool_size((4**k - 1) // 3, 3.0) == k + 1
    assert pool_size((4**k - 1) // 3 + 1, 3.0) == k + 2


def _two_learners(rate: float) -> Ensemble:
    """One base-learner that hardly moves and one that jumps to the far end of [-1, 1]; constant rates."""
    return Ensemble(dw.Ball(1), pool=Pool([1e-12, 100.0]), meta=Meta(rate, prior=[1.0, 1.0]), constant=True)


def test_weight_comes_back_from_a_log_gap_of_five_thousand() -> None:
    learner, rounds = _two_learners(rate=50.0), 110
    for _ in range(rounds):
        learner.act()
        learner.observe(np.array([1.0]))
    totals = learner._parts["totals"]
    assert 50.0 * abs(totals[0] - totals[1]) >= 5000.0
    assert learner.weights[0] == 0.0
    sign = -1.0
    for _ in range(rounds):
        learner.act()
        learner.observe(np.array([sign]))
        sign = -sign
    assert learner.weights[0] > 0.99


def test_a_million_rounds_leave_a_distribution_and_a_state_of_the_same_size() -> None:
    rounds = 1_000_000
    vectors = np.random.default_rng(3).uniform(-1.0, 1.0, (rounds, 2))
    learner = dw.Scream(dw.Ball(2), switching_cost=1.0, gradient_bound=1.5)
    size = learner._cell.nbytes
    dw.play(learner, dw.LinearLoss(vectors))
    weights = learner.weights
    assert weights.size == paper_pool(rounds, 1.0)
    assert weights.min() >= 0.0
    assert abs(weights.sum() - 1.0) <= 1e-12
    assert learner._cell.nbytes == size
    assert dw.Ball(2).contains(learner.act())


@pytest.mark.parametrize("schedule", ["time-varying", "doubling"])
@pytest.mark.parametrize("base", [dw.mirror.Euclidean(), dw.mirror.NegativeEntropy(), dw.mirror.PNorm(1.5)], ids=repr)
def test_newcomers_and_restarts_do_not_move_the_decision(schedule: str, base: dw.mirror.MirrorMap) -> None:
    domain = dw.Simplex(3)
    losses = squared(3, 130)
    learner = Ensemble(
        domain, pool=Pool(0.3, growth=1.0), meta=Meta(2.0), surrogate=Surrogate(1.0), base=base, horizon_free=schedule
    )
    changes = 0
    for t in range(130):
        twin = learner.clone()
        # The same learner without reschedules: its clock is pinned to the one of this very update.
        clock = twin.program.clock_at(t + 1)
        cell = twin.cell
        cell[layout.SCHEDULE], cell[layout.CLOCK] = layout.FIXED, clock
        gradient = losses.gradient(t, learner.act())
        learner.observe(gradient)
        run.observe(cell, gradient)
        np.testing.assert_allclose(learner.act(), twin._decision, rtol=0.0, atol=1e-15)
        changes += learner.weights.size > twin.weights.size
    assert changes == 3
    assert learner.weights.size == 5


def _refused(learner: Ensemble, gradient: Array) -> bool:
    return run.observe(learner.cell, gradient) == REFUSED


@given(seed=st.integers(0, 2**32), size=st.floats(-100.0, 100.0))
def test_gradients_of_any_size_leave_a_decision_and_a_distribution(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    domain = DOMAINS[sorted(DOMAINS)[seed % len(DOMAINS)]]
    learner = dw.Scream(domain, switching_cost=1.0, gradient_bound=1.0)
    for _ in range(20):
        decision = learner.act()
        assert domain.contains(decision)
        assert learner.weights.min() >= 0.0
        assert abs(learner.weights.sum() - 1.0) <= 1e-12
        learner.observe(np.clip(10.0**size, 0.0, 1e100) * rng.uniform(-1.0, 1.0, domain.dim))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1.1e100, -1e200])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_the_kernel_itself_refuses_bad_numbers_and_changes_nothing(bad: float, at: int) -> None:
    learner = dw.LazyScream(dw.Ball(3), switching_cost=9.0, gradient_bound=1.0)
    assert not _refused(learner, np.ones(3))
    before = learner._cell.tobytes()
    gradient = np.ones(3)
    gradient[at] = bad
    assert _refused(learner, gradient)
    assert learner._cell.tobytes() == before
