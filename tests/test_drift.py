"""Points that drift by themselves: in proportion on a simplex, by a shift elsewhere, as a function says otherwise."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.drift import drifted
from driftwise.errors import InputError
from tests.cases import check_refused

X = np.array([1.1, 0.8, 1.0, 1.3])
SIMPLEX = dw.Simplex(4)


def portfolios(count: int, scale: float = 1.0) -> Array:
    return scale * np.random.default_rng(0).dirichlet(np.ones(4), count)


def test_shares_grow_by_the_price_relatives() -> None:
    rows = portfolios(5)
    np.testing.assert_allclose(dw.Growth(X)(rows), rows * X / (rows @ X)[:, None], rtol=1e-14)
    np.testing.assert_array_equal(dw.Growth(X)(rows[0]), dw.Growth(X)(rows)[0])
    assert dw.Growth(1e90 * X)(3.0 * rows[0]).sum() == pytest.approx(3.0)


def test_one_point_says_how_all_others_drift() -> None:
    rows = portfolios(6, scale=2.0)
    by_function = drifted("test", dw.Simplex(4, scale=2.0), dw.Growth(X), rows[0], rows[1:])
    by_point = drifted("test", dw.Simplex(4, scale=2.0), by_function[0], rows[0], rows[1:])
    for one, other in zip(by_function, by_point, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-14)


def test_what_is_not_held_grows_as_the_whole_and_worthless_points_go_where_the_decision_is() -> None:
    before, after = np.array([0.5, 0.5, 0.0, 0.0]), np.array([0.25, 0.75, 0.0, 0.0])
    _, there = drifted("test", SIMPLEX, after, before, np.array([[0.4, 0.0, 0.6, 0.0]]))
    np.testing.assert_allclose(there, [[0.25, 0.0, 0.75, 0.0]])
    _, there = drifted("test", SIMPLEX, np.array([0.0, 1.0, 0.0, 0.0]), before, np.array([[1.0, 0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(there, [[0.0, 1.0, 0.0, 0.0]])


def test_elsewhere_all_points_are_shifted_and_stay_in_the_domain() -> None:
    box = dw.Box([0.0, 0.0], [1.0, 1.0])
    here, there = drifted("test", box, [0.4, 0.6], np.array([0.5, 0.5]), np.array([[0.5, 0.2], [0.05, 0.95]]))
    np.testing.assert_allclose(here, [0.4, 0.6])
    np.testing.assert_allclose(there, [[0.4, 0.3], [0.0, 1.0]])


def test_blocks_of_a_product_drift_each_in_its_own_way() -> None:
    both = dw.Product(dw.Simplex(2), dw.Box([0.0], [1.0]))
    _, there = drifted("test", both, [0.25, 0.75, 0.6], np.array([0.5, 0.5, 0.5]), np.array([[0.8, 0.2, 0.1]]))
    np.testing.assert_allclose(there, [[0.4 / 0.7, 0.3 / 0.7, 0.2]])


@pytest.mark.parametrize(
    "held",
    [
        [0.5, 0.5, 0.0, np.nan],
        [0.5, 0.5, 0.1, 0.0],
        [1.5, -0.5, 0.0, 0.0],
        [0.5, 0.5],
        "text",
        lambda rows: rows[:1],
        lambda rows: 2.0 * rows,
        lambda rows: None,
        dw.Growth([1.0, 2.0]),
    ],
)
def test_what_cannot_be_held_is_refused(held: Any) -> None:
    rows = portfolios(3)
    check_refused(lambda: drifted("test", SIMPLEX, held, rows[0], rows[1:]), kind=InputError)


@pytest.mark.parametrize("bad", [[1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [[1.0, 1.0]], []])
def test_growth_is_by_factors_above_zero(bad: Any) -> None:
    check_refused(lambda: dw.Growth(bad), "relatives", kind=InputError)
