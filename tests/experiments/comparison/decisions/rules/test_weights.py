"""Rules for weights of forecasts on a file."""

from pathlib import Path

import numpy as np
import pytest

from driftwise.experiments.comparison.decisions.rules import families
from tests.experiments.comparison.decisions.players import problem

TABLE = np.random.default_rng(3).normal(size=(80, 4)).round(3)


def columns(table: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(["y", "a", "b", "c"], table.T, strict=True))


def test_weights_are_on_the_simplex_and_see_no_future(tmp_path: Path) -> None:
    changed = TABLE.copy()
    changed[50:] = changed[50:][::-1]
    before, after = (families(problem(tmp_path, "forecasts", columns(table))) for table in (TABLE, changed))
    for one, other in zip(before, after, strict=True):
        for setting, rows in one.settings.items():
            assert np.array_equal(rows[:51], other.settings[setting][:51]), (one.label, setting)
            assert rows.min() >= 0.0
            assert rows.sum(axis=1) == pytest.approx(1.0)


def test_there_is_one_forecast_for_all_rows_in_hindsight_only(tmp_path: Path) -> None:
    rules = {rule.label: rule for rule in families(problem(tmp_path, "forecasts", columns(TABLE)))}
    assert list(rules["One forecast for all rows"].settings) == ["'a'", "'b'", "'c'"]
    assert rules["One forecast for all rows"].default is None
    assert rules["Window rule"].default == "window 20, tolerance 10 %"
    assert rules["Equal weights"].settings[""][7] == pytest.approx([1 / 3] * 3)
