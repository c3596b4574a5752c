"""What a case says, as a finding: claims and sentences follow from the numbers."""

import dataclasses

import numpy as np
import pytest

from driftwise.applications.capacity import capacity
from driftwise.applications.conclusion import conclude, losses_table, setting, summarise, warning
from driftwise.applications.contest import CaseContest
from driftwise.applications.ours import INFORMED, SELF_TUNED
from driftwise.experiments.contests.outcome import HINDSIGHT, OURS, RULE, Outcome
from tests.applications.cases import MAKERS, case, contest, short


def outcome(label: str, kind: str, running: float, moving: float = 0.0) -> Outcome:
    return Outcome(label, kind, np.array([running]), np.array([moving]), np.zeros((1, 1)))


def settled(ours: float, rule: float, tuned: float, move_cost: float = 5.0) -> CaseContest:
    """Return a contest in which everyone costs what is given, and the optimum 10."""
    outcomes = [outcome(SELF_TUNED, OURS, ours), outcome("Old, default", RULE, rule), outcome("Best", HINDSIGHT, tuned)]
    held = contest("capacity", 0.5)
    return dataclasses.replace(
        held, move_cost=move_cost, outcomes=outcomes, optimum=outcome("Hindsight optimum", HINDSIGHT, 10.0)
    )


def test_it_is_said_who_is_cheapest_and_where_ours_loses() -> None:
    held = [settled(20.0, 16.0, 15.0, 0.5), settled(12.0, 30.0, 13.0, 20.0)]
    _, first, second, lost = summarise(held)
    assert first == (
        "At a move cost of 0.5, Old (default) was cheapest without hindsight: 1.60 times the optimum; the best of "
        "ours, SelfTunedLearner, cost 25 % more."
    )
    assert second.startswith("At a move cost of 20, SelfTunedLearner was cheapest without hindsight: 1.20 times")
    assert second.endswith("the best common rule, Old (default), cost 2.5 times as much.")
    assert lost == (
        "SelfTunedLearner costs more than a common rule at 1 of 2 prices (at worst 25 % more, against Old (default) at "
        "0.5), and more than a choice made in hindsight at 1 of 2 prices (at worst 33 % more, against Best at 0.5)."
    )
    assert losses_table(held).rows == [
        ["0.5", "Old, default", "a common rule", "25 % more"],
        ["0.5", "Best", "a choice made in hindsight", "33 % more"],
    ]


def test_it_is_said_that_ours_never_loses_only_if_that_is_so() -> None:
    lost = summarise([settled(12.0, 24.0, 13.0)])[-1]
    assert lost.startswith("SelfTunedLearner costs no more than any common rule, and no more than any static level")
    lost = summarise([settled(14.0, 24.0, 13.0)])[-1]
    assert "costs no more than any common rule, and more than a choice made in hindsight at 1 of 1 prices" in lost


def test_many_prices_are_still_few_sentences() -> None:
    """The lowest, a middle and the highest price are said; the tables have all of them."""
    said = summarise([settled(20.0, 16.0, 15.0, cost) for cost in (0.5, 1.0, 2.0, 4.0, 8.0)])
    assert [sentence.partition(",")[0] for sentence in said[1:4]] == [f"At a move cost of {c}" for c in ("0.5", 2, 8)]
    assert len(said) <= 6


def test_synthetic_data_are_called_so_and_the_command_is_named() -> None:
    data = short("synthetic-traffic")
    text = warning(data)
    assert text.startswith("SYNTHETIC DATA: 240 hours")
    assert "pip install 'driftwise[data]'" in text
    assert "pip install 'driftwise[prices]'" in text
    assert summarise([contest("capacity", 0.5)])[0] == text
    assert setting(case("capacity")) == "Capacity: Synthetic demand (made up)"
    assert warning(dataclasses.replace(data, package="pack")) == ""


def test_what_stands_in_for_requests_to_servers_is_called_so() -> None:
    real = dataclasses.replace(short("synthetic-traffic"), package="pack")
    assert "stands in" in capacity(real).note
    assert "stands in" not in case("capacity").note


@pytest.mark.parametrize("application", ["capacity", "energy", "forecasts"])
def test_a_summary_of_a_real_contest_has_the_cheapest_and_the_unit(application: str) -> None:
    held = contest(application, 20.0)
    text = "\n".join(summarise([held]))
    playable = [one for one in held.outcomes if one.kind in (OURS, RULE)]
    best = min(playable, key=lambda one: one.overall)
    assert best.label.partition(",")[0] in text
    assert f"{held.multiple(best):.2f} times the optimum" in text
    assert held.case.note in text


def test_claims_follow_from_the_numbers() -> None:
    for application in MAKERS:
        held = [contest(application, cost) for cost in (0.5, 20.0)]
        finding = conclude(held)
        default = next(label for label in held[0].case.rules if "default" in label)
        ratios = [one[SELF_TUNED].overall / one[default].overall for one in held]
        beaten, *forecast, certified = finding.claims
        assert beaten.holds == (max(ratios) < 1.0)
        assert beaten.measured == f"{ratios[0]:.3f} at 0.5, {ratios[1]:.3f} at 20, as a ratio"
        assert beaten.text.endswith(f"with default settings, {application} on {held[0].case.data.name}")
        assert certified.holds
        assert len(forecast) == bool(held[0].case.forecasts)


def test_a_learner_that_is_given_a_forecast_is_held_against_it() -> None:
    held = [contest("capacity", cost) for cost in (0.5, 20.0)]
    ratios = [
        one[INFORMED].overall / min(one[label].overall for label in (SELF_TUNED, *one.case.forecasts)) for one in held
    ]
    claim = conclude(held).claims[1]
    assert claim.holds == (max(ratios) <= 1.02)
    assert claim.measured == f"{ratios[0]:.3f} at 0.5, {ratios[1]:.3f} at 20, as a ratio"
    dear = [
        dataclasses.replace(one, label=one.label, running=one.running + 1.0 * (one.label == INFORMED))
        for one in held[0].outcomes
    ]
    assert not conclude([dataclasses.replace(held[0], outcomes=dear)]).claims[1].holds


def test_there_is_a_table_for_every_price_and_one_for_the_problem() -> None:
    titles = [table.title for table in conclude([contest("energy", cost) for cost in (0.5, 20.0)]).tables]
    assert [title.partition(";")[0] for title in titles] == [
        "Move cost 0.5",
        "Move cost 20",
        "The problem",
        "Picked in hindsight",
        "Where SelfTunedLearner loses",
    ]
