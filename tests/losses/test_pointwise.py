"""Losses of a score against a target, against their formulas."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import InputError, ParameterError, RoundIndexError
from driftwise.losses import LossStream

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


@pytest.mark.parametrize("score", [-1e4, -40.0, 0.0, 40.0, 1e4])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_logistic_loss_at_extreme_scores(score: float, label: float) -> None:
    losses = dw.LogisticLoss([[1.0]], [label])
    margin = label * score
    assert losses.unary_value(0, [score]) == pytest.approx(np.logaddexp(0.0, -margin), rel=1e-14)
    expected = -label * np.exp(-np.logaddexp(0.0, margin))
    assert losses.gradient(0, [score])[0] == pytest.approx(expected, rel=1e-13, abs=1e-300)


def test_kink_of_the_absolute_loss_has_slope_zero() -> None:
    assert dw.AbsoluteLoss([[1.0, 1.0]], [2.0]).gradient(0, [1.0, 1.0]).tolist() == [0.0, 0.0]


def test_data_are_copied() -> None:
    features, targets = np.ones((2, 1)), np.zeros(2)
    losses = dw.SquaredLoss(features, targets)
    features[:], targets[:] = 9.0, 9.0
    assert losses.unary_value(0, [1.0]) == 0.5


def test_plain_numbers_are_one_coordinate_a_round() -> None:
    flat, tall = (dw.AbsoluteLoss(features, [1.0, 2.0]) for features in ([1.0, 3.0], [[1.0], [3.0]]))
    assert (len(flat), flat.dim) == (2, 1)
    assert flat.unary_value(1, [2.0]) == tall.unary_value(1, [2.0]) == 4.0


@pytest.mark.parametrize("kind", [dw.SquaredLoss, dw.AbsoluteLoss, dw.HuberLoss, dw.LogisticLoss])
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


def test_labels_must_be_signs() -> None:
    with pytest.raises(InputError, match=r"got 0 in round 1; labels 0 and 1 become 2\*y - 1"):
        dw.LogisticLoss([[1.0], [1.0]], [1.0, 0.0])


@pytest.mark.parametrize("delta", [0.0, -1.0, np.nan, "1"])
def test_delta_must_be_positive(delta: Any) -> None:
    with pytest.raises(ParameterError, match="HuberLoss: delta must be a number that is above 0"):
        dw.HuberLoss([[1.0]], [0.0], delta=delta)


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
