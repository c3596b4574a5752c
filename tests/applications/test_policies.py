"""Committees against their best members."""

import pytest

from driftwise.applications.chapters import Applications
from driftwise.applications.data import CATALOGUE, missing
from driftwise.applications.ours import BLIND, COMMITTEE, MOVING, SELF_TUNED
from driftwise.applications.policies import MARGIN, SHOWN, excess, gained, which
from tests.applications.cases import MAKERS, case, contest

CONTESTS = [(application, cost) for application in MAKERS for cost in (0.5, 20.0)]


def test_a_row_for_every_case_with_its_ratios() -> None:
    held = [contest(*key) for key in CONTESTS]
    table, members = which(held).tables
    assert [(row[0], row[2]) for row in table.rows] == [(name, f"{cost:g}") for name, cost in CONTESTS]
    for row, one in zip(table.rows, held, strict=True):
        assert row[3] == one.best_member.label
        shown = [float(cell) - 1.0 for cell in row[6:]]
        assert shown == pytest.approx([excess(one, name) for name in SHOWN], abs=6e-4)
    assert [int(row[1]) for row in members.rows] == [len(case(application).members) for application in MAKERS]


def test_claims_follow_from_the_numbers() -> None:
    held = [contest(*key) for key in CONTESTS]
    claims = which(held).claims
    assert len(claims) == 2 * len(MAKERS) + 1
    for claim, movers, application in zip(claims[:-1:2], claims[1::2], MAKERS, strict=True):
        part = [one for one in held if one.case.application == application]
        values, gains = [excess(one, COMMITTEE) for one in part], [gained(one) for one in part]
        assert claim.holds == (max(values) <= MARGIN)
        assert f"{100.0 * max(values):+.1f} %" in claim.measured
        assert movers.holds == (max(gains) <= 0.0)
        assert f"{100.0 * max(gains):+.2f} %" in movers.measured
        assert claim.text.endswith(application)
        assert movers.text.endswith(application)


def test_the_summary_names_the_worst_case_and_synthetic_data() -> None:
    held = [contest(*key) for key in CONTESTS]
    worst = max(held, key=lambda one: excess(one, COMMITTEE))
    text = which(held).summary
    place = f"({worst.case.application} on {worst.case.data.name} at {worst.move_cost:g})"
    assert f"{100.0 * excess(worst, COMMITTEE):+.1f} % at worst {place}" in text
    assert "SYNTHETIC DATA" in text
    cheaper = sum(one[MOVING].overall < one[COMMITTEE].overall for one in held)
    assert f"cheaper than without in {cheaper} of {len(held)}" in text


def test_the_cases_are_named_or_all_the_others_where_that_is_shorter() -> None:
    held = [contest(*key) for key in CONTESTS]
    ahead = [one for one in held if one[SELF_TUNED].overall < one[COMMITTEE].overall]
    (said,) = [text for text in str(which(held).summary).splitlines() if SELF_TUNED in text]
    few = ahead if 2 * len(ahead) <= len(held) else [one for one in held if one not in ahead]
    assert said.count(" at ") == len(few)
    assert ("all but" in said) == (bool(few) and few is not ahead)


def test_moves_that_cost_much_are_what_a_blind_committee_pays() -> None:
    held = contest("capacity", 20.0)
    assert excess(held, BLIND) > 2.0 * max(excess(held, COMMITTEE), 0.1)


def check_within_margin(series: str) -> None:
    """Hold committees against the best member, and the learner against a rule, on a real series at three prices."""
    command = missing(series)
    if command:
        pytest.skip(f"{CATALOGUE[series].package} is not installed: {command}")
    played = Applications().contests("capacity", series)
    assert [one.move_cost for one in played] == [0.5, 5.0, 20.0]
    assert max(excess(one, COMMITTEE) for one in played) <= MARGIN
    assert all(one.solution.optimal for one in played)
    assert max(map(gained, played)) <= 5e-4  # where movers have nothing to gain, they cost next to nothing
    default = next(label for label in played[0].case.rules if "default" in label)
    assert all(one[SELF_TUNED].overall < one[default].overall for one in played)


def test_the_committee_is_within_the_margin_on_real_demand() -> None:
    check_within_margin("water")


@pytest.mark.full
@pytest.mark.parametrize("series", ["traffic", "pageviews", "peyton"])
def test_the_committee_is_within_the_margin_on_more_real_demand(series: str) -> None:
    check_within_margin(series)
