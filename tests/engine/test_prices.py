"""The one price of a move: against NumPy and against `MoveCost`, at prices and distances of any size."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftwise as dw
from driftwise._compile import entry
from driftwise._memory import part
from driftwise._validate import Array
from driftwise.engine.prices import move_price, pull
from tests.strategies import seeds

NORMS = ("l1", "l2")


@entry
def _move(before: Array, after: Array, stride: int, prices: Array, adds_up: bool) -> float:
    return move_price(part(before, 0), part(after, 0), stride, part(prices, 0), prices.shape[1], adds_up)


@entry
def _pull(held: Array, stride: int, prices: Array) -> float:
    return pull(part(held, 0), stride, part(prices, 0), prices.shape[1])


def _terms(change: Array, prices: Array) -> Array:
    return np.asarray(prices[0] * np.maximum(change, 0.0) + prices[1] * np.maximum(-change, 0.0), np.longdouble)


@given(seeds, st.sampled_from(NORMS), st.integers(1, 9))
def test_the_price_is_the_formula(seed: int, norm: str, dim: int) -> None:
    rng = np.random.default_rng(seed)
    before, after = rng.normal(size=(2, dim))
    prices = rng.uniform(0.0, 3.0, (2, dim)) * (rng.random((2, dim)) < 0.8)
    terms = _terms(after - before, prices)
    expected = float(terms.sum() if norm == "l1" else np.sqrt((terms**2).sum()))
    assert _move(before, after, 1, prices, norm == "l1") == pytest.approx(expected, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("norm", NORMS)
@given(seed=seeds, price_power=st.floats(-300.0, 100.0), distance_power=st.floats(-300.0, 100.0))
def test_it_is_the_price_of_move_cost_at_any_size(
    norm: str, seed: int, price_power: float, distance_power: float
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1.0, 1.0, (2, 5)) * 10.0**distance_power
    cost = dw.MoveCost(up=rng.uniform(0.0, 1.0, 5) * 10.0**price_power, down=10.0**price_power, norm=norm)
    found = _move(rows[0], rows[1], 1, cost.prices(5), norm == "l1")
    assert math.isfinite(found)
    # Below 1e-300 there are fewer digits to agree in.
    assert found == pytest.approx(cost.along(rows)[1], rel=1e-12, abs=1e-308)
    number = 10.0**price_power
    plain = _move(rows[0], rows[1], 1, np.full((2, 5), number), False)
    assert plain == pytest.approx(dw.MoveCost(number, norm="l2").along(rows)[1], rel=1e-12, abs=1e-308)


@pytest.mark.parametrize("price", [1e78, 1e100, 1e150, 1e-78, 1e-150, 1e-300])
def test_squares_that_cannot_be_computed_are_not_needed(price: float) -> None:
    widths = np.array([3.0, 0.0, 4.0])
    found = _move(np.zeros(3), widths, 1, np.full((2, 3), price), False)
    assert found == pytest.approx(5.0 * price, rel=1e-15)
    prices = price * np.array([[1.0, 7.0, 1e-200], [0.0, 0.0, 0.0]])
    assert _move(np.zeros(3), widths, 1, prices, False) == pytest.approx(3.0 * price, rel=1e-15)
    if price <= 1e100:
        assert dw.MoveCost(up=price, norm="l2")(widths) == pytest.approx(found, rel=1e-12)


def test_coordinates_may_be_apart() -> None:
    before, after = np.zeros(12), np.arange(12.0)
    prices = np.array([[1.0, 2.0, 3.0], [9.0, 9.0, 9.0]])
    assert _move(before, after, 4, prices, True) == 0.0 * 1.0 + 4.0 * 2.0 + 8.0 * 3.0
    assert _pull(-after, 4, prices) == pytest.approx(math.hypot(4.0 / 2.0, 8.0 / 3.0), rel=1e-15)


def test_not_moving_costs_nothing() -> None:
    point = np.array([1e100, -5e-324])
    for adds_up in (True, False):
        assert _move(point, point, 1, np.full((2, 2), 1e100), adds_up) == 0.0


@given(seeds, st.integers(1, 6))
def test_the_pull_is_the_length_of_gradients_in_units_of_their_prices(seed: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    held, prices = rng.normal(size=dim), rng.uniform(0.1, 3.0, (2, dim))
    # A gradient above 0 asks to go down.
    asked = held / np.where(held > 0.0, prices[1], prices[0])
    assert _pull(held, 1, prices) == pytest.approx(float(np.linalg.norm(asked)), rel=1e-14)


def test_a_pull_of_exactly_the_price_is_1() -> None:
    """The gauge's dual: no gradient within the prices has a pull above 1."""
    prices = np.array([[2.0, 4.0], [3.0, 5.0]])
    for held in ([3.0, 0.0], [0.0, -4.0], [3.0 * 0.6, -4.0 * 0.8]):
        assert _pull(np.array(held), 1, prices) == pytest.approx(1.0, rel=1e-15)


def test_what_costs_nothing_is_never_waited_for() -> None:
    prices = np.array([[0.0, 1.0], [1.0, 1.0]])
    assert _pull(np.array([-5e-324, 0.0]), 1, prices) == math.inf
    assert _pull(np.array([5e-324, 0.0]), 1, prices) < 1e-300
    assert _pull(np.zeros(2), 1, np.zeros((2, 2))) == 0.0


@pytest.mark.parametrize("price", [5e-324, 1e-300, 1e-78, 1.0, 1e78, 1e150])
@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-78, 1.0, 1e78, 1e150])
def test_a_pull_is_never_nan(price: float, size: float) -> None:
    found = _pull(np.array([3.0, -4.0]) * size, 1, np.full((2, 2), price))
    assert not math.isnan(found)
    ratio = 5.0 * (size / price) if size / price < 1e307 else math.inf
    if size > 1e-320 < price:
        assert found == pytest.approx(ratio, rel=1e-12)


def test_a_coordinate_whose_pull_underflows_does_not_hide_the_others() -> None:
    prices = np.array([[1e78, 1.0], [1e78, 1.0]])
    assert _pull(np.array([5e-324, 3.0]), 1, prices) == 3.0
