"""Instruments on whitened data, against the same written down the long way."""

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.control.identification import identify
from driftwise.control.identification.instrumental import HELP, PASSES, TAPS, autoregression, whitened
from driftwise.errors import InputError
from driftwise.experiments.studies.control.identification import draw_system, explore
from tests.control.identification.cases import A, B, K, miss, play


def taps_by_regression(series: Array, order: int) -> Array:
    y = series / np.sqrt(np.mean(series**2, axis=0))
    past = np.array([y[t - 1 - np.arange(order), i] for i in range(y.shape[1]) for t in range(order, len(y))])
    now = np.concatenate([y[order:, i] for i in range(y.shape[1])])
    ridge = 1e-6 * np.trace(past.T @ past) / order
    return np.linalg.solve(past.T @ past + ridge * np.eye(order), past.T @ now)


@pytest.mark.parametrize("order", [1, 3, 8])
def test_an_autoregression_is_a_regression_on_the_past(order: int) -> None:
    series = np.cumsum(np.random.default_rng(0).normal(size=(60, 2)), axis=0) * [1.0, 1e4]
    np.testing.assert_allclose(autoregression(series, order), taps_by_regression(series, order), rtol=1e-8)


def test_the_taps_of_a_known_process_are_found() -> None:
    noise, y = np.random.default_rng(1).normal(size=(20_000, 1)), np.zeros((20_000, 1))
    for t in range(2, len(y)):
        y[t] = 1.2 * y[t - 1] - 0.5 * y[t - 2] + noise[t]
    np.testing.assert_allclose(autoregression(y, 2), [1.2, -0.5], atol=0.02)
    np.testing.assert_allclose(whitened(y, np.array([1.2, -0.5])), noise[2:], atol=1e-12)


def test_silence_is_white() -> None:
    np.testing.assert_array_equal(autoregression(np.zeros((50, 2)), 4), np.zeros(4))


def test_it_is_two_stage_least_squares_on_filtered_data_and_a_little_of_the_plain_one() -> None:
    x, u, probes = play(600)
    features, targets = np.hstack([x[:-1], u]), x[1:]
    taps, span = np.zeros(0), 2 * 3 + 3

    def solve(taps: Array) -> Array:
        W, Y, e = (whitened(part, taps) for part in (features, targets, probes))
        rows = range(span - 1, len(W))
        Z = np.array([np.concatenate([e[t - lag] for lag in range(span)]) for t in rows])
        W, Y, Z = (part - part.mean(axis=0) for part in (W[span - 1 :], Y[span - 1 :], Z))
        fitted = Z @ np.linalg.lstsq(Z, W, rcond=None)[0]
        share = HELP / len(rows)
        mix = (1.0 - share) * fitted + share * W
        return np.linalg.solve(mix.T @ W, mix.T @ Y).T

    for _ in range(PASSES):
        left = targets - features @ solve(taps).T
        taps = taps_by_regression(left - left.mean(axis=0), TAPS)
    both = solve(taps)
    found = identify(x, u, probes, K, method="whitened")
    np.testing.assert_allclose(np.hstack([found.A, found.B]), both, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["constant", "sinusoid", "autoregressive"])
def test_a_disturbance_that_can_be_foreseen_is_all_but_gone(kind: str) -> None:
    ratios = []
    for seed in range(20):
        plant = draw_system(seed)
        run = explore(*plant, 1000, kind, seed)
        try:
            plain = identify(*run, plant[2])
        except InputError:
            continue
        found = identify(*run, plant[2], method="whitened")
        ratios.append(np.linalg.norm(found.B - plant[1], 2) / np.linalg.norm(plain.B - plant[1], 2))
    assert len(ratios) > 10
    assert np.median(ratios) < 0.6


def test_a_mode_that_no_input_reaches_is_estimated_all_the_same() -> None:
    plant = np.array([[0.5, 0.2], [0.0, 0.6]]), np.array([[1.0], [0.0]]), np.zeros((1, 2))
    found = identify(*play(2000, plant=plant), plant[2], method="whitened")
    assert miss(found, *plant[:2]) < 0.25
    assert np.linalg.norm(found.B - plant[1], 2) < 0.03


def test_it_converges_where_least_squares_do_not() -> None:
    wave = 0.5 * np.sin(0.1 * np.arange(4000)[:, None] + np.arange(3))
    wave = wave + 0.1 * np.random.default_rng(4).normal(size=wave.shape)
    run = play(4000, disturbances=wave)
    assert miss(identify(*run, K, method="whitened"), A, B) < 0.03
    assert miss(identify(*run, K, method="ols"), A, B) > 0.1
