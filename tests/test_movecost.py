from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import MoveCost
from driftwise.errors import InputError, ParameterError
from driftwise.movecost import move_cost_for


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
        move_cost_for("play", MoveCost(up=[1.0, 1.0]), 3)
    with pytest.raises(ParameterError, match="for 2 coordinates"):
        MoveCost(up=[1.0, 1.0])([1.0, 1.0, 1.0])


def test_a_switching_cost_is_prices_and_is_shown_as_a_number_wherever_it_can_be() -> None:
    for given in (2, MoveCost(up=2.0, norm="l2"), MoveCost(up=[2.0, 2.0, 2.0], norm="l2")):
        cost = move_cost_for("play", given, 3)
        assert isinstance(cost, MoveCost)
        assert cost.simplest == 2.0
        assert isinstance(cost.simplest, float)
    prices = MoveCost(up=2.0)
    assert move_cost_for("play", prices, 3).simplest is prices
    assert move_cost_for("play", 2.0)([3.0, 4.0]) == 10.0
    with pytest.raises(ParameterError, match="switching_cost"):
        move_cost_for("play", float("nan"), 3)


def test_prices_are_equal_when_every_move_costs_the_same() -> None:
    same = [2.0, MoveCost(2.0, norm="l2"), MoveCost([2.0, 2.0], norm="l2")]
    others = [MoveCost(2.0), MoveCost(2.0, 1.0, norm="l2"), MoveCost([2.0, 1.0], norm="l2"), MoveCost(3.0, norm="l2")]
    for one in same[1:]:
        assert all(one == other and hash(one) == hash(other) for other in same)
        assert all(one != other for other in others)
    assert MoveCost(3.0, 1.0) == MoveCost(3.0, 1.0)
    assert len({*map(hash, others)}) == len(others)
    assert MoveCost(2.0) != "2.0"


def test_moves_are_priced_from_the_decisions_whatever_the_price() -> None:
    decisions = np.array([[5.0, 0.0], [8.0, 4.0], [8.0, 3.0]])
    np.testing.assert_array_equal(move_cost_for("", 2.0).along(decisions), [0.0, 10.0, 2.0])
    np.testing.assert_array_equal(MoveCost(up=[1.0, 2.0], down=7.0).along(decisions), [0.0, 11.0, 7.0])
    np.testing.assert_array_equal(MoveCost(up=[1.0, 1.0], norm="l2").along(decisions), [0.0, 5.0, 1.0])


def test_a_price_is_shown_in_a_few_characters() -> None:
    assert str(MoveCost(0.5, norm="l2")) == "0.5"
    assert str(MoveCost(up=3.0, down=1.0)) == "MoveCost(up=3., down=1., norm='l1')"


def test_where_only_a_number_will_do_the_one_to_use_is_named() -> None:
    trace = dw.play(dw.OGD(dw.Ball(2), step=0.1), dw.TrackingLoss([[0.1, 0.2], [0.3, 0.4]]))
    with pytest.raises(ParameterError, match=r"decompose: .* at 5, its largest\(2\), so give switching_cost=5\.$"):
        dw.regret.decompose(trace, [0.0, 0.0], switching_cost=MoveCost(up=[3.0, 1.0], down=[1.0, 4.0]))


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-78, 1.0, 1e78, 1e99])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_prices_and_moves_of_any_size_have_a_price(norm: str, size: float) -> None:
    cost = MoveCost(up=[3.0 * size, 0.0], down=[0.0, 4.0 * size], norm=norm)
    expected = size * (7.0 if norm == "l1" else 5.0)
    tolerance = 1e-3 if size < 1e-300 else 1e-12
    assert cost([1.0, -1.0]) == pytest.approx(expected, rel=tolerance, abs=0.0)
    large = cost([1e100, -1e100])
    assert large == pytest.approx(expected * 1e100, rel=tolerance, abs=0.0)
    assert np.isfinite(large)
    assert MoveCost(up=[3.0 * size, 4.0 * size]).largest(2) == pytest.approx(5.0 * size, rel=tolerance, abs=0.0)


@pytest.mark.parametrize("switching_cost", [1e100, 1e-100, MoveCost(up=1e100), MoveCost(up=[1.0, 2.0], norm="l2")])
def test_moves_between_any_two_decisions_have_a_price(switching_cost: float | MoveCost) -> None:
    far = np.array([[-1e100, 0.0], [1e100, 0.0], [1e100, 5e-324]])
    cost = move_cost_for("", switching_cost)
    costs = cost.along(far)
    assert np.all(np.isfinite(costs))
    assert costs[1] == pytest.approx(2e100 * cost.prices(2)[0, 0], rel=1e-12)
    tiny = cost.along(np.array([[0.0, 0.0], [3e-200, -4e-200]]))
    assert tiny[1] == pytest.approx(float(cost([3.0, -4.0])) * 1e-200, rel=1e-12, abs=0.0)
