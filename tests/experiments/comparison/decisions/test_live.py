"""The lines that run ours live can be copied and run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.experiments.comparison.decisions.live import build_line, live_table
from tests.experiments.comparison.decisions.players import problem, steps

SERIES = steps()
COLUMNS = {"load": SERIES, "held": np.full(60, 33.0), "plan": SERIES + 1.0, "other": SERIES - 1.0}
PRICE = dw.MoveCost(up=6.0, down=0.0)

CASES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "level": ("level", 2.5, {}),
    "forecast": ("level", 2.5, {"forecasts": ["plan", "other"]}),
    "season": ("level", 2.5, {"period": 7, "low": 0.0, "high": 100.0}),
    "capacity": ("capacity", PRICE, {"shortage": 5.0, "mine": "held"}),
    "whole": ("capacity", PRICE, {"shortage": 5.0, "whole": True}),
    "weights": ("forecasts", PRICE, {"forecasts": ["plan", "other"], "mine": "held"}),
    "each": ("forecasts", dw.MoveCost(up=[1.0, 2.0], norm="l2"), {"forecasts": ["plan", "other"]}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_lines_run(tmp_path: Path, case: str) -> None:
    kind, price, options = CASES[case]
    made = problem(tmp_path, kind, COLUMNS, price, **options)
    names: dict[str, Any] = {"dw": dw, "value": 21.0, "demand": 21.0, "forecast": 22.0, "forecast_2": 20.0}
    names |= {"forecasts": np.array([22.0, 20.0]), "target": 21.0}
    first, *every = [line for _, line in live_table(made).rows]
    exec(first, names)
    for _ in range(3):
        for line in every:
            exec(line, names)
        assert made.domain.contains(names["w"])
    assert names["learner"].round == 3
    told = names["learner"]._inner if case == "whole" else names["learner"]
    assert isinstance(told, dw.SelfTunedLearner)
    assert told.switching_cost == price


@pytest.mark.parametrize(
    ("case", "line"),
    [
        ("level", "dw.SelfTunedLearner(dw.Box([0.0], [69.0]), switching_cost=2.5, start=[29.34])"),
        ("season", "dw.SelfTunedLearner(dw.Box([0.0], [100.0]), switching_cost=2.5, start=[29.34], period=7)"),
        (
            "capacity",
            "dw.SelfTunedLearner(dw.Box([0.0], [78.0]), switching_cost=dw.MoveCost(up=6.0, down=0.0), start=[33.0])",
        ),
        ("weights", "dw.SelfTunedLearner(dw.Simplex(2), switching_cost=dw.MoveCost(up=6.0, down=0.0))"),
        (
            "each",
            "dw.SelfTunedLearner(dw.Simplex(2), switching_cost=dw.MoveCost(up=[1.0, 2.0], down=[1.0, 2.0], norm='l2'))",
        ),
    ],
)
def test_it_begins_where_you_stand_now(tmp_path: Path, case: str, line: str) -> None:
    kind, price, options = CASES[case]
    assert build_line(problem(tmp_path, kind, COLUMNS, price, **options)) == line
