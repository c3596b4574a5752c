"""What all losses share: formulas of scores, exact bounds, conjugates, pulls, data that are checked."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import InputError, ParameterError, RoundIndexError
from driftwise.losses import LossStream
from driftwise.losses.base import DataLoss
from tests.optimum.problems import DIM, GENERAL, QUADRATIC, built_in, scores

RNG = np.random.default_rng(3)
X, LABELS = RNG.standard_normal((6, 3)), np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
Y = RNG.standard_normal(6)
POINTS = RNG.standard_normal((4, 3))
DELTA = 0.4


def huber(z: Array, y: Array) -> Array:
    gap = np.abs(z - y)
    return np.where(gap <= DELTA, gap**2 / 2, DELTA * (gap - DELTA / 2))


Link = Callable[[Array, Array], Array]
FORMULAS: list[tuple[LossStream, Array, Link, Link]] = [
    (dw.SquaredLoss(X, Y), Y, lambda z, y: (z - y) ** 2 / 2, lambda z, y: z - y),
    (dw.LinearLoss(X), Y, lambda z, y: z, lambda z, y: np.ones_like(z)),
    (dw.AbsoluteLoss(X, Y), Y, lambda z, y: np.abs(z - y), lambda z, y: np.sign(z - y)),
    (
        dw.QuantileLoss(X, Y, quantile=0.7),
        Y,
        lambda z, y: np.maximum(0.7 * (y - z), 0.3 * (z - y)),
        lambda z, y: np.where(z > y, 0.3, -0.7),
    ),
    (dw.HuberLoss(X, Y, delta=DELTA), Y, huber, lambda z, y: np.clip(z - y, -DELTA, DELTA)),
    (
        dw.LogisticLoss(X, LABELS),
        LABELS,
        lambda z, y: np.log(1.0 + np.exp(-y * z)),
        lambda z, y: -y / (1.0 + np.exp(y * z)),
    ),
]
STREAMS = pytest.mark.parametrize(
    ("losses", "targets", "value", "slope"), FORMULAS, ids=lambda v: getattr(v, "dim", "")
)


@STREAMS
def test_values_and_gradients_follow_the_formula(losses: LossStream, targets: Array, value: Link, slope: Link) -> None:
    assert (len(losses), losses.dim, losses.memory) == (6, 3, 0)
    for w in POINTS:
        scores = X @ w
        values = [losses.unary_value(t, w) for t in range(len(losses))]
        gradients = [losses.gradient(t, w) for t in range(len(losses))]
        np.testing.assert_allclose(values, value(scores, targets), rtol=1e-12)
        np.testing.assert_allclose(gradients, slope(scores, targets)[:, None] * X, rtol=1e-12)


@pytest.mark.parametrize("center", [[0.0, 0.0, 0.0], [2.0, -1.0, 0.5]])
@STREAMS
def test_gradient_bound_is_exact(
    losses: LossStream, targets: Array, value: Link, slope: Link, center: list[float]
) -> None:
    """The slope is monotone in the score, so the steepest decision is at an end of the ball along the features."""
    ends = 1.5 * X / np.linalg.norm(X, axis=1, keepdims=True)
    lengths = [
        np.linalg.norm(losses.gradient(t, center + sign * ends[t])) for t in range(len(losses)) for sign in (-1.0, 1.0)
    ]
    ball = dw.Ball(3, 1.5, center)
    assert losses.gradient_bound(ball) == pytest.approx(max(lengths), rel=1e-12)
    np.testing.assert_allclose(losses.lipschitz(ball), [max(lengths)], rtol=1e-12)
    assert losses.switching_costs(ball) == (0.0, 0.0)


def test_data_are_copied() -> None:
    features, targets = np.ones((2, 1)), np.zeros(2)
    losses = dw.SquaredLoss(features, targets)
    features[:], targets[:] = 9.0, 9.0
    assert losses.unary_value(0, [1.0]) == 0.5


def test_plain_numbers_are_one_coordinate_a_round() -> None:
    flat, tall = (dw.AbsoluteLoss(features, [1.0, 2.0]) for features in ([1.0, 3.0], [[1.0], [3.0]]))
    assert (len(flat), flat.dim) == (2, 1)
    assert flat.unary_value(1, [2.0]) == tall.unary_value(1, [2.0]) == 4.0


@pytest.mark.parametrize("kind", [dw.SquaredLoss, dw.AbsoluteLoss, dw.QuantileLoss, dw.HuberLoss, dw.LogisticLoss])
@pytest.mark.parametrize(
    ("features", "targets", "message"),
    [
        ([[1.0], [1.0]], [1.0], r"targets must be finite real numbers of shape \(2,\)"),
        ([[[1.0]]], [1.0], r"features must be finite real numbers of shape \(rounds, dim\)"),
        ([[1.0]], [np.nan], "targets .* got nan"),
        ([[np.inf]], [1.0], "features .* got inf"),
        ([[1.0], [1.0, 2.0]], [1.0, 1.0], "features must be real numbers in rows of one length"),
    ],
)
def test_bad_data(kind: Any, features: Any, targets: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"{kind.__name__}: {message}"):
        kind(features, targets)


@pytest.mark.parametrize("method", ["gradient_bound", "lipschitz", "switching_costs"])
def test_constants_want_a_domain_of_the_same_dim(method: str) -> None:
    losses = dw.SquaredLoss(X, Y)
    with pytest.raises(InputError, match="the domain must have dim 3, got Ball"):
        getattr(losses, method)(dw.Ball(2))
    with pytest.raises(ParameterError, match="domain must be a Domain, such as Ball"):
        getattr(losses, method)(3)


def test_rounds_can_be_looped_over() -> None:
    losses = dw.LinearLoss(X)
    assert [loss.value([1.0, 0.0, 0.0]) for loss in iter(losses)] == X[:, 0].tolist()
    assert repr(losses[2]) == "round 2 of LinearLoss(rounds=6, dim=3, memory=0)"
    with pytest.raises(RoundIndexError, match="round must be a whole number from 0 to 5, got 6"):
        losses[6]


def slopes_for(losses: DataLoss, rng: np.random.Generator, size: float = 1.0) -> Array:
    """Return slopes of the right shape for a stream."""
    return size * rng.standard_normal(losses.aims.shape)


def conjugate(losses: DataLoss, slopes: Array) -> float:
    """Return the sum of the conjugate losses."""
    return sum(float(addend.sum()) for addend in losses.conjugates(slopes))


@pytest.mark.parametrize("kind", QUADRATIC + GENERAL)
def test_admissible_slopes_are_left_alone_and_others_brought_in(kind: str) -> None:
    losses, rng = built_in(kind, 50), np.random.default_rng(2)
    once = losses.admissible(slopes_for(losses, rng, 3.0))
    np.testing.assert_array_equal(losses.admissible(once), once)
    assert np.isfinite(conjugate(losses, once))
    limit = {"absolute": 1.0, "quantile": 0.8, "huber": 0.3, "linear": 1.0, "logistic": 1.0}.get(kind, np.inf)
    assert np.abs(once).max() <= limit
    if kind == "logistic":
        assert np.all(once * losses.data.targets <= 0.0)


TARGETS = np.array([0.7, -0.4, 1.0])
SIGNS = np.array([1.0, -1.0, 1.0])
SCALAR: dict[str, tuple[DataLoss, Callable[[Array, int], Array]]] = {
    "squared": (dw.SquaredLoss(np.ones(3), TARGETS), lambda z, t: 0.5 * (z - TARGETS[t]) ** 2),
    "absolute": (dw.AbsoluteLoss(np.ones(3), TARGETS), lambda z, t: np.abs(z - TARGETS[t])),
    "quantile": (
        dw.QuantileLoss(np.ones(3), TARGETS, quantile=0.7),
        lambda z, t: np.maximum(0.7 * (TARGETS[t] - z), 0.3 * (z - TARGETS[t])),
    ),
    "linear": (dw.LinearLoss(np.ones(3)), lambda z, t: z),
    "logistic": (dw.LogisticLoss(np.ones(3), SIGNS), lambda z, t: np.log1p(np.exp(-SIGNS[t] * z))),
    "tracking": (dw.TrackingLoss(TARGETS), lambda z, t: 0.5 * (z - TARGETS[t]) ** 2),
    "capacity": (dw.CapacityLoss(TARGETS, 0.6, 0.2), lambda z, t: 0.2 * z + 0.6 * np.maximum(TARGETS[t] - z, 0.0)),
    "huber": (
        dw.HuberLoss(np.ones(3), TARGETS, delta=0.5),
        lambda z, t: np.where(
            np.abs(z - TARGETS[t]) < 0.5, 0.5 * (z - TARGETS[t]) ** 2, 0.5 * np.abs(z - TARGETS[t]) - 0.125
        ),
    ),
}
"""Streams in one coordinate with a feature of 1, so that the score is the decision, and their losses."""


@pytest.mark.parametrize("kind", SCALAR)
def test_conjugates_are_the_largest_of_slope_times_score_less_loss(kind: str) -> None:
    losses, of_score = SCALAR[kind]
    slopes = losses.admissible(slopes_for(losses, np.random.default_rng(3), 0.4))
    z = np.linspace(-40.0, 40.0, 800_001)
    expected = sum(float((r * z - of_score(z, t)).max()) for t, r in enumerate(slopes.ravel()))
    assert conjugate(losses, slopes) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("kind", [*QUADRATIC, "filtered"])
@pytest.mark.parametrize("rounds", [1, 2, 3, 9])
def test_pulls_are_the_transpose_of_what_decisions_do_to_scores(kind: str, rounds: int) -> None:
    losses, rng = built_in(kind, rounds), np.random.default_rng(4)
    slopes, w = slopes_for(losses, rng), rng.standard_normal((rounds, DIM))
    assert float((losses.pulls(slopes) * w).sum()) == pytest.approx(float((slopes * scores(losses, w)).sum()))


@pytest.mark.parametrize("rounds", [2, 3])
def test_pulls_reach_back_no_further_than_the_first_round(rounds: int) -> None:
    rng = np.random.default_rng(5)
    losses = dw.FilteredLoss([1.0, 0.5, -0.25, 0.125, 2.0], rng.standard_normal((rounds, DIM)), np.zeros(rounds))
    slopes, w = slopes_for(losses, rng), rng.standard_normal((rounds, DIM))
    assert float((losses.pulls(slopes) * w).sum()) == pytest.approx(float((slopes * scores(losses, w)).sum()))


ROWS: Any = dw.SquaredLoss(X, Y)


@pytest.mark.parametrize("verb", ["policy_losses", "unary_losses", "unary_gradients"])
@pytest.mark.parametrize("decisions", [np.zeros((5, 3)), np.zeros((6, 2)), np.zeros(3), [[np.nan] * 3] * 6, "rows"])
def test_decisions_that_do_not_fit_the_rounds_are_refused(verb: str, decisions: Any) -> None:
    with pytest.raises(InputError, match=f"SquaredLoss.{verb}: "):
        getattr(ROWS, verb)(decisions)


@pytest.mark.parametrize("rounds", [range(4, 8), range(-1, 2), range(0, 6, 2)])
def test_rounds_that_are_none_of_the_stream_are_refused(rounds: range) -> None:
    with pytest.raises(InputError, match="consecutive and below 6"):
        ROWS.unary_losses(np.zeros((1, 3)), rounds)


def test_decisions_may_be_given_in_any_form() -> None:
    rows = np.asfortranarray(RNG.standard_normal((6, 3)))
    expected = [ROWS.unary_value(t, rows[t]) for t in range(6)]
    np.testing.assert_array_equal(ROWS.unary_losses(rows.tolist()), expected)
    np.testing.assert_array_equal(ROWS.policy_losses(rows), expected)


def test_a_copy_for_another_process_has_no_addresses_of_machine_code() -> None:
    losses = dw.QuantileLoss(X, Y, quantile=0.9)
    before = losses.gradient(2, X[0])
    state = losses.__getstate__()
    assert "_terms" in vars(losses)
    assert "_terms" not in state
    copied = pickle.loads(pickle.dumps(losses))
    assert "_terms" not in vars(copied)
    np.testing.assert_array_equal(copied.gradient(2, X[0]), before)
    assert copied.pieces == losses.pieces


def test_second_derivatives_are_those_of_the_slopes() -> None:
    for losses, y, _, slope in FORMULAS:
        assert isinstance(losses, DataLoss)
        z = np.linspace(-2.0, 2.0, 6) + 0.01
        bends = losses.bends(z, y)
        if isinstance(losses, dw.AbsoluteLoss | dw.QuantileLoss):
            assert bends is None
        else:
            assert bends is not None
            near = (slope(z + 1e-6, y) - slope(z - 1e-6, y)) / 2e-6
            np.testing.assert_allclose(bends, near, atol=1e-6)
