"""Common rules: each by what defines it, and none may see the round it decides on."""

from collections.abc import Callable

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.domains import Box
from driftwise.experiments.contests import rules
from driftwise.losses import LinearLoss

SERIES = 1.0 + np.random.default_rng(0).uniform(size=200)
TABLE = np.random.default_rng(1).uniform(size=(200, 3))

ON_SERIES: dict[str, Callable[[Array], Array]] = {
    "last": rules.last,
    "lag": lambda values: rules.last(values, 7),
    "mean": lambda values: rules.moving_average(values, 5),
    "smooth": lambda values: rules.smoothed(values, 0.3),
    "band": lambda values: rules.dead_band(values, 0.2),
    "varying band": lambda values: rules.dead_band(values, 0.1 * rules.moving_average(values, 5)),
    "quantile": lambda values: rules.quantile_so_far(values, 0.8, 6),
    "autoscaler": rules.autoscaler,
    "switch": lambda values: rules.switch(rules.last(values), 1.5, 0.1),
}
ON_TABLE: dict[str, Callable[[Array], Array]] = {
    "follow": rules.follow,
    "inverse": lambda errors: rules.inverse_errors(errors, 9),
}


@pytest.mark.parametrize("name", ON_SERIES)
def test_no_rule_sees_the_round_it_decides_on(name: str) -> None:
    changed = SERIES.copy()
    changed[100:] = 9.0
    before, after = ON_SERIES[name](SERIES), ON_SERIES[name](changed)
    assert np.array_equal(before[:101], after[:101])
    assert not np.array_equal(before, after)


@pytest.mark.parametrize("name", ON_TABLE)
def test_weights_are_on_the_simplex_and_see_no_future(name: str) -> None:
    changed = TABLE.copy()
    changed[100:, 0] = 9.0
    before, after = ON_TABLE[name](TABLE), ON_TABLE[name](changed)
    assert np.array_equal(before[:101], after[:101])
    assert not np.array_equal(before, after)
    assert before.min() >= 0.0
    assert before.sum(axis=1) == pytest.approx(1.0)


def slow_autoscaler(demand: Array, window: int, tolerance: float, target: float) -> list[float]:
    """The rule as its manual puts it: recommendations, and the highest of the window on the way down."""
    current, wishes, decisions = demand[0] / target, list[float](), list[float]()
    for value in demand:
        decisions.append(current)
        use = value / current
        wishes.append(current if abs(use / target - 1.0) <= tolerance else value / target)
        current = wishes[-1] if wishes[-1] > current else min(current, max(wishes[-window:]))
    return decisions


@pytest.mark.parametrize("window", [1, 3, 20])
@pytest.mark.parametrize("tolerance", [0.0, 0.1, 0.4])
def test_the_autoscaler_is_the_rule_of_the_manual(window: int, tolerance: float) -> None:
    fast = rules.autoscaler(SERIES, window=window, tolerance=tolerance, target=0.8)
    assert fast == pytest.approx(slow_autoscaler(SERIES, window, tolerance, 0.8), rel=1e-12)


def test_a_wider_band_switches_less() -> None:
    changes = [np.count_nonzero(np.diff(rules.switch(SERIES, 1.5, band))) for band in (0.0, 0.1, 0.2)]
    assert changes[0] > changes[1] > changes[2]


def test_a_dead_band_is_left_by_a_jump_and_kept_by_anything_less() -> None:
    assert np.array_equal(rules.dead_band(SERIES, 0.0), rules.last(SERIES))
    assert np.array_equal(rules.dead_band(SERIES, 10.0), np.full(200, SERIES[0]))
    kept = rules.dead_band(SERIES, 0.3)
    assert np.abs(kept[1:] - SERIES[:-1]).max() <= 0.3
    assert np.abs(np.diff(kept)[np.diff(kept) != 0.0]).min() > 0.3


def test_tolerance_keeps_a_forecast() -> None:
    changes = [np.count_nonzero(np.diff(rules.follow(TABLE, 5, tol)[:, 0])) for tol in (0.0, 0.3, 0.6)]
    assert changes[0] > changes[1] > changes[2]


def test_a_forecast_without_error_gets_all_the_weight() -> None:
    errors = np.ones((50, 3))
    errors[:, 1] = 0.0
    assert rules.inverse_errors(errors, 10)[-1, 1] == pytest.approx(1.0)


def test_larger_steps_go_further() -> None:
    ways = rules.descents(LinearLoss(-np.ones((100, 1))), Box([0.0], [10.0]), 1.0, np.array([2.0]))
    assert {decisions[0, 0] for decisions in ways.values()} == {2.0}
    steps = [decisions[1, 0] - decisions[0, 0] for decisions in ways.values()]
    assert steps == pytest.approx(list(rules.STEPS.values()))  # D = 10, G = 1 and T = 100: the unit is 1
    assert all(decisions[-1, 0] == 10.0 for decisions in ways.values())
