"""The self-tuned schedule, patience, prices and hints: the compiled round against its statement in NumPy."""

import math

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.engine import layout
from driftwise.engine.reference import Reference
from driftwise.learners import Ensemble, Meta, Pool, Surrogate
from tests.cases import DOMAINS, every_pair, squared

ROUNDS = 40

COSTS: dict[str, float | dw.MoveCost] = {
    "number": 0.3,
    "free": 0.0,
    "l1": dw.MoveCost(up=0.4, down=0.1),
    "l2": dw.MoveCost(up=0.1, down=0.5, norm="l2"),
    "l2, up for nothing": dw.MoveCost(up=0.0, down=0.5, norm="l2"),
}


def _hints(dim: int, every: int) -> list[Array | None]:
    rng = np.random.default_rng(5)
    guesses = 0.3 * rng.standard_normal((ROUNDS, dim))
    return [guess if every and t % every == 0 else None for t, guess in enumerate(guesses)]


def check_agrees(learner: Ensemble, hints: list[Array | None]) -> None:
    losses = squared(learner.domain.dim, ROUNDS)
    reference = Reference(learner.program, learner.clone().act())
    for t in range(ROUNDS):
        hint = hints[t]
        decision = learner.act(hint)
        if hint is not None:
            reference.hint(hint)
        for found, expected in (
            (decision, reference.decision),
            (learner.weights, reference.weights),
            (learner.base_decisions, reference.points),
        ):
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-10)
        reference.observe(losses.gradient(t, reference.decision))
        learner.observe(losses[t])
    assert np.ptp(reference.points, axis=0).max() > 1e-3


@every_pair(where=DOMAINS, cost=COSTS, every=[0, 2])
def test_every_self_tuned_round_is_the_reference_round(where: str, cost: str, every: int) -> None:
    domain = DOMAINS[where]
    check_agrees(dw.SelfTunedScream(domain, switching_cost=COSTS[cost]), _hints(domain.dim, every))


@pytest.mark.parametrize("schedule", ["time-varying", "doubling"])
@pytest.mark.parametrize("cost", COSTS)
def test_patience_prices_and_hints_work_in_the_paper_s_schedules_too(cost: str, schedule: str) -> None:
    pool, surrogate = Pool(0.5, growth=1.0, patience=(0.5, 0.0, 1.0)), Surrogate(COSTS[cost])
    learner = Ensemble(dw.Ball(40), pool=pool, meta=Meta(1.0), surrogate=surrogate, horizon_free=schedule)
    check_agrees(learner, _hints(40, 2))


def _patient(cost: float | dw.MoveCost, dim: int = 1) -> Ensemble:
    pool = Pool(1.0, patience=1.0)
    return Ensemble(dw.Ball(dim, radius=9.0), pool=pool, surrogate=Surrogate(cost), constant=True)


def _path(learner: Ensemble, gradients: list[float] | list[list[float]]) -> Array:
    path = []
    for gradient in gradients:
        learner.act()
        learner.observe(np.atleast_1d(np.array(gradient, np.float64)))
        path.append(learner.act())
    return np.array(path)


def test_a_patient_learner_waits_until_its_gradients_outweigh_the_price() -> None:
    path = _path(_patient(1.0), [0.6, 0.6, 0.6, -0.6, -1.3, -0.5]).ravel()
    # Held: 0.6, then 1.2 of which 0.2 is beyond; then 1.6 - 1; 0.4; -0.9; and -1.4, of which 0.4 is beyond.
    np.testing.assert_allclose(path, [0.0, -0.2, -0.8, -0.8, -0.8, -0.4], atol=1e-14)


def test_up_and_down_each_wait_for_their_own_price() -> None:
    learner = _patient(dw.MoveCost(up=2.0, down=[1.0, 0.5]), dim=2)
    path = _path(learner, [[1.5, 1.5], [-2.0, 0.0], [-2.0, -3.0]])
    # Down at 1 and 0.5; then back up from what is held: 1 - 2 - 2 and 0.5 - 3 against -2.
    np.testing.assert_allclose(path, [[-0.5, -1.0], [-0.5, -1.0], [0.5, -0.5]], atol=1e-14)


def test_the_rate_is_two_over_what_mixing_has_cost() -> None:
    """One round of two base-learners by hand: the gap at an infinite rate is what the mixture lost to the better."""
    pool = Pool([0.5, 1.0])
    learner = Ensemble(dw.Ball(1), pool=pool, meta=Meta(2.0, prior="equal"), horizon_free="self-tuned")
    _path(learner, [1.0])
    np.testing.assert_allclose(learner.base_decisions.ravel(), [-0.5, -1.0])
    assert learner._number(layout.SPENT) == 0.0
    _path(learner, [1.0])
    # Losses -0.5 and -1 around the decision -0.75: the better one is ahead by 0.25 of the mixture.
    assert learner._number(layout.SPENT) == pytest.approx(0.25)
    odds = math.exp(2.0 / 0.25 * 0.5)
    np.testing.assert_allclose(learner.weights, [1.0 / (1.0 + odds), odds / (1.0 + odds)], rtol=1e-12)
    np.testing.assert_allclose(learner.step_sizes, np.array([0.5, 1.0]) / math.sqrt(2.0), rtol=1e-12)


def test_a_hint_that_comes_true_leaves_nothing_to_be_done() -> None:
    """A step on what is believed of the guess: nothing of the first, 1 - 1 / sqrt(n) after n that came true."""
    learner = Ensemble(dw.Ball(2), pool=Pool(0.1), constant=True)
    gradient = np.array([0.1, -0.2])
    for n in range(20):
        believed = 1.0 - 1.0 / math.sqrt(n) if n else 0.0
        np.testing.assert_allclose(learner.act(hint=gradient), -0.1 * gradient * (n + believed), rtol=1e-12)
        learner.observe(gradient)
        np.testing.assert_allclose(learner.clone().act(), -0.1 * gradient * (n + 1), rtol=1e-12)


def test_a_hint_of_nothing_changes_nothing() -> None:
    losses = squared(3, ROUNDS)
    plain, hinted = (dw.SelfTunedScream(dw.Ball(3), switching_cost=0.2) for _ in range(2))
    for t in range(ROUNDS):
        np.testing.assert_allclose(plain.act(), hinted.act(hint=np.zeros(3)), rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(np.repeat(plain.weights.reshape(-1, 2) / 2.0, 2, axis=0).ravel(), hinted.weights)
        plain.observe(losses[t])
        hinted.observe(losses[t])
