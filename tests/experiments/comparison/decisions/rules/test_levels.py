"""Rules for levels and capacities on a file: what they are, and that they see no future."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftwise.experiments.comparison.decisions.rules import families
from tests.experiments.comparison.decisions.players import problem, steps

SERIES = steps()
KINDS: dict[str, dict[str, Any]] = {
    "level": {"period": 7, "low": -100.0, "high": 500.0, "start": 33.0},
    "capacity": {"shortage": 5.0, "period": 7, "low": 0.0, "high": 500.0, "start": 33.0},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [False, True])
def test_no_rule_sees_the_row_it_decides_on(tmp_path: Path, kind: str, whole: bool) -> None:
    """Bands that are tuned in hindsight are in units of the range, so the range is kept."""
    changed = SERIES.copy()
    changed[40:] = changed[40:][::-1]
    changed[[10, 30]] = SERIES.min(), SERIES.max()
    first = SERIES.copy()
    first[[10, 30]] = SERIES.min(), SERIES.max()
    before, after = (
        families(problem(tmp_path, kind, {"load": values}, whole=whole, **KINDS[kind])) for values in (first, changed)
    )
    for one, other in zip(before, after, strict=True):
        assert list(one.settings) == list(other.settings)
        for setting, rows in one.settings.items():
            assert np.array_equal(rows[:41], other.settings[setting][:41]), (one.label, setting)
            assert rows.shape == (60, 1)


def test_what_is_known_before_the_first_row_is_where_ours_begins(tmp_path: Path) -> None:
    for rule in families(problem(tmp_path, "level", {"load": SERIES}, **KINDS["level"])):
        assert {float(rows[0, 0]) for rows in rule.settings.values()} == {33.0}, rule.label
    for rule in families(problem(tmp_path, "capacity", {"load": SERIES}, **KINDS["capacity"])):
        assert rule.default is not None
        first = {"Last value": 33.0, "Autoscaler": 33.0 / 0.8, "Same row a season ago": 33.0 * 1.1}
        assert rule.settings[rule.default][0, 0] == pytest.approx(first.get(rule.label, 33.0 * 1.1)), rule.label


def test_rules_are_what_they_are_called(tmp_path: Path) -> None:
    rules = {rule.label: rule for rule in families(problem(tmp_path, "level", {"load": SERIES}, period=7, start=33.0))}
    assert list(rules) == [
        "Last value",
        "Exponential smoothing",
        "Moving average",
        "Dead band",
        "Same row a season ago",
    ]
    assert np.array_equal(rules["Last value"].settings[""][1:, 0], SERIES[:-1])
    season = rules["Same row a season ago"].settings[""][:, 0]
    assert np.array_equal(season[7:], SERIES[:-7])
    assert np.array_equal(season[1:7], SERIES[:6])  # the last value while there is no season yet
    assert rules["Moving average"].settings["mean of 2"][30, 0] == pytest.approx(SERIES[28:30].mean())
    assert {rule.default for rule in rules.values()} == {"", "share 30 %", "mean of 20", "10 % of the mean"}


def test_a_demand_gets_headroom_and_an_autoscaler(tmp_path: Path) -> None:
    made = problem(tmp_path, "capacity", {"load": SERIES, "plan": SERIES + 5.0}, shortage=5.0, forecasts=["plan"])
    rules = {rule.usual: rule for rule in families(made)}
    assert {"Last value", "Last value + 10 %", "Autoscaler", "Forecast 'plan'"} <= set(rules)
    plain, roomy = rules["Last value"].settings[""], rules["Last value + 10 %"]
    assert roomy.settings["headroom 10 %"] == pytest.approx(1.1 * plain)
    assert roomy.default == "headroom 10 %"
    assert rules["Exponential smoothing"].default == "share 30 %, headroom 10 %"
    assert np.array_equal(rules["Forecast 'plan'"].settings[""][:, 0], SERIES + 5.0)
    assert rules["Autoscaler"].default == "window 20, tolerance 10 %, target 80 %"


def test_decisions_stay_between_the_limits_and_are_whole_if_that_is_wanted(tmp_path: Path) -> None:
    for rule in families(
        problem(tmp_path, "capacity", {"load": SERIES}, shortage=5.0, low=22.5, high=44.5, whole=True)
    ):
        for rows in rule.settings.values():
            assert np.array_equal(rows, np.rint(rows))
            assert rows.min() >= 23.0
            assert rows.max() <= 44.0
    up = {
        rule.label: rule for rule in families(problem(tmp_path, "capacity", {"load": SERIES}, shortage=5.0, whole=True))
    }
    assert np.array_equal(up["Last value"].settings[""][1:, 0], np.ceil(SERIES[:-1]))
    near = {rule.label: rule for rule in families(problem(tmp_path, "level", {"load": SERIES}, whole=True))}
    assert np.array_equal(near["Last value"].settings[""][1:, 0], np.rint(SERIES[:-1]))


@pytest.mark.parametrize("values", [[5.0], [0.0, 0.0], [3.0, 3.0, 3.0]])
def test_the_shortest_and_dullest_columns(tmp_path: Path, values: list[float]) -> None:
    for kind, options in (("level", {}), ("capacity", {"shortage": 5.0})):
        for rule in families(problem(tmp_path, kind, {"load": values}, **options)):
            assert all(np.isfinite(rows).all() for rows in rule.settings.values())
