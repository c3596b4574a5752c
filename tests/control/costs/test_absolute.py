"""Absolute costs: kinks at zero, one weight for all, and the Huber costs that approach them."""

import numpy as np
import pytest

from driftwise.control.costs import AbsoluteCost, HuberCost
from tests.control.costs.cases import U, X

COST = AbsoluteCost([1.0, 0.0, 2.0], [0.5, 3.0])


def test_the_value_is_the_weighted_sum_of_sizes() -> None:
    for factor in (-2.0, 0.0, 1e-300, 1e50):
        expected = abs(factor) * COST.value(X, U)
        assert COST.value(factor * X, factor * U) == pytest.approx(expected, rel=1e-14)


def test_at_a_kink_the_gradient_is_zero_and_elsewhere_a_weighted_sign() -> None:
    slope_x, slope_u = COST.gradient([-0.0, 5.0, -1e-300], [0.0, 7.0])
    np.testing.assert_array_equal(slope_x, [0.0, 0.0, -2.0])
    np.testing.assert_array_equal(slope_u, [0.0, 3.0])


def test_one_weight_is_that_of_every_coordinate() -> None:
    single, every = AbsoluteCost(2.0, 0.5), AbsoluteCost([2.0] * 3, [0.5] * 2)
    assert (single.state_dim, single.input_dim) == (None, None)
    assert single.value(X, U) == every.value(X, U)
    for mine, theirs in zip(single.gradient(X, U), every.gradient(X, U), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("width", [1.0, 0.1, 1e-6])
def test_smoothed_costs_lie_below_by_no_more_than_half_the_width_and_have_smaller_slopes(width: float) -> None:
    smooth = COST.smoothed(width)
    assert isinstance(smooth, HuberCost)
    assert smooth.width == smooth.data.width == width
    rng = np.random.default_rng(0)
    for scale in (1e-7, 0.05, 3.0):
        x, u = scale * rng.standard_normal(3), scale * rng.standard_normal(2)
        below = COST.value(x, u) - smooth.value(x, u)
        assert -1e-12 <= below <= 0.5 * width * (1.0 + 2.0 + 0.5 + 3.0) + 1e-12
        for slope, limit in zip(smooth.gradient(x, u), COST.gradient(x, u), strict=True):
            assert (np.abs(slope) <= np.abs(limit)).all()
            assert (slope * limit >= 0.0).all()


def test_smoothing_leaves_the_cost_as_it_was() -> None:
    before = COST.value(X, U)
    COST.smoothed(0.5).value(X, U)
    assert COST.value(X, U) == before
    assert COST.data.kind != COST.smoothed(0.5).data.kind
    assert not COST.smooth
    assert COST.smoothed(0.5).smooth
