"""The inverted pendulum."""

import math

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.control.plants import (
    InvertedPendulum,
)
from driftwise.control.plants.kernels import PENDULUM, PlantData
from driftwise.control.stability import lqr
from tests.control.cases import advance
from tests.control.plants.cases import rng


def follow(plant: PlantData, gain: Array, start: list[float], noise: Array) -> Array:
    """Return the states under u = -K x as the actuator delivers it, one row a round."""
    states = np.empty((len(noise) + 1, len(start)))
    states[0] = start
    for t, w in enumerate(noise):
        u = -gain @ states[t]
        u = np.clip(u, *plant.limits)
        advance(plant, t, states[t], u, w, states[t + 1])
    return states


def stays_up(limit: float, start: list[float], noise: Array) -> bool:
    system = InvertedPendulum(torque_limit=limit)
    states = follow(system.data(len(noise), rng()), lqr(system), start, noise)
    return bool(np.abs(states[:, 0]).max() < math.pi / 2)


class TestInvertedPendulum:
    def test_the_numbers_are_those_of_the_paper(self) -> None:
        system = InvertedPendulum()
        np.testing.assert_allclose(system.A, [[1.0, 0.05], [0.75, 1.0]], rtol=1e-15)
        np.testing.assert_allclose(system.B, [[0.0], [0.15]], rtol=1e-15)
        plant = system.data(3, rng())
        np.testing.assert_allclose(plant.numbers, [-0.75, 0.15, 0.05], rtol=1e-15)
        assert plant.kind == PENDULUM

    def test_other_pendulums_have_their_own_numbers(self) -> None:
        system = InvertedPendulum(step=0.01, gravity=9.81, mass=2.0, length=0.5, torque_limit=1.5)
        np.testing.assert_allclose(system.A, [[1.0, 0.01], [3.0 * 9.81 / (2.0 * 0.5) * 0.01, 1.0]])
        np.testing.assert_allclose(system.B, [[0.0], [3.0 / (2.0 * 0.5**2) * 0.01]])
        assert repr(system) == "InvertedPendulum(torque_limit=1.5, step=0.01, gravity=9.81, mass=2, length=0.5)"

    def test_the_nominal_pair_is_the_linearisation(self) -> None:
        system = InvertedPendulum(step=0.03, length=0.7)
        plant, out, h = system.data(1, rng()), np.empty((2, 2)), 1e-6
        for k, direction in enumerate(np.eye(3)):
            for i, sign in enumerate((-1.0, 1.0)):
                move = sign * h * direction
                advance(plant, 0, move[:2], move[2:], np.zeros(2), out[i])
            np.testing.assert_allclose((out[1] - out[0]) / (2.0 * h), np.hstack([system.A, system.B])[:, k], atol=1e-9)

    def test_upright_is_unstable_and_hanging_is_not(self) -> None:
        plant, still = InvertedPendulum().data(1, rng()), np.zeros((40, 2))
        fallen = follow(plant, np.zeros((1, 2)), [0.01, 0.0], still)
        assert np.abs(fallen[:, 0]).max() > 1.0
        # Euler's method lets an undamped swing grow, but slowly.
        hanging = follow(plant, np.zeros((1, 2)), [math.pi - 0.01, 0.0], still)
        assert (np.abs(np.abs(hanging[:, 0]) - math.pi) < 0.05).all()

    def test_the_angle_stays_within_half_a_turn(self) -> None:
        plant = InvertedPendulum().data(1, rng())
        states = follow(plant, np.zeros((1, 2)), [0.5, 3.0], np.zeros((400, 2)))
        assert np.abs(states[:, 0]).max() <= math.pi
        assert (np.abs(np.diff(states[:, 0])) > math.pi).any()

    def test_it_comes_back_from_as_far_as_documented(self) -> None:
        still = np.zeros((400, 2))
        for sign in (-1.0, 1.0):
            assert stays_up(2.0, [0.411 * sign, 0.0], still)
            assert stays_up(2.0, [0.0, 1.56 * sign], still)
            assert not stays_up(2.0, [0.413 * sign, 0.0], still)
            assert not stays_up(2.0, [0.0, 1.57 * sign], still)
        assert InvertedPendulum().input_limit == 2.0

    def test_a_weaker_motor_loses_what_a_stronger_one_holds(self) -> None:
        still = np.zeros((400, 2))
        assert not stays_up(1.0, [0.3, 0.0], still)
        assert stays_up(2.0, [0.3, 0.0], still)

    @pytest.mark.full
    def test_it_stays_up_in_the_documented_noise(self) -> None:
        for seed in range(5):
            noise = rng(seed).standard_normal((10_000, 2))
            assert stays_up(2.0, [0.0, 0.0], 0.03 * noise)
            assert not stays_up(2.0, [0.0, 0.0], 0.05 * noise)
