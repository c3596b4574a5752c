from typing import Any

import numpy as np
import pytest

from driftwise import MoveCost
from driftwise.errors import InputError, ParameterError
from driftwise.movecost import as_move_cost, read_move_cost


def test_prices_up_and_down_add_up_in_l1() -> None:
    cost = MoveCost(up=[1.0, 2.0], down=3.0)
    assert cost([1.0, 1.0]) == 3.0
    assert cost([-1.0, 1.0]) == 5.0
    np.testing.assert_array_equal(cost([[1.0, 0.0], [0.0, -2.0]]), [1.0, 6.0])


def test_l2_takes_the_root_of_the_sum_of_squares() -> None:
    cost = MoveCost(up=3.0, down=[4.0, 1.0], norm="l2")
    assert cost([-1.0, 1.0]) == 5.0
    assert MoveCost(up=2.0, norm="l2").plain == 2.0
    assert cost.plain is None


def test_the_largest_price_of_a_unit_of_distance_is_reached_and_never_passed() -> None:
    rng = np.random.default_rng(0)
    for norm in ("l1", "l2"):
        cost = MoveCost(up=rng.uniform(0, 2, 3), down=rng.uniform(0, 2, 3), norm=norm)
        moves = rng.standard_normal((20000, 3))
        moves /= np.linalg.norm(moves, axis=1, keepdims=True)
        paid = np.asarray(cost(moves))
        assert paid.max() <= cost.largest(3) * (1 + 1e-12)
        assert paid.max() >= 0.99 * cost.largest(3)


def test_the_price_is_convex_and_grows_in_proportion() -> None:
    rng = np.random.default_rng(1)
    for norm in ("l1", "l2"):
        cost = MoveCost(up=[1.0, 0.5], down=[3.0, 0.0], norm=norm)
        a, b = rng.standard_normal((2, 1000, 2))
        assert np.all(cost((a + b) / 2) <= (cost(a) + cost(b)) / 2 + 1e-12)
        np.testing.assert_allclose(cost(3.0 * a), 3.0 * np.asarray(cost(a)))


@pytest.mark.parametrize("bad", [{"up": -1.0}, {"up": [1.0, -1.0]}, {"up": 1.0, "norm": "l3"}, {"up": "x"}])
def test_impossible_prices_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises((ParameterError, InputError), match="MoveCost"):
        MoveCost(**bad)


def test_prices_for_other_coordinates_are_refused() -> None:
    with pytest.raises(ParameterError, match="2 and 3"):
        MoveCost(up=[1.0, 1.0], down=[1.0, 1.0, 1.0])
    with pytest.raises(ParameterError, match="for 2 coordinates"):
        read_move_cost("play", MoveCost(up=[1.0, 1.0]), 3)
    with pytest.raises(ParameterError, match="for 2 coordinates"):
        MoveCost(up=[1.0, 1.0])([1.0, 1.0, 1.0])


def test_a_switching_cost_is_a_number_wherever_it_can_be() -> None:
    assert read_move_cost("play", 2, 3) == 2.0
    assert read_move_cost("play", MoveCost(up=2.0, norm="l2"), 3) == 2.0
    assert isinstance(read_move_cost("play", MoveCost(up=2.0), 3), MoveCost)
    assert as_move_cost(2.0)([3.0, 4.0]) == 10.0
    with pytest.raises(ParameterError, match="switching_cost"):
        read_move_cost("play", float("nan"), 3)
