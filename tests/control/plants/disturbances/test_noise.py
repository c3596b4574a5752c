"""Random disturbances."""

import math

import numpy as np
import pytest

from driftwise.control.plants.disturbances.noise import (
    AutoregressiveDisturbance,
    GaussianDisturbance,
    RandomWalkDisturbance,
    UniformDisturbance,
)


def test_gaussian_noise() -> None:
    rows = GaussianDisturbance(scale=2.0).sample(20_000, 2, seed=1)
    np.testing.assert_allclose(np.cov(rows.T), 4.0 * np.eye(2), atol=0.12)
    assert abs(np.mean(rows[1:] * rows[:-1])) < 0.1


def test_uniform_noise_fills_the_ball() -> None:
    sizes = np.linalg.norm(UniformDisturbance(bound=3.0).sample(20_000, 3, seed=1), axis=1)
    quantiles = np.quantile(sizes, [0.125, 0.5, 0.729])
    np.testing.assert_allclose(quantiles, 3.0 * np.array([0.5, 0.5 ** (1 / 3), 0.9]), rtol=0.02)


def test_a_walk_is_reflected_at_its_walls() -> None:
    steps = np.random.default_rng(6).standard_normal((2000, 2))
    wall = 0.5 / math.sqrt(2.0)
    sign, place, expected = np.ones(2), np.zeros(2), np.empty((2000, 2))
    for t in range(2000):
        # Every meeting with a wall turns round the direction in which later steps are counted.
        place = place + 0.05 * sign * steps[t]
        for i in range(2):
            if abs(place[i]) > wall:
                place[i], sign[i] = math.copysign(2.0 * wall, place[i]) - place[i], -sign[i]
        expected[t] = place
    rows = RandomWalkDisturbance(step=0.05, bound=0.5).sample(2000, 2, seed=6)
    np.testing.assert_allclose(rows, expected, atol=1e-12)
    assert np.count_nonzero(np.abs(rows) > 0.9 * wall) > 50


def test_a_walk_is_free_inside() -> None:
    rows = RandomWalkDisturbance(step=0.5, bound=1e6).sample(100, 2, seed=1)
    np.testing.assert_allclose(rows, 0.5 * np.cumsum(np.random.default_rng(1).standard_normal((100, 2)), 0), atol=1e-8)


def test_a_walk_of_steps_larger_than_its_room_stays_inside() -> None:
    rows = RandomWalkDisturbance(step=100.0, bound=1.0).sample(1000, 3, seed=1)
    assert np.linalg.norm(rows, axis=1).max() <= 1.0 + 1e-14
    assert rows.std() == pytest.approx(1.0 / 3.0, rel=0.05)


@pytest.mark.parametrize("coefficient", [-0.8, 0.0, 0.95])
def test_autoregressive_noise(coefficient: float) -> None:
    disturbance = AutoregressiveDisturbance(coefficient, scale=2.0)
    rows = disturbance.sample(200, 3, seed=1)
    new = 2.0 * np.random.default_rng(1).standard_normal((200, 3))
    np.testing.assert_allclose(rows[1:] - coefficient * rows[:-1], new[1:], atol=1e-12)
    stationary = 2.0 / math.sqrt(1.0 - coefficient**2)
    starts, ends = disturbance.sample(30, 20_000, seed=2)[[0, -1]]
    assert starts.std() == pytest.approx(stationary, rel=0.03)
    assert ends.std() == pytest.approx(stationary, rel=0.03)
