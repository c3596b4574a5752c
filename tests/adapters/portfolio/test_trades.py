"""One trade: what is left pays for it, and is found whatever is asked."""

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.adapters.portfolio import rebalance, trades
from driftwise.adapters.portfolio.trades import moved, settle
from driftwise.drift import Growth
from driftwise.errors import ConvergenceError
from tests.adapters.portfolio.prices import relatives


@pytest.mark.parametrize("cost", [0.0, 0.001, 0.1, 0.49])
def test_what_is_left_pays_for_the_trade_to_the_last_digit(cost: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        before, after = rng.dirichlet(np.ones(5), 2)
        left, traded = rebalance(before, after, cost)
        assert left == pytest.approx(1.0 - cost * np.abs(left * after - before).sum(), abs=1e-14)
        assert traded == pytest.approx(np.abs(left * after - before).sum(), abs=1e-12)
        assert left <= 1.0


def test_a_trade_of_everything_has_a_formula() -> None:
    # 1 is sold, s is bought: s = 1 - c (1 + s)
    left, traded = rebalance([1.0, 0.0], [0.0, 1.0], cost=0.1)
    assert left == pytest.approx(0.9 / 1.1)
    assert traded == pytest.approx(1.0 + left)


def pairs(count: int, dim: int) -> tuple[Array, Array]:
    before, after = np.random.default_rng(dim).dirichlet(np.ones(dim), (2, count))
    return before, after


@pytest.mark.parametrize("dim", [2, 100, 20_000])
def test_the_dearest_trade_is_found_as_any(dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = pairs(10, dim)
    left, traded = settle(before, after, 0.499999)
    np.testing.assert_allclose(left, 1.0 - 0.499999 * np.abs(left[:, None] * after - before).sum(axis=1), atol=1e-14)
    monkeypatch.setattr(trades, "SETTLED", -1.0)  # rounding noise must not keep it going, nor change what it finds
    again = settle(before, after, 0.499999)
    np.testing.assert_allclose(again[0], left, atol=1e-14)
    np.testing.assert_allclose(again[1], traded, atol=1e-14)


def test_what_is_no_number_ends() -> None:
    before, after = pairs(3, 4)
    before[1] = np.nan
    with pytest.raises(ConvergenceError, match="are these shares of wealth"):
        settle(before, after, 0.1)


def test_prices_move_shares_as_growth_does() -> None:
    x, (_, weights) = relatives(20), pairs(20, 4)
    gained, after = moved("test", weights, x)
    np.testing.assert_allclose(gained, (weights * x).sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(after, [Growth(row)(w) for row, w in zip(x, weights, strict=True)], rtol=1e-13)
    for t in range(20):  # a round alone and a whole run, bit for bit
        one = moved("test", weights[t : t + 1], x[t : t + 1], t)
        assert one[0][0] == gained[t]
        np.testing.assert_array_equal(one[1][0], after[t])
