"""Rules at every setting of a grid."""

import numpy as np
import pytest

from driftwise.experiments.studies.decisions.baselines.tuned import BAND, LAST, LEVEL, REGRESSION, STAY, Rules

PRICES = (0.0, 0.1, 1.0, 100.0)


@pytest.fixture(scope="module")
def regression() -> Rules:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 3))
    return Rules(REGRESSION, x, x @ [1.0, -0.5, 0.0] + 0.1 * rng.standard_normal(200), 5.0)


@pytest.fixture(scope="module")
def walk() -> tuple[Rules, np.ndarray]:
    y = np.cumsum(np.random.default_rng(1).standard_normal(200))
    return Rules(LEVEL, np.ones((200, 1)), y, 1e9), y


@pytest.mark.parametrize("price", PRICES)
def test_tuning_never_hurts(regression: Rules, price: float) -> None:
    tuned, default = regression.tuned(price), regression.default(price)
    assert set(default) == set(REGRESSION)
    assert set(tuned) == {*REGRESSION, STAY}
    assert all(tuned[name] <= default[name] for name in default)


def test_everyone_learns_what_can_be_learnt(regression: Rules) -> None:
    costs = regression.tuned(0.0)
    assert all(costs[name] < 0.05 * costs[STAY] for name in REGRESSION)


def test_last_value_and_staying_cost_what_they_should(walk: tuple[Rules, np.ndarray]) -> None:
    rules, y = walk
    last = np.concatenate([[0.0], y[:-1]])
    loss, path = 0.5 * np.sum((last - y) ** 2), np.abs(np.diff(last)).sum()
    for price in PRICES:
        assert rules.default(price)[LAST] == pytest.approx(loss + price * path)
        assert rules.tuned(price)[STAY] == pytest.approx(0.5 * np.sum(y**2))
        assert rules.tuned(price)[LAST] <= rules.default(price)[LAST]


def test_where_moves_are_dear_a_band_is_worth_it(walk: tuple[Rules, np.ndarray]) -> None:
    rules, _ = walk
    assert rules.tuned(3.0)[BAND] < 0.9 * rules.default(3.0)[LAST]
    assert rules.banded(3.0)[LAST] == rules.tuned(3.0)[BAND]
    assert all(cost <= rules.tuned(3.0)[name] for name, cost in rules.banded(3.0).items())


def test_a_default_is_a_setting_of_the_grid() -> None:
    for rule in (*REGRESSION.values(), *LEVEL.values()):
        assert rule.default in rule.settings
