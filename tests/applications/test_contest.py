"""The books: running cost, cost of moving, number of moves, and the optimum below all of them."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.applications.contest import COUNTED, STATIC, referee
from driftwise.applications.ours import (
    BLIND,
    COMMITTEE,
    FOLLOWING,
    INFORMED,
    MOVING,
    SCREAM,
    SELF_TUNED,
    SELF_TUNED_SCREAM,
)
from driftwise.experiments.contests.contest import OPTIMUM
from driftwise.experiments.contests.outcome import CAUTION, HINDSIGHT, OURS, RULE
from tests.applications.cases import MAKERS, case, contest

PRICES = (0.5, 20.0)


@pytest.mark.parametrize("application", MAKERS)
@pytest.mark.parametrize("move_cost", PRICES)
def test_nobody_is_cheaper_than_the_optimum(application: str, move_cost: float) -> None:
    held = contest(application, move_cost)
    assert held.solution.optimal
    assert held.optimum.overall == pytest.approx(held.solution.total + held.case.constant * len(held.case.losses))
    deciding = [one for one in held.outcomes if one.decisions is not None]
    assert min(map(held.multiple, deciding)) >= 1.0 - 1e-6
    assert held.multiple(held.best_member) >= 1.0 - 1e-6
    labels = [one.label for one in held.outcomes]
    assert {SELF_TUNED_SCREAM, SCREAM, COMMITTEE, MOVING, FOLLOWING, BLIND, STATIC} < set(labels)
    assert labels[0] == SELF_TUNED
    assert (INFORMED in labels) == (application == "capacity")
    assert {one.kind for one in held.outcomes} == {OURS, CAUTION, RULE, HINDSIGHT}


def test_costs_are_booked_as_they_are_paid() -> None:
    held, played = contest("energy", 20.0), case("energy")
    one = held["Window rule, default"]
    assert one.decisions is not None
    changes = np.diff(one.decisions[:, 0])
    assert one.total_moving == pytest.approx(20.0 * np.maximum(changes, 0.0).sum())  # down is free
    assert one.total_running == pytest.approx(played.losses.policy_losses(one.decisions).sum() + len(one.running))
    assert one.moves == np.count_nonzero(changes)
    assert one.overall == one.total_running + one.total_moving


def test_small_changes_are_not_counted_as_moves() -> None:
    judge = referee(case("capacity"), 1.0).judge
    levels = np.ones((240, 1))
    levels[100:] += 0.5 * COUNTED
    levels[200:] += 2.0 * COUNTED
    one = judge("", RULE, levels)
    assert one.moves == 1
    assert one.total_moving == pytest.approx(2.5 * COUNTED)


def test_the_best_setting_in_hindsight_is_the_best() -> None:
    for application in MAKERS:
        held, played = contest(application, 20.0), case(application)
        judge = referee(played, 20.0).judge
        (label,) = played.tuned
        costs = {name: judge("", RULE, rows).overall for name, rows in played.tuned[label].items()}
        assert held[label].overall == pytest.approx(min(costs.values()))
        assert costs[held.settings[label]] == min(costs.values())
        assert held.best_member.overall == pytest.approx(
            min(judge("", RULE, rows).overall for rows in played.members.values())
        )


def test_who_is_blind_to_moves_decides_the_same_at_every_price() -> None:
    cheap, dear = (contest("capacity", cost)[BLIND] for cost in PRICES)
    assert np.array_equal(cheap.decisions, dear.decisions)  # type: ignore[arg-type]
    assert dear.total_moving == pytest.approx(40.0 * cheap.total_moving)


def test_the_committee_is_the_public_one() -> None:
    played, held = case("capacity"), contest("capacity", 20.0)
    committee = dw.Committee(len(played.members), switching_cost=20.0)
    for t in range(len(played.losses)):
        decision = committee.act([rows[t] for rows in played.members.values()])
        assert decision == pytest.approx(held[COMMITTEE].decisions[t])  # type: ignore[index]
        committee.observe(played.losses[t])


def test_the_committee_with_movers_is_the_public_one() -> None:
    played, held = case("capacity"), contest("capacity", 20.0)
    proposals = np.stack(list(played.members.values()), axis=1)
    committee = dw.Committee(len(played.members), switching_cost=20.0, movers=True)
    trace = dw.play(committee, played.losses, 20.0, proposals=proposals)
    assert trace.decisions == pytest.approx(held[MOVING].decisions)


def test_the_learner_is_the_public_one() -> None:
    played, held = case("capacity"), contest("capacity", 20.0)
    for label, proposals in ((SELF_TUNED, None), (INFORMED, played.forecasts)):
        learner = dw.SelfTunedLearner(played.domain, switching_cost=20.0, start=played.start)
        given: Any = proposals
        trace = dw.play(learner, played.losses, 20.0, proposals=given)
        assert np.array_equal(trace.decisions, held[label].decisions)  # type: ignore[arg-type]
        assert trace.total == pytest.approx(held[label].overall)


def test_what_needs_no_decision_never_moves() -> None:
    one = contest("forecasts", 20.0)["Last value, no weights"]
    assert one.decisions is None
    assert one.moves == 0
    assert one.total_moving == 0.0


def test_the_optimum_is_named_apart() -> None:
    held = contest("capacity", 0.5)
    assert held.optimum.label == OPTIMUM
    assert all(one is not held.optimum for one in held.outcomes)
