"""The instances behind the lower bounds."""

import math

import numpy as np
import pytest

import driftwise as dw
from driftwise.experiments.studies.theory import lower_bounds
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_hedge_on_the_experts_of_theorem_3(quick: bool) -> None:
    check_claims(lower_bounds.EXPERTS, quick, count=6, keep=lambda task: task[-1] < 15)


@BOTH_SIZES
def test_nobody_escapes_the_instance_of_theorem_5(quick: bool) -> None:
    finding = check_claims(lower_bounds.MOVING, quick, count=1)
    assert finding.tables[0].header == ["tau", "lambda", "OGD", "Scream", "Lazy Scream", "Jumps if it pays"]
    assert all(float(cell) > 0.0 for row in finding.tables[0].rows for cell in row[2:])


@pytest.mark.parametrize("who", ["OGD", "Scream", "Lazy Scream", "Jumps if it pays"])
def test_a_player_that_escapes_is_said(who: str) -> None:
    names = ("OGD", "Scream", "Lazy Scream", "Jumps if it pays")
    tasks = [(tau, 1.0, 9, seed) for tau in (2, 8) for seed in range(2)]
    results = [dict.fromkeys(names, 0.3) for _ in tasks]
    assert lower_bounds.MOVING.conclude(tasks, results).claims[0].holds
    results[-1][who] = 0.0  # 0.15 in the mean
    claim = lower_bounds.MOVING.conclude(tasks, results).claims[0]
    assert not claim.holds
    assert "least 0.150" in claim.measured


def test_the_jumper_jumps_once_it_has_seen_that_a_block_pays_for_it() -> None:
    block = np.tile([1.0, -1.0], (6, 1))  # worth sqrt(2) for a unit of distance in each of 5 rounds to come
    vectors = np.vstack([block, -block, -block, block])
    assert np.all(lower_bounds.jumps(vectors, 6, 5.0 * math.sqrt(2.0)) == 0.5)
    found = lower_bounds.jumps(vectors, 6, 5.0 * math.sqrt(2.0) * 0.999)
    np.testing.assert_allclose(found[:, 0], np.repeat([0.5, 0.0, 1.0, 0.0], [1, 6, 12, 5]), atol=1e-15)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    for t in (1, 8, 19):  # what is yet to come changes nothing
        other = np.vstack([vectors[:t], np.random.default_rng(t).normal(size=(24 - t, 2))])
        np.testing.assert_array_equal(
            lower_bounds.jumps(other, 6, 5.0)[: t + 1], lower_bounds.jumps(vectors, 6, 5.0)[: t + 1]
        )


def test_the_jumpers_regret_is_that_of_its_decisions() -> None:
    losses = dw.regret.adversaries.moving_blocks(500, 5.0, 3, switching_cost=9.0, seed=2)
    vectors = losses.data.features
    for block in (losses.block, 3 * losses.block):  # a player that is wrong about the blocks jumps
        decisions = lower_bounds.jumps(vectors, block, 9.0, losses.comparators[0].sum())
        assert losses.domain.contains(decisions)
        moved = dw.MoveCost(9.0, norm="l2")(np.diff(decisions, axis=0))
        expected = np.sum(vectors * decisions) - np.sum(vectors * losses.comparators) + np.sum(moved)
        assert lower_bounds.jumper_regret(vectors, losses.comparators, block, 9.0) == pytest.approx(expected)
    assert np.sum(moved) > 0.0


def test_a_ratio_out_of_range_is_said() -> None:
    tasks = [(N, T, 4.0, 0) for N in lower_bounds.RANGES for T in (100, 400)]
    claims = lower_bounds.EXPERTS.conclude(tasks, [0.7] * len(tasks)).claims
    assert [claim.holds for claim in claims[::2]] == [True, False, False]
    assert [claim.holds for claim in claims[1::2]] == [True, True, True]  # all grow like the root
