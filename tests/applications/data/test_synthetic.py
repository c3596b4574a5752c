"""Series that are made up."""

from collections.abc import Callable

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.applications.data import synthetic


@pytest.mark.parametrize("make", [synthetic.traffic, synthetic.polls, synthetic.prices, synthetic.stocks])
def test_the_seed_decides(make: Callable[[int, int], Array]) -> None:
    first = make(300, 3)
    assert len(first) == 300
    assert np.array_equal(first, make(300, 3))
    assert not np.array_equal(first, make(300, 4))
    assert (first > 0.0).all()


def test_demand_has_days_and_prices_have_them_too() -> None:
    for values in (synthetic.traffic(2400, 0)[:, 0], synthetic.prices(2400, 0)[:, 0]):
        logs = np.log(values)
        alike, unlike = (np.corrcoef(logs[lag:], logs[:-lag])[0, 1] for lag in (24, 12))
        assert alike > unlike + 0.2


def test_every_forecast_of_the_share_is_off_by_an_amount_of_its_own() -> None:
    table = synthetic.polls(1000, 0)
    errors = np.sqrt(np.mean((table[:, 1:] - table[:, :1]) ** 2, axis=0))
    assert errors.shape == (6,)
    assert errors.max() > 1.3 * errors.min()


def test_stocks_move_together_and_each_by_itself() -> None:
    returns = np.diff(np.log(synthetic.stocks(2500, 0)), axis=0)
    assert returns.shape == (2499, 10)
    together = np.corrcoef(returns.T)[~np.eye(10, dtype=bool)]
    assert 0.1 < together.mean() < 0.8
    assert 0.008 < returns.std() < 0.03
