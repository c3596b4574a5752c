"""Sentences are computed: who is cheapest, and where ours loses."""

import dataclasses

import numpy as np
import pytest

from driftwise.applications.contest import HINDSIGHT, OURS, RULE, Contest, Outcome
from driftwise.applications.ours import SELF_TUNED
from driftwise.applications.words import origin, setting, summarise
from tests.applications.cases import case, contest, short


def outcome(label: str, kind: str, running: float, moving: float = 0.0) -> Outcome:
    return Outcome(label, kind, np.array([running]), np.array([moving]), np.zeros((1, 1)))


def settled(ours: float, rule: float, tuned: float, move_cost: float = 5.0) -> Contest:
    """Return a contest in which everyone costs what is given, and the optimum 10."""
    outcomes = [outcome(SELF_TUNED, OURS, ours), outcome("Old, default", RULE, rule), outcome("Best", HINDSIGHT, tuned)]
    held = contest("capacity", 0.5)
    return dataclasses.replace(
        held, move_cost=move_cost, outcomes=outcomes, optimum=outcome("Hindsight optimum", HINDSIGHT, 10.0)
    )


def test_it_is_said_where_ours_loses_and_by_how_much() -> None:
    text = summarise([settled(20.0, 16.0, 15.0, 0.5), settled(12.0, 24.0, 13.0, 20.0)])
    assert "At a move cost of 0.5, Old (default) was the cheapest that needs no hindsight, at 1.6 times" in text
    assert "the best of ours, SelfTunedScream, cost 25 % more" in text
    assert "At a move cost of 20, SelfTunedScream was the cheapest that needs no hindsight, at 1.2 times" in text
    assert "the best rule of today, Old (default), cost 100 % more" in text
    assert "Where SelfTunedScream loses: at 0.5 to Best (by 25 %) and Old (default) (by 20 %)." in text
    assert "At 20 it lost to none of them." in text


def test_it_is_said_that_ours_never_loses_only_if_that_is_so() -> None:
    assert "lost to none of the rules" in summarise([settled(12.0, 24.0, 13.0)])
    assert "Where SelfTunedScream loses: at 5 to Best" in summarise([settled(14.0, 24.0, 13.0)])


def test_synthetic_data_are_called_so_and_the_command_is_named() -> None:
    text = origin(short("synthetic-traffic"))
    assert text.startswith("SYNTHETIC DATA: 240 hours")
    assert "pip install 'driftwise[data]'" in text
    assert "pip install 'driftwise[prices]'" in text
    assert setting(case("capacity")) == "Capacity: Synthetic demand (made up)"


def test_real_data_name_source_licence_and_gaps() -> None:
    real = dataclasses.replace(short("synthetic-traffic"), package="pack", source="A. Body", licence="CC0", filled=3)
    assert origin(real) == (
        "Synthetic demand: 240 hours (3 of them filled with the value before). Source: A. Body. Licence: CC0. Shipped "
        "by pack."
    )


@pytest.mark.parametrize("application", ["capacity", "energy", "forecasts"])
def test_a_summary_of_a_real_contest_has_the_cheapest_and_the_unit(application: str) -> None:
    held = contest(application, 20.0)
    text = summarise([held])
    playable = [one for one in held.outcomes if one.kind != HINDSIGHT]
    best = min(playable, key=lambda one: one.overall)
    assert best.label.partition(",")[0] in text
    assert f"at {held.multiple(best):.3g} times the hindsight optimum" in text
    assert held.case.moving in text
