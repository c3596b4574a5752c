"""A search for a violation of the self-tuned mixture's inequality, which finds one where there is one."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import driftwise as dw
from driftwise._validate import Array
from driftwise.engine.hedge import TIE
from driftwise.engine.program import CLIP, UNCLIPPED
from driftwise.engine.reference import Reference
from driftwise.experiments.studies.study import FULL
from driftwise.experiments.studies.theory import search
from driftwise.experiments.studies.theory.search import LONGEST, SHORTEST, STUDY, Problem
from tests.experiments.claims import BOTH_SIZES, check_claims

GRADIENTS = np.array([-100.0, -4.0, -1600.0, 71.0, 4.7])[:, None]
KNOWN = Problem(dw.Box([-1.0], [1.0]), 0.054975, 1.0, GRADIENTS)
"""What beat the rule that measured gaps with another rate than that of the weights."""


class Shown:
    """The NumPy statement of the self-tuned rounds, with the properties of a learner."""

    kind: type[Reference] = Reference
    clip = CLIP

    def __init__(self, domain: dw.Domain, cost: dw.MoveCost) -> None:
        learner = dw.SelfTunedScream(domain, switching_cost=cost)
        program = replace(learner.program, clip=self.clip)
        self.rounds: Reference = self.kind(program, learner.act())

    @property
    def weights(self) -> Array:
        return np.asarray(self.rounds.weights)

    @property
    def base_decisions(self) -> Array:
        return self.rounds.points

    @property
    def overhead(self) -> float:
        return self.rounds.spent

    @property
    def given(self) -> Array:
        return self.rounds.given

    def act(self) -> Array:
        return self.rounds.decision

    def observe(self, gradient: Array, /) -> None:
        self.rounds.observe(gradient)


class WithShift(Reference):
    """Measures gaps with the rate that includes what the last shift of weights cost, as the learner once did."""

    def gap(self, losses: Array, size: float) -> float:
        if self.rate == 0.0 or float(np.ptp(losses)) <= TIE * size:
            return super().gap(losses, size)
        above, rate = losses - losses.min(), self.program.rate / self.spent
        mean = float(self.weights @ above)
        return mean + float(logsumexp(-rate * above, b=self.weights)) / rate


class Wrong(Shown):
    kind = WithShift
    clip = UNCLIPPED


class Thrifty(search.Observed):
    """Says that mixing cost a third of what it did."""

    @property
    def overhead(self) -> float:
        return super().overhead / 3.0


def thrifty(domain: dw.Domain, cost: dw.MoveCost) -> Thrifty:
    return Thrifty(domain, switching_cost=cost)


@BOTH_SIZES
def test_no_violation_is_found(quick: bool) -> None:
    finding = check_claims(STUDY, quick, count=2, keep=lambda task: task[0] < 12)
    assert [row[0] for row in finding.tables[0].rows] == ["founders", "newcomers", "step"]
    assert all(0.5 < float(row[4]) <= 1.0 for row in finding.tables[0].rows)


def test_the_full_size_is_what_was_asked_for() -> None:
    tasks = STUDY.tasks(FULL)
    assert len(tasks) >= 200
    assert sum(steps for _, steps in tasks) >= 20_000


def test_the_known_sequence_violates_the_wrong_rule_and_not_ours() -> None:
    assert search.used(KNOWN, Wrong).founders == pytest.approx(1.58, abs=0.01)
    assert search.used(KNOWN, Wrong).step > 1.5
    assert search.used(KNOWN).founders < 0.6
    assert max(search.used(KNOWN)) <= 1.0


@pytest.mark.parametrize("seed", [0, 3, 6, 8])
def test_the_search_finds_that_the_wrong_rule_is_wrong(seed: int) -> None:
    found = search.climb(seed, 30, Wrong)
    assert found.violations > 0
    assert found.reached.step > 1.0
    assert max(search.climb(seed, 30, Shown).reached) <= 1.0  # and it is the rule's fault


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_overhead_that_is_too_small_is_found_by_climbing(seed: int) -> None:
    found = search.climb(seed, 60, thrifty)
    assert found.violations > 0
    assert found.reached[seed] > max(1.0, found.begun[seed])


@pytest.mark.parametrize("seed", range(4))
def test_the_learner_and_its_numpy_statement_use_the_same_part(seed: int) -> None:
    problem = search.random_problem(np.random.default_rng(seed))
    assert search.used(problem) == pytest.approx(search.used(problem, Shown), rel=1e-6)


def test_a_round_by_hand() -> None:
    """One round: all begin at the same point, so nothing is lost, and there is no newcomer yet."""
    problem = KNOWN._replace(gradients=GRADIENTS[:1])
    assert search.used(problem) == (0.0, -math.inf, -math.inf)
    assert search.used(problem._replace(gradients=GRADIENTS[:3])).newcomers > -math.inf


def test_neighbours_stay_within_the_limits() -> None:
    rng = np.random.default_rng(1)
    for seed in range(20):
        problem = search.random_problem(np.random.default_rng(seed))
        lengths = set()
        for _ in range(200):
            problem = search.neighbour(problem, rng)
            lengths.add(len(problem.gradients))
            assert SHORTEST <= len(problem.gradients) <= LONGEST
            assert 1e-9 <= problem.price <= 1e9
            assert np.all(np.abs(problem.gradients) <= 1e12)
        assert len(lengths) > 1
    assert problem.cost.largest(problem.domain.dim) > 0.0


def test_same_seed_same_climb() -> None:
    first, again = (search.climb(5, 8) for _ in range(2))
    assert (first.reached, first.begun) == (again.reached, again.begun)
    np.testing.assert_array_equal(first.problem.gradients, again.problem.gradients)
    assert search.searched(5, 8)["newcomers"] == first.reached.newcomers


def results(**changed: float) -> list[dict[str, Any]]:
    usual = {"begun": 0.3, "founders": 0.6, "newcomers": 0.6, "step": 0.99, "violations": 0.0, "rounds": 5.0}
    return [usual] * 3 + [{**usual, **changed}] * 3


@pytest.mark.parametrize(
    ("changed", "holds"),
    [
        ({}, [True, True]),
        ({"violations": 1.0}, [False, True]),
        ({"founders": 1.2}, [False, True]),
        ({"newcomers": 1.2}, [False, True]),
        ({"step": 1.01}, [False, True]),
        ({"begun": 1.5}, [True, False]),
    ],
)
def test_what_does_not_hold_is_said(changed: dict[str, float], holds: list[bool]) -> None:
    tasks = [(seed, 100) for seed in range(6)]
    finding = STUDY.conclude(tasks, results(**changed))
    assert [claim.holds for claim in finding.claims] == holds
    assert "in 600 steps of hill-climbing from 6 starts" in finding.claims[0].measured
