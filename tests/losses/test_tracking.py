"""Following a moving target."""

import numpy as np
import pytest
from hypothesis import given

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import InputError
from tests.strategies import vectors


@given(vectors((2, 3)), vectors(3))
def test_value_and_gradient(targets: Array, w: Array) -> None:
    losses = dw.TrackingLoss(targets)
    for t, target in enumerate(targets):
        assert losses.unary_value(t, w) == pytest.approx(0.5 * np.linalg.norm(w - target) ** 2, rel=1e-12)
        np.testing.assert_array_equal(losses.gradient(t, w), w - target)


@pytest.mark.parametrize(
    ("domain", "bound"),
    [
        (dw.Ball(2, 1.0, [1.0, 0.0]), 1.0 + np.hypot(4.0, 4.0)),
        (dw.Box([0.0, 0.0], [1.0, 2.0]), np.hypot(4.0, 6.0)),
        (dw.Simplex(2), np.hypot(3.0, 5.0)),
        (dw.Product(dw.Box([0.0], [1.0]), dw.Box([0.0], [2.0])), np.hypot(4.0, 6.0)),
    ],
    ids=repr,
)
def test_gradient_bound_is_the_distance_to_the_farthest_decision(domain: dw.Domain, bound: float) -> None:
    losses = dw.TrackingLoss([[0.0, 0.0], [-3.0, -4.0]])
    assert losses.gradient_bound(domain) == pytest.approx(bound, rel=1e-14)
    np.testing.assert_allclose(losses.lipschitz(domain), [bound], rtol=1e-14)


def test_bad_targets() -> None:
    with pytest.raises(InputError, match="TrackingLoss: targets must be finite real numbers"):
        dw.TrackingLoss([[[1.0, 2.0]]])
    assert dw.TrackingLoss([1.0, 2.0]).dim == 1
