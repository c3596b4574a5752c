"""Seeded drifting problems."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ArgumentError, ParameterError
from driftwise.streams import DriftingRegression, drifting_regression


def bits(losses: DriftingRegression) -> bytes:
    return b"".join(part.tobytes() for part in (losses.data.features, losses.data.targets, losses.generator))


def changes(losses: DriftingRegression) -> Array:
    return np.asarray(np.linalg.norm(np.diff(losses.generator, axis=0), axis=1))


@pytest.mark.parametrize("drift", ["abrupt", "gradual"])
def test_same_seed_same_bits(drift: str) -> None:
    first, again, other = (drifting_regression(300, 4, 50, drift, seed=seed) for seed in (7, 7, 8))
    assert bits(first) == bits(again)
    assert bits(first) != bits(other)


def test_a_generator_is_used_and_advanced() -> None:
    rng = np.random.default_rng(7)
    first, second = drifting_regression(300, seed=rng), drifting_regression(300, seed=rng)
    assert bits(first) == bits(drifting_regression(300, seed=7))
    assert bits(first) != bits(second)


def test_global_random_state_is_neither_read_nor_changed() -> None:
    before: Any = np.random.get_state()  # noqa: NPY002
    first = bits(drifting_regression(100, seed=1))
    after: Any = np.random.get_state()  # noqa: NPY002
    assert before[1].tobytes() == after[1].tobytes()
    assert before[2:] == after[2:]
    np.random.seed(5)  # noqa: NPY002
    assert bits(drifting_regression(100, seed=1)) == first
    np.random.set_state(before)  # noqa: NPY002


def test_the_default_is_the_papers_stream_with_50_segments_and_49_changes() -> None:
    losses = drifting_regression()
    assert (len(losses), losses.dim) == (50_000, 10)
    assert np.flatnonzero(changes(losses)).tolist() == list(range(999, 49_999, 1000))


@pytest.mark.parametrize(
    ("rounds", "segment", "expected"), [(100, 10, 9), (101, 10, 10), (5, 10, 0), (7, 1, 6), (1, 1, 0)]
)
def test_abrupt_drift_changes_between_segments_only(rounds: int, segment: int, expected: int) -> None:
    assert np.count_nonzero(changes(drifting_regression(rounds, 3, segment))) == expected


def test_gradual_drift_moves_a_little_every_round_and_reaches_the_next_draw() -> None:
    abrupt = drifting_regression(400, 3, 100, "abrupt", seed=2)
    gradual = drifting_regression(400, 3, 100, "gradual", seed=2)
    steps = changes(gradual)
    assert steps.min() > 0.0
    assert steps.max() <= 2.0 / 100 * (1 + 1e-9)
    np.testing.assert_allclose(gradual.generator[::100], abrupt.generator[::100], rtol=1e-12)
    np.testing.assert_allclose(steps[:99], np.linalg.norm(np.diff(abrupt.generator[[0, 100]], axis=0)) / 100, rtol=1e-9)


@pytest.mark.parametrize("drift", ["abrupt", "gradual"])
@pytest.mark.parametrize(("radius", "noise"), [(1.0, 0.1), (2.5, 0.0), (0.1, 1.0)])
def test_features_weights_and_targets_are_where_they_should_be(drift: str, radius: float, noise: float) -> None:
    losses = drifting_regression(3000, 5, 30, drift, radius, noise, seed=3)
    x, y = losses.data.features, losses.data.targets
    assert np.linalg.norm(x, axis=1).max() <= 1.0 + 1e-12
    assert np.linalg.norm(x, axis=1).max() > 0.99
    assert losses.domain.contains(losses.generator)
    assert (losses.domain.radius, losses.domain.dim) == (radius, 5)
    rest = y - np.einsum("td,td->t", x, losses.generator)
    assert rest.min() >= -1e-12
    assert rest.max() <= noise + 1e-12
    assert rest.mean() == pytest.approx(noise / 2, rel=0.05, abs=1e-12)


def test_features_are_uniform_in_the_ball() -> None:
    """In five dimensions the fifth power of the length is uniform; 1.95 / sqrt(n) is the 0.1 % Kolmogorov limit."""
    x = drifting_regression(4000, 5, seed=4).data.features
    lengths = np.sort(np.linalg.norm(x, axis=1) ** 5)
    assert np.abs(lengths - (np.arange(4000) + 0.5) / 4000).max() < 1.95 / 4000**0.5
    assert np.abs(x.mean(axis=0)).max() < 0.05


@pytest.mark.parametrize("seed", range(5))
def test_gradient_bound_is_near_two(seed: int) -> None:
    losses = drifting_regression(seed=seed)
    assert 1.85 <= losses.gradient_bound(losses.domain) <= 2.1


def test_the_generator_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        drifting_regression(10).generator[0, 0] = 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rounds": 0}, "rounds must be a whole number of at least 1, got 0"),
        ({"rounds": 10.0}, "rounds must be a whole number"),
        ({"dim": -1}, "dim must be"),
        ({"segment": 0}, "segment must be"),
        ({"drift": "sudden"}, "drift must be one of 'abrupt', 'gradual', got 'sudden'"),
        ({"radius": 0.0}, "radius must be a number that is above 0"),
        ({"noise": -0.1}, "noise must be a number that is at least 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"seed": 2**200}, "seed must be a whole number of at most"),
        ({"seed": "seven"}, "seed must be a whole number"),
        ({"seed": None}, "seed must be a whole number"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=f"drifting_regression: {message}"):
        drifting_regression(**arguments)


def test_unknown_keyword() -> None:
    with pytest.raises(
        ArgumentError, match=r"unexpected keyword argument 'sed'; the call is drifting_regression\(rounds="
    ):
        drifting_regression(sed=3)  # type: ignore[call-arg]


def test_it_is_a_squared_loss() -> None:
    losses = drifting_regression(10, 2)
    assert isinstance(losses, dw.SquaredLoss)
    residual = losses.data.features[3] @ losses.generator[3] - losses.data.targets[3]
    assert losses.unary_value(3, losses.generator[3]) == pytest.approx(0.5 * residual**2, rel=1e-9)
