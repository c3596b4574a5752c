"""What is said follows from the numbers: who beats whom, and by how much."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.experiments.comparison import ours
from driftwise.experiments.comparison.decisions import contest as room
from driftwise.experiments.comparison.decisions.contest import LEARNERS, Comparison, hold_contest
from driftwise.experiments.comparison.decisions.problem import Problem
from driftwise.experiments.comparison.decisions.rules import families
from driftwise.experiments.comparison.decisions.words import notes, summarise
from tests.experiments.comparison.decisions.players import Replay, optimum, problem, steps

SERIES = steps()


@pytest.fixture
def hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Comparison]:
    """Return a function that holds a contest in which ours decides what it is told."""

    def held(
        rows: Callable[[Problem], Array] | None, kind: str = "level", columns: Any = None, **options: Any
    ) -> Comparison:
        played = problem(tmp_path, kind, columns or {"load": SERIES}, **options)
        if rows is not None:
            monkeypatch.setattr(ours, "build", lambda domain, *told: Replay(domain, rows(played)))
        return hold_contest(played, list(LEARNERS), True, lambda text: None)

    return held


def far(played: Problem) -> Array:
    """Return decisions that nobody would take."""
    return np.tile([[5.0], [60.0]], (len(SERIES) // 2, 1))


def test_what_you_paid_comes_first(hold: Callable[..., Comparison]) -> None:
    columns = {"load": SERIES, "held": np.full(60, 33.0)}
    said = summarise(hold(optimum, columns=columns, mine="held"))
    assert said[0].startswith("You paid ")
    assert " of it running and 0 for 0 moves; ours would have cost " in said[0]
    assert said[0].endswith(" % less.")
    assert said[1].startswith("With ours it would have been ")
    assert " moves instead of 0." in said[1]
    assert "Ours lost to no simple rule with its default setting; the cheapest, Dead band, cost " in said[2]
    assert 3 <= len(said) <= 6


def test_nobody_beats_someone_who_did_the_best_there_is(hold: Callable[..., Comparison], tmp_path: Path) -> None:
    best = optimum(problem(tmp_path, "level", {"load": SERIES}))[:, 0]
    said = summarise(hold(None, columns={"load": SERIES, "held": best}, mine="held"))
    assert said[0].endswith("; nobody beats you, even in hindsight.")
    assert said[-1].startswith("Someone who knew the whole file would have paid ")
    assert "; you paid 1 and ours " in said[-1]


def test_who_is_better_than_ours_is_told_to_stay(hold: Callable[..., Comparison]) -> None:
    columns = {"load": SERIES, "held": np.repeat([20.0, 50.0, 30.0], 20)}
    said = summarise(hold(far, columns=columns, mine="held"))
    assert said[0].endswith("times as much; what you do is better.")


def test_the_same_is_the_same(hold: Callable[..., Comparison], tmp_path: Path) -> None:
    best = optimum(problem(tmp_path, "level", {"load": SERIES}))[:, 0]
    held = hold(lambda played: best[:, None], columns={"load": SERIES, "held": best}, mine="held")
    said = summarise(held)
    assert said[0].endswith(": the same.")
    assert not said[1].startswith("With ours")


def test_rules_that_beat_ours_are_named(hold: Callable[..., Comparison]) -> None:
    held = hold(far)
    said = " ".join(summarise(held))
    count = len(held.of("rule"))
    assert said.startswith("On 60 rows of d.csv, ours (Self-tuned learner) would have cost ")
    assert f"Ours lost to {count} of {count} simple rules with default settings: " in said
    assert ", and 1 more." in said
    assert "The best fixed level, which takes hindsight and never moves, cost " in said
    assert "ours, which nobody tuned, " in said
    assert "times as much" in said


def test_one_rule_that_does_as_well(hold: Callable[..., Comparison]) -> None:
    def banded(played: Problem) -> Array:
        return next(rule.settings["10 % of the mean"] for rule in families(played) if rule.label == "Dead band")

    said = " ".join(summarise(hold(banded)))
    assert "Ours lost to no simple rule with its default setting; the cheapest, Dead band, cost the same." in said


def test_an_optimum_that_costs_nothing_has_no_multiples(hold: Callable[..., Comparison]) -> None:
    said = summarise(hold(far, columns={"load": np.full(60, 30.0)}))
    assert said[-1] == "Someone who knew the whole file would have paid 0."


def test_an_optimum_that_is_not_certified_is_called_so(
    hold: Callable[..., Comparison], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsure(*args: Any) -> dw.regret.HindsightOptimum:
        return replace(dw.regret.hindsight_optimum(*args), optimal=False, status="Not certified as optimal.")

    monkeypatch.setattr(room, "hindsight_optimum", unsure)
    assert "as far as it could be found (it is not certified)" in summarise(hold(far))[-1]


def test_notes_say_what_was_known_and_what_was_not(hold: Callable[..., Comparison]) -> None:
    columns = {"load": SERIES, "plan": SERIES}
    table = notes(hold(None, columns=columns, forecasts=["plan"]))
    said = {row[0]: row[1] for row in table.rows}
    assert table.detail
    assert "which takes hindsight; choose with --low and --high" in said["Told beforehand"]
    assert "the first value of the column, as if it were known" in said["Told beforehand"]
    assert "nobody knows it beforehand" in said["The rules"]
    assert "Ours was given 'plan' before every row" in said["Your forecasts"]
    assert {"Whole numbers", "Your moves"}.isdisjoint(said)
    whole = notes(hold(None, "capacity", shortage=5.0, whole=True))
    assert "driftwise.rounded" in {row[0]: row[1] for row in whole.rows}["Whole numbers"]


def test_moves_of_yours_that_are_not_known(hold: Callable[..., Comparison]) -> None:
    columns = {"y": SERIES, "a": SERIES + 2.0, "b": SERIES - 3.0, "used": SERIES + 1.0}
    held = hold(None, "forecasts", columns, mine="used")
    said = summarise(held)
    assert said[0].startswith("You paid 30, moves not counted; ours would have cost ")
    assert not said[1].startswith("With ours")
    assert "your moves are not counted" in {row[0]: row[1] for row in notes(held).rows}["Your moves"]


def test_a_value_that_cannot_be_true_is_pointed_out_first(hold: Callable[..., Comparison]) -> None:
    broken = SERIES.copy()
    broken[29] = 99999.0
    said = summarise(hold(None, columns={"load": broken}))
    assert said[0].startswith("Check row 30: load is 99999 there")
    assert not summarise(hold(None))[0].startswith("Check")
