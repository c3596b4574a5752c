"""Rehearsals tell controllers that are safe to commit to from those that are not."""

import dataclasses
import math

import numpy as np
import pytest

from driftwise import control
from driftwise._validate import Array
from driftwise.control.identification import Identified, identify
from driftwise.control.identification.past import Past
from driftwise.control.identification.rehearsal import (
    LOOP,
    PLAYED,
    Rehearsal,
    by,
    gain_within,
    over,
    plausible_plants,
    played,
    rehearse,
    stabilised,
)
from tests.control.identification.cases import A, B, K, play

COST = control.QuadraticCost(1.0, 1.0)
PLANT = control.LinearSystem(A, B)


def past(rounds: int = 300, noise: float = 0.3) -> Past:
    t = np.arange(rounds)[:, None]
    w = 0.3 * np.sin(0.2 * t + np.arange(3)) + noise * np.random.default_rng(1).normal(size=(rounds, 3))
    states, inputs, probes = play(rounds, disturbances=w)
    return Past(states, inputs, probes, [COST] * rounds)


def found(rounds: int = 1000) -> Identified:
    return identify(*past(rounds)[:3], K, method="whitened")


class TestPlayed:
    def test_the_plant_itself_repeats_what_was_seen(self) -> None:
        seen = past()
        inputs = iter(seen.inputs)
        total = played(lambda x, _: next(inputs), (A, B), seen)
        costs = [COST.value(x, u) for x, u in zip(seen.states[:-1], seen.inputs, strict=True)]
        assert total == pytest.approx(sum(costs[100:]))

    def test_any_plant_repeats_it_under_the_same_inputs(self) -> None:
        seen = past()
        other = 0.9 * A, B - 0.1
        states: list[Array] = []
        inputs = iter(seen.inputs)

        def control_by_record(x: Array, _: control.Cost) -> Array:
            states.append(x)
            return next(inputs)

        played(control_by_record, other, seen)
        np.testing.assert_allclose(states, seen.states[:-1], atol=1e-9)

    def test_a_state_that_runs_away_costs_without_end(self) -> None:
        assert played(lambda x, _: 3.0 * np.linalg.pinv(B) @ x, (A, B), past()) == math.inf

    def test_a_controller_that_gives_up_costs_without_end(self) -> None:
        short = control.ScreamController(PLANT, horizon=10, K=K)
        assert played(by(short), (A, B), past()) == math.inf


class TestOver:
    def test_costs_are_compared_from_both_sides(self) -> None:
        gain, less = (lambda x, _: -K @ x), (lambda x, _: -0.9 * K @ x)
        one, other = over(gain, less, (A, B), past()), over(less, gain, (A, B), past())
        assert one * other == pytest.approx(1.0)
        assert one != 1.0

    def test_whatever_is_finite_beats_what_is_not(self) -> None:
        wild, gain = (lambda x, _: 3.0 * np.linalg.pinv(B) @ x), (lambda x, _: -K @ x)
        assert over(gain, wild, (A, B), past()) == 0.0
        assert over(wild, gain, (A, B), past()) == math.inf
        assert over(wild, wild, (A, B), past()) == math.inf

    def test_the_gain_keeps_to_the_limits_of_the_controller(self) -> None:
        bounded = control.LinearController(PLANT, K, input_bound=0.1)
        np.testing.assert_array_equal(np.abs(gain_within(K, bounded)(np.full(3, 100.0), COST)), [0.1, 0.1])


class TestRehearse:
    def test_a_good_controller_passes(self) -> None:
        estimate = found()
        plants = plausible_plants(estimate, K, past(1000).states)
        assert len(plants) == PLAYED
        outcome = rehearse(lambda: control.SelfTunedController(estimate.system, K), plants, K, past())
        assert outcome.passed
        assert outcome.mean < 0.95

    def test_one_for_another_plant_does_not(self) -> None:
        estimate = found()
        wrong = control.LinearSystem(A, -B)
        outcome = rehearse(
            lambda: control.PolicyController(wrong, control.DisturbanceAction(-K, np.zeros((1, 2, 3)))),
            plausible_plants(estimate, K, past(1000).states),
            K,
            past(),
        )
        assert not outcome.passed

    @pytest.mark.parametrize(
        ("ratios", "passed"), [([0.9, 1.09], True), ([0.9, 1.11], False), ([1.03, 1.03], False), ([math.inf], False)]
    )
    def test_no_plant_may_be_much_worse_nor_all_a_little(self, ratios: list[float], passed: bool) -> None:
        assert Rehearsal(np.array(ratios)).passed is passed

    def test_it_says_what_it_found(self) -> None:
        assert str(Rehearsal(np.array([0.5, 0.75]))).startswith("0.62 times what u = -K x does")
        assert "far more on the worst" in str(Rehearsal(np.array([0.5, math.inf])))


class TestPlausiblePlants:
    def test_they_are_as_far_from_the_estimate_as_the_truth_may_be(self) -> None:
        estimate = found()
        for other_A, other_B in plausible_plants(estimate, K, past(1000).states):
            assert 0.2 * estimate.error_B < np.linalg.norm(other_B - estimate.B) < 4.0 * estimate.error_B
            assert 0.2 * estimate.error_A < np.linalg.norm(other_A - estimate.A) < 4.0 * estimate.error_A

    def test_there_are_none_where_too_much_is_open(self) -> None:
        estimate = found()
        assert estimate.changes is not None
        states = past(1000).states
        assert plausible_plants(dataclasses.replace(estimate, changes=4.0 * estimate.changes), K, states)
        vague = dataclasses.replace(estimate, changes=30.0 * LOOP * estimate.changes)
        assert not plausible_plants(vague, K, states)

    def test_units_of_the_states_do_not_matter(self) -> None:
        estimate, states = found(), past(1000).states
        units = np.array([1e-3, 1.0, 1e4])
        assert estimate.changes is not None
        scale = np.concatenate([units, np.ones(2)])
        other = dataclasses.replace(
            estimate,
            A=estimate.A * units[:, None] / units,
            B=estimate.B * units[:, None],
            changes=estimate.changes * units[:, None] / scale,
        )
        ours, theirs = plausible_plants(estimate, K, states), plausible_plants(other, K / units, states * units)
        for one, two in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one[1] * units[:, None], two[1], rtol=1e-9)


class TestStabilised:
    def test_an_estimate_that_k_stabilises_stays_as_it_is(self) -> None:
        estimate = found()
        assert stabilised(estimate, K) is estimate

    def test_one_that_is_almost_stable_is_moved_to_the_stable_side(self) -> None:
        changes = np.zeros((1, 1, 2))
        changes[0, 0, 0] = 0.01
        slow = Identified(np.array([[1.002]]), np.array([[1.0]]), 0.01, 0.01, 0.0, 0.01, "whitened", 1, 500, changes)
        moved = stabilised(slow, np.zeros((1, 1)))
        assert moved is not None
        assert 0.97 < moved.A[0, 0] < 1.0
        assert stabilised(dataclasses.replace(slow, A=np.array([[1.05]])), np.zeros((1, 1))) is None
