"""Huber costs: a parabola within the width, a line beyond, smooth where they meet; and how they bend."""

import cvxpy as cp
import numpy as np
import pytest

from driftwise.control.costs import HuberCost

WIDTH = 0.7
COST = HuberCost([2.0], 1.0, width=WIDTH)


def value(z: float) -> float:
    return COST.value([z], [0.0])


def slope(z: float) -> float:
    return float(COST.gradient([z], [0.0])[0][0])


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_two_pieces_meet_in_value_and_slope(sign: float) -> None:
    inside, outside = sign * WIDTH, sign * WIDTH * (1.0 + 1e-12)
    assert value(inside) == pytest.approx(2.0 * WIDTH / 2.0, rel=1e-14)
    assert value(outside) == pytest.approx(value(inside), rel=1e-11)
    assert slope(inside) == pytest.approx(slope(outside), rel=1e-11)
    assert slope(inside) == sign * 2.0


def test_a_parabola_within_and_a_line_beyond() -> None:
    assert value(0.35) == pytest.approx(2.0 * 0.35**2 / 1.4, rel=1e-14)
    assert slope(0.35) == pytest.approx(2.0 * 0.35 / 0.7, rel=1e-14)
    assert value(9.0) - value(8.0) == pytest.approx(2.0, rel=1e-13)
    assert value(-9.0) == value(9.0)
    assert slope(0.0) == 0.0


def test_the_bend_is_half_the_second_derivative_within_and_small_beyond() -> None:
    h = 1e-4
    second = (value(0.2 + h) - 2.0 * value(0.2) + value(0.2 - h)) / h**2 / 2.0  # for a weight of 1
    inside, edge, beyond, far = COST.bend(np.array([0.2, WIDTH, 0.71, 100.0]))
    assert 2.0 * inside == pytest.approx(second, rel=1e-6)
    assert edge == inside
    assert 0.0 < far < beyond < inside / 50.0


@pytest.mark.parametrize("unit", [1.0, 0.25, 30.0])
def test_the_expression_for_cvxpy_has_the_same_values_in_any_unit(unit: float) -> None:
    sizes = np.array([-3.0, -0.7, -0.1, 0.0, 0.4, 5.0])
    Z = cp.Variable(sizes.size)
    Z.value = sizes / unit
    expected = [value(size) / 2.0 / unit for size in sizes]
    np.testing.assert_allclose(COST.expression(cp, Z, unit).value, expected, rtol=1e-12, atol=1e-15)
