"""Disturbances that follow a pattern."""

import math

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.control.plants.disturbances.patterns import (
    ConstantDisturbance,
    SinusoidDisturbance,
    SquareWaveDisturbance,
)
from driftwise.errors import InputError
from tests.cases import check_refused


def test_a_constant_push() -> None:
    np.testing.assert_array_equal(ConstantDisturbance(2.0).sample(3, 2), 2.0)
    push = ConstantDisturbance([3.0, -4.0])
    np.testing.assert_array_equal(push.sample(2, 2), [[3.0, -4.0]] * 2)
    assert push.bound == push.bound_for(2) == 5.0
    for call in (lambda: push.sample(2, 3), lambda: push.bound_for(3)):
        check_refused(call, "2 coordinates", "3 states", kind=InputError)


def angles(rows: Array) -> Array:
    """Return the angle by which a wave of two coordinates, unit amplitude, has turned since the first round."""
    # sin(theta + a) and sin(theta + b) determine sin(theta) and cos(theta) when a - b is not a multiple of pi.
    a, b = np.random.default_rng(0).uniform(0.0, 2.0 * math.pi, 2)
    mixed = np.linalg.solve([[math.cos(a), math.sin(a)], [math.cos(b), math.sin(b)]], rows.T)
    return np.unwrap(np.arctan2(mixed[0], mixed[1]))


def test_a_wave_turns_at_its_frequency() -> None:
    theta = angles(SinusoidDisturbance(1.0, period=12.5).sample(500, 2))
    np.testing.assert_allclose(theta, 2.0 * math.pi * np.arange(500) / 12.5, atol=1e-9)


def test_a_switching_wave_changes_its_frequency_and_does_not_jump() -> None:
    turned = np.diff(angles(SinusoidDisturbance(1.0, period=12.5, switch_every=20).sample(1000, 2))).reshape(-1)
    relative = turned * 12.5 / (2.0 * math.pi)
    starts = np.arange(0, 999, 20)
    np.testing.assert_allclose(relative, np.repeat(relative[starts], 20)[:999], atol=1e-9)
    assert relative[0] == pytest.approx(1.0)
    assert len(set(relative[starts].round(9))) == starts.size
    assert 0.5 <= relative.min() < 0.6
    assert 1.8 < relative.max() <= 2.0
    # Log-uniform: as often slower as faster.
    assert 15 <= np.count_nonzero(relative[starts] < 1.0) <= 35


def test_a_switching_wave_begins_like_one_that_does_not_switch() -> None:
    steady = SinusoidDisturbance(1.0, 9.0, seed=2).sample(40, 3)
    switching = SinusoidDisturbance(1.0, 9.0, switch_every=15, seed=2).sample(40, 3)
    np.testing.assert_allclose(switching[:16], steady[:16], atol=1e-12)
    assert np.abs(switching[16:] - steady[16:]).max() > 0.1
    np.testing.assert_allclose(
        SinusoidDisturbance(1.0, 9.0, switch_every=500, seed=2).sample(40, 3), steady, atol=1e-12
    )


@pytest.mark.parametrize("period", [2, 5, 8])
def test_a_square_wave(period: int) -> None:
    rows = SquareWaveDisturbance(0.25, period).sample(10 * period, 30, seed=1)
    np.testing.assert_array_equal(np.abs(rows), 0.25)
    np.testing.assert_array_equal(rows[period:], rows[:-period])
    assert (np.count_nonzero(rows[:period] > 0, axis=0) == (period + 1) // 2).all()
    assert (np.count_nonzero(np.diff(rows[: period + 1], axis=0), axis=0) == 2).all()
    assert len({tuple(column) for column in rows.T}) == period
